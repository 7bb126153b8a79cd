"""The small panel a learner sees after a check, as HTML, Markdown and plain text."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Any

import torch

from .case import Case
from .comparison import Comparison, compare
from .exercise import Exercise
from .judge import Finding, Verdict

COLOURS = {"passed": "#2a9d5c", "failed": "#c8553d", "not attempted": "#7a8594"}
MOST = 8  # rows and columns of a tensor that are drawn
# JupyterLab's own colours where it has them, so that the panel follows the light and the dark theme.
BOX = (
    "border-left:4px solid {colour};padding:.5em .9em;margin:.3em 0;max-width:46em;line-height:1.45;"
    "background:var(--jp-layout-color2,rgba(128,128,128,.08));color:var(--jp-ui-font-color1,inherit)"
)


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
        mark = {"passed": "✓", "failed": "✗", "not attempted": "○"}[self._state]
        verdict = {"passed": "right", "failed": "not yet", "not attempted": "not attempted"}[self._state]
        return f"{mark} {self.exercise} {self.title}: {verdict} ({self.points:g} of {self.possible:g} points)"

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

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div style='margin-top:.35em'>{f'<b>{label}.</b> ' if label else ''}{_inline(text)}</div>" for label, text in self.lines()
        )
        picture = self._picture()
        if picture:
            first = _first_difference(*picture)
            rows += (
                "<div style='display:flex;gap:1.6em;flex-wrap:wrap;margin-top:.5em'>"
                + "".join(_grid(name, item, first or [0] * item.dim()) for name, item in zip(("yours", "expected"), picture, strict=True))
                + "</div>"
            )
        if self.following:
            rows += "<div style='margin-top:.35em'>Next: <a href='{1}'>{0}</a></div>".format(*map(escape, self.following))
        colour = COLOURS[self._state]
        return f"<div style='{BOX.format(colour=colour)}'><div style='font-weight:600'>{escape(self.headline)}</div>{rows}</div>"

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
    at = f", row {first[:-1]}" if len(first) > 1 and any(first[:-1]) else ""
    return f"shape {tuple(tensor.shape)}{at}: {'… ' if start else ''}{numbers}{' …' if row.numel() > start + 6 else ''}"


def _grid(name: str, tensor: torch.Tensor, first: list[int]) -> str:
    """A tensor as a small table of coloured numbers: the matrix and the corner where the first difference lies."""
    sheet, where = tensor.detach().double(), list(first)
    while sheet.dim() > 2:
        sheet = sheet[where.pop(0)]
    sheet = sheet.reshape(1, -1) if sheet.dim() < 2 else sheet
    where = [0, 0, *where][-2:] if tensor.dim() >= 2 else [0, *(where or [0])][-2:]
    corner = [max(0, place - MOST + 1) for place in where]
    cut = sheet[corner[0] : corner[0] + MOST, corner[1] : corner[1] + MOST]
    finite = cut[torch.isfinite(cut)]
    most = finite.abs().max().item() if finite.numel() else 1.0
    cells = ""
    for row in cut.tolist():
        cells += "<tr>"
        for value in row:
            share = abs(value) / most if most and abs(value) < float("inf") else 1.0
            hue = "58,124,189" if value >= 0 else "200,85,61"
            back = f"rgba({hue},{0.08 + 0.5 * min(share, 1):.2f})" if value == value else "rgba(220,60,60,.75)"
            cells += f"<td style='padding:1px 6px;text-align:right;white-space:nowrap;background:{back}'>{value:.3g}</td>"
        cells += "</tr>"
    lead = f", part [{', '.join(map(str, first[: tensor.dim() - 2]))}]" if tensor.dim() > 2 else ""
    more = f"{lead}{' (cut)' if sheet.shape != cut.shape else ''}"
    title = f"<div style='font-size:85%'>{name} {escape(str(tuple(tensor.shape)))}{more}</div>"
    return (
        f"<div style='max-width:100%;overflow-x:auto' tabindex='0'>{title}"  # a scrolled region must be reached by the keyboard
        f"<table style='border-collapse:collapse;font:80% monospace;margin:0'>{cells}</table></div>"
    )


def _first_difference(got: torch.Tensor, want: torch.Tensor) -> list[int]:
    """Index of the first entry that differs; zeros when the shapes do."""
    if got.shape != want.shape or not got.dim():
        return []
    wrong = ~torch.isclose(got.double(), want.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    return wrong.nonzero()[0].tolist() if wrong.any() else [0] * got.dim()
