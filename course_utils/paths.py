"""Where things lie: the package, the course around it, the learner's own. Standard library only, readable by an old Python."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent  # course_utils


def find_root(*starts: Path) -> Path:
    """The nearest folder with ``course.py``, upwards from each of ``starts`` in turn; the working folder when there is none."""
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "course.py").is_file():
                return folder
    return Path.cwd()


ROOT = find_root(PACKAGE, Path.cwd().resolve())  # an installed package finds it from the notebook's folder


def own_folder(root: Path = ROOT) -> Path:
    """Where ``work`` and ``.course`` lie: in the course itself, or, where many share one that is not theirs to write to, in their own.

    That is the nearest course above the notebook, else the folder ``attention`` in the user's home.
    """
    for folder in (root, find_root(Path.cwd())):
        kept = folder / ".course"
        if folder == root or (folder / "course.py").is_file():
            if os.access(str(kept if kept.exists() else folder), os.W_OK):
                return folder
    return Path.home() / "attention"
