"""Formulas of the book as MathML, written when the book is built: the page needs no script for them and does not move while it is read."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_REWRITTEN = (  # what the converter would leave as it stands, or read otherwise than TeX does
    (re.compile(r"\\arg(?![A-Za-z])"), r"\\operatorname{arg}"),
    (re.compile(r"\\(math(?:bb|bf|cal|rm))\s+([A-Za-z])"), r"\\\1{\2}"),
    (re.compile(r"\\(max|min)_"), r"\\\1\\limits_"),
)
_NAME = r"<mi>(?:arg|cos|diag|exp|ln|log|max|min|sin|tanh)</mi>"
_SET = (  # spaces around names of functions; bars that keep their size beside an exponent; a line as long as what it is over
    (re.compile(rf"(?<=</mi>)({_NAME})"), r'<mspace width="0.17em" />\1'),
    (re.compile(rf"({_NAME})(?=<m(?!o|space))"), r'\1<mspace width="0.17em" />'),
    (re.compile(r"<mo(?: [^>]*)?>(&#x02016;|&#x02225;|&#x0007C;|\|)</mo>"), r'<mo stretchy="false">\1</mo>'),
    (re.compile(r"<mover>((?:(?!<mover>).)*?)<mo[^>]*>&#x02015;</mo></mover>"), r'<mrow style="border-top: .06em solid">\1</mrow>'),
)


def mathml(tex: str, *, block: bool = False) -> str:
    """A formula as ``<math>``, its TeX kept beside it; ValueError where a command is left unconverted."""
    source = tex
    for pattern, replacement in _REWRITTEN:
        source = pattern.sub(replacement, source)
    made = convert(source, display="block" if block else "inline")
    if "\\" in made:
        raise ValueError(f"no MathML for {tex!r}: {made}")
    for pattern, replacement in _SET:
        made = pattern.sub(replacement, made)
    return made.replace("<math ", f'<math alttext="{html.escape(tex)}" ', 1)


def _visit(translator: Any, node: Any, *, block: bool) -> None:
    from docutils.nodes import SkipNode

    tag = "div" if block else "span"
    translator.body.append(f'<{tag} class="math">{mathml(node.astext(), block=block)}</{tag}>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx: ``html_math_renderer = "mathml"`` uses what stands here."""
    visit_inline, visit_block = (lambda self, node: _visit(self, node, block=False)), (lambda self, node: _visit(self, node, block=True))
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
