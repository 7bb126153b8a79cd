"""Exercises of chapter 11b. Oracles: a least-squares solver, sorted lists, loops in double precision."""

from .answers import ANSWER
from .block import BLOCK
from .duplicates import DUPLICATES
from .few_shot import FEW_SHOT
from .group import GROUP
from .law import LAW
from .power_law import POWER_LAW
from .preference import PREFERRING
from .router import ROUTER
from .step import STEP

EXERCISES = (POWER_LAW, LAW, FEW_SHOT, ANSWER, PREFERRING, GROUP, BLOCK, ROUTER, STEP, DUPLICATES)  # as the chapter has them
