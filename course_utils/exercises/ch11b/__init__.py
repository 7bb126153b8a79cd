"""Exercises of chapter 11b. Oracles: a least-squares solver, a published table, sorted lists, loops in double precision."""

from .answers import ANSWER
from .duplicates import DUPLICATES
from .few_shot import FEW_SHOT
from .mix import MIX
from .power_law import POWER_LAW
from .preference import PREFERRING
from .router import ROUTER

EXERCISES = (POWER_LAW, MIX, DUPLICATES, FEW_SHOT, ANSWER, PREFERRING, ROUTER)
