"""The small panel a learner sees after a check, as HTML, Markdown and plain text."""

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Any

import torch

from .case import Case
from .comparison import STYLE, Comparison, compare
from .exercise import Exercise
from .heads import seen, thread
from .judge import Finding, Verdict

MOST = 8  # rows and columns of a tensor that are drawn
MARKS = {"passed": ("✓", "right"), "failed": ("✗", "not yet"), "not attempted": ("○", "not attempted")}


@dataclass
class CheckResult:
    """What a check found; ``use`` is the learner's answer when it passed, else the reference: later cells go on with it."""

    exercise: str
    title: str
    passed: bool
    points: float
    possible: float
    stage: str
    message: str
    use: Any = None
    mistake: str | None = None
    hint: str | None = None
    remarks: list[str] = field(default_factory=list)
    finding: Finding | None = None
    seed: int | None = None
    seconds: float = 0.0
    earned: dict[str, float] = field(default_factory=dict)  # points for each part
    why: str | None = None  # of a right prediction
    following: tuple[str, str] | None = None  # the exercise behind a right one: its name, and where it stands
    _compared: Callable[[], Comparison] | None = field(default=None, repr=False)
    _shown: bool = field(default=False, repr=False)

    @classmethod
    def refused(cls, exercise: Exercise, stage: str, message: str, mistake: str | None = None) -> "CheckResult":
        """No points, for an answer that was not judged case by case; later cells go on with the reference."""
        return cls(exercise.id, exercise.title, False, 0.0, exercise.points, stage, message, use=exercise.reference, mistake=mistake)

    @classmethod
    def judged(cls, exercise: Exercise, verdict: Verdict, answer: Any, seeds: tuple[int, ...], cases: list[Case]) -> "CheckResult":
        """What the judge found; the seed is shown when a drawn case failed."""
        result = cls.refused(exercise, "passed", "")
        result.points, result.remarks, result.earned = verdict.points, verdict.remarks, verdict.earned
        result.finding = finding = verdict.finding
        if finding is None:
            result.passed, result.use = True, answer
            result.why = exercise.page.why or None if exercise.runs else _reason(exercise)
            result._compared = partial(compare, exercise, answer, cases)
            return result
        result.stage, result.message, result.mistake, result.hint = finding.stage, finding.message, finding.mistake, finding.hint
        if exercise.runs and finding.index < len(cases) - len(exercise.fixed()):
            result.seed = seeds[0]
        if result.stage == "not attempted":
            result.remarks = []
        return result

    def repeated(self, name: str) -> "CheckResult":
        """The same verdict once more, for a check cell that is run again after it has put our version under the learner's ``name``."""
        note = (
            f"This is the verdict on the same answer as before. `{name}` is now the course's own version: this cell put it there, so "
            "that later cells have something to go on with. Change your answer, run its cell again, then this one."
        )
        return replace(self, remarks=[*(r for r in self.remarks if r != note), note], _shown=False)

    @classmethod
    def stray(cls, exercise_id: str, stage: str, message: str) -> "CheckResult":
        """Of no exercise that we know."""
        return cls(exercise_id, "", False, 0.0, 0.0, stage, message)

    def compare(self) -> Comparison:
        """Your answer beside the course's, and what differs; once it is right."""
        return self._compared() if self._compared else Comparison("First get it right: then the course's answer is shown beside yours.")

    def __bool__(self) -> bool:
        return self.passed

    @property
    def _state(self) -> str:
        return "passed" if self.passed else ("not attempted" if self.stage == "not attempted" else "failed")

    @property
    def headline(self) -> str:
        """One line: exercise, verdict, points."""
        mark, verdict = MARKS[self._state]
        return f"{mark} {self.exercise} {self.title}: {verdict} ({self.points:g} of {self.possible:g} points)"

    @property
    def _dots(self) -> str:
        """The points as dots, full, half or empty; none where they would be too many to be seen at once."""
        whole, count = int(self.points), math.ceil(self.possible)
        return f"{'●' * whole}{'◐' if self.points > whole else ''}".ljust(count, "○") if count <= 12 else ""

    def lines(self) -> list[tuple[str, str]]:
        """The panel's content as (label, text) pairs."""
        rows, finding = [("", self.message)] if self.message else [], self.finding
        if finding is not None and self.stage != "not attempted":
            tried = finding.case.label + (f" (seed {self.seed})" if self.seed is not None else "")
            if tried:
                rows.append(("Tried", tried))
        if self.mistake and self.hint:
            rows.append(("Mistake", f"{self.mistake[0].upper()}{self.mistake[1:]}. {self.hint}"))
        elif self.hint:
            rows.append(("Hint", self.hint))
        elif finding is not None and finding.clues:
            rows.append(("Clue", " ".join(finding.clues[:2])))
        elif self.why:
            rows.append(("Why", self.why))
        if places := seen().get((self.exercise, self.mistake or "")):
            chapter = self.exercise.split(".")[0]
            rows.append(("Seen in public", f"{', '.join(places)}; in the book, page “Mistakes” of chapter {chapter}."))
        rows += [("Note", text) for text in self.remarks]
        return rows

    def __str__(self) -> str:
        rows = [f"   {label + ': ' if label else ''}{text}" for label, text in self.lines()]
        if (picture := self._picture()) is not None:
            got, want = picture
            first = _first_difference(got, want)
            rows += [f"   Yours:    {_short(got, first)}", f"   Expected: {_short(want, first)}"]
        rows += [f"   Next: {self.following[0]}"] if self.following else []
        return "\n".join([self.headline, *rows])

    def _picture(self) -> tuple[Any, Any] | None:
        if self.finding is None or self.stage not in ("values", "shape", "finite", "gradients"):
            return None
        both = self.finding.got, self.finding.expected
        return both if all(isinstance(tensor, torch.Tensor) and 0 not in tensor.shape for tensor in both) else None

    def _repr_markdown_(self) -> str:
        rows = [f"- {'**' + label + '.** ' if label else ''}{text}" for label, text in self.lines()]
        rows += ["- Next: [{}](<{}>)".format(*self.following)] if self.following else []
        return "\n".join([f"**{self.headline}**", "", *rows])

    def html(self) -> str:
        """The panel for a page that has its style already."""
        rows = "".join(f"<div>{f'<b>{label}.</b> ' if label else ''}{_inline(text)}</div>" for label, text in self.lines())
        rows = rows.replace(seed := f"(seed {self.seed})", f"<span class='seed'>{seed}</span>")
        for place in seen().get((self.exercise, self.mistake or ""), []):
            rows = rows.replace(place, f"<a href='{thread(place)}'>{place}</a>")
        if (picture := self._picture()) is not None:
            rows += f"<div class='tables'>{_grids(*picture)}</div>"
        if self.following:
            rows += "<div>Next: <a href='{1}'>{0}</a></div>".format(*map(escape, self.following))
        mark, verdict = MARKS[self._state]
        head = (
            f"{mark} {escape(f'{self.exercise} {self.title}')}: <i>{verdict}</i> <span class='dots' aria-hidden='true'>{self._dots}</span>"
        )
        head += f" <small>({self.points:g} of {self.possible:g} points)</small>"
        return f"<div class='course-panel {self._state}'><div class='head'>{head}</div>{rows}</div>"

    def _repr_html_(self) -> str:
        return self.html() if self._state == "not attempted" else f"<style>{STYLE}</style>{self.html()}"

    def show(self) -> None:
        """Display the panel (in a terminal: print it)."""
        if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            from IPython.display import display

            bundle = {"text/html": self._repr_html_(), "text/markdown": self._repr_markdown_(), "text/plain": str(self)}
            display(bundle, raw=True)
        else:
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            print(str(self).encode(encoding, "replace").decode(encoding))  # a Windows terminal may not know ✓
        self._shown = True

    def _ipython_display_(self) -> None:
        if not self._shown:  # `check(…)` as the last line of a cell must not draw its panel twice
            self.show()


