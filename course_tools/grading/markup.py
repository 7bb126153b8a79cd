"""What every page of the grading is made of: self-contained HTML, which loads and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from course_utils.paths import PACKAGE

STYLE = """<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:58em;margin:2em auto;padding:0 1em;overflow-wrap:break-word}
h2{margin:1.8em 0 .5em}h3{margin:1.2em 0 .3em;font-size:1.05em}.lead{font-size:1.15em}.note{opacity:.8;font-size:90%}
table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:left;vertical-align:top;border-bottom:1px solid #8886;font-weight:normal}
thead th{font-weight:600}td.n,th.n{text-align:right}tbody th{min-width:8em}.said{min-width:16em}
.scroll{overflow-x:auto;overflow-wrap:normal;background:linear-gradient(90deg,Canvas 65%,transparent) 0 0/1.6em 100% no-repeat local,
linear-gradient(270deg,Canvas 65%,transparent) 100% 0/1.6em 100% no-repeat local,linear-gradient(90deg,#888a,transparent) 0 0/.8em 100%
no-repeat scroll,linear-gradient(270deg,#888a,transparent) 100% 0/.8em 100% no-repeat scroll}
.line{white-space:nowrap}.bar{display:inline-block;background:#3a7cbd;height:.8em}
.panel{margin:.8em 0}.panel>div{max-width:none!important}.panel h3{font:inherit}code{overflow-wrap:anywhere}
details{margin:.4em 0}summary{cursor:pointer;padding:.15em 0}ul{margin:.3em 0;padding-left:1.4em}nav a{margin-right:1.1em}
"""
STYLE += f"{(PACKAGE / 'show' / 'lab' / 'panel.css').read_text(encoding='utf-8')}</style>"
_HEADLINE = re.compile(r"<div class='head'>(.*?)</div>", re.DOTALL)


def page(title: str, body: str) -> str:
    """A whole page, which loads and runs nothing."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title>{STYLE}</head><body><main>{body}</main></body></html>\n"
    )


def table(label: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table of ready rows; a heading that begins with "#" stands over numbers. Where a screen is narrow it scrolls by itself; a shadow
    at its edge says that there is more."""
    head = "".join(f"<th scope='col'{' class=n' if text.startswith('#') else ''}>{escape(text.removeprefix('#'))}</th>" for text in heads)
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{escape(label, quote=True)}'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(first: str, *others: Any) -> str:
    """A row: its heading, then numbers to the right and ready HTML to the left."""
    cells = "".join(f"<td>{value}</td>" if isinstance(value, str) else f"<td class='n'>{value:g}</td>" for value in others)
    return f"<tr><th scope='row'>{first}</th>{cells}</tr>"


def bar(width: float, text: str = "") -> str:
    """A bar of so many widths of a letter, and what it says in figures."""
    return f"<span class='line'><span class='bar' style='width:{width:.2f}em'></span> {escape(text)}</span>"


def panel(html: str) -> str:
    """A check's panel whose headline is a heading of the page."""
    headed = _HEADLINE.sub(r"<h3 class='head'>\1</h3>", html, count=1)
    return f"<div class='panel'>{headed}</div>"
