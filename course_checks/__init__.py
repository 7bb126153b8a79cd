"""Checks that teach: ``check("03.2", my_function)`` tries an answer, shows a panel and says why it went wrong.

    result = check("03.2", scaled_dot_product_attention)
    result.passed, result.points, result.possible   # bool, float, float
    result.stage, result.mistake, result.hint       # str, str | None, str | None
    result.use                                      # the answer if it passed, else the reference

``catalogue()`` lists every exercise, ``progress()`` shows what is done. ``mine("03.2")`` gives later chapters the learner's own answer.
``find("why divide by root d")`` names the places of the course that say something about it. ``hand_in()`` hands your answers in.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_utils.launcher.export import hand_in
    from course_utils.launcher.search import find

    from .engine import CheckFailed, check, progress
    from .kept import mine
    from .lookup import catalogue
    from .panel import CheckResult

__all__ = ["CheckFailed", "CheckResult", "catalogue", "check", "find", "hand_in", "mine", "progress"]


def __getattr__(name: str) -> Any:
    """Import the engine, and torch with it, when the first of these names is asked for: ``course.py progress`` does without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in ("find", "hand_in"):  # which need no torch
        from . import engine, kept, lookup, notebook, panel

        notebook.watch_for_unrun_cells()
        globals().update({key: value for module in (panel, lookup, kept, engine) for key, value in vars(module).items() if key in __all__})
    from course_utils.launcher import export, search

    globals().update(find=search.find, hand_in=export.hand_in)  # not the find of lookup, which asks for an exercise
    return globals()[name]
