"""Exercise 06.2: what is left of hidden keys, according to how they were hidden."""

from __future__ import annotations

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin

SCORES, TWO = torch.tensor([1.0, 2.0, -0.5, 3.0]), torch.tensor([False, False, True, True])


def _fills() -> dict[str, str]:
    """Do it, and look at the weights of the hidden keys."""
    half, every = SCORES.half(), torch.ones(4, dtype=torch.bool)
    lowest = torch.full((4,), torch.finfo(torch.float16).min, dtype=torch.float16)

    def word(scores: Tensor, hidden: Tensor) -> str:
        weights = torch.softmax(scores, -1)[hidden]
        if weights.isnan().any():
            return "nan"
        if (weights == 0).all():
            return "zero"
        return "equal" if torch.allclose(weights, torch.full_like(weights, 0.25)) else "unequal"

    from course_utils.models.attention import masked_softmax

    return {
        "two hidden, filled with -inf": word(SCORES.masked_fill(TWO, -torch.inf), TWO),
        "two hidden, filled with -1e9": word(SCORES.masked_fill(TWO, -1e9), TWO),
        "two hidden, scores times 0": word(SCORES * ~TWO, TWO),
        "two hidden, fp16: (1 - keep) * -1e9 added": word(half + (1 - (~TWO).half()) * torch.tensor(-1e9).half(), TWO),
        "all hidden, filled with -inf": word(SCORES.masked_fill(every, -torch.inf), every),
        "all hidden, filled with -1e9": word(SCORES.masked_fill(every, -1e9), every),
        "all hidden, fp16: two masks of finfo.min added": word(half + (lowest + lowest), every),
        "all hidden, the policy of this course": "zero" if not masked_softmax(SCORES, ~every).any() else "unequal",
    }


RIGHT = _fills()


def _but(**changes: str) -> dict[str, str]:
    """The right table with entries replaced; a key is found by its first letters and the number behind them."""
    keys = list(RIGHT)
    return {**RIGHT, **{keys[int(name[1:])]: word for name, word in changes.items()}}


FILLS = Exercise(
    id="06.2", title="Predict: what the hidden keys keep", name="prediction_of_fills", kind="value", stars=2, minutes=8,
    signature="prediction_of_fills: dict of 8 words", choices=("zero", "equal", "unequal", "nan"),
    oracle=_fills, reference=RIGHT, parts={"values": 2}, draw=lambda seed: [Case("your eight words", {})],
    twins=(
        Twin("a large number taken for harmless", _but(_1="unequal"),
             "The exponential of minus a billion is too small for any number format of a computer: it underflows to exactly 0."),
        Twin("minus infinity taken for poison", _but(_0="nan"),
             "Minus infinity does harm only where nothing else is left in the row. The exponential of minus infinity is exactly 0."),
        Twin("score nought taken for hidden", _but(_2="zero"),
             "A score of 0 is an ordinary score. Its exponential is 1, which is added to the sum like all the others."),
        Twin("score nought taken for uniform", _but(_2="equal"),
             "Both hidden keys have the same weight, but the visible keys have more: the four weights are not a quarter each."),
        Twin("half precision taken for single", _but(_3="zero"),
             "In fp16 the number minus a billion is minus infinity. And what is 0 times infinity, for the keys that stay visible?"),
        Twin("sum of two masks taken for one", _but(_6="equal"),
             "Each of the numbers is the lowest that fp16 can hold. Where does their sum go, and what does a softmax make of such a row?"),
        Twin("sum of two masks taken for zero", _but(_6="zero"),
             "Below the lowest finite number comes minus infinity. In a softmax of minus infinities alone, 0 is divided by 0."),
        Twin("empty row of infinities taken for zero", _but(_4="zero"),
             "The denominator is a sum of zeros. The policy of this course is not what a plain softmax does."),
        Twin("empty row of infinities taken for uniform", _but(_4="equal"),
             "All scores are equal, but their largest is subtracted first: what is minus infinity minus minus infinity?"),
        Twin("empty row of billions taken for zero", _but(_5="zero"),
             "A softmax only sees differences, and among four equal numbers there are none."),
        Twin("empty row of billions taken for NaN", _but(_5="nan"),
             "Minus a billion is a finite number. Equal finite scores give equal weights, however low the scores are."),
        Twin("old scores taken to survive", _but(_5="unequal"),
             "Filling overwrites the score: nothing of its former value is left."),
        Twin("policy forgotten", _but(_7="equal"),
             "The policy was stated in chapter 03: a query that may attend to nothing gives no weight to any key."),
        Twin("policy taken for NaN", _but(_7="nan"),
             "The policy of this course exists to keep NaN out of the results: an average over no keys at all is set to 0."),
        Twin("infinities the same as billions", _but(_4="equal", _6="equal"),
             "The difference between a very low number and minus infinity shows in exactly one place: a row without any visible key."),
    ),
)
