"""A chapter that has been cut in two: its answers move into the copies of its parts, whatever stops that."""

import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import course_work  # noqa: E402
from course_merge import _hash as text_hash  # noqa: E402
from course_merge import answers_of, course_of, read  # noqa: E402
from course_work import Work  # noqa: E402

OLD, PARTS = "03_self_attention.ipynb", ("03a_first_half.ipynb", "03b_second_half.ipynb")
FIRST = ("03.1", "03.2", "03.3")  # what goes into 03a


def save(path, notebook):
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")


def renamed(text, today):
    for was, now in today.items():
        text = text.replace(was, now)
    return text


def halves(chapter):
    """The two parts of a chapter, as `build` would make them, and the new ids by the old ones."""
    whole = read(chapter)
    names = list(whole["metadata"]["course"]["stubs"])
    groups = [name for name in names if name in FIRST], [name for name in names if name not in FIRST]
    today = {was: f"03{letter}.{i}" for letter, group in zip("ab", groups, strict=True) for i, was in enumerate(group, 1)}
    parts = []
    for group in groups:
        part = copy.deepcopy(whole)
        part["cells"] = [c for c in part["cells"] if course_of(c).get("exercise", group[0]) in group]
        for cell in part["cells"]:
            cell["source"] = renamed(cell["source"], today)
            if course_of(cell):
                name = course_of(cell)["exercise"]
                course_of(cell)["exercise"] = today[name]
                cell["id"] = cell["id"].replace(name.replace(".", "-"), today[name].replace(".", "-"))
        stubs = {name: text_hash(cell["source"]) for name, cell in answers_of(part).items()}
        part["metadata"]["course"] |= {"stubs": stubs, "formerly": {today[name]: name for name in group}}
        parts.append(part)
    return parts, today


def cut(root):
    """The new edition: the old chapter is gone, its parts are there. Returns the new ids by the old ones."""
    chapter = root / "chapters" / OLD
    parts, today = halves(chapter)
    chapter.unlink()
    for name, part in zip(PARTS, parts, strict=True):
        save(root / "chapters" / name, part)
    return today


def solve(path, exercises=None, text="# déjà vu\t \n"):
    notebook, typed = read(path), {}
    for name, cell in answers_of(notebook).items():
        if exercises is None or name in exercises:
            cell["source"] = typed[name] = f"{text}{cell['source']}\r\n# end  \n\n"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
    save(path, notebook)
    return typed


def given(root):
    """What stands in the answer cells of the parts."""
    return {
        name: cell["source"]
        for part in PARTS
        if (root / "work" / part).exists()
        for name, cell in answers_of(read(root / "work" / part)).items()
    }


def everywhere(root):
    """Every readable text in the learner's copies and their backups."""
    paths = [*(root / "work").glob("*.ipynb"), *(root / "work" / ".backup").glob("*.ipynb")]
    return {cell["source"] for path in paths for cell in read(path)["cells"]}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "chapters").mkdir()
    shutil.copy(ROOT / "chapters" / OLD, tmp_path / "chapters")
    shutil.copy(ROOT / "chapters" / "06_masking.ipynb", tmp_path / "chapters")
    Work(tmp_path).bring_up_to_date()
    return tmp_path


def test_answers_move_byte_by_byte_and_the_old_copy_goes_to_the_backups(root):
    mine = root / "work" / OLD
    typed = solve(mine)
    notebook = read(mine)
    notebook["cells"].insert(
        9, {"cell_type": "code", "id": "own1", "metadata": {}, "outputs": [], "execution_count": None, "source": "my = 'cell'"}
    )
    save(mine, notebook)
    before, today = mine.read_bytes(), cut(root)
    (line,) = Work(root).bring_up_to_date("2026-11-23")
    assert given(root) == {today[name]: text for name, text in typed.items()}
    assert "03_self_attention is now 03a_first_half and 03b_second_half (7 answers taken over)" in line
    assert "1 cell of your own" in line and "changed" not in line and not mine.exists()
    (kept,) = (root / "work" / ".backup").glob("03_self_attention.*")
    assert kept.read_bytes() == before and kept.relative_to(root).as_posix() in line
    cells = read(root / "work" / PARTS[0])["cells"]
    assert all(c["outputs"][0]["text"] == "mine" for c in cells if course_of(c).get("role") == "answer")
    state = {path: path.read_bytes() for path in (root / "work").glob("*.ipynb")}
    assert Work(root).bring_up_to_date() == [] and state == {path: path.read_bytes() for path in (root / "work").glob("*.ipynb")}


def test_a_task_that_has_changed_is_marked(root):
    typed = solve(root / "work" / OLD, {"03.1", "03.2"})
    today = cut(root)
    path = root / "chapters" / PARTS[0]
    new = read(path)
    for cell in new["cells"]:
        if "### Exercise 03a.2 " in cell["source"]:
            cell["source"] += "\n\nNow with a mask that adds."
    save(path, new)
    (line,) = Work(root).bring_up_to_date()
    assert "2 answers taken over, the task has changed in 03a.2" in line
    cells = read(root / "work" / PARTS[0])["cells"]
    at = next(i for i, c in enumerate(cells) if c["source"] == typed["03.2"])
    assert "task of exercise 03a.2 has changed" in cells[at + 1]["source"] and today["03.2"] == "03a.2"
    at = next(i for i, c in enumerate(cells) if c["source"] == typed["03.1"])
    assert "changed" not in cells[at + 1]["source"]


def test_a_copy_without_answers_goes_to_the_backups(root):
    cut(root)
    (line,) = Work(root).bring_up_to_date()
    assert "taken over" not in line and not (root / "work" / OLD).exists() and list((root / "work" / ".backup").glob("03_self*"))


