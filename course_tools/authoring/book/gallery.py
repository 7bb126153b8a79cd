"""A gallery of mistakes: a page for each chapter, a card for each entry of its exercises' pages of mistakes.

A card has the wrong lines, what they compute beside what was expected, why, and where somebody has made the mistake in public.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from course_checks.exercise import Exercise
from course_checks.heads import seen, thread
from course_checks.known import Known
from course_checks.lookup import chapters, in_chapter
from course_checks.misconceptions import Misconception
from course_checks.observe import neutral_torch, observe_all
from course_checks.trial import Finding, Trial

from .pages import Page, exercises

SEED, ROWS, COLUMNS = 11, 3, 5


def card_label(exercise: str, number: int) -> str:
    """The name of a card for links, such as ``m-04-4-2``."""
    return f"m-{exercise.replace('.', '-')}-{number}"


def stage_gallery(pages: list[Page], out: Path) -> list[str]:
    """Write ``out/mistakes.md`` and a page for each chapter; the names of the latter. Cards seen in public stand on the first page, too."""
    ways = {found["id"]: section.label for page in pages for found, section in exercises(page)}
    titles = {page.number: page.title for page in pages if not page.is_companion}
    (out / "mistakes").mkdir(exist_ok=True)
    names, public, count = [], [], 0
    for chapter in (one for one in chapters() if one in titles):
        lines = [f"# Mistakes: {titles[chapter]}", "", "Try an exercise before you look up its mistakes: a check names yours.", ""]
        for exercise in (one for one in in_chapter(chapter).values() if one.id in ways):
            lines += [f"## {exercise.id} {exercise.title}", "", f"[To the exercise](#{ways[exercise.id]})", ""]
            for number, (mistake, finding) in enumerate(_found(exercise), 1):
                label = card_label(exercise.id, number)
                head = f'<section id="{label}"><h3>{_name(mistake)}<a class="headerlink" href="#{label}">#</a></h3>'  # not in the sidebars
                lines += [head, "", *_card(exercise, mistake, finding), "</section>", ""]
                if threads := seen().get((exercise.id, mistake.name)):
                    link = f'<a href="mistakes/ch{chapter}.html#{label}">{exercise.id} {_name(mistake)}</a>'
                    public.append(f"| {link} | {', '.join(map(_link, threads))} |")
                count += 1
        (out / "mistakes" / f"ch{chapter}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        names.append(f"mistakes/ch{chapter}")
    first = [
        "# Gallery of mistakes",
        "",
        f"The checks of the exercises know {count:,} mistakes. Here they are, a page for each chapter: the wrong lines, what comes out of "
        "them, and why. The search finds them, too. These were seen in public:",
        "",
        *("| mistake | where |", "|---|---|", *public, ""),
    ]
    (out / "mistakes.md").write_text("\n".join(first), encoding="utf-8")
    return names


def _name(mistake: Misconception) -> str:
    return re.sub("`(.*?)`", r"<code>\1</code>", html.escape(mistake.name[0].upper() + mistake.name[1:]))


def _link(place: str) -> str:
    return f"[{place.replace('#', ' #')}]({thread(place)})"


def _found(exercise: Exercise) -> Iterator[tuple[Misconception, Finding | None]]:
    """Each mistake of an exercise and the first case that shows it, with outputs; of a prediction there are none."""
    with neutral_torch(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        cases = exercise.cases((SEED,)) if exercise.runs else []
        known = Known()
        for mistake in exercise.misconceptions:
            for index, case in enumerate(cases):
                asked = [(case.args, case.gradients)]
                observation = exercise.judged(observe_all(exercise.kind, mistake.answer, asked, exercise.forbidden, 10)[0], case)
                if finding := Trial(exercise, case, index, observation, known).finding():
                    yield mistake, finding
                    break
            else:
                yield mistake, None


def _card(exercise: Exercise, mistake: Misconception, finding: Finding | None) -> list[str]:
    old = [line for removed, _ in mistake.change.edits for line in removed]
    new = mistake.change.whole.rstrip().split("\n") if mistake.change.whole else [line for _, put in mistake.change.edits for line in put]
    lines = [_code(new or ["# a line is missing"]), ""]
    lines += _numbers(finding) if finding is not None else []
    lines += [mistake.hint, ""]
    if old:
        lines += [f"<details><summary>In place of</summary>{_code(old)}</details>", ""]
    if threads := seen().get((exercise.id, mistake.name)):
        lines += [f"Seen in public: {', '.join(map(_link, threads))}.", ""]
    return lines


def _code(lines: list[str]) -> str:
    """As it stands: colours for seven thousand pieces would take most of the book's time."""
    return f'<pre class="mistake-code">{html.escape(chr(10).join(lines))}</pre>'


def _numbers(finding: Finding) -> list[str]:
    """What comes out beside what was expected, around the first number that is wrong; one line where they cannot be compared."""
    got, want = finding.got, finding.expected
    case = f" ({html.escape(finding.case.label)})" if finding.case.label else ""
    if not (isinstance(got, torch.Tensor) and isinstance(want, torch.Tensor) and got.numel() and want.numel()):
        return [f"The check says: {_plain(finding.message)}", ""] if finding.message else []
    if got.shape != want.shape:
        return [f"Shape {tuple(got.shape)}, expected {tuple(want.shape)}{case}.", ""]
    got, want = got.detach().double(), want.detach().double()
    wrong = ~torch.isclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
    place = wrong.nonzero()[0].tolist() if wrong.any() else [0] * got.dim()
    sheets = [_sheet(sheet, place) for sheet in (got, want, wrong)]
    tables = "".join(
        f"<figure><figcaption>{title}</figcaption><table>{_rows(sheet, sheets[2])}</table></figure>"
        for title, sheet in (("comes out", sheets[0]), ("expected", sheets[1]))
    )
    return [f'<div class="mistake-numbers">{tables}</div>', ""]


def _sheet(tensor: torch.Tensor, place: list[int]) -> torch.Tensor:
    """A few rows and columns around a place."""
    for at in place[:-2]:
        tensor = tensor[at]
    tensor = tensor.reshape(1, -1) if tensor.dim() < 2 else tensor
    top, left = (max(0, at - most + 1) for at, most in zip([0, 0, *place][-2:], (ROWS, COLUMNS), strict=True))
    return tensor[top : top + ROWS, left : left + COLUMNS]


def _rows(sheet: torch.Tensor, wrong: torch.Tensor) -> str:
    def cell(value: Any, bad: Any) -> str:
        return f"<td{' class=wrong' if bad else ''}>{value:.3g}</td>"

    return "".join(f"<tr>{''.join(map(cell, row, bad))}</tr>" for row, bad in zip(sheet.tolist(), wrong.tolist(), strict=True))


def _plain(text: str) -> str:
    short = " ".join(text.replace("`", "").split())
    return re.sub(r"([\\*_$<>\[\]|#])", r"\\\1", short if len(short) <= 200 else f"{short[:200]} …")
