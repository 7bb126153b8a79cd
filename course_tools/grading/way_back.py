"""The pages of a class in zip files that Moodle and Canvas take, or with a folder for each student."""

from __future__ import annotations

import io
import zipfile

from .collect import printable
from .feedback import page_name
from .students import Student

ARCHIVES = ("feedback_moodle.zip", "feedback_canvas.zip", "feedback_folders.zip")
LONG_AGO = (2000, 1, 1, 0, 0, 0)  # the same pages make the same archive


def archives(students: list[Student], pages: dict[str, str]) -> dict[str, bytes]:
    """The archives by their names, as far as somebody's page belongs into them; ``pages`` are those that students read, by name."""
    sorted_out: dict[str, dict[str, str]] = {name: {} for name in ARCHIVES}
    for student in students:
        if student.absent:
            continue
        moodle, canvas = student.identity.startswith("Participant "), student.identity.isdigit()
        kind = ARCHIVES[0 if moodle else 1 if canvas else 2]
        start = student.back or f"{student.name}/"
        start = "/".join(printable(part).replace("/", "-").replace("\\", "-") if part else "" for part in start.split("/"))
        names, page = sorted_out[kind], pages[page_name(student)]
        names[f"{start}feedback.html" if f"{start}feedback.html" not in names else f"{start}{page_name(student)}"] = page
    return {kind: _packed(names) for kind, names in sorted_out.items() if names}


def _packed(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in sorted(members.items()):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode("utf-8", errors="replace"), zipfile.ZIP_DEFLATED)
    return out.getvalue()
