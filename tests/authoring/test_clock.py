"""The clock: what it counts in a text, what it leaves out, and that the heads of the chapters say so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from counted import chapter_of, counted, each_chapter
from nbformat import NotebookNode, v4
from tiny_chapter import write

from course_checks.engine import find
from course_tools.authoring.budgets import BUDGETS, beside, over_budget
from course_tools.authoring.chapter import SOLUTION, Chapter
from course_tools.authoring.clock import Figures, count_words, figures, optional_exercises
from course_tools.authoring.outputs import LIVE
from course_tools.authoring.source import read_chapter

TEXT = """\
# Four plain words here

One formula $a + b$ and [a link](https://example.org/with/many/words).

**Claim check.** *"So it is."*

| size | error |
|---|---:|
| large | 0.5 |
| small | none |

<details><summary>Why</summary>

Folded words, **Claim check.**

| x | y |
|---|---|
| 1 | 2 |

</details>

```python
def f(x):
    \"\"\"One line that says what.\"\"\"

    # a comment
    return x
```

```python jupyter={"source_hidden": true}
show_a_picture()
```

### Exercise 03.1

```python course={"exercise": "03.1", "role": "answer"}
def attention_scores(query, key):
    ### BEGIN SOLUTION
    a = 1
    b = 2
    return a
    ### END SOLUTION
```

```python course={"exercise": "03.1", "role": "check"}
check("03.1", attention_scores)
```

<!-- #region course={"exercise": "03.1", "role": "hint"} -->
<details><summary>Hint</summary>

Many words.

</details>
<!-- #endregion -->

## Deeper: more

Words, words.

```python
print(1)
```

## Back in the open
"""
FRAME = '<table class="dataframe"><tr><th>3</th></tr><td>1.5</td>\n<td><b>2</b></td><td>none</td></table>'


def solved(chapter: Chapter, *outputs: dict[str, Any]) -> NotebookNode:
    """The solved notebook, whose folded code cell and whose folded section show these outputs."""
    nb = chapter.notebook(SOLUTION, "")
    for cell in nb.cells:
        if cell.source in ("show_a_picture()", "print(1)"):
            cell.outputs = [v4.new_output("display_data", data=data) for data in outputs]
    return nb


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    return read_chapter(write(tmp_path, TEXT), heading=lambda exercise: f"Exercise {exercise} Scores")


def test_what_is_counted(chapter: Chapter) -> None:
    found = figures(chapter, solved(chapter, {"image/png": ""}, {"text/html": FRAME}, {LIVE: {}}, {"text/html": "<b>1</b>"}), frozenset())
    title, sentence, claim, heading, back = 4, 5, 6, 3, 4  # words; the exercise's heading names its number, too
    assert found.words == title + sentence + claim + heading + back
    assert found.lines == 4 + 2 + 1  # a docstring and a comment are read; the answer is not there yet
    assert found.cells == (3, 2, 1) and found.longest == 3 and found.median == 2
    assert found.tables == (1, 2)
    assert (found.pictures, found.claims) == (2, 1)
    assert (found.core, found.optional) == (find("03.1").minutes, 0)


def test_what_the_page_for_teachers_calls_optional_is_not_core(chapter: Chapter, tmp_path: Path) -> None:
    assert figures(chapter, solved(chapter), frozenset({"03.1"})).optional == find("03.1").minutes
    assert optional_exercises(tmp_path) == frozenset()
    page = tmp_path / "docs" / "teaching.md"
    page.parent.mkdir()
    page.write_text("| 03.1 Scores | ★ | 6 | 4 | core | Why. |\n| 03.4 Slopes | ★★ | 10 | 3 | optional | Why. |\n")
    assert optional_exercises(tmp_path) == frozenset({"03.4"})


def test_exercises_of_a_companion_are_optional(tmp_path: Path) -> None:
    write(tmp_path)
    companion = read_chapter(write(tmp_path, TEXT, "deeper/03_more.md"), heading=lambda exercise: f"Exercise {exercise} Scores")
    found = figures(companion, solved(companion), frozenset())
    assert (found.core, found.optional) == (0, find("03.1").minutes)


def test_minutes() -> None:
    found = Figures(words=1_100, lines=60, cells=(5, 7), tables=(3, 20), pictures=3, claims=0, core=10, optional=5)
    assert found.reading == pytest.approx(10 + 6 + 2 * 70 / 60 + 2)
    assert found.with_core == pytest.approx(found.reading + 14)
    assert found.total == pytest.approx(found.reading + 21)
    assert found.head == "About 40 minutes with the exercises, 20 without."


def test_words() -> None:
    assert count_words("") == 0
    assert count_words("It's $x^2 + y$, **so** <b>far</b>.") == 4
    assert count_words("$$\na + b\n$$") == 1


def test_figures_stand_beside_their_budgets() -> None:
    found = Figures(words=2_901, lines=260, cells=(18, 19), tables=(20, 21), pictures=7, claims=1, core=0, optional=0)
    assert over_budget(found) == {"words": 2_901, "longest cell": 19, "median cell": 18.5, "largest table": 21, "pictures": 7}
    marked = [line for line in beside(found) if "<- not kept" in line]
    assert len(marked) == 5 and "words                 2,901   at most 2,900   <- not kept" in marked[0]
    assert all(any(line.startswith(f"  {name} ") for line in beside(found)) for name in BUDGETS)


@each_chapter
def test_the_head_says_what_the_clock_counts(number: str) -> None:
    said = re.findall(r"About \d+ minutes with .*? without\.", "\n".join(cell.source(SOLUTION) for cell in chapter_of(number).cells[:12]))
    assert said == [counted(number).head], f"solutions/{chapter_of(number).path.name}: the clock counts other minutes"
