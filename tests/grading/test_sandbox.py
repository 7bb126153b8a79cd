"""What a submission sees of the machine, what it may use up, and what ends with it."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from classroom import RIGHT, cell, mark_of, marks_of, needs_sandbox, notebook, put, with_answer

from course_checks import catalogue
from course_checks.case import Registered
from course_checks.exercise import FunctionExercise
from course_tools.grading import bubblewrap, notebook_grader
from course_tools.grading.bubblewrap import SETTINGS, command
from course_tools.grading.marks import Limits, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_tools.grading.package_copy import COURSE, copies_of_the_course, copy_package
from course_tools.grading.run_folder import RunFolder
from course_tools.grading.sandbox import Sandbox, SandboxError, Unsandboxed
from course_utils.paths import ROOT


def test_sandbox_copies_no_answers(tmp_path):
    """What a submission may import holds functions that cases hand over, and no exercise, oracle or reference."""
    copy_package(tmp_path)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert {"course_tools/grading/worker.py", "course_checks/observe.py"} <= files
    hidden = (
        "course_tools/authoring",
        "course_tools/grading/judging",
        "course_tools/grading/marks",
        "course_tools/grading/run",
        "course_utils/launcher",
        "course_checks/engine",
        "course_checks/exercise.py",
        "course_checks/judge",
        "course_checks/misconceptions",
    )
    assert not [name for name in files if name.startswith(hidden)] and not list(tmp_path.rglob("*.md"))
    assert {Path(name).name for name in files if name.startswith("course_checks/exercises")} == {"__init__.py", "callables.py"}
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "course_checks").rglob("*.py"))
    assert "Misconception(" not in text
    assert "EXERCISE" not in text
    handed = [value for e in catalogue() for case in e.cases((1, 2)) for value in _inside(case.args)]
    for name in {value.name for value in handed if isinstance(value, Registered)}:
        assert name in text or name.startswith("language_"), f"move {name} into the callables.py of its chapter"


def _inside(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _inside(item)]
    return [leaf for item in value for leaf in _inside(item)] if isinstance(value, (list, tuple)) else [value]


def test_what_is_copied_can_be_imported(tmp_path):
    """The copied modules import nothing of the course that stays outside."""
    copy_package(tmp_path)
    found = [path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.py") if path.name != "forkserver.py"]
    names = sorted(".".join(path.parts).removesuffix(".__init__") for path in found if path.parts[0] != "course_utils")
    command = [sys.executable, "-c", f"import importlib\nfor name in {names}:\n    importlib.import_module(name)"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


SEARCH = """
import os, sys
found = []
for top in {tops!r}:
    for place, folders, files in os.walk(top):
        found += [os.path.join(place, f) for f in files if {secret!r} in open(os.path.join(place, f), "rb").read().decode("latin-1")]
sys.path[:0] = {tops!r}
import importlib
for name in ("course_checks.exercises.ch01", "course_checks.exercises.ch03.order", "course_checks.judge", "course_checks.lookup",
             "course_checks.misconceptions", "course_tools.grading.judging", "course_tools.authoring.build"):
    try:
        importlib.import_module(name)
        found.append(name)
    except ImportError:
        pass
assert not found, found
raise LookupError("searched " + str([os.path.exists(top) for top in {tops!r}]))
"""


@needs_sandbox
@pytest.mark.parametrize("kind", ["in site-packages", "editable", "a second copy"])
def test_oracles_of_an_installed_package_are_not_inside(tmp_path, kind):
    """The interpreter's libraries are bound into the sandbox; the course among them, or a second copy of it, is not."""
    site = tmp_path / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    place = tmp_path / "elsewhere" if kind == "editable" else site
    graded_from = ROOT if kind == "a second copy" else place
    for package in COURSE:
        shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    site.mkdir(parents=True, exist_ok=True)
    secrets = ("course_checks/judge.py", "course_tools/grading/judging.py")
    for path in (*place.glob("course_checks/exercises/ch01/*.*"), *(place / secret for secret in secrets)):
        path.write_text(path.read_text(encoding="utf-8") + "\n# the oracle of 01\n", encoding="utf-8")
    source = SEARCH.format(tops=[str(site), str(place)], secret="the oracle of 01")
    put(tmp_path / "class", "ada", with_answer(source))
    starter = (
        f"import sys, sysconfig\nsys.path.insert(0, {str(graded_from)!r})\nreal = sysconfig.get_path\n"
        f"sysconfig.get_path = lambda name, *more: {str(site)!r} if name == 'platlib' else real(name, *more)\n"
        "from course_tools.grading.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", starter, "class", "--out", "out", "--quiet", "--jobs", "1"]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    (record,) = RunFolder(tmp_path / "out", True).records()
    message = record.marks["01.1"].message
    assert f"searched [True, {place == site}]" in message, message


