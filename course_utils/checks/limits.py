"""Run a function under a time limit, in a notebook, on every operating system."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any


class TimeIsUp(BaseException):
    """Raised inside the running answer; not an ``Exception``, so that ``except Exception`` does not eat it."""


class Abandoned(RuntimeError):
    """The answer would not stop even when told to; it goes on in the background."""


def _raise_in(thread: threading.Thread) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(TimeIsUp))


def run_with_limit(function: Callable[[], Any], seconds: float) -> Any:
    """Call ``function()`` in a thread of its own and return what it returns.

    Raises :class:`TimeIsUp` when it ran longer than ``seconds``, :class:`Abandoned` when it swallowed the
    interruption too. Signals would be simpler but do not exist on Windows and only reach the main thread.
    """
    box: dict[str, Any] = {}

    def work() -> None:
        try:
            box["value"] = function()
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            box["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(seconds)
    except KeyboardInterrupt:
        _raise_in(thread)
        raise
    if thread.is_alive():
        until = time.monotonic() + 2.0
        while thread.is_alive() and time.monotonic() < until:
            _raise_in(thread)
            thread.join(0.05)
        if thread.is_alive():
            raise Abandoned(f"still running {seconds + 2:.0f} s later")
        raise box.get("error", TimeIsUp())  # with its traceback: it tells in which line the time went
    if "error" in box:
        raise box["error"]
    return box["value"]
