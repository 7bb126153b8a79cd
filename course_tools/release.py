"""The files of a release: ``python course.py release`` writes them into ``dist/``.

    attention-course-VERSION.zip    the hand-out: the blank chapters and what they need
    attention-book-VERSION.zip      the book as a site that needs no network
    attention-book-VERSION.pdf      the book to print, where a Chromium is present
    attention_from_kernels_to_gpt-VERSION-py3-none-any.whl    the checks, for code from elsewhere
    release-notes-VERSION.md        what CHANGELOG.md says of this version
    SHA256SUMS                      checksums of all of them

The version is the one in pyproject.toml.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from course_utils.paths import ROOT

from . import handout
from .authoring.book.__main__ import main as make_book


def version(root: Path = ROOT) -> str:
    """The version of the course."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def notes(number: str, root: Path = ROOT) -> str:
    """The section of the changelog about this version. ValueError if there is none."""
    for section in re.split(r"(?m)^(?=## )", (root / "CHANGELOG.md").read_text(encoding="utf-8")):
        if section.startswith(f"## {number} "):
            return section.rstrip() + "\n"
    raise ValueError(f"CHANGELOG.md has no section '## {number} …'")


def make_wheel(course: Path, out: Path) -> None:
    """The package as a wheel, from a copy of the course that it may litter."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(out)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(course)], check=True)


def main(argv: list[str] | None = None) -> int:
    """The command; 1 when the book has a fault."""
    parser = argparse.ArgumentParser(prog="python course.py release", description="Write the files of a release into dist/.")
    parser.add_argument("--no-pdf", action="store_true", help="without the PDF")
    args = parser.parse_args(argv)
    number, out = version(), ROOT / "dist"
    text = notes(number)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        course, book = Path(folder) / "attention-course", Path(folder) / "attention-book"
        handout.write(course, ROOT)
        if make_book(["--out", str(book), *(["--no-pdf"] if args.no_pdf else [])]):
            return 1
        if (book / "course.pdf").exists():
            shutil.move(book / "course.pdf", out / f"attention-book-{number}.pdf")
        for made in (course, book):
            shutil.make_archive(str(out / f"{made.name}-{number}"), "zip", made.parent, made.name)
        make_wheel(course, out)
    (out / f"release-notes-{number}.md").write_text(text, encoding="utf-8")
    files = sorted(out.iterdir())
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    (out / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")
    for file in files:
        print(f"  {file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
