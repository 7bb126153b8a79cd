"""Settings for every test run: what a notebook's kernel finds in its environment, and what comes first."""

import os
import signal
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: Ctrl-C must reach what is tested all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as course.py does; must stand before torch is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")  # so that what runs beside it does not wait for threads that wait

LONG = (
    "test_browser.py",
    "test_grading_long.py",
    "test_grading_marginal.py",
    "test_grading.py",
    "test_exercises.py",
    "test_sandbox.py",
)  # files that take minutes


def _file(nodeid):
    return nodeid.split("::")[0]


def pytest_collection_modifyitems(items):
    """What takes long first, notebooks next: what is short fills the last seconds, so that no core is left alone with a long file.

    (With ``-n 2 --dist loadfile --no-loadscope-reorder``, as course_tools/testing.py asks for, files are begun in this order.)
    """

    def order(item):
        name = Path(_file(item.nodeid)).name
        return LONG.index(name) if name in LONG else len(LONG) + (not name.endswith(".ipynb"))

    items.sort(key=order)  # a stable sort: the cells of a notebook keep their order
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = 60  # nbval waits 5 s for the last message of a cell; where other work fills the cores, it is late
            if item.cell.execution_count is None:  # so are the blank chapters stored, and nbval wants no outputs in a cell without a number
                item.cell.execution_count = 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set the variables before the kernel of a notebook starts: it inherits them.

    nbval starts a notebook's kernel while it sets up the notebook's first cell, so this must come
    first. COURSE_STRICT makes a check raise unless it gives full marks: right for the solutions,
    wrong for the blank chapters.
    """
    os.environ["COURSE_PROGRESS"] = "off"
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    folder = item.path.parent.parent if item.path.parent.name == "deeper" else item.path.parent
    if item.path.suffix == ".ipynb" and folder.name == "solutions":
        os.environ["COURSE_STRICT"] = "1"
    else:
        os.environ.pop("COURSE_STRICT", None)


def pytest_terminal_summary(terminalreporter):
    """Seconds of each notebook, and of the slowest test files."""
    spent = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                spent[_file(report.nodeid)] = spent.get(_file(report.nodeid), 0.0) + report.duration
    books = {file: seconds for file, seconds in spent.items() if file.endswith(".ipynb")}
    others = sorted(((s, file) for file, s in spent.items() if file not in books), reverse=True)
    if books:
        terminalreporter.section("seconds of each notebook")
        for file in sorted(books, key=lambda file: (Path(file).name, file)):
            terminalreporter.write_line(f"{books[file]:6.1f}  {file}")
    if len(others) > 1:
        terminalreporter.section("slowest test files")
        for seconds, file in others[:10]:
            terminalreporter.write_line(f"{seconds:6.1f}  {file}")
