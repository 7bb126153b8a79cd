"""The learner's own copies of the chapters, in the folder ``work``: made, brought up to date, never lost. Standard library only.

``chapters`` stays as it was delivered. A copy remembers the text that it was made from: that is kept, without outputs, in ``work/.base``
under the first letters of its SHA-256, and the copy names it. When the chapter has changed, the copy is made again from the new text, and
what the learner wrote is put back. When a chapter has been cut in two, its answers move into the copies of its parts. What was there
before lies in ``work/.backup``. A file is always replaced in one step, so that a copy is the old one or the new one, whatever happens in
between.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import platform
import subprocess
import time
from pathlib import Path

from .export import answered, former_ids
from .merge import (
    Damaged,
    Notebook,
    answer_id,
    answers_of,
    key_of,
    merge,
    read,
    same_task,
    source_of,
    task_note,
    text_key,
    without_outputs,
)

FOLDER, BASES, BACKUPS = "work", ".base", ".backup"


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


class Work:
    """The folder ``work`` beside ``chapters``."""

    def __init__(self, root: Path):
        self.root, self.folder, self.chapters = root, root / FOLDER, root / "chapters"

    def bring_up_to_date(self, day: str | None = None) -> list[str]:
        """Make what is missing, and anew what has changed; returns what to tell the learner, chapter by chapter.

        One chapter that cannot be done (a full disk, a file that is no notebook) does not keep the others from it.
        """
        told: list[str] = []
        day = day or time.strftime("%Y-%m-%d")
        with self._alone():
            today = self._today()
            chapters = [path for path in sorted(self.chapters.glob("[0-9][0-9]*_*.ipynb")) if not _cut_in_two(path, today)]
            for path in chapters:
                try:
                    told += self._one(path, day)
                except Damaged as error:
                    told.append(f"chapters/{error}; it was left alone.")
                except OSError as error:
                    told.append(f"{path.stem}: your copy stays as it is: the new one could not be written ({error.strerror or error}).")
            for path in self.copies():
                if path.name not in {chapter.name for chapter in chapters}:
                    try:
                        told += self._take_over(path, today, day)
                    except Damaged:
                        continue
                    except OSError as error:
                        told.append(f"{path.stem}: your answers stay there: they could not be moved ({error.strerror or error}).")
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
            taken_over = mine["metadata"].get("course", {}).get("taken")
            if taken_over:
                merged["metadata"].setdefault("course", {})["taken"] = taken_over
            told.append(_news(path.stem, what))
        else:
            merged = mine
        for exercise in taken:  # typed into chapters/ since
            self._put(merged, new, exercise)
            told.append(f"{path.stem}: the answer to {exercise} in chapters/ is now in work/, too.")
        self._keep(target)
        self._place(target, merged, pristine or new)
        return told

    def _today(self) -> dict[str, str]:
        """Former ids of exercises and those of today, over all chapters."""
        found: dict[str, str] = {}
        for path in self.chapters.glob("[0-9][0-9]*_*.ipynb"):
            with contextlib.suppress(Damaged, OSError):
                found |= {was: now for now, was in former_ids(read(path)).items()}
        return found

    def _take_over(self, old: Path, today: dict[str, str], day: str) -> list[str]:
        """Move the answers of a chapter that has been cut in two into the copies of its parts, and its copy to the backups.

        An answer is put where there is none yet; the part's copy notes that it has it, so that a run that was killed goes on where it was.
        A notebook that was not made from a chapter is left alone, and so is one with an answer that has no place.
        """
        mine = read(old)
        bases = sorted((self.folder / BASES).glob(f"{old.stem}.*.ipynb"), key=lambda path: path.stat().st_mtime)
        if not bases:
            return []  # a notebook of the learner's own
        base = self._base(old.stem, mine["metadata"].get("course", {}).get("copy")) or read(bases[-1])
        own, blank, names, taken, changed = answers_of(mine), answers_of(base), [], [], []
        open_ = {name for name in answered(mine) if name not in blank or source_of(blank[name]) != source_of(own[name])}
        for path in sorted(self.chapters.glob("[0-9][0-9]*_*.ipynb")):
            new, target = read(path), self.folder / path.name
            ids = {was: now for now, was in former_ids(new).items() if was in own and not _cut_in_two(path, today)}
            if not ids:
                continue
            part = read(target)
            course = part["metadata"].setdefault("course", {})
            before, noted = copy.deepcopy(part), dict(course.get("taken", {}))
            names.append(path.stem)
            given = answers_of(part)
            for was, now in ids.items():
                if was not in open_ or now not in given:
                    continue
                text, there = source_of(own[was]), source_of(given[now])
                if noted.get(now) != text_key(text) and there != text:
                    if now in answered(part):
                        continue  # two answers: both stay where they are
                    given[now]["source"] = text
                    given[now]["outputs"] = own[was].get("outputs", [])
                    given[now]["execution_count"] = own[was].get("execution_count")
                    if not same_task(base, was, new, now, today):
                        changed.append(now)
                        part["cells"].insert(part["cells"].index(given[now]) + 1, task_note(now, day))
                    taken.append(now)
                noted[now] = text_key(text)
                open_.discard(was)
            if noted:
                course["taken"] = noted
            if part != before:
                self._keep(target)
                write(target, part)
        if not names:
            return []
        where = " and ".join(names)
        moved = f"{len(taken)} answer{'s' * (len(taken) != 1)} taken over" if taken else "its answers are there" if answered(mine) else ""
        if changed:
            moved += f", the task has changed in {', '.join(changed)}: see the note there"
        news = f"{old.stem} is now {where}{f' ({moved})' if moved else ''}."
        if open_:
            return [
                f"{news} work/{old.name} stays, with your answers to {', '.join(sorted(open_))}: "
                "the new chapters have another answer there already, or no such exercise."
            ]
        kept = self._keep(old)
        old.unlink()
        others = len(merge(mine, base, base, day)[1]["own cells"])
        beside = f" with {others} cell{'s' * (others != 1)} of your own" if others else ""
        return [f"{news} The old copy{beside} lies in {kept.relative_to(self.root)}."]

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
        source = next(source_of(cell) for cell in given["cells"] if cell.get("id") == answer_id(given, exercise))
        for cell in notebook["cells"]:
            if cell.get("id") == answer_id(notebook, exercise):
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


def _cut_in_two(path: Path, today: dict[str, str]) -> bool:
    """Whether all exercises of a chapter are in other chapters now: an old file that lies there still, perhaps under a newer edition."""
    try:
        stubs = read(path)["metadata"].get("course", {}).get("stubs", {})
    except (Damaged, OSError, AttributeError):
        return False
    return bool(stubs) and set(stubs) <= set(today)


def _blank(new: Notebook, pristine: Notebook | None) -> Notebook:
    """The chapter without answers that somebody typed into it, as far as its stubs are known."""
    return pristine if answered(new) and pristine else new


def counted(number: int, noun: str) -> str:
    """``1 answer``, ``2 answers``."""
    return f"{number} {noun}" + "s" * (number != 1)


def _news(stem: str, what: dict[str, list[str]]) -> str:
    """One line on what an update has done."""
    parts = [f"{counted(len(what['answers']), 'answer')} put back"] if what["answers"] else []
    if what["changed tasks"]:
        parts.append(f"the task has changed in {', '.join(what['changed tasks'])}: see the note there")
    if what["own cells"]:
        parts.append(f"{counted(len(what['own cells']), 'cell')} of your own kept")
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
            notebook = read(path)
            for name, was in former_ids(notebook).items():  # done before its chapter was cut in two
                if was in done:
                    done[name] = max(done[was], done.get(name, {}), key=lambda entry: (bool(entry.get("passed")), entry.get("points", 0)))
            rows += [(path, name) for name in answers_of(notebook)]
    passed = [bool(done.get(name, {}).get("passed")) for _, name in rows]
    last = max((i for i, right in enumerate(passed) if right), default=-1)
    begun = [row for row, right in zip(rows, passed, strict=True) if done.get(row[1], {}).get("points") and not right]
    if not done:
        return None
    still = [row for row in (*begun, *rows[last + 1 :], *rows[: last + 1]) if not done.get(row[1], {}).get("passed")]
    return still[0] if still else None
