"""How the judge receives code that was published elsewhere: the entries of tests/answers that say where they were ``seen``.

python benchmarks/judge_record.py            counts, and the slowest check; --write keeps them in results/judge_record.json
python benchmarks/judge_record.py 04 13a -v  of these chapters alone, with every panel
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections import Counter

import torch
from report import write

from course_checks.engine import examine
from course_checks.lookup import chapters, find
from course_checks.panel import CheckResult
from tests.answers import answers

PLACES = ("entries differ", "right number of entries", "Besides")  # clues that are no reason
KINDS = ("accepted", "named", "reason", "where only")


def kind_of(result: CheckResult) -> str:
    """What a wrong answer is told: a mistake's name, a message or clue that is a reason, or only where the numbers differ."""
    if result.passed:
        return "accepted"
    if result.mistake and result.mistake != "wrong type":
        return "named"
    clues = result.finding.clues if result.finding else []
    told = result.stage in ("type", "forbidden shortcut") or result.stage == "raised" and "\n" in result.message
    return "reason" if told or any(all(text not in clue for text in PLACES) for clue in clues) else "where only"


def record(chosen: list[str], aloud: bool) -> dict[str, object]:
    """Judge every published answer of the chosen chapters with one seed."""
    wrong, right, slowest = Counter[str](), Counter[str](), (0.0, "")
    torch.set_num_threads(1)
    for entry in [entry for chapter in chosen for entry in answers(chapter) if entry.seen]:
        with contextlib.redirect_stdout(io.StringIO()):  # `mine` says whose version it gives
            exercise, answer = find(entry.exercise), entry.answer()
        began = time.process_time()
        result = examine(exercise, answer, seed=1)
        slowest = max(slowest, (round(time.process_time() - began, 2), f"{entry.exercise} {entry.what}"))
        kind = kind_of(result)
        if entry.passes:
            right["accepted" if result.passed else "refused"] += 1
        else:
            wrong[kind] += 1
        if aloud:
            print(f"[{kind if not entry.passes else 'right'}] {entry.exercise} {entry.what} ({entry.seen})\n{result}\n")
    return {
        "right": {kind: right[kind] for kind in ("accepted", "refused")},
        "wrong": {kind: wrong[kind] for kind in KINDS},
        "slowest check": {"seconds of processor time": slowest[0], "answer": slowest[1]},
    }


if __name__ == "__main__":
    asked = [word for word in sys.argv[1:] if not word.startswith("-")]
    figures = record(asked or chapters(), "-v" in sys.argv)
    for name, counts in figures.items():
        print(f"{name}: {counts}")
    if "--write" in sys.argv:
        write("judge_record", figures)
