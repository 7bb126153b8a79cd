"""The site as one PDF, printed by Chromium page by page and bound with bookmarks."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PATIENCE = 60_000  # milliseconds of the browser's own clock, which runs ahead when nothing is left to do


def find_browser() -> str | None:
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def print_site(site: Path, names: list[tuple[str, str]], target: Path, browser: str) -> int:
    """Print the pages ``(title, path in the site without .html)`` into one file; returns the number of sheets.

    RuntimeError when the browser prints nothing. Formulas are set before printing: the browser's clock waits for them.
    """
    from pypdf import PdfWriter

    writer = PdfWriter()
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, name) in enumerate(names):
            part = Path(folder) / f"{number}.pdf"
            command = [browser, "--headless=new", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile",
                       f"--virtual-time-budget={PATIENCE}", f"--print-to-pdf={part}", (site / f"{name}.html").resolve().as_uri()]
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                command.insert(1, "--no-sandbox")
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if not part.exists():
                raise RuntimeError(f"the browser printed nothing for {name}: {done.stderr.strip()[-300:]}")
            start = len(writer.pages)
            writer.append(part, import_outline=False)
            writer.add_outline_item(title, page_number=start)
        for page in writer.pages:
            page.compress_content_streams()
        writer.compress_identical_objects()
        writer.add_metadata({"/Title": "Attention, from Kernels to GPT"})
        writer.write(target)
    return len(writer.pages)