def test_the_packages_are_hidden_wherever_python_looks(tmp_path, monkeypatch):
    """Root may find them in a folder for libraries, in one on sys.path, and where we run from."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    hidden = copies_of_the_course()
    for place in (ROOT, tmp_path, Path(sysconfig.get_path("purelib")).resolve()):
        for package in COURSE:
            assert place / package in hidden


@needs_sandbox
def test_a_copy_in_a_bound_folder_is_covered(tmp_path, monkeypatch):
    """bubblewrap lays an empty folder over each copy that lies inside what it binds."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    for package in COURSE:
        (tmp_path / package).mkdir()
    line = command(tmp_path)
    covered = {line[i + 1] for i, word in enumerate(line) if word == "--tmpfs"}
    assert {str(tmp_path / package) for package in COURSE} <= covered


ELSEWHERE = """
import os, pathlib, sys
top = pathlib.Path({top!r})
found = [str(path) for path in top.rglob("*") if path.is_file() and os.access(path, os.R_OK) and "oracle" in path.read_text()]
raise LookupError(f"{{sorted(path.name for path in top.iterdir())}} {{found}}")
"""


@needs_sandbox
def test_no_installed_or_cloned_copy_can_be_read(tmp_path, monkeypatch):
    """In another Python's packages, in a clone, in a wheel, anywhere in what is bound: of /usr this is much."""
    top = tmp_path / "python"
    for package in COURSE:
        for place in ("local/lib/python3/dist-packages", "src/attention", "envs/other/lib/site-packages"):
            (top / place / package / "exercises").mkdir(parents=True)
            (top / place / package / "exercises" / "order.py").write_text("oracle")
    (top / "src" / "attention" / "solutions").mkdir()
    (top / "src" / "attention" / "solutions" / "03.md").write_text("oracle")
    (top / "wheels").mkdir()
    (top / "wheels" / "attention_from_kernels_to_gpt-3-py3-none-any.whl").write_text("oracle")
    bound = bubblewrap._interpreter() | {top}
    monkeypatch.setattr(bubblewrap, "_interpreter", lambda: bound)
    with Sandbox(memory=2**30) as sandbox:
        message = mark_of(sandbox, ELSEWHERE.format(top=str(top))).message
    assert "LookupError: ['envs', 'local', 'src', 'wheels'] []" in message, message


KEYS = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
add, request, control = (248, 249, 250) if platform.machine() == "x86_64" else (217, 218, 219)
got = [libc.syscall(control, 0, ring, 1) for ring in (-2, -3, -4, -5)] + [libc.syscall(control, 1, None)]
got += [libc.syscall(add, b"user", b"course", b"note", 4, ring) for ring in (-2, -3, -4, -5)]
got += [libc.syscall(request, b"user", b"course", None, 0)]
assert all(n == -1 for n in got), f"keys {got}"
raise LookupError("no keys")
"""


@needs_sandbox
def test_no_keyring_is_within_reach(box):
    """Neither the instructor's nor one in which a submission could leave a note for the next."""
    for _ in range(2):
        mark = mark_of(box, KEYS)
        assert mark.points == 0, mark.message
        assert "no keys" in mark.message, mark.message


HIDDEN_MEMORY = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
shm, sem, msg, memfd = (29, 64, 68, 319) if platform.machine() == "x86_64" else (194, 190, 186, 279)
got = {"shm": libc.syscall(shm, 0, 2**28, 0o1600), "sem": libc.syscall(sem, 0, 1, 0o1600), "msg": libc.syscall(msg, 0, 0o1600),
       "memfd": libc.syscall(memfd, b"x", 0)}
