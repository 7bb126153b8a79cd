"""Run a function under a time limit, in a notebook, on every operating system."""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

GRACE = 1.5  # seconds an answer gets to notice that it should stop
ANSWER = "answer"  # the name of the thread that an answer runs in
_start = threading.Thread.start  # kept here: an exercise may forbid the name


class TimeIsUp(BaseException):
    """Raised inside the running answer; not an ``Exception``, so that ``except Exception`` does not eat it."""


class Abandoned(RuntimeError):
    """The answer would not stop even when told to; it goes on in the background."""


def _stop(thread: threading.Thread, done: threading.Event) -> bool:
    """Ask a thread to stop, again and again for a while; True when it did."""
    until = time.monotonic() + GRACE
    while not done.is_set() and time.monotonic() < until:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeIsUp))
        done.wait(0.05)
    return done.is_set()


def run_with_limit(function: Callable[[], Any], seconds: float, since: Callable[[], float] | None = None) -> Any:
    """Call ``function()`` in a thread of its own and return what it returns.

    The ``seconds`` count from the start or, if ``function`` does one piece of work after the other, from ``since()``: the monotonic
    time at which it began the present piece.

    Raises :class:`TimeIsUp` when it ran longer than ``seconds``, :class:`Abandoned` when it swallowed the
    interruption too, and KeyboardInterrupt, with an argument where the answer goes on, when the user interrupts the wait.
    Signals would be simpler but do not exist on Windows and only reach the main thread.
    """
    box: dict[str, Any] = {}
    done = threading.Event()  # and not Thread.join, which loses track of a thread when it is interrupted (bpo-45274)

    def work() -> None:
        try:
            box["value"] = function()
        except BaseException as error:
            box["error"] = error  # raised again in the calling thread
        finally:
            done.set()

    thread = threading.Thread(target=work, daemon=True, name=ANSWER)
    _start(thread)
    started = time.monotonic()
    try:
        while not done.is_set() and time.monotonic() < (since() if since else started) + seconds:
            done.wait(0.1)  # in slices: a long wait cannot be interrupted on Windows
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*([] if _stop(thread, done) else ["still running"])) from None
    if not done.is_set():
        if not _stop(thread, done):
            raise Abandoned(f"still running {seconds + GRACE:.0f} s later")
        raise box.pop("error", TimeIsUp())  # with its traceback: it tells in which line the time went
    if "error" in box:
        raise box.pop("error")  # kept in the box it would keep itself, and all that the stopped code had made
    return box["value"]