def test_notebooks_of_the_learners_own_are_not_touched(root):
    solve(root / "work" / OLD)
    own = {name: root / "work" / name for name in ("03_self_attention-Copy1.ipynb", "03_mine.ipynb", "99_notes.ipynb")}
    for path in own.values():
        shutil.copy(root / "work" / OLD, path)
    own["99_notes.ipynb"].write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    before = {path: path.read_bytes() for path in own.values()}
    cut(root)
    assert len(Work(root).bring_up_to_date()) == 1
    assert before == {path: path.read_bytes() for path in own.values()}


def test_an_old_tab_that_saves_the_old_copy_again(root):
    """The same answers: it is put away again. One more answer: that is taken. Another answer to the same exercise: both stay."""
    mine, work = root / "work" / OLD, Work(root)
    typed = solve(mine, {"03.1", "03.2"})
    old, today = mine.read_bytes(), cut(root)
    work.bring_up_to_date()
    solve(root / "work" / PARTS[0], {"03a.1"}, "# a better answer\n")
    better = given(root)["03a.1"]
    mine.write_bytes(old)
    (line,) = work.bring_up_to_date()
    assert "answers are there" in line and not mine.exists() and given(root)["03a.1"] == better
    mine.write_bytes(old)
    more = solve(mine, {"03.5"})
    work.bring_up_to_date()
    assert given(root)[today["03.5"]] == more["03.5"] and not mine.exists()
    mine.write_bytes(old)
    other = solve(mine, {"03.2"}, "# another try\n")
    (line,) = work.bring_up_to_date()
    assert "stays, with your answers to 03.2" in line and mine.exists() and given(root)["03a.2"] == typed["03.2"]
    assert {better, other["03.2"], typed["03.2"], more["03.5"]} <= everywhere(root)


def test_an_update_of_the_parts_remembers_what_was_taken(root):
    mine = root / "work" / OLD
    solve(mine, {"03.1"})
    old, _ = mine.read_bytes(), cut(root)
    Work(root).bring_up_to_date()
    solve(root / "work" / PARTS[0], {"03a.1"}, "# a better answer\n")
    path = root / "chapters" / PARTS[0]
    new = read(path)
    new["cells"][0]["source"] += "\nA sentence of the new edition."
    save(path, new)
    Work(root).bring_up_to_date()
    mine.write_bytes(old)
    Work(root).bring_up_to_date()
    assert not mine.exists() and "# a better answer" in given(root)["03a.1"]


def test_without_metadata(root):
    mine = root / "work" / OLD
    typed = solve(mine, {"03.1"})
    notebook = read(mine)
    notebook["metadata"].pop("course")
    save(mine, notebook)
    cut(root)
    (line,) = Work(root).bring_up_to_date()
    assert "1 answer taken over" in line and given(root)["03a.1"] == typed["03.1"]


def test_an_old_chapter_that_lies_there_still(root):
    """A newer edition unpacked over the old one: the old file is no chapter any more."""
    typed = solve(root / "work" / OLD)
    old = (root / "chapters" / OLD).read_bytes()
    today = cut(root)
    (root / "chapters" / OLD).write_bytes(old)
    Work(root).bring_up_to_date()
    assert given(root) == {today[name]: text for name, text in typed.items()} and not (root / "work" / OLD).exists()
    assert Work(root).bring_up_to_date() == []


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_killed_at_any_moment_nothing_is_lost(root):
    mine = root / "work" / OLD
    typed, draw, killed = solve(mine), random.Random(0), 0
    today = cut(root)
    start = shutil.copytree(root, root.parent / "start")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from course_work import Work; Work(Path(sys.argv[2]))"
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code + ".bring_up_to_date()", str(ROOT), str(root)], check=True)
    whole = time.perf_counter() - begun
    for _ in range(25):
        shutil.rmtree(root)
        shutil.copytree(start, root)
        for _ in range(3):
            run = subprocess.Popen([sys.executable, "-c", code + ".bring_up_to_date()", str(ROOT), str(root)])
            time.sleep(draw.uniform(0.2, 1) * whole)
            run.send_signal(signal.SIGKILL)
            killed += run.wait() == -signal.SIGKILL
            assert set(typed.values()) <= everywhere(root)
        Work(root).bring_up_to_date()
        assert given(root) == {today[name]: text for name, text in typed.items()} and not mine.exists()
    assert killed >= 20


@pytest.mark.skipif(os.name == "nt", reason="a limit on the size of a file")
@pytest.mark.parametrize("room", [0, 3_000, 30_000, 200_000])
def test_a_full_disk_costs_nothing(root, room):
    typed, today = solve(root / "work" / OLD), cut(root)
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from course_work import Work\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n"
        "print('\\n'.join(Work(Path(sys.argv[2])).bring_up_to_date()))"
    )
    subprocess.run([sys.executable, "-c", code, str(ROOT), str(root), str(room)], capture_output=True, text=True, check=True)
    assert set(typed.values()) <= everywhere(root) and not list((root / "work").rglob("*.part"))
    Work(root).bring_up_to_date()
    assert given(root) == {today[name]: text for name, text in typed.items()}


def test_going_on_knows_what_was_done_before(root):
    cut(root)
    work = Work(root)
    work.bring_up_to_date()
    progress = root / "progress.json"
    progress.write_text('{"03.1": {"points": 4, "passed": true}}')
    path, exercise = course_work.next_exercise(work, progress)
    assert (path.name, exercise) == (PARTS[0], "03a.2")
    progress.write_text('{"06.1": {"points": 4, "passed": false}}')
    assert course_work.next_exercise(work, progress)[1] == "06.1"
