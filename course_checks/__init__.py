"""Checks that teach: ``check("03.2", my_function)`` tries an answer, shows a panel and says why it went wrong.

    result = check("03.2", scaled_dot_product_attention)
    result.passed, result.points, result.possible   # bool, float, float
    result.stage, result.mistake, result.hint       # str, str | None, str | None
    result.use                                      # the answer if it passed, else the reference

``catalogue()`` lists every exercise, ``progress()`` shows what is done. ``mine("03.2")`` gives later chapters the learner's own answer.
"""

from .engine import CheckFailed, catalogue, check, progress
from .kept import mine
from .notebook import watch_for_unrun_cells
from .panel import CheckResult

__all__ = ["CheckFailed", "CheckResult", "catalogue", "check", "mine", "progress"]

watch_for_unrun_cells()
