"""What a blank chapter asks its reader to predict, its stored outputs do not answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from counted import blank_of, chapter_of, each_text, notebook_of
from nbformat import v4
from tiny_chapter import write

from course_tools.authoring.chapter import CHAPTER, SOLUTION
from course_tools.authoring.predictions import PROMPT, tells, told
from course_tools.authoring.source import read_chapter

# As chapter 06 once stood: the tag on a cell that only defines functions, and the table of answers behind it, stored.
ANSWERED = """\
# Masks

### Exercise 06.7

Most of the time the recipes agree. Predict where they do not.

```python course={"exercise": "06.7", "role": "answer"}
### BEGIN SOLUTION
prediction_of_fills = {}
### STUB
prediction_of_fills = {"two hidden, filled with -inf": None}
### END SOLUTION
```

```python course={"exercise": "06.7", "role": "check"}
result = check("06.7", prediction_of_fills)
```

<!-- #region course={"exercise": "06.7", "role": "hint"} -->
<details><summary>Hint</summary>

Guess.

</details>
<!-- #endregion -->

First come two recipes that multiply.

```python tags=["revealing"]
shows("times 1 or 0 leaves the hidden keys 16.5 %")
```

Here are three ways of using a number.

```python tags=["revealing"]
def recipe():
    pass
```

```python
shows('''weight of a hidden key, two of four hidden / all four hidden
                filled in  (1 - keep) * number  two masks added
float16, -inf   0.00 / NaN         NaN / NaN       0.00 / NaN
float16, -1e9   0.00 / NaN         NaN / NaN       0.00 / NaN
float16, finfo.min  0.00 / 0.25  0.00 / NaN        0.00 / NaN
''')
```
"""
TAG, TABLE = '```python tags=["revealing"]\n', "```python\nshows('''weight"
PROMPTED = """\
# Heads

Do more heads mean more parameters? Predict before you run.

```python
count = 1
```

```python
shows("always 12")
```

```python
shows("a picture of it")
```

The same number always.

```python
shows("another thing")
```

## Next

Each is a weighted mean of values. The model predicts letters.

```python
shows("what nobody asked")
```
"""


def wrong_in(tmp_path: Path, text: str, name: str = "06_masks.md") -> list[str]:
    """What is found in a chapter whose cells show what they say they show; ``build`` is not needed for that."""
    chapter = read_chapter(write(tmp_path, text, name), heading=lambda exercise: f"Exercise {exercise} Predict")
    books = {kind: chapter.notebook(kind, "") for kind in (SOLUTION, CHAPTER)}
    for kind, nb in books.items():
        for cell in nb.cells:
            if cell.cell_type == "code" and cell.source.startswith("shows"):
                hidden = kind == CHAPTER and "revealing" in cell.metadata.get("tags", [])
                cell.outputs = [] if hidden else [v4.new_output("stream", name="stdout", text=cell.source)]
    return told(chapter, books[CHAPTER], books[SOLUTION])


@each_text
def test_a_blank_chapter_does_not_answer_what_it_asks(label: str) -> None:
    found = told(chapter_of(label), blank_of(label), notebook_of(label, SOLUTION))
    assert not found, "\n".join(["a prediction is answered on the next screen:", *found])


def test_chapter_06_as_it_stood_is_found(tmp_path: Path) -> None:
    tag, table = wrong_in(tmp_path, ANSWERED)
    assert "solutions/06_masks.md:36: this cell is tagged revealing and shows nothing" in tag
    assert "solutions/06_masks.md:41: its stored output tells answers of exercise 06.7" in table


def test_no_distance_helps(tmp_path: Path) -> None:
    far = "## Another section\n\nSome text.\n\n```python\nshows(1)\n```\n\n"
    apart = ANSWERED.replace("Here are three ways", 10 * far + "Here are three ways").replace(TAG + "def", "```python\ndef")
    assert len(wrong_in(tmp_path, apart)) == 1
    above = apart.replace("### Exercise", "```python\n" + apart.split("```python\n")[-1] + "\n### Exercise")
    assert len(wrong_in(tmp_path, above)) == 2


def test_the_tag_on_the_right_cell_repairs_it(tmp_path: Path) -> None:
    assert wrong_in(tmp_path, ANSWERED.replace(TAG + "def", "```python\ndef").replace(TABLE, TAG + TABLE.removeprefix("```python\n"))) == []


def test_every_output_up_to_the_next_paragraph_answers_a_prompt(tmp_path: Path) -> None:
    found = wrong_in(tmp_path, PROMPTED)
    assert [line.split(":")[1] for line in found] == ["10", "14"]
    assert "answers “Predict before you run. …”; tag it revealing" in found[0]
    first = PROMPTED.replace('```python\nshows("always', TAG + 'shows("always')
    assert [line.split(":")[1] for line in wrong_in(tmp_path, first)] == ["14"]
    assert wrong_in(tmp_path, first.replace('```python\nshows("a picture', '```python tags=["live"]\nshows("a picture')) == []


def test_a_prompt_ends_at_a_heading_and_is_not_heard_in_a_fold(tmp_path: Path) -> None:
    assert wrong_in(tmp_path, PROMPTED.replace("```python\ncount", "## New\n\n```python\ncount")) == []
    folded = "<details><summary>More</summary>\n\nPredict before you run.\n\n</details>"
    assert wrong_in(tmp_path, PROMPTED.replace("Predict before you run.", folded)) == []


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("**Claim check.** *“So it is.”* Predict what happens.", True),
        ("But which outputs? Predict: is the last layer the best?", True),
        ("First guess, then look.", True),
        ("Calculate before you run the cells.", True),
        ("Now predict four numbers.", True),
        ("A model that predicts letters must guess the next one.", False),
        ("Its prediction is a mean; the best guess of all is the median.", False),
        ("Guess of the model, truth, error", False),
    ],
)
def test_prompts(text: str, asks: bool) -> None:
    assert bool(PROMPT.search(text)) == asks


def test_what_tells_the_answers() -> None:
    numbers = {"a feed-forward layer of 2,048": 2_097_152, "heads": 8}
    assert tells("it weighs 2,097,152.", numbers) and tells("2097152", numbers)
    assert not tells("8 layers of 2,048 numbers", numbers)
    words = {"identical for ever": "yes", "heads equal": "no", "heads random, blocks equal": "no", "W_O all zero": "yes"}
    assert tells("heads equal: identical\nheads random, blocks equal: different", words)
    assert not tells("heads of equal width", words)
