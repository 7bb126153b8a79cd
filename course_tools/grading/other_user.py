"""Walls without namespaces: another user. Root starts the fork server, which keeps nothing of root but the right to make a submission
somebody else, and to end it. Used where a container forbids namespaces; runs on both sides."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
from collections.abc import Callable

FIRST, MANY = 61184, 1000  # numbers that systems leave free, three for each judge: its submission's, its supervisor's, and the killer's
VARIABLE = "COURSE_GRADING_USER"  # tells those inside who a submission is
NO_NEW_PRIVILEGES, DUMPABLE, KEEP_RIGHTS, DROP_BOUND = 38, 4, 8, 24
KILL, SET_GROUP, SET_USER = 5, 6, 7  # the capabilities that the supervisor keeps
PUBLIC = ("/tmp", "/var/tmp", "/dev/shm")  # where anybody may write
_libc = ctypes.CDLL(None, use_errno=True)
_user = int(os.environ.get(VARIABLE, "0"))


def user_of(judge: int) -> int:
    """The user that submissions of a judge's process become; the two numbers after it keep watch over them."""
    return FIRST + 3 * (judge % MANY)


def submission_user() -> int:
    """Who a submission is here; 0 where its walls are others."""
    return _user


def become(user: int, keep: tuple[int, ...] = (), behind: int = 0) -> None:
    """Be another user from now on, in this process and its forks, with no right but those in ``keep``; no program gives any back.
    ``behind`` another one, a process can reach that user's without being reached by them."""
    if os.getuid() == 0:
        os.setgroups([])
        for capability in range(64):
            if capability not in keep:
                _libc.prctl(DROP_BOUND, capability, 0, 0, 0)
    _libc.prctl(KEEP_RIGHTS, 1, 0, 0, 0)
    os.setresgid(user, user, user)
    os.setresuid(behind or user, user, behind or user)
    rights = sum(1 << capability for capability in keep)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(rights, rights)
    if _libc.capset(header, data) or _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "capset")
    _libc.prctl(DUMPABLE, 0, 0, 0, 0)


def supervise() -> None:
    """Be the user between root and the submission."""
    become(_user + 1, (KILL, SET_GROUP, SET_USER))


def done_as(user: int, work: Callable[[], object], behind: int = 0) -> bool:
    """Have a child of that user do some work; whether it says True, or ends without a word, as one that is killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            become(user, behind=behind)
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def end_all() -> None:
    """Kill every process of the submission's user: what forks meanwhile is killed before its child is born."""
    with contextlib.suppress(OSError):
        done_as(_user, lambda: os.kill(-1, signal.SIGKILL), behind=_user + 2)


def clear_folders() -> None:
    """Remove what the submission has written, at home and where anybody may."""
    done_as(_user, lambda: list(map(_clear, (os.environ.get("HOME", ""), *PUBLIC))))


def _clear(folder: str) -> None:
    with contextlib.suppress(OSError, RecursionError):
        for entry in list(os.scandir(folder)):
            if entry.stat(follow_symlinks=False).st_uid == _user:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def is_possible() -> bool:
    """Whether this process may be root who makes others somebody else."""
    try:
        return os.getuid() == 0 and done_as(FIRST, lambda: os.getuid() == FIRST)
    except (AttributeError, OSError):
        return False


def visible_to(user: int, folders: list[str]) -> list[str]:
    """Those of the folders into which that user can look."""

    def look(folder: str) -> Callable[[], bool]:
        return lambda: os.access(folder, os.R_OK) or os.access(folder, os.X_OK)

    return [folder for folder in folders if done_as(user, look(folder))]
