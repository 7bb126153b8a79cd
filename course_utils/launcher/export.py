"""One zip of everything you have answered, to hand in; ``course.py grade`` takes it. Standard library only."""

from __future__ import annotations

import getpass
import os
import re
import secrets
import time
import zipfile
from pathlib import Path

from ..paths import ROOT, own_folder
from .merge import counted
from .notebooks import DEEPER, Damaged, answered, chapters_in, encoded, read, without_outputs


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
    folders = [place / deeper for place in (own_folder(root) / "work", root / "chapters") for deeper in ("", DEEPER)]
    for path in sorted((path for folder in folders for path in folder.glob("[!.]*.ipynb")), key=lambda path: path.name):
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


def hand_in(name: str | None = None, root: Path = ROOT) -> None:
    """From a cell: put everything you have answered, as it was last saved, where your instructor collects it, and say so.

    That is the folder which the variable ``COURSE_EXCHANGE`` names; without one the zip lies in your own folder, for you to hand in.
    ``name``: whose answers these are; without it, the name you are logged in with. Never raises for a learner.
    """
    name, exchange = name or os.environ.get("JUPYTERHUB_USER") or getpass.getuser(), os.environ.get("COURSE_EXCHANGE")
    own = own_folder(root)
    # Nobody else can list an exchange or guess the name of a file in it: so it may be readable for the instructor.
    file = f"{re.sub('[^A-Za-z0-9._-]+', '_', name)}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{secrets.token_hex(8 if exchange else 2)}.zip"
    target = (Path(exchange) if exchange else own) / file
    try:
        write_zip(str(target), name, root)
        target.chmod(0o644)
        saved = max((path.stat().st_mtime for path in chapters_in(own / "work")), default=time.time())
    except (ValueError, OSError, KeyError) as error:
        return print(f"Nothing was handed in: {error}")
    clock = time.strftime("%H:%M:%S", time.localtime(saved))
    print(f"{'Handed in' if exchange else 'Ready: hand in this file'}. It holds what you had saved by {clock}.")
    print("After a change, save (Ctrl-S) and run this again: the newest counts.")


def write_zip(file: str | None, name: str | None, root: Path) -> None:
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
