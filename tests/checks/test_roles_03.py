"""Matrices set by hand (03.4): what they do is judged, so many are right, and whatever crosses from a sandbox is only looked at."""

import math

import pytest
import torch

from course_checks.case import Case
from course_checks.engine import examine
from course_checks.exercises.ch03 import roles
from course_checks.judge import judge
from course_checks.lookup import find
from course_checks.observation import Misfit, Observation
from course_tools.grading.cells import cell_of
from course_tools.grading.cells import find as find_in

EXERCISE = find("03.4")
LOOK, _, GIVE, _ = EXERCISE.cases((1,))


def test_what_the_right_matrices_do() -> None:
    """“flies” looks at “fruit”, the others at all alike; “fruit” hands over (1, 0)."""
    made = list(roles.set_roles())
    looks = torch.full((5, 5), 0.2)
    looks[1] = torch.tensor([1.0, 0, 0, 0, 0])
    assert torch.equal(roles.effect(made, LOOK), looks) and torch.equal(roles.leanings(looks), looks)
    assert roles.effect(made, GIVE).tolist() == [[1, 0], *[[0, 0]] * 4]


@pytest.mark.parametrize("score, passes", [(math.log(36) - 0.02, False), (math.log(36) + 0.02, True), (1e30, True)])
def test_a_weight_of_nine_tenths_is_enough(score: float, passes: bool) -> None:
    """e^s / (e^s + 4) = 0.9 at s = ln 36."""
    w_q, w_k, w_v = roles.set_roles()
    assert examine(EXERCISE, lambda: (w_q, w_k * score / 10, w_v)).passed == passes


def test_each_part_has_points_of_its_own() -> None:
    w_q, w_k, w_v = roles.set_roles()
    assert examine(EXERCISE, lambda: (w_q, w_k, 0 * w_v)).earned == {"weights": 2, "values": 0}
    assert examine(EXERCISE, lambda: (w_k, w_q, w_v)).earned == {"weights": 0, "values": 1}


WORDS = torch.zeros(7, 1), torch.zeros(7, 1), torch.zeros(7, 2)


@pytest.mark.parametrize(
    "value, says",
    [
        (WORDS[:2], "Three matrices"),
        ("w_q, w_k, w_v", "Three matrices"),
        ({"object": "Linear"}, "Three matrices"),
        ([{"object": "Linear"}] * 3, "Three matrices"),
        ([*WORDS[:2], [[0.0, 1.0]] * 7], "Three matrices"),
        ([torch.zeros(7), *WORDS[1:]], "`w_q` has shape (7,)"),
        ([WORDS[0], torch.zeros(7, 0), WORDS[2]], "`w_k` has shape (7, 0)"),
        ([torch.zeros(7, 3), *WORDS[1:]], "3 and 1 columns"),
        ([*WORDS[:2], torch.zeros(2, 7)], "`w_v` has shape (2, 7); expected (7, 2)"),
        ([WORDS[0] * math.nan, *WORDS[1:]], "NaN"),
        ([*WORDS[:2], WORDS[2].bool()], "not have the expected numbers"),
    ],
)
def test_what_does_nothing_is_said_in_words(value: object, says: str) -> None:
    seen = [Observation(type="tuple of 3", value=value)] * 4
    finding = judge(EXERCISE, EXERCISE.cases((1,)), seen).finding
    assert finding is not None and says in finding.message


def test_only_a_result_is_put_to_use() -> None:
    stopped = Observation(status="raised")
    assert EXERCISE.judged(stopped, LOOK) is stopped
    assert EXERCISE.judged(Observation(value=None), LOOK).module is None
    assert EXERCISE.judged(Observation(value=[1]), LOOK).module == Misfit("Three matrices are asked for. " + roles.ENDING)
    other = find("03.1")
    assert other.judged(seen := Observation(value=1), Case("any", {})) is seen


def test_a_handed_in_answer_takes_the_given_numbers_of_rows_along() -> None:
    given = cell_of(3, 'ROW = {"time": 0}')
    answer = cell_of(5, 'def set_roles():\n    return ROW["time"]', "03.4", "answer")
    assert find_in([given, answer], {"03.4": "set_roles"}, {"03.4": "03"})["03.4"].needs == [3, 5]
