"""System calls that a submission is refused, by filters of the kernel's own (seccomp). Runs inside the sandbox."""

from __future__ import annotations

import ctypes
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall  # kept here: a cell may change what the library's name leads to
NATIVE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine(), 0)
NUMBERS = {
    "x86_64": {
        # What outlives its process and no limit counts: keyrings, memory and messages of System V, anonymous files.
        **{"add_key": 248, "request_key": 249, "keyctl": 250, "shmget": 29, "semget": 64, "msgget": 68, "memfd_create": 319},
        # Namespaces of its own, in which a submission would have rights again; work that the kernel does beside it.
        **{"unshare": 272, "setns": 308, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
        # Looking into other processes, and parts of the kernel that no notebook needs.
        **{"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438},
        **{"userfaultfd": 323, "perf_event_open": 298, "bpf": 321},
    },
    "aarch64": {
        **{"add_key": 217, "request_key": 218, "keyctl": 219, "shmget": 194, "semget": 190, "msgget": 186, "memfd_create": 279},
        **{"unshare": 97, "setns": 268, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
        **{"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438},
        **{"userfaultfd": 282, "perf_event_open": 241, "bpf": 280},
    },
}
# Calls whose arguments decide.
CLONE, CLONE3, SOCKET, PRCTL, SECCOMP, FORKS = {"x86_64": (56, 435, 41, 157, 317, (57, 58)), "aarch64": (220, 435, 198, 167, 277, ())}.get(
    platform.machine(), (0, 0, 0, 0, 0, ())
)
THREAD, NEW_NAMESPACE = 0x10000, 0x7E020000  # flags of clone
SET_SECCOMP, LOCAL = 22, 1  # prctl's; the family of sockets that stay on the machine
LOAD, EQUAL, AT_LEAST, ANY_OF, GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
REFUSED, MISSING, ALLOWED = 0x50001, 0x50026, 0x7FFF0000  # EPERM; ENOSYS, upon which the C library takes the older call; go on
FIRST, SECOND, THIRD = 16, 24, 32  # where a filter finds the lower halves of a call's arguments
Line = tuple[int, int, int, int]


def _refuse(call: int, how: int = REFUSED) -> list[Line]:
    return [(EQUAL, 0, 1, call), (GIVE, 0, 0, how)]


def _refuse_if(call: int, argument: int, test: int, value: int, otherwise: bool = False) -> list[Line]:
    """Refuse a call when its argument passes the test, or with ``otherwise`` when it does not; else allow it."""
    return [(EQUAL, 0, 4, call), (LOAD, 0, 0, argument), (test, *((1, 0) if otherwise else (0, 1)), value), (GIVE, 0, 0, REFUSED)] + [
        (GIVE, 0, 0, ALLOWED)
    ]


class _Filter:
    """A filter in memory, ready to be laid over this process and what it forks."""

    def __init__(self, rules: list[Line]):
        head = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, NATIVE), (GIVE, 0, 0, REFUSED), (LOAD, 0, 0, 0)]
        head += [(AT_LEAST, 0, 1, 0x40000000), (GIVE, 0, 0, REFUSED)]  # 32-bit calls have other numbers
        lines = [*head, *rules, (GIVE, 0, 0, ALLOWED)]
        self.code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
        self.program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(self.code)))
        self.address = ctypes.addressof(self.program)

    def lay(self, flags: int) -> None:
        """From now on, for good. Flag 4 spares the slow-down that such filters otherwise bring; flag 1 takes in every thread."""
        if NATIVE and _syscall(SECCOMP, 1, flags, ctypes.c_void_p(self.address)):
            raise OSError(ctypes.get_errno(), "seccomp")


_no_processes = _Filter(
    [line for call in FORKS for line in _refuse(call)] + _refuse(CLONE3, MISSING) + _refuse_if(CLONE, FIRST, ANY_OF, THREAD, otherwise=True)
)


def refuse_calls(network: bool = True) -> None:
    """Refuse what no limit here counts, what outlives its process, and what would give a submission rights again; without ``network``
    also every socket that could lead out of this machine. No filter but ours can be laid over it: one could say that a call has worked."""
    rules = [line for call in NUMBERS.get(platform.machine(), {}).values() for line in _refuse(call)]
    rules += _refuse(CLONE3, MISSING)  # its flags lie where no filter can look
    rules += _refuse_if(CLONE, FIRST, ANY_OF, NEW_NAMESPACE)
    rules += _refuse_if(PRCTL, FIRST, EQUAL, SET_SECCOMP)
    rules += _refuse_if(SECCOMP, THIRD, EQUAL, _no_processes.address & 0xFFFFFFFF, otherwise=True)
    rules += [] if network else _refuse_if(SOCKET, FIRST, EQUAL, LOCAL, otherwise=True)
    _Filter(rules).lay(4)


def refuse_processes() -> None:
    """From now on this process starts no other one, in any of its threads."""
    _no_processes.lay(1)
