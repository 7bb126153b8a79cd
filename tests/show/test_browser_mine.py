"""A learner's walk in a real browser: 03 solved, used in a fresh notebook, the machine in colour, and one file that trains and writes.

Runs under ``course.py test --full``. Needs Debian's Chromium (or any ``chromium`` on the path).
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from browser import CHROMIUM, Notebook, copy_of_the_course, lab

from course_utils.mine.whole import course_parts
from course_utils.paths import ROOT

pytestmark = [
    pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="a browser: `course.py test --full` runs it"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: sudo apt install chromium)"),
]
CHAPTER = next(path.name for path in sorted((ROOT / "chapters").glob("03_*.ipynb")))
FRESH = 'from course_checks import mine, progress\n\nattend = mine("03.2")\nmine("04.4")\nprint(attend.__module__)\nprogress()'


def test_what_is_solved_is_used_drawn_and_written(tmp_path, monkeypatch):
    from playwright.sync_api import sync_playwright

    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    course = copy_of_the_course(tmp_path)
    fresh = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(FRESH)], metadata={"kernelspec": {"name": "python3", "display_name": ""}}
    )
    nbformat.write(fresh, course / "chapters" / "fresh.ipynb")
    solved = json.loads((ROOT / "solutions" / CHAPTER).read_text(encoding="utf-8"))["cells"]
    answers = {
        c["metadata"]["course"]["exercise"]: "".join(c["source"]) for c in solved if c["metadata"].get("course", {}).get("role") == "answer"
    }
    with lab(course) as url, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        notebook = Notebook(page, url, f"chapters/{CHAPTER}")
        notebook.run(notebook.contains("import torch"), 60)
        for exercise in ("03.1", "03.2"):
            notebook.type_answer(exercise, answers[exercise])
            said = notebook.run(notebook.find(exercise, "check"))
            assert f"✓ {exercise}" in said and "leans on" not in said
        other = Notebook(page, url, "chapters/fresh.ipynb")
        said = other.run(0, 60)
        assert "scaled_dot_product_attention: yours, from chapter 03." in said and "mine_03_2" in said
        assert "MultiHeadAttention: the course's version" in said
        drawing = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) svg .own")
        drawing.first.wait_for(timeout=60_000)
        assert drawing.count() == 3  # two parts and the legend
        assert f"2 of {len(course_parts())} parts of the machine are yours" in page.locator(".jp-RenderedHTML").last.inner_text()
        if folder := os.environ.get("COURSE_SCREENSHOTS"):
            page.screenshot(path=Path(folder) / "mine.png")
        assert other.errors() == []
        browser.close()
    done = subprocess.run([sys.executable, "course.py", "mine", "--name", "Ada"], cwd=course, capture_output=True, text=True)
    assert f"2 of {len(course_parts())} parts are yours (03.1, 03.2)" in done.stdout, done.stderr
    done = subprocess.run([sys.executable, "my_transformer.py"], cwd=course, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    right, mine, table = (float(re.search(text, done.stdout)[1]) for text in (r"(\d+) of 100", r"costs (\d+\.\d+)", r"pays (\d+\.\d+)"))
    assert right >= 80 and mine < table, done.stdout
    print(done.stdout[-600:])
