"""Grading against nbgrader's batch autograde, the same notebooks side by side in one run; and memory as the class grows.

    python benchmarks/grading_speed.py [--chapter 01] [--submissions 40] [--beside 12] [--classes 25 100]
    python benchmarks/grading_speed.py --class 120 03 --class 40 01 03 06 [--jobs 2]

With ``--beside`` nbgrader gets only the first so many, because it takes equally long for each.

The second form measures such classes alone, without nbgrader: seconds and peak memory.

Both use this machine with what they use by default: nbgrader one notebook after another, the grader its cores. The grader
runs before and after nbgrader, and its start counts. Exits with 1 when it is less than 8 times as fast per submission, or when
four times the notebooks take a quarter more memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from report import write

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from course_tools.grading.nbgrader import lay_out  # noqa: E402

WANTED, FLAT = 8.0, 1.25
KINDS = ("solved", "blank", "half")


def environment() -> dict[str, str]:
    """For both: the course importable, nbgrader's helper programs found, nobody's progress touched."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "COURSE_PROGRESS": "off",
        "OMP_WAIT_POLICY": "passive",
        "OMP_NUM_THREADS": "1",
    }  # the matrices are tiny: more threads would only slow nbgrader's kernels down


def run(*words: str, cwd: Path) -> float:
    """Seconds that a command takes; RuntimeError, with its last words, when it fails."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", *words], cwd=cwd, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return time.perf_counter() - started


def answers(folder: str, name: str) -> dict[str, Any]:
    """Answer cells of a chapter in ``chapters`` or ``solutions``, by exercise."""
    book = json.loads((ROOT / folder / f"{name}.ipynb").read_text(encoding="utf-8"))
    tagged = [(cell["metadata"].get("course", {}), cell["source"]) for cell in book["cells"]]
    return {tag["exercise"]: source for tag, source in tagged if tag.get("role") == "answer"}


def hand_in(released: dict[str, Any], name: str, folder: Path, students: range) -> None:
    """Submissions in nbgrader's folders: solved, blank, and with every second exercise solved."""
    stubs, solutions = answers("chapters", name), answers("solutions", name)
    for student in students:
        kind = KINDS[student % len(KINDS)]
        book = json.loads(json.dumps(released))
        for cell in book["cells"]:
            tag = cell["metadata"].get("course", {})
            if tag.get("role") == "answer":
                number = list(stubs).index(tag["exercise"])
                cell["source"] = (solutions if kind == "solved" or kind == "half" and number % 2 else stubs)[tag["exercise"]]
        place = folder / f"student{student:03d}" / name
        place.mkdir(parents=True)
        (place / f"{name}.ipynb").write_text(json.dumps(book), encoding="utf-8")