assert all(n == -1 for n in got.values()), got
raise LookupError("nothing to hide in")
"""


RIGHTS_AGAIN = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
clone, keys = (56, 317) if platform.machine() == "x86_64" else (220, 277)
flags = {"users": 0x10000000, "mounts": 0x20000, "processes": 0x20000000, "network": 0x40000000}
got = {"unshare " + name: libc.unshare(flag) for name, flag in flags.items()}
for name, flag in flags.items():
    got["clone " + name] = pid = libc.syscall(clone, flag | 0x10000000 | 17, None, None, None, None)
    if pid == 0:
        os._exit(0)
got["clone3"] = pid = libc.syscall(435, (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
if pid == 0:
    os._exit(0)
got["a ring"] = libc.syscall(425, 8, ctypes.create_string_buffer(120))
got["a filter"] = libc.prctl(22, 2, ctypes.create_string_buffer(16))
got["another filter"] = libc.syscall(keys, 1, 0, ctypes.create_string_buffer(16))
assert all(n == -1 for n in got.values()), got
pid = os.fork()
if pid == 0:
    os._exit(7)
raise LookupError(f"no rights, and a child that ended with {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}")
"""
PAGE_TABLES = """
import mmap
m = mmap.mmap(-1, 1400 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
for place in range(0, 1400 << 30, 2 << 20):
    m[place]
raise LookupError("nobody stopped me")
"""


IN_SOCKETS = """
import socket, subprocess, sys, time
program = '''
import socket, time
kept, sent = [], 0
try:
    while True:
        a, b = socket.socketpair()
        a.setblocking(False)
        kept.append((a, b))
        try:
            while True:
                sent += a.send(bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
print(sent, flush=True)
time.sleep(60)
'''
one = subprocess.Popen([sys.executable, "-S", "-E", "-c", program], stdout=-1)
sent, many = int(one.stdout.readline()), 1
try:
    while many < 300:
        subprocess.Popen(["/bin/sleep", "60"])
        many += 1
except OSError:
    pass
raise LookupError(f"bytes {sent * many}.")
"""


MANY_FILES = """
made = 0
try:
    for made in range(300_000):
        open(f"/scratch/{made}", "w").close()
except OSError:
    pass
raise LookupError(f"made {made}")
"""


LEFT_FILES = """
import os
raise LookupError("left " + str(sorted(os.listdir("/scratch")) + sorted(os.listdir("/dev/shm")) + sorted(os.listdir("/home/student"))))
"""


@needs_sandbox
def test_memory_of_the_kernel_is_refused(box):
    mark = marks_of(box, with_answer(HIDDEN_MEMORY))["01.1"]
    assert "nothing to hide in" in mark.message, mark.message


@needs_sandbox
def test_no_namespace_ring_or_filter_of_its_own(box):
    mark = mark_of(box, RIGHTS_AGAIN)
    assert "no rights, and a child that ended with 7" in mark.message, mark.message


@needs_sandbox
def test_tables_of_pages_are_memory(box):
    """Reading one byte of every two megabytes costs no memory of one's own, but four kilobytes of the kernel's each."""
    mark = marks_of(box, with_answer(PAGE_TABLES), 60.0)["01.1"]
    assert "of memory" in mark.message, mark.message


@needs_sandbox
def test_little_can_wait_in_sockets(box):
    """What lies in the buffers of sockets is counted nowhere: the numbers of processes and of handles keep it small."""
    mark = marks_of(box, with_answer(IN_SOCKETS), 60.0)["01.1"]
    assert 10**6 < int(mark.message.split("bytes ")[1].split(".")[0]) < 2 * 2**30, mark.message


@needs_sandbox
def test_files_are_counted_and_end_with_their_exercise(box):
    notes = "open('/home/student/note', 'w').close()\nopen('/dev/shm/note', 'w').close()\n"
    marks = marks_of(box, notebook(cell(notes + MANY_FILES, "01.1"), cell(LEFT_FILES, "01.2")))
    made = int(marks["01.1"].message.split("made ")[1].split()[0])
    assert 0 < made < 10_000
    assert "left []" in marks["01.2"].message


