"""docs/teaching.md against what it speaks of: the exercises, the clock, the chapters' heads, their questions."""

from __future__ import annotations

import re

import pytest
from counted import COMPANIONS, TEXTS, chapter_of, counted

from course_checks.lookup import catalogue
from course_tools.authoring.clock import rounded
from course_tools.authoring.ledger import find_sources
from course_tools.authoring.minutes import with_figures, with_head, with_sums
from course_utils.paths import ROOT

PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
CHAPTERS = {number: path.read_text(encoding="utf-8") for number, path in find_sources(ROOT).items()}
EXERCISES = {exercise.id: exercise for exercise in catalogue()}
ROWS = re.findall(r"(?m)^\| (\d\d[abc]?\.\d+) (.*?) \| (★+) \| (\d+) \| (\d+) \| (core|optional) \| (.+) \|$", PAGE)
CORE = {row[0] for row in ROWS if row[5] == "core"}
PLANS = {part.split("\n")[0]: part for part in re.split(r"(?m)^##+ ", PAGE) if re.match(r"\w+ weeks\n", part)}
WEEK = 240  # minutes that a week of a plan may ask for
TOO_FULL = {"Six weeks": 4, "Ten weeks": 4, "Fourteen weeks": 4}  # weeks that still ask for more; no number may rise


def stated(number: str, core: bool = False) -> int:
    """Minutes that a chapter's exercises state: of all of them, or of those called core."""
    return sum(e.minutes for key, e in EXERCISES.items() if key.split(".")[0] == number and (not core or key in CORE))


def minutes(number: str, which: str) -> int:
    """Minutes of a chapter by the clock, to five: its reading, with the core exercises, with all."""
    clock = counted(number)
    return rounded({"reading": clock.reading, "core": clock.with_core, "all": clock.total}[which])


def test_the_table_has_the_numbers_of_exercises_and_heads():
    rows = re.findall(r"(?m)^\| \[(\d\d[abc]?)\]\(\.\./chapters/.*?\) .*? \| .*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (.*) \|$", PAGE)
    points = {n: sum(e.points for key, e in EXERCISES.items() if key.split(".")[0] == n) for n in CHAPTERS}
    running = {n: re.search(r"Running every cell takes (.*?)\.", text)[1] for n, text in CHAPTERS.items()}
    assert [row[0] for row in rows] == list(CHAPTERS), "docs/teaching.md: one row for each chapter"
    for row in rows:
        n = row[0]
        right = (n, *(str(minutes(n, which)) for which in ("reading", "core", "all")), f"{points[n]:g}", running[n])
        assert row == right, f"docs/teaching.md, the row of {n} should say {right[1:]}: reading, with core, with all, points, running"
    reading, core, everything = (sum(minutes(n, which) for n in CHAPTERS) for which in ("reading", "core", "all"))
    last = f"| all | | {reading} | {core} | {everything} | {sum(points.values()):g} | |"
    assert last in PAGE, f"docs/teaching.md, last row of the table of chapters: should be {last!r}"
    hours = f"about {everything / 60:.0f} hours: {reading / 60:.0f} to read, and with the core exercises {core / 60:.0f}."
    assert hours in PAGE, f"docs/teaching.md should say: {hours!r}"


def test_every_exercise_is_core_or_optional_once():
    rows = [row[0] for row in ROWS]
    missing, unknown = [key for key in EXERCISES if key not in rows], [key for key in rows if key not in EXERCISES]
    assert not missing and not unknown, f"docs/teaching.md has no row for {missing}, one too many for {unknown}"
    assert len(rows) == len(set(rows)), "docs/teaching.md has two rows for one exercise"
    for key, title, stars, took, points, _, _ in ROWS:
        e = EXERCISES[key]
        assert (title, len(stars), int(took), int(points)) == (e.title, e.stars, e.minutes, e.points), key
    sums = re.findall(r"(?m)^### (\d\d[abc]?) .*\n\nCore: (\d+) minutes\. Optional: (\d+)\.$", PAGE)
    right = [(n, str(stated(n, core=True)), str(stated(n) - stated(n, core=True))) for n in CHAPTERS]
    wrong = [row for row in right if row not in sums]
    assert sums == right, f"docs/teaching.md, chapter, minutes of core and of optional exercises: should be {wrong}"
    took = sum(stated(n, core=True) for n in CHAPTERS)
    sentence = f"{len(CORE)} of the {len(EXERCISES)} exercises are core; they take {took} of the {sum(map(stated, CHAPTERS))} minutes"
    assert sentence in PAGE, f"docs/teaching.md should say: {sentence!r}"


