"""In a notebook: say what to do when a check cell meets a name whose cell has not been run, or could not run.

Such a cell fails before ``check`` is called, so this hangs on IPython: a panel takes the place of the traceback.
"""

import difflib
import linecache
import re
import sys
import traceback
from typing import Any

from course_utils.older import older

from .lookup import find
from .panel import CheckResult

_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", re.M)
_broken: dict[str, str] = {}  # names whose cell could not run when it was last tried, and why


def watch_for_unrun_cells() -> None:
    """Explain such errors from now on; nothing happens outside IPython."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    if (shell := get_ipython()) is not None:
        shell.events.register("post_run_cell", _note_unread)
        shell.set_custom_exc((NameError, ImportError), _explain)


def stopped_before_running(name: str) -> str:
    """Why the cell that defines ``name`` did not run when it was last tried; empty when it did."""
    return _broken.get(name, "")


def _note_unread(result: Any) -> None:
    """Note which names belong to a cell that Python could not read, and why."""
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


def _explain(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: int | None = None) -> None:
    """A panel where a call such as ``check("03.2", f)`` stopped because f does not exist; every other error as ever."""
    if told := older(error):
        return print(told)
    frame, line = list(traceback.walk_tb(trace))[-1]
    code, name = "".join(linecache.getlines(frame.f_code.co_filename)), str(error.name or "")
    calls = re.finditer(r"\bcheck\(\s*[\"']([^\"']+)[\"']\s*,\s*" + re.escape(name) + r"\b", code) if name else ()
    asked = next((call[1] for call in calls if code.count("\n", 0, call.end()) + 1 == line), "")  # the line where the name stands
    if not asked or frame.f_globals is not shell.user_global_ns:
        return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    why = (
        "the cell that defines it has not been run. Run the cell above first: click into it, press Shift+Enter, then come back to this one."
    )
    if near := _misspelt(name):
        why = f"but you have defined `{near}`. Is that what you meant? Give it the name `{name}`, run its cell, then this one again."
    text = f"The name `{name}` does not exist yet: {_broken.get(name) or why}"
    try:
        CheckResult.refused(find(asked), "not attempted", text).show()
    except LookupError:
        CheckResult.stray(asked, "not attempted", text).show()


def _misspelt(name: str) -> str:
    """A function or class of the notebook that is spelt nearly like this; empty without one."""
    from IPython import get_ipython

    own = [key for key, value in get_ipython().user_ns.items() if callable(value) and getattr(value, "__module__", "") == "__main__"]
    return next(iter(difflib.get_close_matches(name, own, n=1, cutoff=0.8)), "")
