"""Settings for every test run: what a notebook's kernel finds in its environment, and what runs beside what."""

import json
import os
import signal
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: Ctrl-C must reach what is tested all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as course.py does; must stand before torch is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")  # so that what runs beside it does not wait for threads that wait

ROOT = Path(__file__).resolve().parent
RECORD = ROOT / "tests" / "seconds.json"  # seconds of each notebook and test file, written by --record-seconds
ONE_BY_ONE = "test_exercises.py"  # thousands of short proofs that share nothing
FIRST = ("test_browser.py", "test_grading.py", "test_grading_long.py")  # what takes longest in --full
BY_CHAPTER = "test_controls.py"  # the controls of one chapter share a run of its cells


def pytest_addoption(parser):
    parser.addoption("--record-seconds", action="store_true", help=f"write the seconds of each file to {RECORD.relative_to(ROOT)}")


def _file(nodeid):
    return nodeid.split("::")[0]


def pytest_collection_modifyitems(items):
    """Longest file first, so that no core is left alone with a long one at the end."""
    seconds = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    place = {file: i for i, file in enumerate(dict.fromkeys(_file(item.nodeid) for item in items))}

    def order(item):
        file = _file(item.nodeid)
        last = file.endswith(ONE_BY_ONE)  # small pieces fill what is left at the end
        first = bool(os.environ.get("COURSE_FULL")) and file.endswith(FIRST)
        return last, not first, -seconds.get(file, 60.0), place[file]

    items.sort(key=order)  # a stable sort: the cells of a notebook keep their order
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = 60  # nbval waits 5 s for the last message of a cell; where other work fills the cores, it is late


@pytest.hookimpl(optionalhook=True)  # a hand-out has no pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """With ``-n``: the cells of one notebook, and the tests of one file, stay together in one process.

    (pytest-xdist's own ``--dist loadgroup`` sets a private attribute that pytest 9.1 no longer reads.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = _file(nodeid)
            if file.endswith(BY_CHAPTER):
                return file + nodeid.partition("[")[2].rstrip("]").partition("-")[0]
            return nodeid if file.endswith(ONE_BY_ONE) else file

    config.option.loadscopereorder = False  # the order above, not by number of tests
    return ByFile(config, log)


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


def pytest_terminal_summary(terminalreporter, config):
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
    if config.getoption("--record-seconds"):
        old = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
        old.update({file: round(seconds, 1) for file, seconds in spent.items()})
        kept = {file: old[file] for file in sorted(old) if (ROOT / file).is_file()}
        RECORD.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
