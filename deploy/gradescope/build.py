"""Pack an autograder for Gradescope: ``python deploy/gradescope/build.py 03 06`` writes ``autograder.zip``. Standard library only."""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ("course_utils", "course_checks", "course_tools/grading", "chapters")  # these say which exercises a companion holds
FILES = "course.py pyproject.toml requirements.txt requirements.lock LICENSE course_tools/__init__.py course_tools/metadata.py".split()
WHEN = (2020, 1, 1, 0, 0, 0)  # the same zip from the same files


def members() -> dict[str, Path]:
    """What is packed, by its name in the zip."""
    found = {name: HERE / name for name in ("setup.sh", "run_autograder")}
    found |= {name: ROOT / name for name in FILES if (ROOT / name).exists()}
    for folder in FOLDERS:
        paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        found |= {path.relative_to(ROOT).as_posix(): path for path in paths}
    return found


def build(target: Path, chapters: list[str]) -> None:
    """Write the zip for an assignment of these chapters. ValueError for one that does not exist."""
    known = {match[1] for path in (ROOT / "chapters").glob("*.ipynb") if (match := re.match(r"(\d\d[a-z]?)_", path.name))}
    for chapter in chapters:
        if chapter not in known:
            raise ValueError(f"there is no chapter {chapter}; the chapters are {', '.join(sorted(known))}")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(members().items()):
            _add(archive, name, path.read_bytes(), 0o755 if name in ("setup.sh", "run_autograder") else 0o644)
        _add(archive, "chapters.txt", " ".join(chapters).encode(), 0o644)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, WHEN)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
    archive.writestr(entry, data)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Pack an autograder for Gradescope.")
    parser.add_argument("chapters", nargs="+", metavar="NN", help="the chapters of the assignment: 03 06")
    parser.add_argument("--out", default="autograder.zip", help="the file to be written (autograder.zip)")
    options = parser.parse_args()
    try:
        build(Path(options.out), options.chapters)
    except (ValueError, OSError) as error:
        print(f"Nothing was packed: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: upload it in Gradescope under Configure Autograder. See deploy/gradescope/README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
