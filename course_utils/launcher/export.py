"""One zip of everything you have answered, to hand in; ``course.py grade`` takes it. Standard library only."""

from __future__ import annotations

import getpass
import re
import zipfile
from pathlib import Path

from .merge import counted
from .notebooks import DEEPER, Damaged, answered, encoded, read, without_outputs


def export(target: Path, name: str, root: Path) -> dict[str, list[str]]:
    """Write ``name/chapter.ipynb`` for every chapter with an answer into the zip ``target``; returns ``{chapter: exercises}``.

    The learner's copies in ``work`` come first; a chapter that is answered nowhere but in ``chapters`` is taken from there. Outputs are
    left out: grading runs the notebook again, and pictures are large.

    Raises ValueError, and writes nothing, for a name that cannot be a folder, a chapter that cannot be read, no answers at all,
    or a target that exists; OSError where a file cannot be read or written.
    """
    if not re.fullmatch(r"[^\x00-\x1f/\\:*?\"<>|]{1,80}", name) or name.strip(". ") != name:
        raise ValueError(f"{name!r} cannot be the name of a folder; choose one with --name")
    if target.exists():
        raise ValueError(f"{target} exists already; name another file")
    done: dict[str, list[str]] = {}
    content: dict[str, bytes] = {}
    folders = [root / folder for folder in ("work", f"work/{DEEPER}", "chapters", f"chapters/{DEEPER}")]
    for path in sorted((path for folder in folders for path in folder.glob("*.ipynb")), key=lambda path: path.name):
        try:
            notebook = read(path)
        except Damaged as error:
            raise ValueError(f"{error}; open and save it in JupyterLab") from None
        exercises = answered(notebook)
        if exercises and path.stem not in done:  # sorting is stable: that of work/ stands first
            done[path.stem], content[f"{name}/{path.name}"] = exercises, encoded(without_outputs(notebook))
    if not done:
        raise ValueError("no exercise is answered yet (save your notebooks first: Ctrl-S)")
    try:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            for member, data in content.items():
                archive.writestr(member, data)
    except BaseException:
        target.unlink(missing_ok=True)  # half a zip is worse than none
        raise
    return done


def hand_in(file: str | None, name: str | None, root: Path) -> None:
    """Write the zip, ``answers_NAME.zip`` unless a file is named, and say what is in it. ValueError or OSError, with one sentence."""
    name = name or getpass.getuser()
    target = Path(file or f"answers_{name.replace(' ', '_')}.zip")
    if target.suffix.lower() != ".zip":
        target = target.with_name(target.name + ".zip")
    done = export(target, name, root)
    for chapter, exercises in done.items():
        print(f"  {chapter}: {', '.join(exercises)}")
    count = sum(map(len, done.values()))
    print(f"{counted(count, 'answer')} of {name} {'is' if count == 1 else 'are'} in {target.resolve()}")