class Peak(threading.Thread):
    """The most memory that a process and its descendants have had together, in MB.

    A process counts with its proportional set of anonymous pages: what forks share counts once, files in the cache do not.
    """

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.process, self.most, self.done, self.samples = psutil.Process(pid), 0.0, threading.Event(), 0

    def run(self) -> None:
        """Sample until told to stop."""
        while not self.done.wait(0.2):
            try:
                family = [self.process, *self.process.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            self.most = max(self.most, sum(map(anonymous, family)) / 1024)
            self.samples += 1


def anonymous(process: psutil.Process) -> float:
    """Proportional anonymous memory of a process in kB; 0 when it has gone."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup") as file:
            return next((float(line.split()[1]) for line in file if line.startswith("Pss_Anon:")), 0.0)
    except OSError:
        return 0.0


def peak_of_class(released: dict[str, dict[str, Any]], students: int, folder: Path, jobs: int = 2) -> tuple[float, float]:
    """Peak memory in MB and seconds of grading a class of so many students, each with the notebooks ``released`` by name."""
    for name, book in released.items():
        hand_in(book, name, folder / "class", range(students))
    started = time.perf_counter()
    judge = subprocess.Popen(
        [sys.executable, "-m", "course_tools.grading", str(folder / "class"), "--out", str(folder / "out"), "--quiet", "--jobs", str(jobs)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    peak = Peak(judge.pid)
    peak.start()
    code = judge.wait()
    peak.done.set()
    peak.join()
    if code:
        raise RuntimeError(f"grading a class of {students} ended with {code}")
    return peak.most, time.perf_counter() - started


def seconds_of_ours(folder: Path, out: Path) -> float:
    """Grade what lies under ``folder``."""
    return run("course_tools.grading", str(folder), "--out", str(out), "--quiet", cwd=ROOT)


def measure_classes(wanted: list[list[str]], jobs: int) -> int:
    """Seconds and peak memory of classes such as ``["120", "03"]``: so many students, each with these chapters."""
    found = []
    for number, *chapters in wanted:
        names = [path.stem for chapter in chapters for path in (ROOT / "chapters").glob(f"{chapter}_*.ipynb")]
        if not number.isdigit() or not chapters or len(names) != len(chapters):
            raise SystemExit(f"--class {number} {' '.join(chapters)}: a number of students, then chapters such as 03 and 08a")
        books = {name: json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8")) for name in names}
        exercises = sum(len(answers("chapters", name)) for name in names)
        with tempfile.TemporaryDirectory() as text:
            peak, seconds = peak_of_class(books, int(number), Path(text), jobs)
        notebooks = int(number) * len(names)
        print(
            f"{number} students with {', '.join(chapters)} ({notebooks} notebooks, {exercises} exercises a student), {jobs} judges: "
            f"{seconds:.0f} s in all, {seconds / notebooks:.2f} s a notebook, {seconds / int(number) / exercises:.3f} s an exercise, "
            f"peak memory {peak:.0f} MB",
            flush=True,
        )
        found.append(
            {
                "students": int(number),
                "chapters": chapters,
                "judges": jobs,
                "seconds": round(seconds, 1),
                "seconds_per_notebook": round(seconds / notebooks, 3),
                "peak_memory_mb": round(peak, 1),
            }
        )
    write("grading_classes", {"classes": found})
    return 0


def main() -> int:
    """Measure, print, write; 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chapter", default="01")
    parser.add_argument("--submissions", type=int, default=40)
    parser.add_argument("--beside", type=int, help="how many of them nbgrader grades (all)")
    parser.add_argument("--classes", type=int, nargs=2, default=[25, 100])
    parser.add_argument("--class", nargs="+", action="append", dest="wanted", metavar="N CHAPTER", help="measure this class alone")
    parser.add_argument("--jobs", type=int, default=2, help="judges of --class (2)")
    options = parser.parse_args()
    if options.wanted:
        return measure_classes(options.wanted, options.jobs)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        name = next(stem for stem in lay_out(ROOT, folder) if stem.startswith(options.chapter + "_"))
        run("nbgrader", "generate_assignment", name, cwd=folder)
        released = json.loads((folder / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
        n, beside = options.submissions, min(options.beside or options.submissions, options.submissions)
        hand_in(released, name, folder / "submitted", range(beside))
        hand_in(released, name, folder / "everybody", range(n))
        ours = seconds_of_ours(folder / "everybody", folder / "ours") / n
        theirs = run("nbgrader", "autograde", name, cwd=folder) / beside
        again = seconds_of_ours(folder / "everybody", folder / "again") / n
        cold = (ours + again) / 2
        run("nbgrader", "export", "--to", "grades.csv", cwd=folder)
        # what a further notebook costs: the difference between two classes, the start cancels
        small, few = peak_of_class({name: released}, options.classes[0], folder / "small")
        large, many = peak_of_class({name: released}, options.classes[1], folder / "large")
    steady = (many - few) / (options.classes[1] - options.classes[0])
    ratio, growth = theirs / cold, large / small
    print(
        f"{name}, {n} submissions, seconds per submission: nbgrader {theirs:.2f} ({beside} of them), "
        f"ours {cold:.2f} with its start, {steady:.2f} without"
    )
    print(f"ratio {ratio:.1f} with the start, {theirs / steady:.1f} without (wanted: {WANTED:g})")
    print(f"classes of {options.classes[0]} and {options.classes[1]} with their start: {few:.1f} s and {many:.1f} s")
    print(
        f"peak memory of the graders: {small:.0f} MB for {options.classes[0]} notebooks, {large:.0f} MB for {options.classes[1]}: "
        f"ratio {growth:.2f} (wanted: at most {FLAT:g})"
    )
    write(
        "grading_speed",
        {
            "nbgrader": version("nbgrader"),
            "chapter": name,
            "submissions": n,
            "of_them_by_nbgrader": beside,
            "nbgrader_seconds_per_submission": round(theirs, 3),
            "seconds_per_submission_with_start": round(cold, 3),
            "before_and_after_nbgrader": [round(ours, 3), round(again, 3)],
            "seconds_per_submission_steady": round(steady, 3),
            "ratio_with_start": round(ratio, 2),
            "ratio_steady": round(theirs / steady, 2),
            "classes": options.classes,
            "seconds_of_classes": [round(few, 2), round(many, 2)],
            "peak_memory_mb": [round(small, 1), round(large, 1)],
            "peak_memory_ratio": round(growth, 3),
        },
    )
    return 0 if ratio >= WANTED and growth <= FLAT else 1


if __name__ == "__main__":
    sys.exit(main())
