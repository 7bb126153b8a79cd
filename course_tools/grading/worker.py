"""Inside the sandbox: read a notebook, run an exercise's cells, observe the answer. Holds no oracle, no misconception, no mark.

One process supervises a submission and runs nothing of it; each exercise runs in a child of its own. What an exercise
sends back is one sealed frame; the seal is a random word of this run, so that bytes written by the submission itself
are told from ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from . import other_user, wire
from .cells import Found, Unreadable, cells_for, find, read_notebook, runnable
from .likeness import likeness
from .messages import Notebook, Report, Task
from .refused_calls import refuse_processes
from .reply import Reply
from .shell import run_cells

SEAL = 16  # bytes
PATIENCE = 4.0
UNSAFE, KILLED = os.environ.get("COURSE_UNSAFE_GRADING") == "1", int(signal.SIGKILL)  # read before a cell can change what they come from
OURS = ("course_utils", "course_checks", "course_tools")  # the packages of the course


def serve(channel: socket.socket) -> None:
    """Handle one submission: notebook in, exercises out; tasks in, reports out."""
    notebook = Notebook(**wire.read(lambda n: _receive(channel, n)))
    try:
        cells = read_notebook(notebook.content)
    except Unreadable as error:
        channel.sendall(wire.pack({"problem": str(error)}))
        return
    found = find(cells, notebook.exercises, notebook.places)
    channel.sendall(wire.pack({"problem": None, "found": {exercise: vars(one) for exercise, one in found.items()}}))
    sources = runnable(cells)
    while True:
        message = wire.read(lambda n: _receive(channel, n))
        if message is None:
            return
        task = Task(**message)
        wanted = cells_for(task, found, sources)
        report = Report("needless", b"") if wanted is None else _in_a_child(task, found[task.exercise], wanted, channel)
        _clear_folders()
        channel.sendall(wire.pack(vars(report)))


def _receive(channel: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = channel.recv(min(count - len(data), 1 << 20))
        if not piece:
            break
        data += piece
    return bytes(data)


def _in_a_child(task: Task, found: Found, cells: list[tuple[int, str]], channel: socket.socket) -> Report:
    """Run one exercise in a process of its own; its reply comes without the seal."""
    seal = os.urandom(SEAL)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            channel.close()
            os.close(reader)
            os.setpgid(0, 0)
            for handle in (0, 1, 2):  # what the submission prints goes nowhere
                os.dup2(os.open(os.devnull, os.O_RDWR), handle)
            if other_user.submission_user():
                other_user.become(other_user.submission_user())
            frame = seal + wire.pack(observed(task, found, cells).to_plain())
            while frame:
                frame = frame[os.write(writer, frame) :]
        finally:
            os._exit(0)
    os.close(writer)
    try:
        ended, data, status = _collect(reader, child, task)
    finally:
        os.close(reader)
    status = _reap(child, status)
    if ended == "done" and not data:
        ended = f"exit {status}"
    elif ended == "done" and data[:SEAL] != seal:
        ended = "forged"
    return Report(ended, data[SEAL:] if ended == "done" else b"")


def _collect(reader: int, child: int, task: Task) -> tuple[str, bytes, int | None]:
    """What a child writes until it ends, or takes too long ("time"), or writes too much ("size"); and its exit status, if that is known."""
    data, until, status = bytearray(), time.monotonic() + task.seconds, None
    while True:
        if select.select([reader], [], [], 0.05 if status is None else 0)[0]:
            piece = os.read(reader, 1 << 20)
            data += piece
            if not piece:
                return "done", bytes(data), status
        elif status is not None:
            return "done", bytes(data), status  # it has ended; a process it left behind may keep the pipe open
        else:
            status = _exit_status(child)
        if len(data) > task.size:
            return "size", b"", status
        if time.monotonic() > until:
            return "time", b"", status


def _exit_status(child: int) -> int | None:
    """How a child has ended; None while it runs."""
    pid, raw = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(raw) if pid else None


def _end_everything(child: int) -> None:
    """Kill every process of this sandbox but the supervisor, process 1: daemons do not outlive their exercise.

    Without a sandbox (``--unsafe``) only the group of the exercise's own process can be told from the rest of the machine.
    """
    if other_user.submission_user():
        return other_user.end_all()
    if os.getpid() != 1:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        return
    for _ in range(20):  # again, because a process may fork while it is being killed
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.002)


def _reap(child: int, status: int | None) -> int:
    """Exit status of ``child``, after it and everything it has left behind are gone."""
    until = time.monotonic() + 0.2
    with contextlib.suppress(ChildProcessError):
        while status is None and time.monotonic() < until:  # it has closed its pipe: let it end by itself, for its exit status
            status = _exit_status(child)
            if status is None:
                time.sleep(0.001)
    _end_everything(child)
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, raw = os.waitpid(-1, 0)
            if pid == child:
                status = os.waitstatus_to_exitcode(raw)
    return status or 0


def _clear_folders() -> None:
    """Remove what an exercise has written: files end with it, and the next one has all the room again."""
    if other_user.submission_user():
        return other_user.clear_folders()
    if os.getpid() != 1:
        return
    for folder in ("/scratch", "/dev/shm", "/home/student", *(("/tmp",) if os.environ.get("COURSE_OWN_TMP") else ())):
        with contextlib.suppress(OSError, RecursionError):
            for entry in list(os.scandir(folder)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def observed(task: Task, found: Found, cells: list[tuple[int, str]]) -> Reply:
    """Run the cells of an exercise, then observe its answer on the cases."""
    from course_checks.again import observe_again
    from course_checks.kinds import KINDS
    from course_checks.observation import Error, Observation
    from course_checks.observe import TooLong, observe_all

    from .blocked_calls import block, remembered

    sys.modules["course_checks"].__dict__["VERSIONS"] = task.versions
    sys.stdout = sys.stderr = open(os.devnull, "w")  # prints of cells cost nothing, however many
    ours, alike, alone, put_back = is_ours, likeness, _alone, remembered()
    kill = os.kill
    space, problems = run_cells(cells, found.cell, task.seconds)
    if found.name not in space:
        return Reply("missing", problems=problems)
    answer, prints = space[found.name], []
    put_back()
    with contextlib.suppress(Exception):  # an answer may be anything
        prints = alike(answer)
    reply = Reply(problems=problems, likeness=prints)
    if ours(answer):
        return replace(reply, status="ours")
    wrong = KINDS[task.kind].instead(answer)
    if wrong:
        return replace(reply, status="wrong kind", line=wrong)
    if task.forbidden:
        alone(kill)
    used = block(task.forbidden)
    try:
        asked = task.kind, answer, task.cases, task.forbidden, PATIENCE * task.limit
        with processor_limit(task.limit):
            seen = observe_all(*asked)
        with processor_limit(task.limit):
            seen = observe_again(*asked, seen)
    except TooLong as stopped:
        if not used:
            return replace(reply, status="time", line=stopped.line, number=stopped.number)
    except BaseException:
        if not used:
            raise
    if used:
        seen = [Observation(status="forbidden", error=Error(message=used[0]))]
    return replace(reply, seen=seen)


def _alone(kill: Callable[[int, int], None]) -> None:
    """End what the cells have started, and start no more: in another process nothing is forbidden."""
    if UNSAFE:
        return  # all your programs would be meant
    refuse_processes()
    with contextlib.suppress(ProcessLookupError):
        kill(-1, KILLED)  # spares this process, and the supervisor


@contextlib.contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Stop an answer after so many seconds of the processor. By the clock it has PATIENCE times as long: a neighbour that burns the
    processor costs nobody a mark."""
    from course_checks.limits import ANSWER, TimeIsUp

    def enough(number: int, frame: Any) -> None:
        for thread in threading.enumerate():
            if thread.name == ANSWER and thread.ident:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(TimeIsUp))

    before = signal.signal(signal.SIGPROF, enough)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def is_ours(answer: Any) -> bool:
    """Whether an answer is the course's own code, imported, or a class that inherits from it."""
    if isinstance(answer, type):
        return any(str(c.__module__).split(".")[0] in OURS for c in answer.__mro__)
    code = getattr(answer, "__code__", None)
    file = str(getattr(code, "co_filename", ""))
    return str(getattr(answer, "__module__", "")).split(".")[0] in OURS or any(name in file for name in OURS)
