"""``find``: the course is asked in one's own words; quick, without a network, without torch."""

import shutil
import subprocess
import sys
import time

import pytest

from course_checks import find
from course_utils.launcher import search
from course_utils.paths import ROOT

WORDS = [line.split("\t") for line in (ROOT / "tests" / "authoring" / "search_words.tsv").read_text(encoding="utf-8").splitlines()]


def test_of_a_hundred_words_people_type_ninety_five_lead_home():
    """The right chapter is among the three places. Sixty words are from public questions and threads, forty are others."""
    missed = [words for words, home in WORDS if not {one.way.split("/")[-1].split("_")[0] for one in find(words)} & set(home.split())]
    assert len(WORDS) == 100 and len(missed) <= 5, missed


@pytest.mark.parametrize(
    "asked, way, question",
    [
        ("why divide by root d", "03_self_attention.ipynb#1.3-Why-the-square-root?", "Why divide by the square root of d_k?"),
        ("quantization", "deeper/13a_small_caches.ipynb#3-Numbers-of-few-bits", ""),
        ("my GRPO loss is zero", "11c_preferences_and_rewards.ipynb#3.1-", "My GRPO loss is 0. Is it broken?"),
        ("03.2", "03_self_attention.ipynb#Exercise-03.2-", ""),
    ],
)
def test_the_best_place_and_the_answered_question(asked, way, question):
    found = find(asked)
    assert len(found) == 3 or asked == "quantization"
    assert found[0].way.startswith(way) and found.question == question and bool(found.answer) == bool(question)
    assert found[0].way in repr(found) and f"(<{found[0].way}>)" in found._repr_markdown_() and question in repr(found)


def test_links_lead_there_from_a_companion(monkeypatch, tmp_path):
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    text = find("why divide by root d")._repr_markdown_()
    assert text.count("(<../03_self_attention.ipynb#1.3-") == 2 and "(<../chapters" not in text


@pytest.mark.parametrize("asked", ["", "?", "zzz", "(", "a " * 500, "\\", "the"])
def test_nothing_breaks_it(asked):
    found = find(asked)
    assert repr(found) and found._repr_markdown_()


def test_american_and_british_and_hyphens_are_one():
    assert [one.way for one in find("tokenization")] == [one.way for one in find("tokenisation")]
    assert find("cross attention")[0].way == find("cross-attention")[0].way
    assert search.words_of("Why is it?") == ["why", "is", "it"], "of empty words alone all are taken"


def test_a_fresh_process_answers_at_once_and_without_torch():
    code = "import sys, time; s = time.process_time(); from course_checks import find; find('why divide by root d'); "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(time.process_time() - s, 'torch' in sys.modules)"], capture_output=True, text=True
    )
    seconds, torch = done.stdout.split()
    assert float(seconds) < 0.5 and torch == "False"
    start = time.process_time()
    find("how many heads")
    assert time.process_time() - start < 0.3


@pytest.mark.parametrize("first", ["find", "check", "catalogue"])
def test_it_is_the_same_whatever_was_imported_before(first):
    code = f"from course_checks import {first}, find; import course_checks; print(find.__module__, course_checks.find is find)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["course_utils.launcher.search", "True"], done.stderr


def test_it_works_in_a_hand_out_and_says_so_where_there_is_no_chapter(tmp_path, monkeypatch):
    (tmp_path / "chapters").mkdir()
    monkeypatch.setattr(search, "ROOT", tmp_path)
    search._known.cache_clear()
    assert repr(find("softmax")).startswith("Nothing found")
    shutil.copy(ROOT / "chapters" / "06_masking.ipynb", tmp_path / "chapters")
    search._known.cache_clear()
    assert find("causal mask")[0].chapter.startswith("06")
    search._known.cache_clear()
