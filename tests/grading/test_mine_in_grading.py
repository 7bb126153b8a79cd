"""A notebook that goes on with another chapter's answer is graded with the course's version of it."""

from classroom import cell, notebook

from course_tools.grading.marks import Limits, exercises_of
from course_tools.grading.notebook_grader import grade_notebook
from course_utils.mine.whole import course_parts

CELLS = (
    cell("import torch\nfrom torch import nn\nfrom course_checks import check, mine, progress"),
    cell('MultiHeadAttention = mine("04.4")\nEncoderBlock = mine("07a.4")'),
)


def test_an_answer_that_goes_on_with_mine_is_right(box):
    book = notebook(*CELLS, cell(course_parts()["07a.4"], "07a.4"))
    marks = grade_notebook(box, book, exercises_of(("07a",)), "secret", Limits(30.0)).marks
    assert marks["07a.4"].passed, marks["07a.4"].message


def test_mine_of_the_chapter_that_is_graded_wins_nothing(box):
    copied = 'import inspect\nOurs = mine("07a.4")\nclass EncoderBlock(Ours):\n    pass'
    for source in ('EncoderBlock = mine("07a.4")', copied):
        marks = grade_notebook(box, notebook(CELLS[0], cell(source, "07a.4")), exercises_of(("07a",)), "secret", Limits(30.0)).marks
        assert marks["07a.4"].points == 0
