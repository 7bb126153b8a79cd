"""A thousand submissions of chapter 03 on a Dask cluster that loses a worker, and on one process: are tables, pages and report the same?

    python benchmarks/big_class.py [--students 40] [--alone 40: so many go through one process, too, and are compared]

Scheduler and three workers are processes of this machine; a third of the way through a worker is killed. Memory is PSS, in MB.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from dask.distributed import Client
from report import write

from course_checks.lookup import find
from course_checks.misconceptions import PageError
from course_tools.metadata import tag_of
from course_utils.launcher.notebooks import read, without_outputs
from course_utils.paths import ROOT
from tests.answers import answers, plain

NAME, ADDRESS = "03_self_attention.ipynb", "tcp://127.0.0.1:8791"


def put_class(folder: Path, students: int) -> None:
    """The same hand-ins every time, without outputs, named as Canvas, Moodle and plain folders name them; a few are broken."""
    solved, blank = (without_outputs(read(ROOT / place / NAME)) for place in ("solutions", "chapters"))
    mine, empty = ({str(tag_of(cell)[0]): cell for cell in book["cells"] if tag_of(cell)[1] == "answer"} for book in (solved, blank))
    kinds: dict = {key: (["".join(cell["source"])], [], ["".join(empty[key]["source"])]) for key, cell in mine.items()}
    for key, (right, wrong, _) in kinds.items():
        for mistake in find(key).misconceptions:
            with suppress(PageError):  # it changes a line that the notebook's answer writes otherwise
                wrong.append(mistake.change.made(plain(right[0])) if find(key).runs else f"{find(key).name} = {mistake.answer!r}")
        right += [one.code() for one in answers("03") if one.exercise == key and one.passes]
    rng = random.Random(3)
    for n in range(students):
        path = folder / (f"student{n}_{n}_7_{NAME}", f"Student {n}_{n}_assignsubmission_file/{NAME}", f"student {n}/{NAME}")[n % 3]
        odds = rng.choice(((1, 0, 0), (0, 0, 1), (6, 3, 1), (3, 5, 2), (1, 8, 1)))
        for key, cell in mine.items():
            cell["source"] = "from math import inf, nan\n" + rng.choice(rng.choices(kinds[key], odds)[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(json.dumps(solved).encode() if rng.random() > 0.03 else rng.choice((b"", b"{", b"[]", b"<html>")))


def megabytes(tops: list[int]) -> int:
    """What these processes and those below them hold."""
    held = 0
    for pid in tops + [child.pid for top in tops if psutil.pid_exists(top) for child in psutil.Process(top).children(True)]:
        with suppress(OSError, IndexError):  # it has just ended
            held += int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("Pss:")[1].split()[0])
    return held // 1024


def grade(place: Path, out: str, third: int, parts: dict[str, list[int]], *more: str) -> dict:
    """Grade the class; seconds, and what all ``parts`` hold. Where there is a cluster, a worker is killed behind line ``third``."""
    words = [sys.executable, "-m", "course_tools.grading", place / "class", "--out", place / out, "--only", "03", "--seed", "fixed", *more]
    start, way, lost, lines = time.time(), [], dict[str, list](), place / out / "grades.jsonl"
    grader = subprocess.Popen([*map(str, words), "--quiet"], cwd=ROOT)
    while grader.poll() is None:
        now: dict = {name: megabytes(pids) for name, pids in {**parts, "grader": [grader.pid]}.items()}
        now |= {"all": sum(now.values()), "second": round(time.time() - start), "load": round(os.getloadavg()[0], 1)}
        way.append(now | {"line": lines.read_bytes().count(b'"}\n') if lines.exists() else 0})
        if parts and way[-1]["line"] >= third and not lost:
            with Client(ADDRESS) as client:
                (worker, pid), jobs = min(client.run(os.getpid).items()), client.processing()
            psutil.Process(pid).kill()
            lost = way[-1] | {"jobs there": [key.split("-")[1] for key in jobs[worker]]}
        time.sleep(2)
    took, keys = round(time.time() - start), [json.loads(line)["key"] for line in lines.open(encoding="utf-8")]
    assert len(keys) == len(set(keys)), "a notebook has two lines"
    lost |= {"jobs there": [keys.index(key) + 1 for key in lost["jobs there"]]} if lost else {}  # their lines
    figures = {"lines": len(keys), "seconds": took, "lines per second": round(len(keys) / took, 2), "lost worker": lost}
    return figures | {"peak": max(way, key=lambda row: row["all"]), "on the way": way[:: len(way) // 10 or 1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--alone", type=int)
    options, place, dask = parser.parse_args(), Path(tempfile.mkdtemp()), [sys.executable, "-m", "dask"]
    os.environ |= {"PYTHONPATH": str(ROOT), "COURSE_PROGRESS": "off", "OMP_NUM_THREADS": "1"}
    put_class(place / "class", options.students)
    commands = ["scheduler --port 8791", *[f"worker {ADDRESS} --nthreads 1 --no-nanny"] * 3]
    pids = [subprocess.Popen([*dask, *words.split(), "--host", "127.0.0.1"], cwd=place).pid for words in commands]
    parts = {"scheduler": pids[:1], "workers": pids[1:]}
    try:
        figures = {"cluster": grade(place, "cluster", options.students // 3, parts, *"--engine dask --scheduler".split(), ADDRESS)}
    finally:
        for pid in reversed(pids):
            psutil.Process(pid).terminate()
    if options.alone:
        subprocess.run(["rm", "-r", place / "class"], check=True)
        put_class(place / "class", options.alone)
        grade(place, "cluster", 0, {}, "--resume")  # grades nothing: the lines are there, and tables of these are written
    figures["one process"] = grade(place, "alone", 0, {}, "--jobs", "1")
    words = ["diff", "-rq", "-x", "run.json", "-x", "grades.jsonl", str(place / "cluster"), str(place / "alone")]
    differ = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    sizes = [path.stat().st_size for path in (place / "alone").rglob("*") if path.is_file() and path.name not in words]
    figures["compared"] = {"files": len(sizes), "bytes": sum(sizes), "differ": differ}
    (write if options.students >= 1000 else print)("big_class", figures)


if __name__ == "__main__":
    main()
