"""One bubblewrap sandbox for each judge process, with a :mod:`.forkserver` inside that forks a world of its own for each submission.

Inside there is no network, a read-only system, the interpreter, and a copy of the course's package without exercises,
oracles and solutions. Root becomes nobody. Where this is not possible :func:`why_not` says so, and grading refuses.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

from course_utils.paths import PACKAGE, ROOT

from . import wire

TOOLS = Path(__file__).resolve().parents[1]
ROOMS = ("models", "text", "training", "show", "experiments")  # of course_utils, open to submissions
COURSE = ("course_utils", "course_tools")  # an installed copy of these must not be seen
STARTUP = 120.0  # seconds an overloaded machine may need to import PyTorch

SETTINGS = {
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "MKL_NUM_THREADS": "1",
    "COURSE_PROGRESS": "off",
    "COURSE_BUILD": "1",
    "MPLBACKEND": "Agg",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


class SandboxError(RuntimeError):
    """The sandbox could not be built, or has died."""


def why_not() -> str:
    """Why there is no sandbox on this machine; empty when there is one."""
    if sys.platform != "linux":
        return f"the sandbox needs Linux namespaces; this is {sys.platform}. Use a Linux machine or a virtual one"
    if not shutil.which("bwrap"):
        return "the program bwrap is missing: install the package bubblewrap"
    trial = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    if trial.returncode:
        return f"bwrap cannot create namespaces here ({trial.stderr.strip()[:200]}); the system's administrator can allow it"
    return ""


def copy_package(folder: Path) -> None:
    """Copy into ``folder`` what submissions may import: the package without exercises, judge and authoring."""
    target = folder / "course_utils"
    hide = shutil.ignore_patterns("__pycache__")
    target.mkdir(parents=True)
    for name in ("__init__", "paths"):
        shutil.copy2(PACKAGE / f"{name}.py", target)
    for room in ROOMS:
        shutil.copytree(PACKAGE / room, target / room, ignore=hide)
    (target / "checks").mkdir()
    shutil.copy2(TOOLS / "grading" / "inside" / "checks.py", target / "checks" / "__init__.py")
    for name in ("again", "exercise", "limits", "observation", "observe", "own_code", "plain_data", "shortcuts"):
        shutil.copy2(PACKAGE / "checks" / f"{name}.py", target / "checks")
    for path in sorted((PACKAGE / "exercises").glob("ch*/callables.py")):  # functions that cases hand to an answer
        chapter = target / "exercises" / path.parent.name
        chapter.mkdir(parents=True)
        shutil.copy2(path, chapter)
        for package in (chapter, chapter.parent):
            (package / "__init__.py").write_text('"""Only what cases hand to an answer."""\n', encoding="utf-8")
    tools = folder / "course_tools" / "grading"
    tools.mkdir(parents=True)
    for package in (tools, tools.parent):
        (package / "__init__.py").write_text('"""The part of grading that runs inside."""\n', encoding="utf-8")
    for name in ("wire", "names", "cells", "shell", "likeness", "closed", "worker", "forkserver"):
        shutil.copy2(TOOLS / "grading" / f"{name}.py", tools)


def copies_of_the_course() -> set[Path]:
    """Folders that hold oracles, or would if they existed: ours, and an installed copy wherever Python looks."""
    places = [*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return {PACKAGE, TOOLS, *(Path(place).resolve() / name for place in places if place for name in COURSE)}


def command(package: Path) -> list[str]:
    """The bubblewrap command line."""
    root = os.getuid() == 0
    line = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    line += (
        [
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-net",
            "--unshare-uts",
            "--cap-drop",
            "ALL",
            "--cap-add",
            "CAP_SETUID",
            "--cap-add",
            "CAP_SETGID",
        ]
        if root
        else ["--unshare-all", "--uid", "65534", "--gid", "65534"]
    )
    if root:
        line.remove("--hostname")
        line.remove("sandbox")
    line += ["--perms", "1777", "--tmpfs", "/tmp", "--perms", "0755", "--tmpfs", "/home"]
    for path in ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/fonts"):
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            line += ["--ro-bind", path, path]
    inside = {Path(sys.prefix), Path(sys.base_prefix), *(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))}
    for path in sorted(inside, key=lambda p: len(p.parts)):
        if not any(path.is_relative_to(top) for top in ("/usr", "/lib", *(inside - {path}))):
            for parent in reversed(path.parents[:-1]):  # bubblewrap would create them for root alone
                line += ["--perms", "0755", "--dir", str(parent)]
            line += ["--ro-bind", str(path), str(path)]
    hidden = copies_of_the_course() | {ROOT / name for name in ("solutions", "tests", ".git")}
    for path in sorted(hidden):  # if they lie inside what is bound
        if path.is_dir() and any(path.is_relative_to(top) for top in (*inside, Path("/usr"))):
            line += ["--tmpfs", str(path)]
    line += ["--perms", "1777", "--tmpfs", "/scratch"]  # the fork server's own; every submission gets a fresh one over it
    line += [
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--perms",
        "0755",
        "--dir",
        "/home/student",
        "--ro-bind",
        str(package),
        "/course",
        "--chdir",
        "/",
    ]
    settings = {
        **SETTINGS,
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/student",
        "PYTHONPATH": "/course",
        "MPLCONFIGDIR": "/scratch",
        "XDG_CACHE_HOME": "/scratch",
        "TMPDIR": "/scratch",
        "PYTHONSAFEPATH": "1",
    }
    if not any(path.is_relative_to("/tmp") for path in inside):
        settings["COURSE_OWN_TMP"] = "1"  # else the interpreter itself lies there, and submissions have to use their home
    for name, value in settings.items():
        line += ["--setenv", name, value]
    for place in ("/tmp", "/dev", "/home", "/"):  # one submission must not leave a file for the next
        line += ["--remount-ro", place]
    return [*line, "--", sys.executable, "-m", "course_tools.grading.forkserver"]


class Sandbox:
    """A running fork server; use as a context manager. ``submission()`` gives the channel of one fresh world."""

    def __init__(self, memory: int = 2 * 2**30, space: int = 64 * 2**20):
        self.memory, self.space, self.count = memory, space, 0
        self._folder = tempfile.TemporaryDirectory(prefix="grading-")
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Sandbox:
        reason = why_not()
        if reason:
            raise SandboxError(reason)
        os.chmod(self._folder.name, 0o755)
        copy_package(Path(self._folder.name) / "package")
        self._start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._stop()
        self.sweep()

    def sweep(self) -> None:
        """Remove this sandbox's copy of the package."""
        self._folder.cleanup()

    def _launch(self, control: socket.socket, errors: Any) -> subprocess.Popen:
        return subprocess.Popen(command(Path(self._folder.name) / "package"), stdin=control, stdout=subprocess.DEVNULL, stderr=errors)

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
    def submission(self, seconds: float):
        """A fresh world that lives at most ``seconds``: yields a :class:`Line` to its worker."""
        if self.process is None or self.process.poll() is not None:
            self._stop()
            self._start()
        self.count += 1
        ours, theirs = socket.socketpair()
        job = json.dumps({"id": self.count, "memory": self.memory, "space": self.space, "cpu": int(seconds) + 10}).encode()
        try:
            socket.send_fds(self.control, [job], [theirs.fileno()])
        except OSError:  # the fork server died between two submissions
            self._stop()
            self._start()
            socket.send_fds(self.control, [job], [theirs.fileno()])
        theirs.close()
        line = Line(ours, time.monotonic() + seconds)
        try:
            yield line
        finally:
            ours.close()
            line.ended = self._settle()

    def _settle(self) -> str:
        """Make sure that the world is gone before another is made. How it ended; "lost" when the fork server itself had gone, which
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
        copy_package(Path(self._folder.name) / "package")
        self._start()
        return self

    def _launch(self, control: socket.socket, errors: Any) -> subprocess.Popen:
        settings = {**os.environ, **SETTINGS, "PYTHONPATH": str(Path(self._folder.name) / "package"), "COURSE_UNSAFE_GRADING": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", "course_tools.grading.forkserver"],
            stdin=control,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=settings,
            cwd=self._folder.name,
        )


class Line:
    """The judge's end of the channel to a worker."""

    def __init__(self, channel: socket.socket, until: float):
        self.channel, self.until, self.ended = channel, until, ""

    def send(self, value: Any) -> None:
        """Send one frame."""
        self.channel.settimeout(max(0.01, self.until - time.monotonic()))
        try:
            self.channel.sendall(wire.pack(value))
        except OSError as error:
            raise wire.ProtocolError(f"the worker does not listen ({type(error).__name__})") from None

    def receive(self, within: float) -> Any:
        """Receive one frame within so many seconds; TimeoutError, ProtocolError."""
        deadline = min(self.until, time.monotonic() + within)

        def take(count: int) -> bytes:
            data = bytearray()
            while len(data) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self.channel.settimeout(left)
                try:
                    piece = self.channel.recv(min(count - len(data), 1 << 20))
                except ConnectionError:
                    break
                if not piece:
                    break
                data += piece
            return bytes(data)

        return wire.read(take)
