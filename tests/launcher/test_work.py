"""The learner's own copies: an update brings everything back, whatever stops it."""

import copy
import hashlib
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys

import pytest

from course_utils.launcher.notebooks import course_of, read, source_of
from course_utils.launcher.work import Work, next_exercise
from course_utils.paths import ROOT

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


def changed(notebook, every=5):
    """A later edition of a chapter: every fifth text rewritten, a cell gone, two new ones; with new ids, as `build` gives them."""
    new, number = copy.deepcopy(notebook), 0
    for cell in new["cells"]:
        if not course_of(cell):
            number += 1
            if number % every == 0:
                cell["source"] = (
                    source_of(cell) + "\nA sentence of the new edition."
                    if cell["cell_type"] == "markdown"
                    else (source_of(cell) + "\n# a line of the new edition")
                )
                cell["id"] = hashlib.sha256(cell["source"].encode()).hexdigest()[:12]
    del new["cells"][next(i for i, cell in enumerate(new["cells"]) if i > 5 and not course_of(cell))]
    fresh = {"cell_type": "markdown", "id": "newcell00001", "metadata": {}, "source": "A new cell."}
    new["cells"][3:3] = [fresh, fresh | {"id": "newcell00002", "source": "And another."}]
    return new


def save(path, notebook):
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")


def solve(path, exercises=None):
    """Answer the exercises of a copy in odd ways; returns what was typed."""
    notebook, typed = read(path), {}
    for cell in notebook["cells"]:
        course = course_of(cell)
        if course.get("role") == "answer" and (exercises is None or course["exercise"] in exercises):
            cell["source"] = typed[course["exercise"]] = f"# {course['exercise']} · déjà vu\t \n{source_of(cell)}\r\n# end  \n\n"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
    save(path, notebook)
    return typed


def answers_in(path):
    return {course_of(c)["exercise"]: c["source"] for c in read(path)["cells"] if course_of(c).get("role") == "answer"}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "chapters").mkdir()
    for path in CHAPTERS:
        shutil.copy(path, tmp_path / "chapters")
    return tmp_path


def update(root, every=5):
    for path in sorted((root / "chapters").glob("*.ipynb")):
        save(path, changed(read(path), every))


def test_a_copy_names_the_python_that_opens_it(root):
    """JupyterLab asks whether to save a notebook whose kernel says another version, even if nothing was typed."""
    path = root / "chapters" / "00_start_here.ipynb"
    notebook = read(path)
    notebook["metadata"]["language_info"]["version"] = "3.99.0"
    save(path, notebook)
    Work(root).bring_up_to_date()
    assert read(root / "work" / path.name)["metadata"]["language_info"]["version"] == platform.python_version()


class Learner:
    """Solves every copy, adds three cells of their own, and tries something in every other code cell."""

    def __init__(self, work):
        self.work, self.typed, self.own, self.edited = work, {}, {}, {}
        for path in work.copies():
            self.typed[path.name] = solve(path)
            self.scribble(path)

    def scribble(self, path):
        notebook = read(path)
        note = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        behind = [(notebook["cells"][i]["id"], f"mine = {i}  # ü") for i in (2, 9, len(notebook["cells"]) - 1)]
        self.own[path.name] = [source for _, source in behind]
        plain = [c for c in notebook["cells"] if not course_of(c) and c["cell_type"] == "code"]
        for cell in plain:
            cell["source"] += "\n# I tried this"
        self.edited[path.name] = {cell["id"]: cell["source"] for cell in plain}
        for cell_id, source in behind:
            at = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == cell_id)
            notebook["cells"].insert(at + 1, note | {"id": f"own{abs(hash(source)) % 10**9}", "source": source})
        save(path, notebook)

    def finds_everything_in(self, path, new):
        """All that was written is in the copy, made again from the chapter ``new``."""
        cells = read(path)["cells"]
        assert answers_in(path) == self.typed[path.name]
        ids, new_ids = [c["id"] for c in cells], [c["id"] for c in read(new)["cells"]]
        assert [i for i in ids if i in set(new_ids)] == new_ids and len(set(ids)) == len(ids)
        text = "\n".join(c["source"] for c in cells)
        assert all(text.count(source) == 1 for source in self.own[path.name])
        for cell_id, source in self.edited[path.name].items():
            at = next((c for c in cells if c["id"] == cell_id), None)
            assert at["source"] == source if at else source in text  # in its place, or beside the new text
        assert all(c["outputs"][0]["text"] == "mine" for c in cells if course_of(c).get("role") == "answer")