@needs_sandbox
def test_a_busy_neighbour_costs_no_mark(box):
    """An answer that needs two seconds of the processor while every core is burnt by others."""
    slow = RIGHT.replace(
        "    return",
        "    import time\n    until = time.process_time() + 0.15\n    while time.process_time() < until:\n        pass\n    return",
    )
    spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        mark = marks_of(box, with_answer(slow), timeout=60.0)["01.1"]
    finally:
        for process in spin:
            process.kill()
            process.wait()
    assert mark.points == 4, mark.message


def test_a_sandbox_that_dies_at_start_is_tried_again_and_named(monkeypatch):
    started = []

    def launch(self, control, errors):
        started.append(1)
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, os; print('Fontconfig error: no default', file=sys.stderr); "
                "print('the true cause', file=sys.stderr); os.kill(os.getpid(), 9)",
            ],
            stderr=errors,
        )

    monkeypatch.setattr(Sandbox, "_launch", launch)
    box = Sandbox()
    with pytest.raises(SandboxError, match="three times .killed by signal 9.: the true cause"):
        box._start()
    assert len(started) == 3


@needs_sandbox
def test_workers_end_with_the_run(tmp_path):
    for number in range(12):
        (tmp_path / "class" / f"s{number}").mkdir(parents=True)
        (tmp_path / "class" / f"s{number}" / "01_kernel_regression.ipynb").write_bytes(with_answer(RIGHT))
    process = subprocess.Popen(
        [sys.executable, "-m", "course_tools.grading", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--quiet", "--jobs", "2"],
        cwd=ROOT,
        start_new_session=True,
        env={**os.environ, "GRADING_TEST": str(tmp_path)},
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not ((tmp_path / "out" / "grades.jsonl").exists()):
        time.sleep(0.05)
    process.kill()
    process.wait()

    def left() -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if f"GRADING_TEST={tmp_path}".encode() in (entry / "environ").read_bytes():
                        found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120])
                except OSError:
                    continue
        return found

    until = time.monotonic() + 60
    while left() and time.monotonic() < until:
        time.sleep(0.2)
    assert left() == []


@needs_sandbox
def test_a_notebook_has_a_budget_of_time(box, monkeypatch):
    """Exercises that use it up cost those that follow, not the class; each of them is told why."""
    names = {e.id: e.name for e in exercises_of(("01",)).values() if isinstance(e, FunctionExercise)}
    lazy = notebook(*(cell(f"def {name}(*a, **k): return 0\n", key) for key, name in names.items()))
    times = itertools.count(start=0.0, step=15.0)  # every look at the clock comes 15 s after the last one
    monkeypatch.setattr(notebook_grader, "clock", lambda: next(times))
    graded = grade_notebook(box, lazy, exercises_of(("01",)), "secret", Limits(timeout=20.0, notebook=30.0))
    tried = [graded.marks[key].mistake != "time used up" for key in names]
    assert tried == [True, True] + [False] * (len(names) - 2)
    assert "30 s that a notebook has" in graded.marks[list(names)[-1]].message


LOOK = """
import os
raise LookupError(" ".join(sorted(os.environ)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the worker forks")
def test_the_environment_stays_at_home_without_a_sandbox(monkeypatch):
    """``--unsafe`` hands on what Python needs, and none of the instructor's passwords and tokens."""
    secrets = {"CANVAS_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "SSH_AUTH_SOCK": "/nowhere", "PYTHONSTARTUP": "/nowhere"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with Unsandboxed() as unsafe:
        seen = mark_of(unsafe, LOOK).message.split("LookupError: ")[1].split(" at the line")[0].split()
        assert mark_of(unsafe, RIGHT).points == 4
    assert {"HOME", "PATH", "LANG"} <= set(seen) and not set(secrets) & set(seen)
    made_by_python = {"LC_CTYPE", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"}
    assert set(seen) <= {"HOME", "PATH", "PYTHONPATH", "COURSE_UNSAFE_GRADING", *SETTINGS, *made_by_python}, seen
