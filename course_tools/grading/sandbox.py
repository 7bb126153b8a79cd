"""One bubblewrap sandbox for each judge process, with a :mod:`.forkserver` inside that forks a container of its own for each submission.

Inside there is no network, a read-only system, the interpreter, and a copy of the course's packages without exercises,
oracles and solutions. Root becomes nobody. Where this is not possible :func:`.bubblewrap.why_not` says so, and grading refuses.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from . import other_user
from .bubblewrap import INSIDE, SETTINGS, command, why_not
from .channel import Channel
from .messages import Job
from .package_copy import ROOT, copy_package, hidden_in

STARTUP = 120.0  # seconds an overloaded machine may need to import PyTorch
INHERITED = ("PATH", "HOME", "LANG")  # of your environment, without a sandbox: what else stands there is nobody's business


class SandboxError(RuntimeError):
    """The sandbox could not be built, or has died."""


class Sandbox:
    """A running fork server; use as a context manager. ``submission()`` gives the channel to the worker of one submission."""

    def __init__(self, memory: int = 2 * 2**30, space: int = 64 * 2**20):
        self.memory, self.space, self.count = memory, space, 0
        self._folder = tempfile.TemporaryDirectory(prefix="grading-")
        self.package = Path(self._folder.name) / "package"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Sandbox:
        reason = why_not()
        if reason:
            raise SandboxError(reason)
        os.chmod(self._folder.name, 0o755)
        copy_package(self.package)
        self._start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._stop()
        self.sweep()

    def sweep(self) -> None:
        """Remove this sandbox's copy of the package."""
        self._folder.cleanup()

    def _launch(self, control: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command(self.package), stdin=control.fileno(), stdout=subprocess.DEVNULL, stderr=errors)

    def _start(self) -> None:
        """Start the fork server; three times, because what else goes on may have ended it."""
        for left in (2, 1, 0):
            self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.errors = tempfile.TemporaryFile()
            self.process = self._launch(theirs, self.errors)
            theirs.close()
            ready = select.select([self.control], [], [], STARTUP)[0] and self.control.recv(100)
            if ready == b"ready":
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.5)
            status = self.process.poll()
            ended = f"killed by signal {-status}" if status and status < 0 else f"ended with status {status}"
            why = f"no answer within {STARTUP:g} s" if status is None else ended
            self.errors.seek(0)
            text = [line for line in self.errors.read().decode(errors="replace").splitlines() if line.strip() and "Fontconfig" not in line]
            self._stop()
            if not left:
                raise SandboxError(f"the sandbox did not start, three times ({why}): {' '.join(text)[-800:] or 'no message'}")

    def _stop(self) -> None:
        if self.process is not None:
            self.control.close()
            self.process.kill()
            self.process.wait()
            self.errors.close()
            self.process = None

    @contextlib.contextmanager
    def submission(self, seconds: float) -> Iterator[Channel]:
        """A fresh container that lives at most ``seconds``: yields the channel to its worker."""
        if self.process is None or self.process.poll() is not None:
            self._stop()
            self._start()
        self.count += 1
        ours, theirs = socket.socketpair()
        job = json.dumps(vars(Job(self.count, self.memory, self.space, int(seconds) + 10))).encode()
        try:
            socket.send_fds(self.control, [job], [theirs.fileno()])
        except OSError:  # the fork server died between two submissions
            self._stop()
            self._start()
            socket.send_fds(self.control, [job], [theirs.fileno()])
        theirs.close()
        channel = Channel(ours, time.monotonic() + seconds)
        try:
            yield channel
        finally:
            ours.close()
            channel.ended = self._settle()

    def _settle(self) -> str:
        """Make sure that the container is gone before another is made. How it ended; "lost" when the fork server itself had gone, which
        nothing inside can bring about."""
        ended = "stopped"
        try:
            if not select.select([self.control], [], [], 1.0)[0]:
                self.control.send(b"stop")
            if select.select([self.control], [], [], 10.0)[0]:
                answer = self.control.recv(100)
                if len(answer) > 4 and struct.unpack("!I", answer[:4])[0] == self.count:
                    return answer[4:].decode()
                ended = ended if answer else "lost"
        except OSError:
            ended = "lost"
        if os.environ.get("COURSE_GRADING_DEBUG"):
            self.errors.seek(0)
            sys.stderr.write(self.errors.read().decode(errors="replace"))
        self._stop()  # the fork server itself is in trouble: the next submission gets a new one
        return ended


class Unsandboxed(Sandbox):
    """The same worker without a sandbox, for ``--unsafe``: it can do whatever you can do."""

    def __enter__(self) -> Unsandboxed:
        copy_package(self.package)
        self._start()
        return self

    def _launch(self, control: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return subprocess.Popen(
            [sys.executable, "-m", "course_tools.grading.forkserver"],
            stdin=control.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**inherited, **SETTINGS, "PYTHONPATH": str(self.package), "COURSE_UNSAFE_GRADING": "1"},
            cwd=self._folder.name,
        )


class ByUser(Sandbox):
    """Where a container forbids namespaces, and we are its root: the submission is another user, and cannot read the course. It has the
    limits and the refused system calls of a sandbox, and no network. It sees the system's files and the list of processes."""

    def __enter__(self) -> ByUser:
        self.user = other_user.user_of(os.getpid())
        if not other_user.is_possible():
            raise SandboxError("this is not a root that may start programs of other users")
        tops = {Path(path) for path in (sys.prefix, sys.base_prefix, "/usr", "/opt", ROOT)}
        seen = other_user.visible_to(self.user, sorted(str(path) for path in hidden_in(tops)))
        if seen:
            raise SandboxError(
                f"submissions could read the course, so they are not run. Close it to them: chmod -R go-rwx {' '.join(seen)}"
            )
        os.chmod(self._folder.name, 0o711)
        copy_package(self.package)
        self._start()
        return self

    def _launch(self, control: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        home = Path(self._folder.name) / "home"
        home.mkdir(exist_ok=True)
        home.chmod(0o1777)  # for the submission and its supervisor
        places = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"), str(home))
        return subprocess.Popen(
            [sys.executable, "-m", "course_tools.grading.forkserver"],
            stdin=control.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**INSIDE, **places, "PYTHONPATH": str(self.package), other_user.VARIABLE: str(self.user)},
            cwd="/",
        )
