"""The last touch on every page: no 1.5 MB of script for icons that the style sheet draws anyway, no full stop alone on a line, and the
book's own search in place of the theme's, whose index every page would load."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .finder import equip

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
_SCRIPT = re.compile(rf"\s*<(?:script|link)\b[^>]*\b(?:scripts/fontawesome\.js|{'|'.join(map(re.escape, _SEARCH))})[^>]*>(?:\s*</script>)?")

_FORMULA_AND_STOP = re.compile(r'(<span class="math">(?:(?!</span>).)*</span>[.,;:!?)]+)')


def _lighten(app: Sphinx, error: Exception | None) -> None:
    if error:
        return
    site = Path(app.outdir)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = _FORMULA_AND_STOP.sub(r'<span style="white-space:nowrap">\1</span>', _SCRIPT.sub("", text))
        page.write_text(text, encoding="utf-8")
    for left in (site / "_static" / "scripts").glob("*"):
        if left.name.startswith("fontawesome") or left.suffix == ".map":
            left.unlink()
    for name in _SEARCH:
        for left in (site / name, site / "_static" / name):
            left.unlink(missing_ok=True)
    equip(site)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", _lighten)
    return {"parallel_read_safe": True}
