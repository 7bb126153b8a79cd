"""Exercise 06.7: what is left of hidden keys, according to how they were hidden. The oracle does it and looks."""

import torch
from torch import Tensor

from course_utils.models.attention import masked_softmax

from ..common import Case, Prediction


def word(weights: Tensor) -> str:
    if weights.isnan().any():
        return "nan"
    if (weights == 0).all():
        return "zero"
    return "equal" if torch.allclose(weights, torch.full_like(weights, 0.25)) else "unequal"


def oracle() -> dict[str, str]:
    scores, two, every = torch.tensor([1.0, 2.0, -0.5, 3.0]), torch.tensor([0, 0, 1, 1]).bool(), torch.ones(4).bool()
    half, keep, lowest = scores.half(), (~two).half(), torch.full((4,), torch.finfo(torch.float16).min).half()

    def left(filled: Tensor, hidden: Tensor) -> str:
        return word(torch.softmax(filled, -1)[hidden])

    return {
        "two hidden, filled with -inf": left(scores.masked_fill(two, -torch.inf), two),
        "two hidden, filled with -1e9": left(scores.masked_fill(two, -1e9), two),
        "two hidden, scores times 0": left(scores * ~two, two),
        "two hidden, fp16: (1 - keep) * -1e9 added": left(half + (1 - keep) * torch.tensor(-1e9).half(), two),
        "all hidden, filled with -inf": left(scores.masked_fill(every, -torch.inf), every),
        "all hidden, filled with -1e9": left(scores.masked_fill(every, -1e9), every),
        "all hidden, fp16: two masks of finfo.min added": left(half + (lowest + lowest), every),
        "all hidden, the policy of this course": word(masked_softmax(scores, ~every)),
    }


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your eight words", {})], choices=("zero", "equal", "unequal", "nan"))