def bytes_of(work):
    return {path.name: path.read_bytes() for path in work.copies()}


def test_every_chapter_comes_back_whole(root):
    work = Work(root)
    assert work.bring_up_to_date() == [] and [p.name for p in work.copies()] == [p.name for p in CHAPTERS]
    learner = Learner(work)
    before = bytes_of(work)
    assert work.bring_up_to_date() == [] and before == bytes_of(work)  # nothing has changed: nothing is touched
    update(root)
    told = work.bring_up_to_date("2026-11-22")
    assert len(told) == len(CHAPTERS) and all("answer" in line and "cells of your own kept" in line for line in told)
    for path in work.copies():
        learner.finds_everything_in(path, root / "chapters" / path.name)
        (kept,) = (root / "work" / ".backup").glob(f"{path.stem}.*")
        assert kept.read_bytes() == before[path.name]
    assert sum(map(len, learner.typed.values())) == sum(len(answers_in(path)) for path in CHAPTERS) > 100
    after = bytes_of(work)
    assert work.bring_up_to_date() == [] and after == bytes_of(work)
    update(root, 3)  # and once more: what was kept beside is still there
    work.bring_up_to_date()
    for path in work.copies():
        text = "\n".join(c["source"] for c in read(path)["cells"])
        assert answers_in(path) == learner.typed[path.name]
        assert all(source in text for source in learner.edited[path.name].values())


def one(root, number="03"):
    """Only one chapter, and its copy."""
    for path in (root / "chapters").glob("*.ipynb"):
        if path.name.split("_")[0] != number:
            path.unlink()
    work = Work(root)
    work.bring_up_to_date()
    return work, work.copies()[0], next((root / "chapters").glob("*.ipynb"))


def test_own_cells_stand_where_they_stood(root):
    work, mine, chapter = one(root)
    notebook = read(mine)
    at = next(i for i, c in enumerate(notebook["cells"]) if course_of(c).get("role") == "check")
    notebook["cells"][at + 1 : at + 1] = [{"cell_type": "markdown", "id": f"own{i}", "metadata": {}, "source": f"note {i}"} for i in (1, 2)]
    notebook["cells"].insert(0, {"cell_type": "markdown", "id": "own0", "metadata": {}, "source": "my first line"})
    save(mine, notebook)
    update(root)
    work.bring_up_to_date()
    ids = [c["id"] for c in read(mine)["cells"]]
    assert ids[0] == "own0" and ids[ids.index("own1") - 1] == notebook["cells"][at + 1]["id"] and ids.index("own2") == ids.index("own1") + 1


def test_a_changed_task_is_marked_and_a_lost_exercise_is_kept(root):
    work, mine, chapter = one(root)
    typed = solve(mine, {"03.1", "03.2"})
    new = read(chapter)
    for cell in new["cells"]:
        if "### Exercise 03.2 " in cell["source"]:
            cell["source"] += "\n\nNow with a mask that adds."
    new["cells"] = [c for c in new["cells"] if course_of(c).get("exercise") != "03.1"]
    del new["metadata"]["course"]["stubs"]["03.1"]
    save(chapter, new)
    (line,) = work.bring_up_to_date()
    assert "2 answers put back" in line and "the task has changed in 03.2" in line
    cells = read(mine)["cells"]
    at = next(i for i, c in enumerate(cells) if c["source"] == typed["03.2"])
    assert "task of exercise 03.2 has changed" in cells[at + 1]["source"]
    at = next(i for i, c in enumerate(cells) if c["source"] == typed["03.1"])
    assert "which the course no longer has" in cells[at - 1]["source"]


