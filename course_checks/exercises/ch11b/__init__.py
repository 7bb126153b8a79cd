"""Exercises of chapter 11b. Oracles: a least-squares solver, a fine grid of sizes, sorted lists, sets of hours."""

from ..common import in_order

EXERCISES = in_order(__name__, "fit_power_law fair best_use few_shot posterior distinct")