def test_optional_exercises_live_in_the_companion_where_there_is_one():
    optional = set(EXERCISES) - CORE
    for companion in COMPANIONS:
        chapter = companion.split("-")[0]
        assert set(chapter_of(companion).stubs) <= optional, f"exercises of the companion of {chapter} are optional"
        assert not set(chapter_of(chapter).stubs) & optional, f"exercises of {chapter} are core; optional ones go to its companion"


def test_the_command_writes_what_the_tests_ask_for():
    clock = {label: counted(label) for label in TEXTS}
    assert with_sums(PAGE, clock) == PAGE
    wrong = re.sub(r"(?m)^(\| \[\d\d.*?\|.*?\|) \d+ \| \d+ \| \d+ \|", r"\1 1 | 2 | 3 |", PAGE)
    wrong = re.sub(r"(?m)^(\| \d+ \| \d\d.*?\|) \d+ ", r"\1 1 ", wrong.replace("| all | | ", "| all | | 9"))
    wrong = re.sub(r"Core: \d+ minutes\. Optional: \d+", "Core: 1 minutes. Optional: 2", wrong.replace("that is about ", "that is about 9"))
    assert wrong != PAGE and with_sums(wrong, clock) == PAGE
    head = "# Title\n\nAbout 5 minutes with the exercises, 5 without. Running every cell takes a minute.\n"
    assert with_head(head, clock["00"]) == f"# Title\n\n{clock['00'].head} Running every cell takes a minute.\n"


def test_the_readme_has_todays_figures():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_figures(readme, {label: counted(label) for label in TEXTS}, list(EXERCISES.values())) == readme


def test_there_are_three_plans():
    assert [(name, part.count("\n| ") - 1) for name, part in PLANS.items()] == [("Six weeks", 6), ("Ten weeks", 10), ("Fourteen weeks", 14)]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_takes_up_every_chapter_or_says_what_is_lost(name):
    taken, full, plan = [], 0, PLANS[name]
    for cell, said in re.findall(r"(?m)^\| \d+ \| (.*?) \| (\d+) \| .* \|$", plan):
        week = [part.split() for part in cell.split(" · ")]
        wanted = sum(minutes(n, which) for n, which in week)
        assert wanted == int(said), f"docs/teaching.md, a week of a plan, {cell!r}: it takes {wanted} minutes"
        full += wanted > WEEK
        taken += [n for n, _ in week]
    assert full == TOO_FULL[name], f"{name}: {full} weeks of more than {WEEK} minutes; where there are fewer now, say so in TOO_FULL"
    words = dict(zip((4, 5, 6, 7, 8, 10, 14), ("four", "five", "six", "seven", "eight", "ten", "fourteen"), strict=True))
    assert f"{words.get(full, str(full)).capitalize()} of the {name.lower()} ask for more than four hours." in plan
    left = re.findall(r"(?m)^- (\d\d[abc]?) ", plan.split("**Left out.**")[1])
    assert sorted(taken + left) == sorted(CHAPTERS) and taken == sorted(taken)


def test_questions_and_mistakes_are_those_of_the_course():
    shown = re.findall(r"(?m)^\| (\d\d[abc]?) \| .* \| (.*)<br>(.*) \|$", PAGE)
    assert [row[0] for row in shown] == list(CHAPTERS)
    for number, *two in shown:
        assert all(f"<summary>{question}</summary>" in CHAPTERS[number] for question in two), number
    named = re.findall(r"\*([^*|]+)\*: (\d\d[abc]?\.\d+(?:, \d\d[abc]?\.\d+)*)", PAGE)
    assert len(named) > 20
    for name, where in named:
        assert [key for key in where.split(", ") if name not in EXERCISES[key].mistakes] == [], name


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
    assert "](docs/teaching.md)" in (ROOT / "README.md").read_text(encoding="utf-8").split("## Teaching with it")[1].split("\n## ")[0]
