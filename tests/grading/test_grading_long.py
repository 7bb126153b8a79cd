"""What only many runs show: a run that is killed again and again, and two runs into one folder.

Runs in ``python course.py test --full``; ``-s`` shows the summaries.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from classroom import (
    ENVIRONMENT,
    RIGHT,
    WRONG,
    blank,
    cell,
    full,
    misconception_cell,
    needs_sandbox,
    notebook,
    replaced,
    solved,
    with_answer,
)

from course_checks.lookup import find
from course_tools.grading.run_folder import RunFolder
from course_utils.paths import ROOT

pytestmark = full
FIRST, THIRD = "01_kernel_regression.ipynb", "03_self_attention.ipynb"


def put_class(folder: Path) -> None:
    """Fifteen hand-ins: solved, partly wrong, blank, unreadable, handed in twice, named by Canvas and by Moodle."""
    slow = with_answer("import time\ntime.sleep(0.4)\n" + RIGHT)
    wrong = notebook(*(cell(misconception_cell(find(key), find(key).misconceptions[0]), key) for key in ("01.1", "01.2")))
    hand_ins = {
        f"ada/{FIRST}": solved("01"),
        f"bob/{FIRST}": wrong,
        f"cem/{FIRST}": blank("01"),
        f"dora/{THIRD}": solved("03"),
        f"eve/{FIRST}": b"no notebook at all",
        f"fay/{FIRST}": replaced(solved("01"), "01.1", WRONG),
        f"gus/first {FIRST}": slow,
        f"gus/second {FIRST}": with_answer(WRONG),
        "gus/third.ipynb": b"{",
        "gus/fourth.ipynb": b"[]",
        f"hal/{THIRD}": blank("03"),
        f"doejane_12_34_{FIRST}": with_answer(RIGHT),
        f"roejoe_13_36_{FIRST}": slow,
        f"Jane Doe_4711_assignsubmission_file/{FIRST}": with_answer(RIGHT),
        f"Joe Roe_4712_assignsubmission_file/{FIRST}": slow,
    }
    for name, content in hand_ins.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        os.utime(path, (1.9e9, 1.9e9))
    (folder / "ida").mkdir()


def lines_in(out: Path) -> int:
    """Complete lines of ``grades.jsonl``: a torn one ends in a line break, too, once the next run has written on."""
    data = (out / "grades.jsonl").read_bytes() if (out / "grades.jsonl").exists() else b""
    return sum(line.startswith(b'{"key"') and line.endswith(b'"}\n') for line in data.splitlines(True))


def written_since(out: Path, start: int) -> int:
    """Tables and pages that are younger than ``start``."""
    found = [*out.glob("*.csv"), *out.glob("*.html"), *out.glob("feedback/*.html")]
    return sum(path.stat().st_mtime_ns > start for path in found if path.exists())


def what_people_read(out: Path) -> dict[str, bytes]:
    """Every file of a run but its draws and its lines."""
    files = [path for path in out.rglob("*") if path.is_file() and path.name not in ("run.json", "grades.jsonl")]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def what_was_graded(out: Path) -> list[str]:
    """The lines of a run without seconds, in a fixed order."""
    records = list(RunFolder(out, True).records())
    for record in records:
        for mark in record.marks.values():
            mark.seconds = 0.0
    return sorted(json.dumps(asdict(record), sort_keys=True) for record in records)


@dataclass
class Killed:
    """One kill: what the run was doing, who was killed, and what lay in the folder then."""

    phase: str
    victim: str
    lines: int
    written: int


class Killer:
    """A run that is started with --resume, killed, and started again."""

    def __init__(self, folder: Path, out: Path, jobs: int, seed: int):
        self.out, self.rng = out, random.Random(seed)
        self.kills: list[Killed] = []
        self.orphans: list[tuple[float, list[Any]]] = []
        words = f"--quiet --seed fixed --jobs {jobs} --resume".split()
        self.command = [sys.executable, "-m", "course_tools.grading", str(folder), "--out", str(out), *words]
        self.started: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The run that was started last."""
        assert self.started is not None
        return self.started

    def start(self) -> None:
        """Start the run, if it does not go on."""
        if self.started is None or self.started.poll() is not None:
            self.began = time.time_ns()
            self.started = subprocess.Popen(self.command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def family(self) -> dict[str, list]:
        """The processes of the run: workers, bubblewrap with its fork server, everything."""
        import psutil

        found: dict[str, list] = {"worker": [], "box": [], "all": []}
        try:
            found["all"] = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return found
        for child in found["all"]:
            try:
                line, parent = child.cmdline(), child.parent()
                if "--process-name" in line:
                    found["worker"].append(child)
                elif line[:1] == ["bwrap"] or "course_tools.grading.forkserver" in line and parent and parent.cmdline()[:1] == ["bwrap"]:
                    found["box"].append(child)
            except psutil.Error:
                continue
        return found

    def kill(self, phase: str, victim: str, wanted: int) -> None:
        """Start the run, wait for the phase, kill; nothing is noted when the run has ended before."""
        import psutil

        self.start()
        before, until = lines_in(self.out), time.monotonic() + 180
        while time.monotonic() < until and self.process.poll() is None and not self.reached(phase, wanted):
            time.sleep(0.0005 if phase == "tables" else 0.01)
        if phase in ("sandbox", "grading"):
            time.sleep(self.rng.uniform(0, 0.6))
        family = self.family()
        victims = [self.process] if victim == "main" else family[victim]
        if self.process.poll() is not None or not victims:
            return
        victim_process = self.rng.choice(victims)
        try:
            os.kill(victim_process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        if victim == "main":
            self.process.wait()
            self.orphans.append((time.monotonic(), family["all"]))
            if phase == "line" and lines_in(self.out) > before and self.rng.random() < 0.5:  # as a kill in the middle of writing leaves it
                data = (self.out / "grades.jsonl").read_bytes()
                last = data[:-1].rfind(b"\n") + 1
                (self.out / "grades.jsonl").write_bytes(data[: self.rng.randrange(last + 1, len(data))])
        else:
            psutil.wait_procs([victim_process], 5)
        self.kills.append(kill := Killed(phase, victim, lines_in(self.out), written_since(self.out, self.began)))
        print(f"{phase:10} {victim:6} at {kill.lines:2} of {TOTAL} lines, {kill.written:2} tables and pages written", flush=True)

    def reached(self, phase: str, wanted: int) -> bool:
        """Whether the run is where it is to be killed."""
        if phase == "collecting":
            return time.time_ns() - self.began > wanted * 1e6
        if phase == "sandbox":
            return bool(self.family()["box"])
        if phase == "tables":
            return written_since(self.out, self.began) >= wanted
        return lines_in(self.out) >= wanted

    def finish(self) -> str:
        """Let the run end, and once more, until nothing is left to do; its last words."""
        for _ in range(3):
            self.start()
            said = self.process.communicate(timeout=300)[0].decode()
            if self.process.returncode == 1 and "0 notebooks graded" in said:
                return said
        return said

    def left_over(self, seconds: float) -> list[str]:
        """Processes of killed runs that are alive so many seconds after the kill."""
        import psutil

        found = []
        for killed, family in self.orphans:
            time.sleep(max(0.0, killed + seconds - time.monotonic()))
            for process in family:
                try:
                    if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                        found.append(f"{process.pid} {process.cmdline()[:8]}")
                except psutil.Error:
                    continue
        return found


TOTAL = 16  # lines of the finished run
SERIES = {  # by the number of judges: when, who, and how much is there by then
    2: "collecting main 150, collecting main 1500, sandbox box 0, sandbox worker 0, sandbox main 0, sandbox main 0, "
    "line main 1, grading box 3, grading worker 4, grading main 5, grading worker 6, grading box 7, line main 8, "
    "grading box 9, grading main 10, grading worker 11, line main 12, line main 14, tables main 1, tables main 4, "
    "tables main 9, tables main 13, tables main 15, tables main 16",
    1: "collecting main 700, sandbox box 0, sandbox main 0, grading box 2, line main 4, grading main 5, grading box 7, "
    "grading box 8, line main 10, grading main 12, tables main 2, tables main 7, tables main 14",
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The class, and the folder of a run that nobody has disturbed."""
    place = tmp_path_factory.mktemp("undisturbed")
    put_class(place / "class")
    run = Killer(place / "class", place / "out", 2, 0)
    assert "problem" not in run.finish() and run.process.returncode == 1
    return place / "class", place / "out"


@needs_sandbox
@pytest.mark.parametrize("jobs", SERIES)
def test_a_run_that_is_killed_again_and_again(tmp_path, undisturbed, jobs):
    """The tables, the pages and the lines of a run with kills in all its phases are those of an undisturbed one."""
    folder, calm = undisturbed
    run = Killer(folder, tmp_path / "out", jobs, jobs)
    series = [kill.split() for kill in SERIES[jobs].split(", ")]
    for phase, victim, wanted in series:
        run.kill(phase, victim, int(wanted))
    said = run.finish()
    print(f"{jobs} judges, {len(run.kills)} kills; lines: {sorted(kill.lines for kill in run.kills)}; {said.strip()}")
    assert run.left_over(20) == []
    # a kill while tables are written may come too late; what must be there of each kind is asked for below
    assert len(run.kills) >= 3 * len(series) // 4, "kills came too late: the class is too small for this machine"
    assert sum(kill.lines == 0 for kill in run.kills) >= 2
    assert sum(0 < kill.lines < TOTAL for kill in run.kills) >= 5
    assert sum(kill.lines == TOTAL and 0 < kill.written for kill in run.kills) >= 2
    assert what_people_read(run.out) == what_people_read(calm)
    assert what_was_graded(run.out) == what_was_graded(calm)


@needs_sandbox
@pytest.mark.parametrize("resume", [False, True])
def test_two_runs_into_one_folder(tmp_path, resume):
    """Started at the same moment: one of them grades, the other says that it does not."""
    for student, source in (("ada", RIGHT), ("bob", WRONG), ("cem", RIGHT)):
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / FIRST).write_bytes(with_answer("import time\ntime.sleep(1)\n" + source))
    for turn in range(3):
        out = tmp_path / f"out {turn}"
        command = [sys.executable, "-m", "course_tools.grading", str(tmp_path / "class"), "--out", str(out), "--quiet", "--jobs", "1"]
        runs = [
            subprocess.Popen(
                command + ["--resume"] * resume, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        said = [run.communicate(timeout=120) for run in runs]
        assert sorted(run.returncode for run in runs) == [0, 2], said
        refused = said[[run.returncode for run in runs].index(2)][1]
        assert "another run is at work in" in refused or (not resume and "already holds a run" in refused), refused
        students = Counter(record.submission.student for record in RunFolder(out, True).records())
        assert students == Counter(["ada", "bob", "cem"])
        assert [line.split(",")[0] for line in (out / "gradebook.csv").read_text().splitlines()[1:]] == ["ada", "bob", "cem"]
