"""Which tests belong to a chapter, and how pytest is asked for them.

The launcher reads this file with whatever Python started it, so it needs the standard library only and no new syntax.
"""

import re
import shutil

from course_utils.paths import ROOT

NOTEBOOK_FOLDERS = ("chapters", "solutions")
# They restrict themselves to COURSE_CHAPTERS, or are quick.
OF_EVERY_CHAPTER = (
    "test_exercises.py",
    "test_answers.py",
    "test_ablations.py",
    "test_notebooks.py",
    "test_clock.py",
    "test_budgets.py",
    "test_predictions.py",
    "test_text_and_exercises.py",
    "test_ledger.py",
    "test_teaching.py",
    "test_faq.py",
    "test_style.py",
)
# Two notebooks at a time, one thread each: on two shared cores that is three times as fast as two threads each. The cells of one
# notebook, and the tests of one file, stay together in one process, in the order that conftest.py gives them.
SPREAD = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
FAST = (  # about a minute on two cores
    "tests/models",
    "tests/launcher/test_launcher.py",
    "tests/launcher/test_lock.py",
    "tests/launcher/test_private.py",
    "tests/launcher/test_ways_in.py",
    "tests/authoring/test_source.py",
    "tests/authoring/test_ledger.py",
    "tests/checks/test_checks.py",
    "tests/test_style.py",
    "tests/test_tables.py",
)


def paths(numbers, full=False):
    """What pytest is given: everything there is, or what belongs to these chapters ("03", "08a").

    In the whole ``--full`` run the blank chapters run in a browser, where there is one: they need not run a second time.
    """
    if not numbers:
        folders = ("solutions",) if full and any(map(shutil.which, ("chromium", "chromium-browser"))) else NOTEBOOK_FOLDERS
        return [folder for folder in ("tests",) + folders if (ROOT / folder).is_dir()]
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [path for path in files if path.name in OF_EVERY_CHAPTER or any(belongs(path.stem, number) for number in numbers)]
    for number in numbers:
        places = [place for folder in NOTEBOOK_FOLDERS for place in (ROOT / folder, ROOT / folder / "deeper")]
        found += [path for place in places for path in sorted(place.glob(number + "_*.ipynb"))]
    return [path.relative_to(ROOT).as_posix() for path in found if path.is_file()]


def belongs(stem, number):
    """Whether a test file belongs to a chapter: its name ends in the chapter's number, and ``08`` means 08a and 08b."""
    own = re.search(r"_(\d\d[a-z]?)(?:_|$)", stem)
    return bool(own) and number.startswith(own.group(1))


def command(numbers, full, rest):
    """pytest's arguments, and what its environment holds besides."""
    environment = {"OMP_NUM_THREADS": "1"}
    if numbers:
        environment["COURSE_CHAPTERS"] = ",".join(numbers)
    if full:
        environment["COURSE_FULL"] = "1"
    return paths(numbers, full) + SPREAD + list(rest), environment


def fast(rest):
    """The modules to run, with their arguments, for what can be known within a minute or two: lint, form, types, quick tests."""
    return [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["pytest"] + list(FAST) + SPREAD + list(rest)]
