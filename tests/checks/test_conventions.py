"""Code in the conventions of others (tests/answers/conventions.md): judged in them, told of them, and never a wrong one let through."""

import re
import time

import pytest
import torch

from course_checks import catalogue, check
from course_checks.changes import read_change
from course_checks.conventions import MADE, PLACES, Convention, possible
from course_checks.engine import examine
from course_checks.lookup import find
from course_utils.launcher import judge
from course_utils.paths import ROOT
from tests.answers import PAGES, run

BLOCKS = re.findall(r"(?ms)^## (\S+) (.+?)\n(.+?)\n(.*?)(?=^## |\Z)", (PAGES / "conventions.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("exercise", "what", "named", "text"), BLOCKS, ids=[f"{block[0]} {block[1]}" for block in BLOCKS])
def test_foreign_code_is_judged_in_its_own_convention(exercise, what, named, text):
    whole, *changes = re.split(r"(?m)^### (.+)\n", text)
    code, asked = read_change(whole).whole, find(exercise)
    defined = re.search(r"(?m)^(?:def|class) (\w+)", code)[1]

    def judged(code, **convention):
        answer = run(exercise, f"{code}\n{asked.name} = {defined}", what)
        began = time.process_time()
        result = examine(asked, answer, 5, convention=Convention.named(asked, **convention))
        assert time.process_time() - began < 1.5
        return result

    convention = dict(re.findall(r'(\w+)="(.+?)"', named))
    right, told = judged(code, **convention), judged(code)
    assert right.passed, right
    assert not told.passed and named in str(told), told
    for says, change in zip(changes[::2], changes[1::2], strict=True):
        wrong = judged(read_change(change).made(code), **convention)
        assert not wrong.passed and says in str(wrong), wrong


def test_a_named_mistake_stays_and_the_convention_is_a_note(capsys):
    def inverted(query, key, value, mask=None):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        weights = (scores if mask is None else scores.masked_fill(mask, -torch.inf)).softmax(-1)
        return weights @ value, weights

    told, asked = check("03.2", inverted, seed=1), check("03.2", inverted, seed=1, mask="True hides")
    assert told.mistake == "mask inverted" and 'mask="True hides"' in told.remarks[0]
    assert asked.passed and asked.use is find("03.2").reference and "Nothing is kept" in asked.remarks[0]
    assert "mask=" not in str(check("03.2", lambda query, key, value, mask=None: (value, query @ key.mT), seed=1))


def test_what_an_exercise_forbids_is_free_for_code_from_elsewhere():
    def library(scores, temperature=1.0):
        return torch.softmax(scores / temperature, -1)

    assert check("00b.2", library, seed=1).stage == "forbidden shortcut"
    assert check("00b.2", library, seed=1, mask="True attends").passed


def test_names_that_nobody_knows_are_refused_with_those_that_exist():
    with pytest.raises(ValueError, match='mask="True attends" or mask="True hides" or mask="1 attends" or mask="additive"'):
        check("03.2", abs, mask="hides")
    with pytest.raises(ValueError, match=r"layout='halves' means nothing for exercise 03.2"):
        check("03.2", abs, layout="halves")
    with pytest.raises(ValueError, match="00b.2, softmax: it knows"):
        check("00b.2", abs, mask="additive")


def test_the_tables_name_what_exists():
    asked = {exercise.name: exercise for exercise in catalogue() if exercise.runs}
    assert set(MADE) <= asked.keys()
    for places in PLACES.values():
        for name, (arguments, results) in places.items():
            args = asked[name].cases((1,))[0].args
            assert set(arguments) <= (args.get("inputs") or args).keys() | {"keys", "values"}, name
            assert len(results) in (0, 1, len(asked[name].outputs)), name


def test_the_page_lists_exercises_as_they_are():
    page, found = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8"), {exercise.id: exercise for exercise in catalogue()}
    rows = re.findall(r"(?m)^\| .+? \| (\d+\w?\.\d+) \| `(.+?)` \| (.*) \|$", page)
    assert len(rows) > 40
    for name, signature, conventions in rows:
        known = possible(found[name])
        wanted = ["masks"] * (len(known["mask"]) > 1) + [f"`{layout}`" for layout in known["layout"][1:]]
        assert (signature, conventions) == (found[name].signature, ", ".join(wanted)), name
    for argument, name in {
        (argument, name) for exercise in found.values() for argument, names in possible(exercise).items() for name in names
    }:
        assert f'`{argument}="{name}"`' in page or name == "(batch, n, d)"


def test_judge_loads_a_file_and_says_what_is_missing(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(
        "import math\n\ndef scores(q, k):\n    return q @ k.mT / math.sqrt(q.shape[-1])\n\ndef wrong(q, k):\n    return q @ k.mT\n"
    )
    ask = [("scores", "03.1", ""), ("wrong", "03.1", ""), ("score", "03.1", ""), ("scores", "03.99", ""), ("scores", "03.1", "up")]
    assert [judge.main([str(file), name, exercise, "True attends", layout]) for name, exercise, layout in ask] == [0, 1, 2, 2, 2]
    said = capsys.readouterr()
    assert "03.1 Scores: right" in said.out and "Not scaled" in said.out and "no exercise '03.99'" in said.out
    assert "has no score. Did you mean scores?" in said.err and "layout='up' means nothing" in said.err
    file.write_text("1 / 0")
    assert judge.main([str(file), "scores", "03.1", "True attends", ""]) == 2
    assert "cannot be imported, so nothing in it can be judged. It stopped with ZeroDivisionError" in capsys.readouterr().err