def _inline(text: str) -> str:
    """Escape, and set `code` and line breaks."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces)).replace("\n", "<br>")


def _short(tensor: torch.Tensor, first: list[int]) -> str:
    """Shape and six numbers, of the row where the first difference lies."""
    row = tensor.detach().double()
    for place in first[:-1]:
        row = row[place]
    start = max(0, (first[-1] if first else 0) - 5)
    numbers = ", ".join(f"{v:.4g}" for v in row.flatten()[start : start + 6].tolist())
    at = f", the row at index {', '.join(map(str, first[:-1]))}" if len(first) > 1 else ""
    shape = f"shape {tuple(tensor.shape)}{at}: " if tensor.dim() else ""
    return f"{shape}{'… ' if start else ''}{numbers}{' …' if row.numel() > start + 6 else ''}"


def _grids(got: torch.Tensor, want: torch.Tensor) -> str:
    """The answer, what was expected and, where it can be said of single numbers, by how much those are wrong that are."""
    first, wrong, drawn = _first_difference(got, want), _wrong(got, want), ""
    for name, tensor in (("yours", got.detach().double()), ("expected", want.detach().double())):
        cut, whole = _corner(tensor, place := first or [0] * tensor.dim())
        most = torch.nan_to_num(cut, 0.0, 0.0, 0.0).abs().max().item() or 1.0
        name += f", shape {tuple(tensor.shape)}" if tensor.dim() else ""
        name += f", here the matrix at index {', '.join(map(str, place[:-2]))}" if tensor.dim() > 2 else ""
        name += ", an excerpt" if whole != cut.shape else ""
        drawn += _table(name, [[(_look(value, most), f"{value:.3g}") for value in row] for row in cut.tolist()])
    if wrong.any() and wrong.dim():
        rows = zip(*(_corner(tensor, first)[0].tolist() for tensor in (got.detach().double() - want.detach().double(), wrong)), strict=True)
        cells = [[(" class=wrong", f"{v:+.3g}") if bad else (" class=fine", "·") for v, bad in zip(*row, strict=True)] for row in rows]
        drawn += _table(f"yours minus expected, {int(wrong.sum())} of {wrong.numel()} wrong", cells)
    return drawn


def _table(name: str, rows: list[list[tuple[str, str]]]) -> str:
    """Rows of cells, each its look and its text; what scrolls must be reached by the keyboard."""
    body = "".join(f"<tr>{''.join(f'<td{look}>{text}</td>' for look, text in row)}</tr>" for row in rows)
    return f"<div tabindex='0'><small>{name}</small><table>{body}</table></div>"


def _corner(sheet: torch.Tensor, first: list[int]) -> tuple[torch.Tensor, torch.Size]:
    """The part of a tensor that is drawn, and the size of the matrix that it is cut from."""
    where = list(first)
    while sheet.dim() > 2:
        sheet = sheet[where.pop(0)]
    sheet = sheet.reshape(1, -1) if sheet.dim() < 2 else sheet
    top, left = (max(0, place - MOST + 1) for place in [0, 0, *where][-2:])
    return sheet[top : top + MOST, left : left + MOST], sheet.shape


def _look(value: float, most: float) -> str:
    """How the cell of a number is drawn."""
    if abs(value) == float("inf") or value != value:
        return " class=wrong"
    return f"{' class=minus' if value < 0 else ''} style='--share:{0.05 + 0.4 * min(abs(value) / most, 1):.2f}'"


def _reason(exercise: Exercise) -> str | None:
    """Why a right prediction is right: its page says it, or the first hint that neither asks nor speaks of somebody's slip."""
    if exercise.page.why:
        return exercise.page.why
    if exercise.title.startswith("Design the control"):
        return "Each test changes the one thing that the claim speaks of, and looks where that would be seen."
    told = (misconception.hint for misconception in exercise.misconceptions)
    return next((hint for hint in told if "?" not in hint and not re.search(r"\b[Yy]ou|^(Those|That|It|They|If|At) ", hint)), None)


def _wrong(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """Which entries differ; none where the shapes do."""
    if got.shape != want.shape:
        return torch.zeros(())
    return ~torch.isclose(got.double(), want.double(), rtol=1e-4, atol=1e-5, equal_nan=True)


def _first_difference(got: torch.Tensor, want: torch.Tensor) -> list[int]:
    """Index of the first entry that differs; zeros when the shapes do."""
    if got.shape != want.shape or not got.dim():
        return []
    wrong = _wrong(got, want)
    return wrong.nonzero()[0].tolist() if wrong.any() else [0] * got.dim()
