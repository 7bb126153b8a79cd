"""In a notebook: say what to do when a check cell meets a name whose cell has not been run.

Such a cell fails before ``check`` is called, so this hangs on IPython's own event.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from .lookup import find
from .panel import CheckResult


def watch_for_unrun_cells() -> None:
    """Explain such errors from now on; nothing happens outside IPython."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", _explain)


def _explain(result: Any) -> None:
    """Show a panel when a cell such as ``check("03.2", my_function)`` stopped because the name does not exist."""
    error = getattr(result, "error_in_exec", None)
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    cell = getattr(getattr(result, "info", None), "raw_cell", "") or ""
    asked = re.search(r"check\(\s*[\"']([^\"']+)[\"']\s*,\s*" + re.escape(name) + r"\b", cell) if name else None
    if not asked:
        return
    text = (f"The name `{name}` does not exist yet: the cell that defines it has not been run. Click into that cell, press Shift+Enter, "
            "then run this one again.")
    try:
        CheckResult.refused(find(asked.group(1)), "not attempted", text).show()
    except LookupError:
        CheckResult.stray(asked.group(1), "not attempted", text).show()
