"""One zip of everything you have answered, to hand in; ``course.py grade`` takes it. Standard library only.

python course.py export [FILE.zip] [--name NAME]
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def answered(notebook: dict[str, Any]) -> list[str]:
    """Exercises whose answer cell is no longer the stub that was handed out, in the order of the chapter.

    Where the notebook has lost what tells them apart, every exercise counts as answered: better too much handed in than too little.
    """
    stubs = notebook.get("metadata", {}).get("course", {}).get("stubs", {})
    found = []
    for cell in notebook.get("cells", []):
        course = cell.get("metadata", {}).get("course", {})
        if course.get("role") == "answer":
            source = cell.get("source", "")
            source = source if isinstance(source, str) else "".join(source)
            if hashlib.sha256(source.replace("\r\n", "\n").encode()).hexdigest() != stubs.get(course.get("exercise")):
                found.append(course.get("exercise"))
    return list(dict.fromkeys(found))


def former_ids(notebook: dict[str, Any]) -> dict[str, str]:
    """Exercises of a chapter that had another id before their chapter was cut in two: ``{"07a.1": "07.1", …}``."""
    course = notebook.get("metadata", {}).get("course", {})
    found = course.get("formerly", {}) if isinstance(course, dict) else {}
    return {now: was for now, was in found.items() if isinstance(was, str)} if isinstance(found, dict) else {}


def stripped(notebook: dict[str, Any]) -> bytes:
    """The notebook without outputs: grading runs it again, and pictures are large."""
    for cell in notebook.get("cells", []):
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode()


def export(target: Path, name: str, root: Path = ROOT) -> dict[str, list[str]]:
    """Write ``name/chapter.ipynb`` for every chapter with an answer into the zip ``target``; returns ``{chapter: exercises}``.

    The learner's copies in ``work`` come first; a chapter that is answered nowhere but in ``chapters`` is taken from there. A copy of a
    chapter that has been cut in two is handed in as it is, and its exercises are named as they are called now.

    Raises ValueError, and writes nothing, for a name that cannot be a folder, a chapter that cannot be read, no answers at all,
    or a target that exists.
    """
    if not re.fullmatch(r"[^\x00-\x1f/\\:*?\"<>|]{1,80}", name) or name.strip(". ") != name:
        raise ValueError(f"{name!r} cannot be the name of a folder; choose one with --name")
    if target.exists():
        raise ValueError(f"{target} exists already; name another file")
    done, content, today = {}, {}, {}
    for path in sorted([*(root / "work").glob("*.ipynb"), *(root / "chapters").glob("*.ipynb")], key=lambda path: path.name):
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            exercises = answered(notebook)
            today |= {was: now for now, was in former_ids(notebook).items()}
        except (OSError, ValueError, AttributeError) as error:
            raise ValueError(f"{path.name} cannot be read as a notebook ({type(error).__name__}); open and save it in JupyterLab") from None
        if exercises and path.stem not in done:  # sorting is stable: that of work/ stands first
            done[path.stem], content[f"{name}/{path.name}"] = exercises, stripped(notebook)
    if not done:
        raise ValueError("no exercise is answered yet (save your notebooks first: Ctrl-S)")
    done = {chapter: [today.get(exercise, exercise) for exercise in exercises] for chapter, exercises in done.items()}
    try:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            for member, data in content.items():
                archive.writestr(member, data)
    except BaseException:
        target.unlink(missing_ok=True)  # half a zip is worse than none
        raise
    return done


def main(arguments: list[str] | None = None) -> int:
    """The command; exit status 2, with one sentence, where nothing could be written."""
    parser = argparse.ArgumentParser(prog="course.py export", description="one zip of everything you have answered")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.zip", help="without it, answers_NAME.zip")
    parser.add_argument("--name", help="whose answers these are; without it, the name you are logged in with")
    options = parser.parse_args(arguments)
    try:
        name = options.name or getpass.getuser()
        target = options.file or Path(f"answers_{name.replace(' ', '_')}.zip")
        if target.suffix.lower() != ".zip":
            target = target.with_name(target.name + ".zip")
        done = export(target, name)
    except (ValueError, OSError, KeyError) as error:
        print(f"Nothing was written: {error}", file=sys.stderr)
        return 2
    for chapter, exercises in done.items():
        print(f"  {chapter}: {', '.join(exercises)}")
    count = sum(map(len, done.values()))
    print(f"{count} answers of {name} are in {target.resolve()}" if count > 1 else f"1 answer of {name} is in {target.resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
