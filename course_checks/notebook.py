"""In a notebook: say what to do when a check cell meets a name whose cell has not been run, or could not run.

Such a cell fails before ``check`` is called, so this hangs on IPython's own event.
"""

import difflib
import re
import sys
from typing import Any

from .lookup import find
from .panel import CheckResult

_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", re.M)
_broken: dict[str, str] = {}  # names whose cell could not run when it was last tried, and why


def watch_for_unrun_cells() -> None:
    """Explain such errors from now on; nothing happens outside IPython."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", _explain)


def stopped_before_running(name: str) -> str:
    """Why the cell that defines ``name`` did not run when it was last tried; empty when it did."""
    return _broken.get(name, "")


def _explain(result: Any) -> None:
    """Note cells that Python could not read; show a panel when a cell such as ``check("03.2", f)`` stopped because f does not exist."""
    cell = getattr(getattr(result, "info", None), "raw_cell", "") or ""
    unread = getattr(result, "error_before_exec", None)
    for name in {name for pair in _DEFINED.findall(cell) for name in pair if name}:
        if isinstance(unread, SyntaxError):
            _broken[name] = (
                f"when its cell was last run, Python stopped at line {unread.lineno} with {type(unread).__name__} "
                f"({unread.msg}) and ran none of it. Mend that line and run the cell again."
            )
        else:
            _broken.pop(name, None)
    error = getattr(result, "error_in_exec", None)
    name = str(getattr(error, "name", None) or "") if isinstance(error, NameError) else ""
    asked = re.search(r"check\(\s*[\"']([^\"']+)[\"']\s*,\s*" + re.escape(name) + r"\b", cell) if name else None
    if not asked:
        return
    why = "the cell that defines it has not been run. Click into that cell, press Shift+Enter, then run this one again."
    if near := _misspelt(name):
        why = f"but you have defined `{near}`. Is that what you meant? Give it the name `{name}`, run its cell, then this one again."
    text = f"The name `{name}` does not exist yet: {_broken.get(name) or why}"
    try:
        CheckResult.refused(find(asked.group(1)), "not attempted", text).show()
    except LookupError:
        CheckResult.stray(asked.group(1), "not attempted", text).show()


def _misspelt(name: str) -> str:
    """A function or class of the notebook that is spelt nearly like this; empty without one."""
    from IPython import get_ipython

    own = [key for key, value in get_ipython().user_ns.items() if callable(value) and getattr(value, "__module__", "") == "__main__"]
    return next(iter(difflib.get_close_matches(name, own, n=1, cutoff=0.8)), "")