def test_answers_in_chapters_are_taken_over(root):
    """What somebody has typed before there was a folder for it, and after."""
    typed = solve(root / "chapters" / "03_self_attention.ipynb", {"03.2"})
    work = Work(root)
    assert "now in work/ (03.2)" in work.bring_up_to_date()[0]
    mine = work.folder / "03_self_attention.ipynb"
    assert answers_in(mine)["03.2"] == typed["03.2"] and work.bring_up_to_date() == []
    more = solve(root / "chapters" / "03_self_attention.ipynb", {"03.1"})
    assert "03.1" in work.bring_up_to_date()[0]
    assert answers_in(mine)["03.1"] == more["03.1"] and answers_in(mine)["03.2"] == typed["03.2"]
    assert work.bring_up_to_date() == []


def test_a_damaged_copy_is_set_aside(root):
    work, mine, _ = one(root)
    for damage in (b"", b'{"cells": [', b"[1, 2]", b"\xff\xfe", b'{"cells": [3], "metadata": {}}'):
        mine.write_bytes(damage)
        (line,) = work.bring_up_to_date()
        assert "cannot be read as a notebook" in line and ".backup" in line and len(answers_in(mine)) == 7
        assert any(path.read_bytes() == damage for path in (work.folder / ".backup").iterdir())


def test_a_notebook_saved_by_an_open_lab_is_brought_up_to_date_again(root):
    """A tab that was open during the update writes the old chapter back."""
    work, mine, _ = one(root)
    typed = solve(mine)
    old = mine.read_bytes()
    update(root)
    work.bring_up_to_date()
    mine.write_bytes(old)
    (line,) = work.bring_up_to_date()
    assert "7 answers put back" in line and answers_in(mine) == typed


def test_numbers_of_a_run_are_no_change(root):
    """Neither those that the learner's kernel gives, nor those that an older edition of the chapters stored."""
    work, mine, chapter = one(root)
    for path in (mine, chapter):
        notebook = read(path)
        for number, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
            cell["execution_count"] = number
        save(path, notebook)
        before = mine.read_bytes()
        assert work.bring_up_to_date() == [] and mine.read_bytes() == before


def test_copied_and_deleted_cells(root):
    work, mine, chapter = one(root)
    notebook = read(mine)
    at = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == "ex-03-2-answer")
    notebook["cells"][at]["source"] = "def scaled_dot_product_attention(): pass"
    notebook["cells"].insert(at, copy.deepcopy(notebook["cells"][at]) | {"id": "pasted", "source": "an older try"})
    del notebook["cells"][2]
    save(mine, notebook)
    update(root)
    work.bring_up_to_date()
    sources = [c["source"] for c in read(mine)["cells"]]
    assert answers_in(mine)["03.2"] == "def scaled_dot_product_attention(): pass" and "an older try" in sources
    assert read(chapter)["cells"][2]["source"] in sources


def test_without_metadata_and_without_base(root):
    """Some programs drop what they do not know."""
    work, mine, _ = one(root)
    typed = solve(mine)
    notebook = read(mine)
    notebook["metadata"].pop("course")
    save(mine, notebook)
    shutil.rmtree(work.folder / ".base")
    update(root)
    work.bring_up_to_date()
    assert answers_in(mine) == typed


