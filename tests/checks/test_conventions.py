"""Code in the conventions of others (tests/answers/conventions.md): judged in them, told of them, and never a wrong one let through."""

import re
import time

import pytest
import torch
from torch import nn

from course_checks import catalogue, check
from course_checks.conventions import MADE, PLACES, Convention, possible
from course_checks.engine import examine
from course_checks.lookup import find
from course_checks.misconceptions import read_change
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
        return examine(asked, answer, 5, convention=Convention.named(asked, **convention))

    convention = dict(re.findall(r'(\w+)="(.+?)"', named))
    began = time.process_time()
    right, told = judged(code, **convention), judged(code)
    assert time.process_time() - began < 3
    assert right.passed, right
    assert not told.passed and named in str(told), told
    for says, change in zip(changes[::2], changes[1::2], strict=True):
        wrong = judged(read_change(change).made(code), **convention)
        assert not wrong.passed and says in str(wrong), wrong
