"""The small panel a learner sees after a check, as HTML, Markdown and plain text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import torch

from .judge import Finding

COLOURS = {"passed": "#2a9d5c", "failed": "#c8553d", "not attempted": "#7a8594"}
MOST = 8  # rows and columns of a tensor that are drawn
# JupyterLab's own colours where it has them, so that the panel follows the light and the dark theme.
BOX = ("border-left:4px solid {colour};padding:.5em .9em;margin:.3em 0;max-width:46em;line-height:1.45;"
       "background:var(--jp-layout-color2,rgba(128,128,128,.08));color:var(--jp-ui-font-color1,inherit)")


@dataclass
class CheckResult:
    """What a check found.

    ``use`` is the learner's answer when it passed and the reference otherwise: later cells go on with it.
    """

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
    _shown: bool = field(default=False, repr=False)

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
        rows: list[tuple[str, str]] = []
        if self.message:
            rows.append(("", self.message))
        finding = self.finding
        if finding is not None and self.stage not in ("not attempted",):
            tried = finding.case.label + (f" (seed {self.seed})" if self.seed is not None else "")
            if tried:
                rows.append(("Tried", tried))
        if self.mistake and self.hint:
            rows.append(("Why", f"{self.mistake[0].upper()}{self.mistake[1:]}. {self.hint}"))
        elif self.hint:
            rows.append(("Hint", self.hint))
        elif finding is not None and finding.clues:
            rows.append(("Clue", " ".join(finding.clues[:2])))
        rows += [("Note", text) for text in self.remarks]
        return rows

    def __str__(self) -> str:
        rows = [f"   {label + ': ' if label else ''}{text}" for label, text in self.lines()]
        if self._picture():
            got, want = self._picture()
            rows += [f"   Yours:    {_short(got)}", f"   Expected: {_short(want)}"]
        return "\n".join([self.headline, *rows])

    def _picture(self) -> tuple[Any, Any] | None:
        finding = self.finding
        if finding is None or self.stage not in ("values", "shape", "finite", "gradients"):
            return None
        if not isinstance(finding.got, torch.Tensor) or not isinstance(finding.expected, torch.Tensor):
            return None
        return finding.got, finding.expected

    def _repr_markdown_(self) -> str:
        rows = [f"- {'**' + label + '.** ' if label else ''}{text}" for label, text in self.lines()]
        return "\n".join([f"**{self.headline}**", "", *rows])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div style='margin-top:.35em'>{f'<b>{label}.</b> ' if label else ''}{_inline(text)}</div>"
            for label, text in self.lines())
        picture = self._picture()
        if picture:
            rows += ("<div style='display:flex;gap:1.6em;flex-wrap:wrap;margin-top:.5em'>"
                     + _grid("yours", picture[0]) + _grid("expected", picture[1]) + "</div>")
        colour = COLOURS[self._state]
        return (f"<div style='{BOX.format(colour=colour)}'><div style='color:{colour};font-weight:600'>"
                f"{escape(self.headline)}</div>{rows}</div>")

    def show(self) -> None:
        """Display the panel (in a terminal: print it)."""
        try:
            from IPython import get_ipython
            from IPython.display import display

            if get_ipython() is None:
                raise ImportError
        except ImportError:
            print(self)
        else:
            bundle = {"text/html": self._repr_html_(), "text/markdown": self._repr_markdown_(), "text/plain": str(self)}
            display(bundle, raw=True)
        self._shown = True

    def _ipython_display_(self) -> None:
        if not self._shown:  # `check(…)` as the last line of a cell must not draw its panel twice
            self.show()


def _inline(text: str) -> str:
    """Escape, and set `code` and line breaks."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces)).replace("\n", "<br>")


def _short(tensor: torch.Tensor) -> str:
    text = str([round(v, 4) for v in tensor.detach().double().flatten()[:6].tolist()])
    return f"shape {tuple(tensor.shape)}, {text[:-1]}{', …' if tensor.numel() > 6 else ''}]"


def _grid(name: str, tensor: torch.Tensor) -> str:
    """A tensor as a small table of coloured numbers (the first matrix of a batch, at most 8 × 8)."""
    full = tuple(tensor.shape)
    sheet = tensor.detach().double()
    while sheet.dim() > 2:
        sheet = sheet[0]
    sheet = sheet.reshape(1, -1) if sheet.dim() < 2 else sheet
    cut = sheet[:MOST, :MOST]
    finite = cut[torch.isfinite(cut)]
    most = finite.abs().max().item() if finite.numel() else 1.0
    cells = ""
    for row in cut.tolist():
        cells += "<tr>"
        for value in row:
            share = abs(value) / most if most and value == value and abs(value) != float("inf") else 1.0
            hue = "58,124,189" if value >= 0 else "200,85,61"
            back = f"rgba({hue},{0.08 + 0.5 * min(share, 1):.2f})" if value == value else "rgba(220,60,60,.75)"
            cells += f"<td style='padding:1px 6px;text-align:right;background:{back}'>{value:.3g}</td>"
        cells += "</tr>"
    more = " (cut)" if sheet.shape != cut.shape or tensor.dim() > 2 else ""
    return (f"<div><div style='font-size:85%'>{name} {escape(str(full))}{more}</div>"
            f"<table style='border-collapse:collapse;font:80% monospace;margin:0'>{cells}</table></div>")
