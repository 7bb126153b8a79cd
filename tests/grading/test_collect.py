"""What was handed in, however it was: a submission speaks for its owner alone, and nobody disappears."""

from __future__ import annotations

import datetime as dt
import os
import time
import unicodedata
from pathlib import Path, PurePosixPath

import pytest
from classroom import packed, put, zipped

from course_tools.grading.collect import collect, load
from course_tools.grading.run_folder import key_of

FIRST = "01_kernel_regression.ipynb"


@pytest.mark.parametrize(
    ("place", "student", "label"),
    [
        ("ada/01_kernel_regression.ipynb", "ada", "01_kernel_regression.ipynb"),
        ("ada lovelace_01_kernel_regression.ipynb", "ada lovelace", "01_kernel_regression.ipynb"),
        ("lovelaceada_LATE_12345_678_01_kernel_regression.ipynb", "lovelaceada", "01_kernel_regression.ipynb"),
        ("lovelaceada_12345_678_01_kernel_regression-2.ipynb", "lovelaceada", "01_kernel_regression-2.ipynb"),
        ("Ada Lovelace_4711_assignsubmission_file_/01_kernel_regression.ipynb", "Ada Lovelace", "01_kernel_regression.ipynb"),
        ("submitted/ada/01_kernel/01_kernel_regression.ipynb", "ada", "01_kernel_regression.ipynb"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_way_of_handing_in(tmp_path, place, student, label, zipped):
    folder = tmp_path / "in"
    if zipped and not place.startswith("submitted"):
        folder.mkdir()
        packed(folder / "all.zip", {place: b"{}"})
    else:
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text("{}")
    (found,) = collect(folder)
    assert (found.student, found.label, found.problem) == (student, label, "")


@pytest.mark.parametrize(
    ("name", "student", "identity", "label"),
    [
        ("doejane_12_34_" + FIRST, "doejane", "12", FIRST),
        ("doejane_LATE_12_34_" + FIRST, "doejane", "12", FIRST),
        ("anon_aB3dE_34_" + FIRST, "anon", "aB3dE", FIRST),
        ("LATE_anon_aB3dE_34_" + FIRST, "anon", "aB3dE", FIRST),
        ("Jürgen Groß_4711_assignsubmission_file/" + FIRST, "Jürgen Groß", "Participant 4711", FIRST),
        ("Jane Doe_4711_assignsubmission_file_/deep/er/" + FIRST, "Jane Doe", "Participant 4711", FIRST),
        ("Jane Doe_4711_assignsubmission_file_" + FIRST, "Jane Doe", "Participant 4711", FIRST),
        (
            "Eve_5_assignsubmission_file_Ada_4_assignsubmission_file_" + FIRST,
            "Eve",
            "Participant 5",
            "Ada_4_assignsubmission_file_" + FIRST,
        ),
    ],
)
def test_exports_of_systems(tmp_path, name, student, identity, label):
    """The names that Canvas and Moodle really give; the time in their zip files is that of the download."""
    (tmp_path / "in" / name).parent.mkdir(parents=True)
    (tmp_path / "in" / name).write_text("{}")
    for place in (tmp_path / "in", packed(tmp_path / "export.zip", {name: b"{}"})):
        (found,) = collect(place)
        assert (found.student, found.identity, found.label, found.handed_in, found.problem) == (student, identity, label, None, "")


def test_an_export_has_the_name_of_its_student(tmp_path):
    """Also where it was downloaded twice, and beside what the same student handed in otherwise."""
    for name in ("answers_Jane_Doe.zip", "answers_Jane_Doe (1).zip"):
        packed(tmp_path / name, {FIRST: b"{}"})
    put(tmp_path, "Jane Doe/", b"{}", FIRST)
    assert {found.student for found in collect(tmp_path)} == {"Jane Doe"}


def test_a_zip_file_belongs_to_who_handed_it_in(tmp_path):
    inside = packed(tmp_path / "work.zip", {"other_9_9_" + FIRST: b"{}"}).read_bytes()
    folder = "Jane Doe_4711_assignsubmission_file/"
    put(tmp_path / "class", folder, inside, "work.zip")
    (found,) = collect(tmp_path / "class")
    assert (found.student, found.identity) == ("Jane Doe", "Participant 4711")
    (found,) = collect(packed(tmp_path / "moodle.zip", {folder + "work.zip": inside}))
    assert (found.student, found.identity) == ("Jane Doe", "Participant 4711")
    assert found.inner and "not believed" in found.problem


def test_flat_files_of_a_class_are_not_thrown_together(tmp_path):
    """Names that say no chapter: two students, not one with the better marks of both."""
    names = {"jane.ipynb": b"{}", "joe homework.ipynb": b"{}"}
    assert [s.student for s in collect(packed(tmp_path / "class.zip", names))] == ["jane", "joe homework"]


def test_an_archive_names_nobody_but_its_owner(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    members = (
        "doejane_12345_678_03_self_attention.ipynb",
        "bob/bad.ipynb",
        "ghost_06_masking.ipynb",
        "Jane Doe_4711_assignsubmission_file/03_self_attention.ipynb",
        "01_kernel_regression.ipynb",
    )
    zipped(folder / "mallory.zip", **dict.fromkeys(members, "{}"))
    found = collect(folder)
    assert {s.student for s in found} == {"amy", "mallory"} and not any(s.identity for s in found)
    mine = [s for s in found if s.student == "mallory"]
    assert sorted(bool(s.problem) for s in mine) == [False] * 3 + [True] * 2
    assert all("not believed" in s.problem for s in mine if s.problem)
    now = time.time()
    assert all(s.handed_in is None or now - s.handed_in < 3600 for s in mine), "a date inside a student's archive is not believed"


def test_names_are_parsed_in_linear_time(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    zipped(folder / "mallory.zip", **{"x_00__00_" * 6000 + "!.ipynb": "{}"})
    started = time.process_time()
    (problem,) = (s.problem for s in collect(folder) if s.student == "mallory")
    assert "characters" in problem and time.process_time() - started < 1


def test_everybody_gets_a_line(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    put(folder, "amy", b"notes", "notes.md")
    for name in ("text.ipynb.txt", "page.html", "data.json", "pack.rar", "pack.7z", "pack.tar.gz", "scan.pdf"):
        put(folder, name.split(".")[0] + name.split(".")[1], b"x", name)
    put(folder, ".hidden", b"{}")
    (folder / "empty").mkdir()
    put(folder, "big", b" " * (33 * 2**20))
    zipped(folder / "nothing.zip", **{"notes.txt": "x"})
    found = {s.student: s.problem for s in collect(folder)}
    assert found.pop("amy") == ""
    assert set(found) == set("textipynb pagehtml datajson packrar pack7z packtar scanpdf .hidden empty big nothing".split())
    assert all(found.values()) and "clear the outputs" in found["big"] and "without a notebook" in found["nothing"]


def test_one_student_cannot_hand_in_a_library(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    zipped(folder / "mallory.zip", **{f"{i:04d}.ipynb": "{}" for i in range(300)})
    mine = [s for s in collect(folder) if s.student == "mallory"]
    assert len(mine) == 61 and [bool(s.problem) for s in mine] == [False] * 60 + [True]


def test_exports_inside_the_archive_of_a_class(tmp_path):
    """What students export and hand in through Canvas or Moodle is opened, once, and is theirs."""
    export = packed(tmp_path / "x.zip", {FIRST: b"{}", "03_self_attention.ipynb": b"{}"}).read_bytes()
    twice = packed(tmp_path / "y.zip", {"x.zip": export}).read_bytes()
    broken = {"roe_13_913_b.zip": b"PK no zip", "poe_14_914_c.zip": twice, "zoe_15_915_d.zip": packed(tmp_path / "z.zip", {}).read_bytes()}
    found = collect(packed(tmp_path / "class.zip", {"doejane_11_911_answers_doejane.zip": export, **broken}))
    good = [s for s in found if not s.problem]
    assert [(s.student, s.identity, s.label) for s in good] == [("doejane", "11", FIRST), ("doejane", "11", "03_self_attention.ipynb")]
    assert [load(s) for s in good] == [b"{}", b"{}"] and len({key_of(s) for s in good}) == 2
    problems = {s.student: s.problem for s in found if s.problem}
    assert set(problems) == {"roe", "poe", "zoe"} and "inside a student's zip" in problems["poe"]


def test_one_folder_that_cannot_be_read_stops_nobody(tmp_path, monkeypatch):
    put(tmp_path, "ada", b"{}")
    put(tmp_path, "bob", b"{}")
    real = Path.is_symlink

    def refused(path):
        if "bob" in path.parts and path.suffix:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_symlink", refused)  # as for a folder without the x bit, which root may enter all the same
    found = {s.student: s.problem for s in collect(tmp_path)}
    assert found["ada"] == "" and "Permission denied" in found["bob"]


def test_a_path_that_is_too_long_stops_nobody(tmp_path):
    put(tmp_path, "ada", b"{}")
    here, deep = os.getcwd(), tmp_path / "bob"
    deep.mkdir()
    try:
        os.chdir(deep)
        for _ in range(22):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        Path(FIRST).write_text("{}")
    finally:
        os.chdir(here)
    found = {s.student: s.problem for s in collect(tmp_path)}
    assert found["ada"] == "" and found["bob"]


def test_a_student_may_be_called_submitted(tmp_path):
    for name in ("ada", "bob", "submitted"):
        put(tmp_path, name, b"{}")
    assert {s.student for s in collect(tmp_path)} == {"ada", "bob", "submitted"}
    (tmp_path / "gradebook.db").touch()
    assert {s.student for s in collect(tmp_path)} == {"01_kernel_regression"}


def test_two_spellings_of_a_name_are_one_student(tmp_path):
    for form in ("NFC", "NFD"):
        put(tmp_path, unicodedata.normalize(form, "Zoë"), b"{}", f"0{form == 'NFC':d}_x.ipynb")
    assert {s.student for s in collect(tmp_path)} == {"Zoë"} and len(collect(tmp_path)) == 2


@pytest.mark.parametrize(
    ("name", "student", "label", "when"),
    [
        ("HW3_ab12345_attempt_2026-11-20-10-10-10_" + FIRST, "ab12345", FIRST, (2026, 11, 20, 10, 10, 10)),
        ("397063-25573 - Mary-Ann Smith - Sep 24, 2026 926 PM/" + FIRST, "Mary-Ann Smith", FIRST, (2026, 9, 24, 21, 26)),
        ("397063-25573 - Mary-Ann Smith - September 24, 2026 1126 PM/" + FIRST, "Mary-Ann Smith", FIRST, (2026, 9, 24, 23, 26)),
        ("Doe_Jane_jdoe_12345/" + FIRST, "Jane Doe", FIRST, None),
        ("06_masking_s1234567.ipynb", "s1234567", "06_masking.ipynb", ...),
        ("06_masking - Jane Doe.ipynb", "Jane Doe", "06_masking.ipynb", ...),
        ("06_masking (2).ipynb", "06_masking (2)", "06_masking (2).ipynb", ...),
        ("s1234567_06_masking (2).ipynb", "s1234567", "06_masking.ipynb", ...),
    ],
)
def test_names_of_other_systems(tmp_path, name, student, label, when):
    put(tmp_path / "in", str(PurePosixPath(name).parent), b"{}", PurePosixPath(name).name)
    (found,) = collect(tmp_path / "in")
    assert (found.student, found.label, found.problem) == (student, label, "")
    assert when is ... or found.handed_in == (when and dt.datetime(*when).timestamp())


def test_attempts_of_one_person_are_one_student(tmp_path):
    for minute in ("10", "11"):
        put(tmp_path, ".", b"{}", f"HW3_ab12345_attempt_2026-11-20-10-{minute}-10_{FIRST}")
        put(tmp_path, ".", b"a note", f"HW3_ab12345_attempt_2026-11-20-10-{minute}-10.txt")
    assert [(s.student, s.problem) for s in collect(tmp_path)] == [("ab12345", "")] * 2
