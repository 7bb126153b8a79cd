"""What a class receives: the chapters and the package they need, without solutions, tests and tools.

Standard library only: ``python course.py handout`` needs no environment.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from course_utils.launcher.notebooks import Damaged, answered, chapters_in, read

FOLDERS = ("course_utils", "course_checks", "docs/images", "benchmarks/results")
FILES = "course.py conftest.py requirements.txt requirements.lock environment.yml pyproject.toml LICENSE LICENSE-TEXT .gitignore".split()
FILES += "docs/judge.md docs/ways_in.md docs/terms.tsv docs/faq.md".split()
README_CUTS = ("## As a book", "## Teaching with it", "## Where the numbers come from", "## Taking part")
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints", ".course", "work")


def blank_chapters(root: Path) -> list[Path]:
    """The chapters and their companions as they were built. Own notes stay at home; ValueError where an answer is filled in."""
    found = []
    for path in chapters_in(root / "chapters"):
        try:
            notebook = read(path)
        except Damaged:
            continue
        if "stubs" not in notebook["metadata"].get("course", {}) or path.is_symlink():
            continue  # not a chapter of the course
        for exercise in answered(notebook):
            raise ValueError(
                f"{path.relative_to(root).as_posix()} holds an answer to exercise {exercise}.\n"
                f"Hand out a fresh copy: move yours away, or take it back with  git checkout {path.relative_to(root).as_posix()}"
            )
        found.append(path)
    if not found:
        raise ValueError(f"There is no chapter to hand out in {root / 'chapters'}.")
    return found


def readme(root: Path, target: Path) -> str:
    """The README without what a class does not receive: sections, the sentence on solutions, links to files that are not in ``target``."""
    sections = re.split(r"(?m)^(?=## )", (root / "README.md").read_text(encoding="utf-8"))
    kept = "".join(part for part in sections if not part.startswith(README_CUTS))
    kept = re.sub(r", \[deeper\]\((\S+?)\)", lambda link: link[0] if (target / link[1]).exists() else "", kept)
    kept = re.sub(r"[ \n]?`solutions/` [^\n.]*\.(?=\s)", "", kept)
    kept = re.sub(r" \(`python ((?!course)\S+\.py)[^`]*`\)", lambda command: command[0] if (target / command[1]).exists() else "", kept)
    return re.sub(
        r"(?<!!)\[([^\]\n]+)\]\((?!\w+:|#)([^)#\s]+)[^)\s]*\)", lambda link: link[0] if (target / link[2]).exists() else link[1], kept
    )


def write(target: Path, root: Path, numbers: list[str] | None = None) -> None:
    """Fill ``target``, which is new or empty, from the course in ``root``, with all chapters or those of ``numbers``, such as ["03"];
    a chapter takes its companion along.

    Raises ValueError where it holds something, or lies inside what is handed out.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{target} is not empty. Name a new or an empty folder.")
    if any(root / folder in (target, *target.parents) for folder in ("chapters", *FOLDERS)):
        raise ValueError(f"{target} lies inside what is handed out. Name a folder elsewhere.")
    chapters = [path for path in blank_chapters(root) if not numbers or path.name.split("_")[0] in numbers]
    target.mkdir(parents=True, exist_ok=True)
    try:
        for path in chapters:
            copied = target / path.relative_to(root)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copied)
        for folder in FOLDERS:
            if (root / folder).is_dir():
                shutil.copytree(root / folder, target / folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for name in FILES:
            if (root / name).is_file():
                shutil.copy(root / name, target / name)
        if (root / "README.md").is_file():
            (target / "README.md").write_text(readme(root, target), encoding="utf-8")
    except (OSError, KeyboardInterrupt):
        shutil.rmtree(target, ignore_errors=True)  # half a hand-out is worse than none
        raise
