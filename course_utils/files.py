"""Files that are written as a whole or not at all, and folders for one user alone. Standard library only, readable by an old Python."""

import contextlib
import os
import time
from pathlib import Path


def move(source: Path, target: Path) -> None:
    """Put a file in the place of another in one step; on Windows another program may hold that for a moment."""
    for attempt in range(6):
        try:
            os.replace(str(source), str(target))
            return
        except PermissionError:
            if os.name != "nt" or attempt == 5:
                raise
            time.sleep(0.1 * (attempt + 1))


def write_bytes(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file as a whole or not at all; ``mode``: its rights, such as 0o600 for a file that only its owner reads.

    Missing folders are made. OSError, and the old file as it was, where it cannot be written. The name of the unfinished file
    holds the number of the process, so that two may write one file; the later one wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(os.open(str(beside), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        move(beside, path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; what lies in it already becomes the owner's alone, too.

    OSError where the folder cannot be made. Windows has no such rights: there a user's own folder is private as it is.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "nt":
        return
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(OSError):  # gone by now, or another user's
            if not path.is_symlink() and path.stat().st_mode & 0o077:
                path.chmod(0o700 if path.is_dir() else 0o600)
