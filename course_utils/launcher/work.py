"""The learner's own copies of the chapters, in the folder ``work``: made, brought up to date, never lost. Standard library only.

``chapters`` stays as it was delivered. A copy remembers the text that it was made from: that is kept, without outputs, in ``work/.base``
under the first letters of its SHA-256, and the copy names it. When the chapter has changed, the copy is made again from the new text, and
what the learner wrote is put back. What was there before lies in ``work/.backup``. A file is always replaced in one step, so that a copy
is the old one or the new one, whatever happens in between.
"""

from __future__ import annotations

import contextlib
import copy
import os
import platform
import subprocess
import time
from pathlib import Path

from ..files import write_bytes
from ..paths import own_folder
from .merge import merge
from .notebooks import Damaged, Notebook, answered, answers_of, chapters_in, encoded, key_of, parse, read, without_outputs
from .progress import progress_file, what_next
from .progress import read as read_progress

FOLDER, BASES, BACKUPS = "work", ".base", ".backup"


class Work:
    """The folder ``work`` beside ``chapters``, or, where those are shared, in the learner's own folder."""

    def __init__(self, root: Path):
        self.root, self.own, self.chapters = root, own_folder(root), root / "chapters"
        self.folder = self.own / FOLDER

    def bring_up_to_date(self, day: str | None = None) -> list[str]:
        """Make what is missing, and anew what has changed; returns what to tell the learner, chapter by chapter.

        One chapter that cannot be done (a full disk, a file that is no notebook) does not keep the others from it.
        """
        told: list[str] = []
        day = day or time.strftime("%Y-%m-%d")
        with self._alone():
            for path in chapters_in(self.chapters):
                try:
                    told += self._one(path, day)
                except Damaged as error:
                    told.append(f"chapters/{error}; it was left alone.")
                except OSError as error:
                    told.append(f"{path.stem}: your copy stays as it is: the new one could not be written ({error.strerror or error}).")
        return told

    def restart(self, chapter: str) -> list[Path]:
        """A fresh copy of a chapter such as "03" and of its companion; what there was goes to the backups. Returns where that lies.

        ValueError for a chapter that does not exist, where there is no course, and where nothing can be written.
        """
        if not self.chapters.is_dir():
            raise ValueError(f"there is no course in {self.root}: a fresh copy is made from its folder chapters")
        found, kept = chapters_in(self.chapters, chapter), []
        if not found:
            raise ValueError(f"there is no chapter {chapter}")
        try:
            with self._alone():
                for path in found:
                    target, delivered = self._copy_of(path), _delivered(path, read(path))
                    kept += [self._keep(target)] if target.exists() else []
                    self._place(target, delivered, delivered)
        except OSError as error:
            raise ValueError(f"your copy stays as it is: nothing can be written in {self.folder} ({error.strerror or error})") from None
        return kept

    def begin_again(self, chapter: str) -> str:
        """`restart`, and what to tell the learner: where the old copies lie, in full where the folder is not that of the course."""
        kept = [str(path.relative_to(self.own) if self.own == self.root else path) for path in self.restart(chapter)]
        where = FOLDER if self.own == self.root else self.folder
        return f"{where}/ has a fresh copy of chapter {chapter}." + (f" Yours lies in {' and '.join(kept)}." if kept else "")

    def copies(self) -> list[Path]:
        """The learner's copies, in order."""
        return chapters_in(self.folder)

    def _copy_of(self, path: Path) -> Path:
        return self.folder / path.relative_to(self.chapters)

    def _one(self, path: Path, day: str) -> list[str]:
        new, target = read(path), self._copy_of(path)
        given, delivered = set(answered(new)), _delivered(path, new)  # given: what somebody has typed into chapters/ itself
        if not target.exists():
            self._place(target, new, delivered)
            return [f"{path.stem}: the answers in chapters/ are now in work/ ({', '.join(sorted(given))}). Go on there."] if given else []
        try:
            mine = read(target)
        except Damaged as error:
            kept = self._keep(target)
            self._place(target, new, delivered)
            return [f"{path.stem}: {error}. It now lies in {kept.relative_to(self.own)}, and work/ has a fresh copy."]
        told, merged = [], mine
        version, made_from = key_of(delivered), mine["metadata"].get("course", {}).get("copy")
        taken = sorted(given - set(answered(mine)))
        if made_from == version and not taken:
            return []
        if made_from != version:
            merged, news = merge(mine, self._base(path.stem, made_from), delivered, day)
            told.append(f"{path.stem}: the chapter has changed, and your copy with it" + (f" ({news})" if str(news) else "") + ".")
        for exercise in taken:  # typed into chapters/ since
            if exercise in answers_of(merged):
                answers_of(merged)[exercise]["source"] = answers_of(new)[exercise]["source"]
            told.append(f"{path.stem}: the answer to {exercise} in chapters/ is now in work/, too.")
        self._keep(target)
        self._place(target, merged, delivered)
        return told

    def _place(self, target: Path, notebook: Notebook, made_from: Notebook) -> None:
        """Write a copy, after the text that it was made from: a copy never names a text that is not there."""
        key = key_of(made_from)
        base = self.folder / BASES / f"{target.stem}.{key}.ipynb"
        if not base.exists():
            write_bytes(base, encoded(without_outputs(made_from)))
        notebook = copy.deepcopy(notebook)
        notebook["metadata"].setdefault("course", {})["copy"] = key
        if "version" in notebook["metadata"].get("language_info", {}):  # of another Python it would count as changed when it is opened
            notebook["metadata"]["language_info"]["version"] = platform.python_version()
        write_bytes(target, encoded(notebook))

    def _keep(self, target: Path) -> Path:
        """Copy a file to the backups, under a name with the time; returns where it lies."""
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        for number in range(1000):
            kept = self.folder / BACKUPS / f"{target.stem}.{stamp}{f'_{number}' if number else ''}.ipynb"
            if not kept.exists():
                write_bytes(kept, target.read_bytes())
                return kept
        raise FileExistsError(f"{kept} exists")

    def _base(self, stem: str, key: str | None) -> Notebook | None:
        with contextlib.suppress(OSError, Damaged):
            return read(self.folder / BASES / f"{stem}.{key}.ipynb")
        return None

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
        if pid and os.name != "nt":  # there, os.kill would end it
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        pass
    return True


def _delivered(path: Path, chapter: Notebook) -> Notebook:
    """A chapter without the answers that somebody has typed into it, as far as git knows how it was delivered."""
    if answered(chapter):
        with contextlib.suppress(OSError, Damaged, subprocess.SubprocessError):
            done = subprocess.run(["git", "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True, timeout=20, check=True)
            committed = parse(done.stdout, path.name)
            return committed if not answered(committed) else chapter
    return chapter


def next_exercise(work: Work) -> tuple[Path, str] | None:
    """The copy and the exercise to go on with; None where nothing is done yet, or everything."""
    try:
        done = read_progress(progress_file(work.root))
    except OSError:
        done = {}
    where: dict[str, Path] = {}
    for path in work.copies():
        with contextlib.suppress(Damaged, OSError):
            where |= dict.fromkeys(answers_of(read(path)), path)
    chapters = [name for name, path in where.items() if path.parent == work.folder]  # a companion is led to when they are done
    name = (what_next(chapters, done) or what_next(list(where), done)) if done else None
    return (where[name], name) if name else None
