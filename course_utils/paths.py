"""Where things lie: the package, and the folder of the course around it. Standard library only, readable by an old Python."""

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
