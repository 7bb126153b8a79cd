"""Settings for every test run: what a notebook's kernel finds in its environment."""

import os
import signal

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: Ctrl-C must reach what is tested all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as course.py does; must stand before torch is imported


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set the variables before the kernel of a notebook starts: it inherits them.

    nbval starts a notebook's kernel while it sets up the notebook's first cell, so this must come
    first. COURSE_STRICT makes a check raise unless it gives full marks: right for the solutions,
    wrong for the blank chapters.
    """
    os.environ["COURSE_PROGRESS"] = "off"
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    if item.path.suffix == ".ipynb" and item.path.parent.name == "solutions":
        os.environ["COURSE_STRICT"] = "1"
    else:
        os.environ.pop("COURSE_STRICT", None)
