"""Run the cells behind one assertion of a chapter, as they are and with one thing broken.

An ablation belongs to a claim: the same cells with the cause removed. The chapter's own assertion has to tell the two apart; an assertion
that also passes over the broken cells proves nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from course_utils.paths import ROOT

START = -1  # the index of what is run before a chapter's first cell


@dataclass(frozen=True)
class Ablation:
    """What is broken in a chapter, and where that must be seen.

    ``claim``: the statement behind which it stands. ``breaks``: what is broken, in words. ``old`` is replaced by ``new`` in the one code
    cell that holds it; ``before`` is run first (to break the package instead of a cell). ``fails``: a piece of the one asserting line.
    ``holds``: the change must *not* matter, such as twice as many steps of training, and the assertion must still pass.
    """

    claim: str
    breaks: str
    fails: str
    old: str = ""
    new: str = ""
    before: str = ""
    holds: bool = False


@dataclass(frozen=True)
class Outcome:
    """How the cells ended: the line that stopped them ("" when nothing did), the error, seconds."""

    line: str
    error: str
    seconds: float


class AblationError(ValueError):
    """An ablation that does not fit its chapter; the message says how to mend it."""


def text_of(number: str, ablation: Ablation) -> str:
    """The text that makes the claim: a chapter such as ``03``, or ``03-deeper``, its companion, where the assertion stands there alone."""
    from course_tools.authoring.ledger import DEEPER, find_texts

    texts = find_texts(ROOT)
    holding = [label for label in (number, f"{number}-{DEEPER}") if label in texts and ablation.fails in texts[label].read_text("utf-8")]
    return holding[0] if holding else number


@cache
def code_cells(number: str) -> list[str]:
    """Code cells of a solved chapter or companion, in order."""
    from course_tools.authoring.ledger import find_texts
    from course_tools.authoring.source import SOLUTION, read_chapter

    return [cell.source(SOLUTION) for cell in read_chapter(find_texts(ROOT)[number]).cells if cell.kind == "code"]


@cache
def read_cell(index: int, source: str) -> Any:
    """A cell as grading reads it; parsed once for all ablations."""
    from course_tools.grading.cells import cell_of

    return cell_of(index, source)


@cache
def runnable_cells(number: str) -> dict[int, str]:
    """Index and source of a chapter's cells without their checks."""
    from course_tools.grading.cells import runnable

    return runnable([read_cell(index, source) for index, source in enumerate(code_cells(number))])


def _only_cell(sources: list[str], text: str, what: str) -> int:
    places = [index for index, source in enumerate(sources) if text in source]
    if len(places) != 1 or sources[places[0]].count(text) != 1:
        raise AblationError(f"{what} {text!r} stands in {len(places)} cells, or more than once in one: it has to stand exactly once")
    return places[0]


def cells_behind(number: str, ablation: Ablation, broken: bool) -> dict[int, str]:
    """Index and source of the cells to run: what the asserting cell needs, and that cell; the break is in them if ``broken``. Nothing is
    checked: the solution's own answers are used as they are."""
    from course_tools.grading.cells import needs, runnable

    sources = list(code_cells(number))
    asserting = _only_cell(sources, ablation.fails, "the assertion")
    place = _only_cell(sources, ablation.old, "what is broken,") if ablation.old else asserting
    if broken and ablation.old:
        sources[place] = sources[place].replace(ablation.old, ablation.new)
    unchecked = runnable([read_cell(index, source) for index, source in enumerate(sources)])
    cells = [read_cell(index, source) for index, source in unchecked.items()]
    chosen = needs(next(cell for cell in cells if cell.index == asserting), cells)
    if place not in chosen:
        raise AblationError(f"the cell with {ablation.old!r} is not one that the assertion {ablation.fails!r} depends on")
    first = {START: ablation.before} if broken and ablation.before else {}
    return first | {index: unchecked[index] for index in chosen if index <= asserting}


def run_here(sources: list[str]) -> Outcome:
    """Run cells in this process's shell, until one fails."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))  # its thread would not live on in a fork
    started = time.perf_counter()
    for source in sources:
        result = shell.run_cell(source, silent=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            frames = [
                frame for frame in traceback.extract_tb(error.__traceback__) if "ipython" in frame.filename or "ipykernel" in frame.filename
            ]
            line = source.split("\n")[(frames[-1].lineno or 1) - 1].strip() if frames else ""
            return Outcome(line, f"{type(error).__name__}: {str(error)[:300]}", round(time.perf_counter() - started, 1))
    return Outcome("", "", round(time.perf_counter() - started, 1))


def in_a_fork(sources: list[str]) -> dict[str, Any]:
    """The same in a fork of this process, with all that its cells have made so far; PyTorch has one thread, so nothing is lost."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(asdict(run_here(sources))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        report = file.read()
    os.waitpid(child, 0)
    return json.loads(report) if report else asdict(Outcome("", "this process ended without a report", 0.0))


def run(number: str, ablations: list[Ablation]) -> tuple[Outcome, list[Outcome]]:
    """Run the cells behind some ablations of a chapter, once as they are, and from each broken cell on in a fork that leaves there.

    Returns how the whole cells ended, and how the broken ones did, in the order of ``ablations``.
    """
    whole: dict[int, str] = {}
    forks = []
    for ablation in ablations:
        intact, broken = cells_behind(number, ablation, broken=False), cells_behind(number, ablation, broken=True)
        leaves = next(index for index in sorted(broken) if broken[index] != intact.get(index))
        forks.append((leaves, [source for index, source in sorted(broken.items()) if index >= leaves]))
        whole |= {index: source for index, source in runnable_cells(number).items() if index in intact or index in broken}
    job = {"whole": sorted(whole.items()), "forks": forks}
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "COURSE_PROGRESS": "off", "COURSE_STRICT": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.ablations.ablation"], input=json.dumps(job), capture_output=True, text=True, cwd=ROOT, env=settings
    )
    try:
        ends = [Outcome(**end) for end in json.loads(done.stdout.splitlines()[-1])]
    except (IndexError, ValueError):
        lost = Outcome("", f"the cells ended without a report, exit code {done.returncode}: {done.stderr[-2000:]}", 0.0)
        return lost, [lost] * len(ablations)
    return ends[0], ends[1:]


if __name__ == "__main__":
    import IPython.core.interactiveshell  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import torch

    torch.set_num_threads(1)
    given = json.load(sys.stdin)
    real, sys.stdout = sys.stdout, open(os.devnull, "w")
    os.chdir(ROOT / "chapters")
    ends: dict[int, dict[str, Any]] = {}
    whole, seconds = Outcome("", "", 0.0), 0.0
    for index, source in [(START, ""), *given["whole"]]:
        ends |= {place: in_a_fork(sources) for place, (leaves, sources) in enumerate(given["forks"]) if leaves == index}
        whole = run_here([source])
        seconds += whole.seconds
        if whole.error:
            break
    never = Outcome("", "the cells above it fail as they are", 0.0)
    print(
        json.dumps(
            [
                asdict(Outcome(whole.line, whole.error, round(seconds, 1))),
                *(ends.get(place, asdict(never)) for place in range(len(given["forks"]))),
            ]
        ),
        file=real,
        flush=True,
    )
