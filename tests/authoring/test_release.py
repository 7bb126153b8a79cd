"""The files of a release, and one version in all places that name it."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

import course_utils
from course_tools import release


def test_one_version_everywhere():
    number = release.version()
    assert course_utils.__version__ == number
    assert f"\nversion: {number}\n" in (release.ROOT / "CITATION.cff").read_text(encoding="utf-8")
    first = next(line for line in (release.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## "))
    assert first.startswith(f"## {number} ")


def test_notes_are_those_of_the_version():
    text = release.notes(release.version())
    assert text.startswith(f"## {release.version()} ") and text.count("\n## ") == 0
    with pytest.raises(ValueError, match="0.0.7"):
        release.notes("0.0.7")


def test_release_writes_its_files(tmp_path, monkeypatch):
    """With a book of one page, because the real one takes minutes."""
    root = tmp_path / "course"
    (root / "chapters").mkdir(parents=True)
    for name in ("pyproject.toml", "CHANGELOG.md", "README.md", "course.py"):
        (root / name).write_bytes((release.ROOT / name).read_bytes())
    first = min((release.ROOT / "chapters").glob("*.ipynb"))
    (root / "chapters" / first.name).write_bytes(first.read_bytes())

    def tiny_book(words):
        folder = Path(words[1])
        folder.mkdir()
        (folder / "index.html").write_text("a page", encoding="utf-8")
        (folder / "course.pdf").write_bytes(b"a print")

    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(release, "make_book", tiny_book)
    monkeypatch.setattr(release, "make_wheel", lambda course, out: (out / "attention.whl").write_bytes(b"a wheel"))
    monkeypatch.setattr(release, "version", lambda: "2.0.0")
    monkeypatch.setattr(release, "notes", lambda number: "notes\n")
    assert release.main([]) == 0
    names = {file.name for file in (root / "dist").iterdir()}
    assert names == {
        "attention-course-2.0.0.zip",
        "attention-book-2.0.0.zip",
        "attention-book-2.0.0.pdf",
        "attention.whl",
        "release-notes-2.0.0.md",
        "SHA256SUMS",
    }
    with zipfile.ZipFile(root / "dist" / "attention-course-2.0.0.zip") as course:
        inside = set(course.namelist())
    assert f"attention-course/chapters/{first.name}" in inside and not any("solutions" in name for name in inside)
    for line in (root / "dist" / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((root / "dist" / name).read_bytes()).hexdigest() == digest
