"""Build the readable book: ``python course.py book``.

    python -m course_tools.authoring.book [--out DIR] [--no-pdf]

The site lies in DIR and needs no server and no network: open index.html. With a Chromium on this machine the whole course is also
printed to DIR/course.pdf.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from course_utils.paths import ROOT

from ..errors import AuthoringError
from .gallery import stage_gallery
from .indexes import stage_indexes
from .live import stage_scripts
from .pages import has_answers, read_pages, references, stage_answers, stage_chapter
from .pdf import find_browser, print_site
from .verify import problems

MARK = ".made-by-course-book"  # only a folder with this file in it is ever replaced


def stage(root: Path, out: Path) -> list[tuple[str, str]]:
    """Write the pages for Sphinx into ``out``; returns ``(title, name)`` of all that are printed, in order."""
    pages = read_pages(root)
    if not pages:
        raise AuthoringError("there is no chapter to make a book of")
    settings = root / "docs" / "book"
    shutil.copytree(settings / "static", out / "static", dirs_exist_ok=True)
    shutil.copy(settings / "conf.py", out / "conf.py")
    (out / "extra").mkdir(exist_ok=True)
    shutil.copy(settings / "static" / "favicon.ico", out / "extra")  # a browser asks for it there when it shows a picture alone
    stage_scripts(out / "static" / "live")
    links = references(pages)
    for page in pages:
        stage_chapter(page, root, out, links)
        if has_answers(page):
            stage_answers(page, root, out)
    stage_indexes(pages, root, out, stage_gallery(pages, out))
    return [
        ("Attention, from Kernels to GPT", "index"),
        *((page.title, f"chapters/{page.stem}") for page in pages),
        *((f"Answers {page.label}", f"answers/{page.stem}") for page in pages if has_answers(page)),
        ("Questions people ask", "faq"),
        ("Exercises", "exercises"),
        ("Corrected claims", "claims"),
        ("Symbols", "symbols"),
        ("Terms", "terms"),
        ("Judge your own code", "judge"),
    ]


def refuse_foreign_folder(out: Path) -> None:
    """AuthoringError when ``out`` holds something that this command has not made."""
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).exists())):
        raise AuthoringError(f"{out} is not empty and was not made by this command. Name a new or an empty folder with --out.")


def main(argv: list[str] | None = None) -> int:
    """The command; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python course.py book", description="Build the course as a site to read, and as a PDF.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "_build" / "book", metavar="DIR", help="a new or empty folder; default _build/book"
    )
    parser.add_argument("--no-pdf", action="store_true", help="only the site")
    options = parser.parse_args(argv)
    out, started = options.out.resolve(), perf_counter()
    try:
        refuse_foreign_folder(out)
        with tempfile.TemporaryDirectory() as folder:
            staged, site = Path(folder) / "pages", Path(folder) / "site"
            names = stage(ROOT, staged)
            command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-d", f"{folder}/trees", staged, site]
            if subprocess.run([str(part) for part in command]).returncode:
                raise AuthoringError("Sphinx found something wrong; its lines above say what")
            wrong = problems(site)
            if wrong:
                raise AuthoringError("\n  ".join(["the site has faults:", *wrong[:50]]))
            seconds = perf_counter() - started
            (site / MARK).write_text("", encoding="utf-8")
            shutil.rmtree(out, ignore_errors=True)
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(site, out)
    except (AuthoringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    count = len([path for path in out.rglob("*.html") if "_static" not in path.relative_to(out).parts])
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{count} pages, {size / 1e6:.1f} MB, {seconds:.0f} s; links, pictures and requests checked\n{out / 'index.html'}")
    browser = None if options.no_pdf else find_browser()
    if browser:
        started, target = perf_counter(), out / "course.pdf"
        sheets = print_site(out, names, target, browser)
        print(f"{sheets} sheets, {target.stat().st_size / 1e6:.1f} MB, {perf_counter() - started:.0f} s\n{target}")
    elif not options.no_pdf:
        print("no PDF: there is no Chromium on this machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
