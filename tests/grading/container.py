"""A container like those of other graders, without a container engine: root with the rights that Docker leaves it, no network, and a
filter that forbids namespaces. Only root can make one."""

from __future__ import annotations

import os
import subprocess
import tempfile

import pytest

from course_tools.grading import bubblewrap
from course_tools.grading import refused_calls as calls

RIGHTS = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP".split()
needs_root = pytest.mark.skipif(os.name == "nt" or os.getuid() != 0 or bool(bubblewrap.why_not()), reason="only root can make containers")


def in_container(command: list[str], *binds: str) -> subprocess.CompletedProcess[str]:
    """Run a command as root of a container; ``binds`` are further words for bubblewrap."""
    numbers = calls.NUMBERS["x86_64" if calls.CLONE == 56 else "aarch64"]
    rules = [line for name in ("unshare", "setns") for line in calls._refuse(numbers[name])]
    rules += calls._refuse(calls.CLONE3, calls.MISSING) + calls._refuse_if(calls.CLONE, calls.FIRST, calls.ANY_OF, calls.NEW_NAMESPACE)
    interpreter = bubblewrap._interpreter()
    line = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"]
    line += [word for right in RIGHTS for word in ("--cap-add", f"CAP_{right}")]
    line += [
        *bubblewrap._system(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--perms",
        "1777",
        "--tmpfs",
        "/tmp",
        *bubblewrap._bound(interpreter),
    ]
    with tempfile.TemporaryFile() as file:
        file.write(calls._Filter(rules).code.raw[:-1])
        file.seek(0)
        line += [*binds, "--setenv", "PATH", "/usr/bin:/bin", "--seccomp", str(file.fileno()), "--", *command]
        return subprocess.run(line, pass_fds=[file.fileno()], capture_output=True, text=True, timeout=300)