def test_notebooks_that_are_no_chapter_are_not_touched(root):
    """The learner's own, copies of a copy, and that of a chapter which the course no longer has."""
    work = Work(root)
    work.bring_up_to_date()
    solve(work.folder / "03_self_attention.ipynb")
    for name in ("03_self_attention-Copy1.ipynb", "03_mine.ipynb"):
        shutil.copy(work.folder / "03_self_attention.ipynb", work.folder / name)
    (work.folder / "99_notes.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    (root / "chapters" / "03_self_attention.ipynb").unlink()
    before = {path.name: path.read_bytes() for path in work.copies()}
    assert work.bring_up_to_date() == [] and before == {path.name: path.read_bytes() for path in work.copies()}


def test_restart_keeps_the_old_copy(root):
    work, mine, _ = one(root)
    typed = solve(mine)
    (kept,) = work.restart("03")
    assert answers_in(kept) == typed and answers_in(mine) != typed
    with pytest.raises(ValueError, match="no chapter 99"):
        work.restart("99")
    with pytest.raises(ValueError, match="there is no course in"):
        Work(root / "elsewhere").restart("03")
    assert not (root / "elsewhere").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from course_utils.launcher.work import Work

left = int(sys.argv[3])

def watched(call):
    def step(*args):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args)
    return step

os.open, os.fsync, os.replace = map(watched, (os.open, os.fsync, os.replace))
Work(Path(sys.argv[2])).bring_up_to_date()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_killed_at_any_step_nothing_is_lost(root):
    """Killed 25 times before a file is opened, filled or put in place, anywhere in an update of five chapters; no answer is ever lost."""
    for path in sorted((root / "chapters").glob("*.ipynb"))[5:]:
        path.unlink()
    work = Work(root)
    work.bring_up_to_date()
    typed = {path.name: solve(path) for path in work.copies()}
    draw = random.Random(0)
    for round_ in range(25):
        update(root, 2 + round_ % 5)
        step = draw.randrange(1, 40)  # three files a chapter, three steps a file
        run = subprocess.run([sys.executable, "-c", KILLED, str(ROOT), str(root), str(step)])
        assert run.returncode == -signal.SIGKILL
        assert {path.name: answers_in(path) for path in work.copies()} == typed
    work.bring_up_to_date()
    assert {path.name: answers_in(path) for path in work.copies()} == typed
    assert not list(work.folder.glob(".lock")) and not list(work.folder.rglob("*.part"))


@pytest.mark.skipif(os.name == "nt", reason="a limit on the size of a file")
@pytest.mark.parametrize("room", [0, 3_000, 30_000, 200_000])
def test_a_full_disk_costs_nothing(root, room):
    work = Work(root)
    work.bring_up_to_date()
    typed = {path.name: solve(path) for path in work.copies()}
    update(root)
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from course_utils.launcher.work import Work\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n"
        "print('\\n'.join(Work(Path(sys.argv[2])).bring_up_to_date()))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(ROOT), str(root), str(room)], capture_output=True, text=True, check=True)
    assert "could not be written" in done.stdout
    assert {path.name: answers_in(path) for path in work.copies()} == typed
    assert not list(work.folder.rglob("*.part"))
    work.bring_up_to_date()
    assert {path.name: answers_in(path) for path in work.copies()} == typed


def test_where_to_go_on(root):
    work = Work(root)
    work.bring_up_to_date()
    progress = root / ".course" / "progress.json"
    progress.parent.mkdir()
    assert next_exercise(work) is None
    progress.write_text('{"03.1": {"points": 4, "passed": true}}')
    path, exercise = next_exercise(work)
    assert (path.name, exercise) == ("03_self_attention.ipynb", "03.2")
    progress.write_text('{"03.1": {"points": 4, "passed": true}, "01.4": {"points": 1, "passed": false}}')
    assert next_exercise(work)[1] == "01.4"
    progress.write_text("[")
    assert next_exercise(work) is None


def test_a_task_whose_lines_break_elsewhere_is_the_same_task(root):
    work, mine, chapter = one(root)
    solve(mine, {"03.2"})
    new = read(chapter)
    for cell in new["cells"]:
        if course_of(cell).get("exercise") == "03.2" and course_of(cell).get("role") == "answer":
            cell["source"] = cell["source"].replace(", ", ",\n        ")
            new["metadata"]["course"]["stubs"]["03.2"] = hashlib.sha256(cell["source"].encode()).hexdigest()
    save(chapter, new)
    (line,) = work.bring_up_to_date()
    assert "1 answer put back" in line and "changed in" not in line
