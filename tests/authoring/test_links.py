"""Every link of every chapter leads to a file that is there, and to a place in it; in `chapters/` and in the learner's `work/`."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from course_checks.lookup import chapters, companions, following, in_chapter, notebooks
from course_checks.record import Progress
from course_utils.launcher.notebooks import DEEPER, chapters_in
from course_utils.launcher.work import Work
from course_utils.paths import ROOT

MARKDOWN = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?\)")
CODE = re.compile(r"(?ms)^(```|~~~).*?^\1|(`+).+?\2")
EXERCISES = [exercise for number in chapters() for exercise in in_chapter(number).values()]


class Html(HTMLParser):
    """The addresses and the names in a piece of HTML."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names.update(name for key in ("id", "name") if (name := found.get(key)))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))


def texts(notebook: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The Markdown and the HTML of a notebook, cells and outputs."""
    markdown, pages = [], []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            markdown.append("".join(cell["source"]))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            pages.append("".join(data.get("text/html", "")))
            markdown += [] if "text/html" in data else ["".join(data.get("text/markdown", ""))]
    return [CODE.sub("", text) for text in markdown], pages


@cache
def links_and_names(path: Path) -> tuple[list[str], set[str]]:
    """Where a notebook leads to, and what one can lead to in it: named anchors, and JupyterLab's names of headings."""
    markdown, pages = texts(json.loads(path.read_text(encoding="utf-8")))
    read = [Html(text) for text in (*markdown, *pages)]
    names = set().union(*(piece.names for piece in read))
    names |= {title.strip().replace(" ", "-") for text in markdown for title in re.findall(r"(?m)^#{1,6} (.+)$", text)}
    return [*(link for text in markdown for link in MARKDOWN.findall(text)), *(link for piece in read for link in piece.links)], names


def dead(path: Path, link: str) -> bool:
    """Whether a link in the notebook ``path`` leads nowhere; other machines are not asked."""
    if re.match(r"(https?|mailto):", link):
        return False
    file, _, place = link.partition("#")
    target = path.parent / file if file else path
    return not target.is_file() or bool(place) and (target.suffix != ".ipynb" or place not in links_and_names(target)[1])


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A learner's folder: chapters as delivered, and the copies that ``lab`` makes."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "chapters", root / "chapters")
    shutil.copy(ROOT / "README.md", root)
    Work(root).bring_up_to_date()
    return root


@pytest.mark.parametrize("folder", ["chapters", "work"])
def test_every_link_of_a_chapter_leads_somewhere(course, folder) -> None:
    paths = chapters_in(course / folder)
    found = [(path, link) for path in paths for link in links_and_names(path)[0]]
    assert len(paths) == len(chapters_in(ROOT / "chapters")) >= len(notebooks()) and len(found) > 3 * len(paths)
    assert [f"{path.name}: {link}" for path, link in found if dead(path, link)] == []


@pytest.mark.parametrize("folder", ["chapters", "work"])
def test_what_checks_and_progress_lead_to_is_there(course, folder, monkeypatch) -> None:
    """The panel of a right answer leads to what follows, ``progress()`` to every chapter and to the exercise that is next."""
    files, deeper = notebooks(), companions()
    last = EXERCISES[-1].id.split(".")[0]
    # companions come when the chapters are done, that of the last chapter first
    in_order = sorted(EXERCISES, key=lambda exercise: (exercise.id in deeper) * (1 + (exercise.id.split(".")[0] != last)))
    for place, exercise in enumerate(in_order):
        own = deeper.get(exercise.id) or files[exercise.id.split(".")[0]]
        here = course / folder / own
        monkeypatch.chdir(here.parent)
        after = following(exercise)
        links = [after[1]] if after else []
        done = {e.id: {"points": e.points, "passed": True} for e in in_order[:place]}
        links += Html(Progress(done, [e.page for e in EXERCISES])._repr_html_()).links
        up = "../" if here.parent.name == DEEPER else ""
        assert links[-1].endswith(files[EXERCISES[-1].id.split(".")[0]]) and f"{up}{own}#exercise-{exercise.id}" in links
        assert [link for link in links if dead(here, link)] == [], exercise.id


def test_a_dead_link_is_seen(tmp_path) -> None:
    cells = [{"cell_type": "markdown", "source": ["# A title\n", '<a id="here"></a>\n', "`[no](link.ipynb)`"]}]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert links_and_names(path)[0] == []
    alive, gone = ["#here", "a.ipynb#A-title", "https://b.c/d"], ["#there", "b.ipynb", "a.ipynb#there", "../c.md"]
    assert [link for link in (*alive, *gone) if dead(path, link)] == gone
