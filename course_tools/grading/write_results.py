"""Everything that a run writes beside its records: tables, pages, the class report, the clinic."""

from __future__ import annotations

from pathlib import Path

from course_utils.files import write_bytes

from .by_hand import Change, change_marks
from .class_report import class_report
from .clinic import clinic
from .feedback import feedback, page_name
from .gradebook import canvas, gradebook, moodle
from .roster import Roster
from .run_folder import RunFolder
from .settings import Settings
from .students import Student, settle, students_of
from .way_back import ARCHIVES, archives


def write_results(
    run: RunFolder,
    settings: Settings,
    keys: set[str] | None = None,
    stamp: str | None = None,
    only: tuple[str, ...] = (),
    roster: Roster | None = None,
    changes: list[Change] | None = None,
) -> list[Student]:
    """Write the CSV, the pages and the class report into the run's folder; each file takes its old one's place whole."""
    for left in (*run.folder.glob(".*.part"), *run.folder.glob("feedback/.*.part")):
        left.unlink()  # by a run that was killed as it wrote
    students = students_of(run, settings, keys, stamp, roster)
    change_marks(students, changes or [], settings)
    settle(students, settings, only)
    pages = {page_name(student): feedback(student, settings) for student in students}
    for name, text in pages.items():
        _write(run.folder / "feedback" / name, text)
    for old in run.folder.glob("feedback/*.html"):
        if old.name not in pages:
            old.unlink()
    packed = archives(students, pages)
    for name in ARCHIVES:
        if name in packed:
            write_bytes(run.folder / name, packed[name])
        else:
            (run.folder / name).unlink(missing_ok=True)
    _write(run.folder / "report.html", class_report(students, settings, only))
    _write(run.folder / "gradebook.csv", "\ufeff" + gradebook(students, settings))
    some = {"canvas.csv": canvas(students, settings), "moodle.csv": moodle(students, settings, only)}
    for name, text in (some | {"clinic.ipynb": clinic(students, run.secret)}).items():
        if text:
            _write(run.folder / name, text)
        else:
            (run.folder / name).unlink(missing_ok=True)
    return students


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8", errors="replace"))
