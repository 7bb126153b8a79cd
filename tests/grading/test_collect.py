"""What was handed in, however it was: a submission speaks for its owner alone, and nobody disappears."""

from __future__ import annotations

import time
import zipfile

import pytest
from classroom import put, zipped

from course_tools.grading.collect import collect

FIRST = "01_kernel_regression.ipynb"


def packed(path, names: dict[str, bytes]):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


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
        with zipfile.ZipFile(folder / "all.zip", "w") as archive:
            archive.writestr(place, "{}")
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
    assert "zip file inside" in found.problem


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
    assert set(found) == {
        "textipynb",
        "pagehtml",
        "datajson",
        "packrar",
        "pack7z",
        "packtar",
        "scanpdf",
        ".hidden",
        "empty",
        "big",
        "nothing",
    }
    assert all(found.values()) and "clear the outputs" in found["big"] and "without a notebook" in found["nothing"]


def test_one_student_cannot_hand_in_a_library(tmp_path):
    folder = tmp_path / "in"
    put(folder, "amy", b"{}")
    zipped(folder / "mallory.zip", **{f"{i:04d}.ipynb": "{}" for i in range(300)})
    mine = [s for s in collect(folder) if s.student == "mallory"]
    assert len(mine) == 61 and [bool(s.problem) for s in mine] == [False] * 60 + [True]
