"""Which tests belong to a chapter, and how pytest is asked for them.

The launcher reads this file with whatever Python started it, so it needs the standard library only and no new syntax.
How the tests are spread over the processor's cores is decided in ``conftest.py``.
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK_FOLDERS = ("chapters", "solutions")
# They restrict themselves to COURSE_CHAPTERS, or are quick.
OF_EVERY_CHAPTER = (
    "test_exercises.py",
    "test_notebooks.py",
    "test_text_and_exercises.py",
    "test_ledger.py",
    "test_teaching.py",
    "test_style.py",
)
JOBS = 2  # notebooks at a time, one thread each: on two shared cores that is three times as fast as two threads each


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
        found += [path for folder in NOTEBOOK_FOLDERS for path in sorted((ROOT / folder).glob(number + "_*.ipynb"))]
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
    return paths(numbers, full) + ["-n", str(JOBS)] + list(rest), environment
