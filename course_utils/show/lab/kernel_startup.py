"""What every kernel of the lab runs first; `course.py lab` puts a copy where IPython looks for it.

Who begins in the middle of a chapter, or has stopped an import half-way, is told how to go on, and sees no traceback.
"""

import sys

from IPython import get_ipython
from IPython.display import display


def _older(error):
    try:
        from course_utils.older import older
    except ImportError:  # no course at all
        return ""
    return older(error)


def _told(shell, kind, error, traceback, tb_offset=None):
    if "partially initialized module" in str(error):
        head, text = (
            "Restart the kernel.",
            (
                "An import was stopped half-way, and Python cannot take it up again. "
                "To mend it, choose \u201cRestart Kernel\u201d in the menu Kernel."
            ),
        )
    elif kind is NameError and "course_utils" not in sys.modules:
        head, text = (
            "Not yet.",
            (
                "The kernel has just started and knows nothing yet: run the cells above first, from the top. "
                "Choose \u201cRun All Above Selected Cell\u201d in the menu Run."
            ),
        )
    elif text := _older(error):
        head = "Not of one day."
    else:
        return shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
    display({"text/html": f"<div class='course-panel'><b>{head}</b> {text}</div>", "text/plain": text}, raw=True)


get_ipython().set_custom_exc((NameError, AttributeError, ImportError), _told)
