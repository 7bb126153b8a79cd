"""How the judge receives code that was published elsewhere: the entries of tests/answers that say where they were ``seen``.

python benchmarks/judge_record.py            counts, and the slowest check; --write keeps them in results/judge_record.json
python benchmarks/judge_record.py 04 13a -v  of these chapters alone, with every panel
"""

import contextlib
import io
import sys
import time
from collections import Counter
from typing import Any

import torch
from report import write

from course_checks.engine import examine
from course_checks.lookup import chapters, find
from course_checks.panel import CheckResult
from tests.answers import answers

PLACES = ("entries differ", "right number of entries", "Besides")  # clues that are no reason
KINDS = {"right": ("accepted", "refused"), "wrong": ("accepted", "named", "reason", "where only")}


def kind_of(result: CheckResult) -> str:
    """What a wrong answer is told: a mistake's name, a message or clue that is a reason, or only where the numbers differ."""
    if result.passed or result.mistake and result.mistake != "wrong type":
        return "accepted" if result.passed else "named"
    told = result.stage in ("type", "forbidden shortcut") or result.stage == "raised" and "\n" in result.message
    clues = [clue for clue in (result.finding.clues if result.finding else []) if all(text not in clue for text in PLACES)]
    return "reason" if told or clues else "where only"


def record(chosen: list[str], aloud: bool) -> dict[str, Any]:
    """Judge every published answer of the chosen chapters with one seed."""
    counts, slowest = {"right": Counter[str](), "wrong": Counter[str]()}, (0.0, "")
    torch.set_num_threads(1)
    for entry in [entry for chapter in chosen for entry in answers(chapter) if entry.seen]:
        with contextlib.redirect_stdout(io.StringIO()):  # `mine` says whose version it gives
            exercise, answer = find(entry.exercise), entry.answer()
        began = time.process_time()
        result = examine(exercise, answer, seed=1)
        slowest = max(slowest, (round(time.process_time() - began, 2), f"{entry.exercise} {entry.what}"))
        kind = ("accepted" if result.passed else "refused") if entry.passes else kind_of(result)
        counts["right" if entry.passes else "wrong"][kind] += 1
        if aloud:
            print(f"[{kind}] {entry.exercise} {entry.what} ({entry.seen})\n{result}\n")
    told = {name: {kind: counts[name][kind] for kind in kinds} for name, kinds in KINDS.items()}
    return {**told, "slowest check": {"seconds of processor time": slowest[0], "answer": slowest[1]}}


if __name__ == "__main__":
    figures = record([word for word in sys.argv[1:] if not word.startswith("-")] or chapters(), "-v" in sys.argv)
    print("\n".join(f"{name}: {counts}" for name, counts in figures.items()))
    if "--write" in sys.argv:
        write("judge_record", figures)
