"""The command line of bubblewrap: what a sandbox sees of the machine, and with which rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from .package_copy import hidden_in

SETTINGS = {  # of every process that runs submissions, also without a sandbox
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
INSIDE = {
    **SETTINGS,
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/student",
    "PYTHONPATH": "/course",
    "MPLCONFIGDIR": "/scratch",
    "XDG_CACHE_HOME": "/scratch",
    "TMPDIR": "/scratch",
    "PYTHONSAFEPATH": "1",
}
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/fonts")
NOT_ROOT = ["--unshare-all", "--hostname", "sandbox", "--uid", "65534", "--gid", "65534"]
ROOT_USER = ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--cap-drop", "ALL"]
ROOT_USER += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]


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


def command(package: Path) -> list[str]:
    """The whole line, up to the fork server. ``package`` is the folder that :func:`.package_copy.copy_package` has filled."""
    interpreter = _interpreter()
    return [
        *["bwrap", "--die-with-parent", "--new-session", "--clearenv", *(ROOT_USER if os.getuid() == 0 else NOT_ROOT)],
        *["--perms", "1777", "--tmpfs", "/tmp", "--perms", "0755", "--tmpfs", "/home"],
        *_system(),
        *_bound(interpreter),
        *_covered(interpreter),
        *["--perms", "1777", "--tmpfs", "/scratch"],  # the fork server's own; every submission gets a fresh one over it
        *["--proc", "/proc", "--dev", "/dev", "--perms", "0755", "--dir", "/home/student"],
        *["--ro-bind", str(package), "/course", "--chdir", "/"],
        *(word for name, value in _settings(interpreter).items() for word in ("--setenv", name, value)),
        *(word for folder in ("/tmp", "/dev", "/home", "/") for word in ("--remount-ro", folder)),  # nobody leaves a file for the next
        *["--", sys.executable, "-m", "course_tools.grading.forkserver"],
    ]


def _interpreter() -> set[Path]:
    """Folders of Python and of its libraries."""
    return {Path(sys.prefix), Path(sys.base_prefix), *(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))}


def _system() -> list[str]:
    """The system's own folders, to read."""
    line: list[str] = []
    for path in SYSTEM:
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            line += ["--ro-bind", path, path]
    return line


def _bound(interpreter: set[Path]) -> list[str]:
    """Python and its libraries, to read, where they do not lie in the system's folders."""
    line: list[str] = []
    for path in sorted(interpreter, key=lambda p: len(p.parts)):
        if not any(path.is_relative_to(top) for top in (Path("/usr"), Path("/lib"), *(interpreter - {path}))):
            for parent in reversed(path.parents[:-1]):  # bubblewrap would create them for root alone
                line += ["--perms", "0755", "--dir", str(parent)]
            line += ["--ro-bind", str(path), str(path)]
    return line


def _covered(interpreter: set[Path]) -> list[str]:
    """Something empty over every copy of the course that lies in what is bound."""
    covered = sorted(hidden_in((*sorted(interpreter), *(Path(path) for path in SYSTEM if not os.path.islink(path)))))
    return [word for path in covered for word in (["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", os.devnull, str(path)])]


def _settings(interpreter: set[Path]) -> dict[str, str]:
    """The environment inside. Where the interpreter itself lies in /tmp, submissions have to use their home."""
    return INSIDE if any(path.is_relative_to("/tmp") for path in interpreter) else {**INSIDE, "COURSE_OWN_TMP": "1"}
