"""The learner's own copies of the chapters, in the folder ``work``: made, brought up to date, never lost. Standard library only.

``chapters`` stays as it was delivered. A copy remembers the text that it was made from: that is kept, without outputs, in ``work/.base``
under the first letters of its SHA-256, and the copy names it. When the chapter has changed, the copy is made again from the new text, and
what the learner wrote is put back. What was there before lies in ``work/.backup``. A file is always replaced in one step, so that a copy
is the old one or the new one, whatever happens in between.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import hashlib
import json
import os
import platform
import re
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

from course_export import answered

Notebook = dict[str, Any]
Cell = dict[str, Any]
FOLDER, BASES, BACKUPS = "work", ".base", ".backup"


class Damaged(ValueError):
    """A file that is no notebook."""


def read(path: Path) -> Notebook:
    """The notebook in a file; :class:`Damaged` where there is none to be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = source_of(cell)
            course_of(cell)
        notebook["metadata"].get("course")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{path.name} cannot be read as a notebook ({type(error).__name__})") from None
    return notebook


def write(path: Path, notebook: Notebook | bytes) -> None:
    """Put a notebook in place in one step. OSError, and the old file as it was, where that is not possible."""
    data = notebook if isinstance(notebook, bytes) else (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for attempt in range(6):
            try:
                os.replace(fresh, path)
                return
            except PermissionError:  # on Windows another program may hold it for a moment
                if attempt == 5:
                    raise
                time.sleep(0.1 * (attempt + 1))
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def source_of(cell: Cell) -> str:
    """The text of a cell, as one string."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def course_of(cell: Cell) -> dict[str, Any]:
    """What the course has noted on a cell: the exercise and its role."""
    found = cell.get("metadata", {}).get("course", {})
    return found if isinstance(found, dict) else {}


def key_of(notebook: Notebook) -> str:
    """The first letters of the SHA-256 of a chapter's cells, outputs and answers left out: what tells one version from another."""
    stubs = _stubs(notebook)
    parts = [(cell["cell_type"], cell.get("id"), source_of(cell) if course_of(cell).get("role") != "answer" else
              stubs.get(course_of(cell).get("exercise"))) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def without_outputs(notebook: Notebook) -> Notebook:
    """A notebook with the same cells, and nothing that was computed."""
    bare = copy.deepcopy(notebook)
    for cell in bare["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return bare


# ---------------------------------------------------------------- putting back what the learner wrote

def merge(mine: Notebook, base: Notebook | None, new: Notebook, day: str) -> tuple[Notebook, dict[str, list[str]]]:
    """The new chapter with what the learner wrote in ``mine``, a copy of ``base``; and what was put back, in words.

    Answers stand in their exercise again, byte by byte. The learner's own cells stand behind the cell they stood behind. Cells of the
    course that the learner has changed stay so where the new text has the same cell; else the change stands beside the new cell.
    ``base`` None (lost): every cell that is in neither the new chapter nor an exercise counts as the learner's own.
    """
    result, told = copy.deepcopy(new), {"answers": [], "changed tasks": [], "own cells": [], "kept beside": []}
    base_cells = base["cells"] if base else []
    old_ids, new_ids = ([cell.get("id") for cell in cells] for cells in (base_cells, new["cells"]))
    by_id, was = {cell.get("id"): cell for cell in result["cells"]}, {cell.get("id"): cell for cell in base_cells}
    place = _places(old_ids, new_ids)
    stubs = {digest for notebook in (mine, base, new) if notebook for digest in _stubs(notebook).values()}
    own_answers = _answers(mine)
    answers = {name: cell for name, cell in own_answers.items() if hashlib.sha256(
        cell["source"].replace("\r\n", "\n").encode()).hexdigest() not in stubs}
    behind: dict[str | None, list[Cell]] = {}  # what goes behind a cell of the new chapter; None: in front of them all
    last: str | None = None
    seen: set[str] = set()
    for cell in mine["cells"]:
        name = course_of(cell).get("exercise")
        is_answer = own_answers.get(name) is cell
        target = by_id.get(_answer_id(result, name)) if is_answer else by_id.get(cell.get("id"))
        if is_answer:
            if name in answers:
                told["answers"].append(name)
                if target is None:  # the exercise is gone
                    behind.setdefault(last, []).extend([_note(f"Your answer to exercise {name}, which the course no longer has:", day),
                                                        _own(cell)])
                elif target["source"] == cell["source"]:
                    _same(target, cell)
                else:
                    target["source"] = cell["source"]
                    _same(target, cell)
                    if base and _task(base, name) != _task(new, name):
                        told["changed tasks"].append(name)
                        behind.setdefault(target["id"], []).append(_note(f"**The task of exercise {name} has changed** since you wrote "
                                                                         "this answer. Read it again, then run the check.", day))
        elif target is not None and cell.get("id") not in seen:
            seen.add(cell["id"])
            if target["source"] == cell["source"]:
                _same(target, cell)
            elif cell["id"] in was and was[cell["id"]]["source"] != cell["source"] or not base:
                told["own cells"].append(cell["id"])  # the course's cell is as it was: the learner's version stays
                target["source"] = cell["source"]
                _same(target, cell)
        elif cell.get("id") in was and cell.get("id") not in seen:
            seen.add(cell["id"])
            if was[cell["id"]]["source"] != cell["source"]:
                told["kept beside"].append(cell["id"])
                fence = "```" if "```" not in cell["source"] else "~~~~"
                lead = f"{fence}{'python' if cell['cell_type'] == 'code' else 'markdown'}\n"
                behind.setdefault(place.get(cell["id"]), []).append(_note(
                    f"The text of the course has changed here. Your version of the old cell was:\n\n{lead}{cell['source']}\n{fence}", day))
        elif cell["source"].strip() or cell["cell_type"] != "code":
            told["own cells"] += [] if course_of(cell).get("role") == "note" else [str(cell.get("id"))]
            behind.setdefault(last, []).append(_own(cell))
            continue
        last = target["id"] if target is not None else place.get(cell.get("id"), last)
    cells = [*behind.pop(None, [])]
    for cell in result["cells"]:
        cells += [cell, *behind.pop(cell.get("id"), [])]
    result["cells"] = [*cells, *(cell for rest in behind.values() for cell in rest)]
    _ids_apart(result["cells"])
    return result, told


def _places(old: list[str], new: list[str]) -> dict[str, str | None]:
    """For every cell of the old chapter the one of the new chapter that stands in its place."""
    found: dict[str, str | None] = {}
    for _, i, end, j, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for k in range(i, end):
            at = min(j + k - i, stop - 1)
            found[old[k]] = new[at] if at >= 0 else None
    return found


def _stubs(notebook: Notebook) -> dict[str, str]:
    """The hash of every blank answer cell, by exercise, in the order of the chapter."""
    found = notebook["metadata"].get("course", {}).get("stubs", {})
    return found if isinstance(found, dict) else {}


def _answers(notebook: Notebook) -> dict[str, Cell]:
    """The answer cell of every exercise: the one with the course's id where a learner has copied it, else the first."""
    found: dict[str, Cell] = {}
    for cell in notebook["cells"]:
        course = course_of(cell)
        name = course.get("exercise")
        if course.get("role") == "answer" and (name not in found or cell.get("id") == f"ex-{str(name).replace('.', '-')}-answer"):
            found[name] = cell
    return found


def _answer_id(notebook: Notebook, exercise: str | None) -> str | None:
    """The id of the answer cell of an exercise."""
    return _answers(notebook).get(exercise, {}).get("id")


def _task(notebook: Notebook, exercise: str) -> tuple[str | None, str | None]:
    """The stub of an exercise, as its hash, and the text above it."""
    stub = _stubs(notebook).get(exercise)
    text = next((source_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
                 and re.search(rf"(?m)^### Exercise {re.escape(exercise)} ", source_of(cell))), None)
    return stub, text


def _same(target: Cell, cell: Cell) -> None:
    """Give a cell of the new chapter what the learner's had computed."""
    if target["cell_type"] == cell["cell_type"] == "code":
        target["outputs"], target["execution_count"] = cell.get("outputs", []), cell.get("execution_count")


def _own(cell: Cell) -> Cell:
    kept = copy.deepcopy(cell)
    if course_of(cell).get("role") != "note":
        kept.get("metadata", {}).pop("course", None)
    return kept


def _note(text: str, day: str) -> Cell:
    """A few words of ours beside something that the learner wrote."""
    return {"cell_type": "markdown", "id": uuid.uuid4().hex[:12], "metadata": {"course": {"role": "note"}}, "source": f"> *{day}:* {text}"
            if "\n" not in text else f"*{day}:* {text}"}


def _ids_apart(cells: list[Cell]) -> None:
    """No two cells of a notebook may have one id."""
    seen: set[str] = set()
    for cell in cells:
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = uuid.uuid4().hex[:12]
        seen.add(cell["id"])


# ------------------------------------------------------------------------------------ the folder

class Work:
    """The folder ``work`` beside ``chapters``."""

    def __init__(self, root: Path):
        self.root, self.folder, self.chapters = root, root / FOLDER, root / "chapters"

    def bring_up_to_date(self, day: str | None = None) -> list[str]:
        """Make what is missing, and anew what has changed; returns what to tell the learner, chapter by chapter.

        One chapter that cannot be done (a full disk, a file that is no notebook) does not keep the others from it.
        """
        told: list[str] = []
        with self._alone():
            for path in sorted(self.chapters.glob("[0-9][0-9]*_*.ipynb")):
                try:
                    told += self._one(path, day or time.strftime("%Y-%m-%d"))
                except Damaged as error:
                    told.append(f"chapters/{error}; it was left alone.")
                except OSError as error:
                    told.append(f"{path.stem}: your copy stays as it is, the new one could not be written ({error.strerror or error}).")
        return told

    def restart(self, chapter: str) -> Path:
        """A fresh copy of a chapter such as "03"; the one there was goes to the backups. Returns where that lies.

        ValueError for a chapter that does not exist.
        """
        found = [path for path in self.chapters.glob("[0-9][0-9]*_*.ipynb") if path.name.split("_")[0] == chapter]
        if not found:
            raise ValueError(f"there is no chapter {chapter}")
        with self._alone():
            new, target = read(found[0]), self.folder / found[0].name
            kept = self._keep(target) if target.exists() else None
            self._place(target, _blank(new, self._pristine(found[0])), new)
        return kept

    def copies(self) -> list[Path]:
        """The learner's copies, in order."""
        return sorted(self.folder.glob("[0-9][0-9]*_*.ipynb"))

    def _one(self, path: Path, day: str) -> list[str]:
        new, target = read(path), self.folder / path.name
        given = set(answered(new))  # answers that somebody has typed into chapters/ itself
        pristine = self._pristine(path) if given else new
        if not target.exists():
            self._place(target, new, pristine or new)
            return [f"{path.stem}: the answers in chapters/ are now in work/ ({', '.join(sorted(given))}). Go on there."] if given else []
        try:
            mine = read(target)
        except Damaged as error:
            kept = self._keep(target)
            self._place(target, new, pristine or new)
            return [f"{path.stem}: {error}. It now lies in {kept.relative_to(self.root)}, and work/ has a fresh copy."]
        told = []
        version, made_from = key_of(pristine or new), mine["metadata"].get("course", {}).get("copy")
        taken = sorted(given - set(answered(mine)))
        if made_from == version and not taken:
            return []
        if made_from != version:
            base = self._base(path.stem, made_from)
            merged, what = merge(mine, base, _blank(new, pristine), day)
            told.append(_news(path.stem, what))
        else:
            merged = mine
        for exercise in taken:  # typed into chapters/ since
            self._put(merged, new, exercise)
            told.append(f"{path.stem}: the answer to {exercise} in chapters/ is now in work/, too.")
        self._keep(target)
        self._place(target, merged, pristine or new)
        return told

    def _place(self, target: Path, notebook: Notebook, made_from: Notebook) -> None:
        """Write a copy, after the text that it was made from: a copy never names a text that is not there."""
        key = key_of(made_from)
        base = self.folder / BASES / f"{target.stem}.{key}.ipynb"
        if not base.exists():
            write(base, without_outputs(made_from))
        notebook = copy.deepcopy(notebook)
        notebook["metadata"].setdefault("course", {})["copy"] = key
        if "version" in notebook["metadata"].get("language_info", {}):  # of another Python it would count as changed when it is opened
            notebook["metadata"]["language_info"]["version"] = platform.python_version()
        write(target, notebook)

    def _keep(self, target: Path) -> Path:
        """Copy a file to the backups, under a name with the time; returns where it lies."""
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        for number in range(1000):
            kept = self.folder / BACKUPS / f"{target.stem}.{stamp}{f'_{number}' if number else ''}.ipynb"
            if not kept.exists():
                write(kept, target.read_bytes())
                return kept
        raise FileExistsError(f"{kept} exists")

    def _base(self, stem: str, key: str | None) -> Notebook | None:
        with contextlib.suppress(OSError, Damaged):
            return read(self.folder / BASES / f"{stem}.{key}.ipynb")
        return None

    def _pristine(self, path: Path) -> Notebook | None:
        """The chapter as it was delivered, where answers have been typed into it: git knows. None where it does not."""
        try:
            done = subprocess.run(["git", "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True, timeout=20)
            notebook = json.loads(done.stdout) if not done.returncode else None
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        if notebook:
            for cell in notebook["cells"]:
                cell["source"] = source_of(cell)
        return notebook if notebook and not answered(notebook) else None

    @staticmethod
    def _put(notebook: Notebook, given: Notebook, exercise: str) -> None:
        source = next(source_of(cell) for cell in given["cells"] if cell.get("id") == _answer_id(given, exercise))
        for cell in notebook["cells"]:
            if cell.get("id") == _answer_id(notebook, exercise):
                cell["source"] = source

    @contextlib.contextmanager
    def _alone(self):
        """One at a time; a lock whose owner is gone is taken over."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock, until = self.folder / ".lock", time.monotonic() + 30
        while True:
            try:
                handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                with contextlib.suppress(OSError):  # a full disk
                    os.write(handle, str(os.getpid()).encode())
                os.close(handle)
                break
            except FileExistsError:
                if time.monotonic() > until or not _alive(lock):
                    with contextlib.suppress(OSError):
                        lock.unlink()
                time.sleep(0.05)
        try:
            for rest in self.folder.rglob(".*.part"):  # of a run that was killed
                with contextlib.suppress(OSError):
                    rest.unlink()
            yield
        finally:
            with contextlib.suppress(OSError):
                lock.unlink()


def _alive(lock: Path) -> bool:
    """Whether the process that holds the lock still runs, as far as one can tell."""
    try:
        pid = int(lock.read_text() or 0)
    except (OSError, ValueError):
        return True
    return running(pid) if pid else True


def running(pid: int) -> bool:
    """Whether there is a process of this number."""
    if os.name == "nt":
        return True  # os.kill would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _blank(new: Notebook, pristine: Notebook | None) -> Notebook:
    """The chapter without answers that somebody typed into it, as far as its stubs are known."""
    return pristine if answered(new) and pristine else new


def _news(stem: str, what: dict[str, list[str]]) -> str:
    """One line on what an update has done."""
    parts = [f"{len(what['answers'])} answers put back" if len(what["answers"]) != 1 else "1 answer put back"] if what["answers"] else []
    if what["changed tasks"]:
        parts.append(f"the task has changed in {', '.join(what['changed tasks'])}: see the note there")
    if what["own cells"]:
        parts.append(f"{len(what['own cells'])} cells of your own kept")
    if what["kept beside"]:
        parts.append(f"{len(what['kept beside'])} of your changes kept beside the new text")
    return f"{stem}: the chapter has changed, and your copy with it" + (f" ({'; '.join(parts)})" if parts else "") + "."


def next_exercise(work: Work, progress: Path) -> tuple[Path, str] | None:
    """The copy and the exercise to go on with: one begun and not finished, else the first open one behind the last one done."""
    try:
        done = json.loads(progress.read_text(encoding="utf-8"))
        done = {str(key): entry for key, entry in done.items() if isinstance(entry, dict)}
    except (OSError, ValueError, AttributeError):
        done = {}
    rows: list[tuple[Path, str]] = []
    for path in work.copies():
        with contextlib.suppress(Damaged, OSError):
            rows += [(path, name) for name in _answers(read(path))]
    passed = [bool(done.get(name, {}).get("passed")) for _, name in rows]
    last = max((i for i, right in enumerate(passed) if right), default=-1)
    begun = [row for row, right in zip(rows, passed, strict=True) if done.get(row[1], {}).get("points") and not right]
    if not done:
        return None
    still = [row for row in (*begun, *rows[last + 1:], *rows[:last + 1]) if not done.get(row[1], {}).get("passed")]
    return still[0] if still else None
