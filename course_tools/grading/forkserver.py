"""The process inside the sandbox that has imported PyTorch once, and forks a fresh sandbox for every submission.

It never sees a submission: the channel to the judge is handed through to the fork. Each fork gets its own user, process,
mount, ipc and network namespaces, its own temporary folder, limits, and no privileges.
Started by :mod:`.sandbox` as ``python -m course_tools.grading.forkserver`` with a socket as standard input.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import struct
import tempfile
import traceback
from typing import Any

from course_tools.grading import other_user
from course_tools.grading.messages import Job
from course_tools.grading.refused_calls import refuse_calls

NOBODY = 65534
NEW_USER, NEW_MOUNTS, NEW_PIDS, NEW_IPC, NEW_NET, NEW_NAME = 0x10000000, 0x20000, 0x20000000, 0x08000000, 0x40000000, 0x04000000
DUMPABLE, NO_NEW_PRIVILEGES, DEATH_SIGNAL, DROP_BOUND = 4, 38, 1, 24
FILES = 4000  # files and folders of a submission, in each of its folders
PRELOADED = ("course_utils", "course_checks")  # every module of these that lies inside
UNSAFE = os.environ.get("COURSE_UNSAFE_GRADING") == "1"
USER = other_user.submission_user()  # of whom a submission's processes are, where there are no namespaces; else 0
libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *args: Any) -> None:
    if getattr(libc, name)(*args):
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def give_up_root() -> None:
    """Become nobody: root inside a namespace would still own the files of root outside."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    _call("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call("prctl", DUMPABLE, 1, 0, 0, 0)  # changing the user made /proc/self root's; the forks have to write there


def preload() -> None:
    """Import what notebooks import, with one thread only: forking must stay safe."""
    import matplotlib

    matplotlib.use("Agg")
    import importlib
    import pkgutil

    import matplotlib.pyplot
    import seaborn  # noqa: F401
    import torch
    import torch.fx.experimental.symbolic_shapes  # imported by the first gradient, with all of sympy

    torch.set_num_threads(1)
    torch.ones(2, 2) @ torch.ones(2, 2)  # the first product chooses the kernels, a third of a second; one thread, so forking stays safe
    for name in PRELOADED:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            try:
                importlib.import_module(module.name)
            except ImportError:
                if name != "course_utils":  # there it is an optional library that this institution has not installed
                    raise
    importlib.import_module("course_tools.grading.worker")


def new_namespaces(memory: int, seconds: int, space: int) -> None:
    """Namespaces and limits of one submission; to be called in a fresh fork, which then forks once more."""
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_IPC | NEW_NET | NEW_NAME)
    for file, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)
    lay_limits(memory, seconds, space)
    refuse_calls()


def lay_limits(memory: int, seconds: int, space: int) -> None:
    """What one process of a submission may use up, and how many it may have."""
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, space),
        (resource.RLIMIT_NOFILE, 200),
        (resource.RLIMIT_NPROC, 64),  # and so many handles each: what waits in sockets is counted nowhere, and comes to a gigabyte
        (resource.RLIMIT_DATA, memory + 2**29),
        (resource.RLIMIT_CPU, seconds),
    ):
        resource.setrlimit(limit, (value, value))


def mount_folders(space: int) -> None:
    """Inside the new namespaces: fresh folders, nothing in /proc but the processor, and then no capability is left."""
    with open("/proc/cpuinfo") as file:  # PyTorch's libraries choose their kernels by it
        processor = file.read()
    own_tmp = ("/tmp",) if os.environ.get("COURSE_OWN_TMP") else ()
    for folder in (*own_tmp, "/scratch", "/dev/shm", "/home/student", "/proc"):
        _call("mount", b"tmpfs", folder.encode(), b"tmpfs", 6, f"size={space},nr_inodes={FILES},mode=1777".encode())
    with open("/proc/cpuinfo", "w") as file:
        file.write(processor)
    for capability in range(64):
        libc.prctl(DROP_BOUND, capability, 0, 0, 0)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _call("capset", header, data)
    os.chdir("/home/student")


def handle(channel: socket.socket, job: Job) -> None:
    """In a fork: shut it in, then let the worker serve the submission from process 1 of its own namespace."""
    from course_tools.grading import wire, worker

    if UNSAFE:
        os.chdir(tempfile.mkdtemp())
        worker.serve(channel)
        os._exit(0)
    if USER:
        lay_limits(job.memory, job.cpu, job.space)
        refuse_calls(network=False)
        os.chdir(os.environ["HOME"])
        libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        worker.serve(channel)
        os._exit(0)
    new_namespaces(job.memory, job.cpu, job.space)
    child = os.fork()
    if child:
        channel.close()
        os.waitpid(child, 0)
        os._exit(0)
    libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    mount_folders(job.space)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)  # nobody inside may look into the supervisor's memory
    try:
        worker.serve(channel)
    except (wire.ProtocolError, OSError):
        pass  # the judge has hung up
    os._exit(0)


def used_memory(me: int) -> int:
    """Bytes that belong to the running submission alone: private pages of every process but this one, and the tables
    in which the kernel keeps where they are."""
    total = 0
    if UNSAFE:
        return 0
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) <= 2 or int(name) == me:
            continue
        try:
            with open(f"/proc/{name}/status") as file:
                for line in file:
                    if USER and line.startswith("Uid") and int(line.split()[1]) != USER:
                        break
                    if line.startswith(("RssAnon", "RssShmem", "VmPTE")):
                        total += int(line.split()[1]) * 1024
        except (OSError, ValueError):
            continue
    return total


def main() -> None:
    """Serve jobs until the judge hangs up. A job comes as one datagram with a socket; the answer says how it ended."""
    if USER:
        other_user.supervise()
    elif not UNSAFE:
        give_up_root()
    control = socket.socket(fileno=0)
    preload()
    own = 3 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # what three processes share with this one by forking
    me = os.getpid()
    control.send(b"ready")
    while True:
        message, handles, _, _ = socket.recv_fds(control, 65536, 1)
        if not message:
            return
        job = Job(**json.loads(message))
        channel = socket.socket(fileno=handles[0])
        pid = os.fork()
        if pid == 0:
            control.close()
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            try:
                handle(channel, job)
            except BaseException:
                traceback.print_exc()  # to the judge, who reads our standard error
            finally:
                os._exit(1)
        channel.close()
        ended = watch(pid, control, job.memory + own, me)
        if USER:
            other_user.end_all()
        control.send(struct.pack("!I", job.id) + ended.encode())


def watch(pid: int, control: socket.socket, memory: int, me: int) -> str:
    """Wait for a job: "done", "memory" when it took too much, "stopped" when the judge asked."""
    ended, pause = "done", 0.005
    while True:
        finished, _ = os.waitpid(pid, os.WNOHANG)
        if finished:
            return ended
        if select.select([control], [], [], pause)[0]:
            control.recv(65536)
            ended = "stopped"
        elif pause > 0.04 and used_memory(me) > memory:
            ended = "memory"
        if ended != "done":
            end(pid, me)
        pause = min(0.05, 1.5 * pause)


def end(pid: int, me: int) -> None:
    """Kill every process of the submission; called again until the job has ended, for processes born meanwhile."""
    if UNSAFE or USER:
        os.kill(pid, signal.SIGKILL)
    if USER:
        other_user.end_all()
    if UNSAFE or USER:
        return
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) > 2 and int(name) != me:
            try:
                os.kill(int(name), signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass


if __name__ == "__main__":
    main()
