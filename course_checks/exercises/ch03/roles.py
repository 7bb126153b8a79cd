"""Exercise 03.4: W_Q, W_K and W_V set by hand. Many matrices are right: judged is what they do in two sentences."""

import math
import re
from typing import Any

import torch
from torch import Tensor

from ..common import Case, FunctionExercise

ROW = {word: row for row, word in enumerate("time fruit flies like a arrow banana".split())}
ENDING = "End with `return w_q, w_k, w_v`: three tensors, in this order."
SENTENCES = "fruit flies like a banana", "time flies like a arrow"


def set_roles() -> tuple[Tensor, Tensor, Tensor]:
    w_q, w_k, w_v = torch.zeros(7, 1), torch.zeros(7, 1), torch.zeros(7, 2)
    w_q[ROW["flies"]] = 1.0
    w_k[ROW["time"]] = w_k[ROW["fruit"]] = 10.0
    w_v[ROW["fruit"], 0] = 1.0
    w_v[ROW["time"], 1] = 1.0
    return w_q, w_k, w_v


def oracle() -> tuple[Tensor, Tensor, Tensor]:
    """Other matrices that do it: two columns, and everybody is pushed away but "time" and "fruit"."""
    asks, answers = torch.tensor([0, 0, 1, 0, 0, 0, 0]), torch.tensor([1, 1, 0, 0, 0, 0, 0])
    w_v = torch.stack([torch.tensor([0, 1, 0, 0, 0, 0, 0]), torch.tensor([1, 0, 0, 0, 0, 0, 0])], 1)
    return torch.outer(asks, torch.tensor([7, -7])), torch.outer(1 - answers, torch.tensor([-4, 4])), w_v


def effect(made: Any, case: Case) -> Tensor:
    """What three matrices do in the case's sentence: its weights, or what its words hand over; what is near enough counts as exact."""
    rows = [ROW[word] for word in re.findall("“(.+?)”", case.label)[0].split()]
    w_q, w_k, w_v = _matrices(made)
    if case.part == "values":
        near = w_v[rows].round()
        return torch.where((w_v[rows] - near).abs() <= 0.05, near, w_v[rows])
    weights = torch.softmax(w_q[rows] @ w_k[rows].T / math.sqrt(w_q.shape[1]), -1)
    alike = weights.amax(-1, keepdim=True) - weights.amin(-1, keepdim=True) < 0.04
    weights = torch.where(alike, 1 / len(rows), weights)
    return torch.where(weights.amax(-1, keepdim=True) >= 0.9, weights.round(), weights)


def _matrices(made: Any) -> list[Tensor]:
    """The three matrices as floats. ValueError, in words for the learner, where they are no three or have other shapes."""
    if not isinstance(made, (list, tuple)) or len(made) != 3 or not all(isinstance(matrix, Tensor) for matrix in made):
        raise ValueError(f"Three matrices are asked for. {ENDING}")
    any_width = "(7, d_k): a row for each of the seven words, and as many columns as you like"
    for name, matrix, wanted in zip(("w_q", "w_k", "w_v"), made, (any_width, any_width, "(7, 2)"), strict=True):
        if matrix.dim() != 2 or len(matrix) != 7 or not matrix.numel() or name == "w_v" and matrix.shape[1] != 2:
            raise ValueError(f"`{name}` has shape {tuple(matrix.shape)}; expected {wanted}.")
    if made[0].shape != made[1].shape:
        wide = made[0].shape[1], made[1].shape[1]
        raise ValueError(f"A query meets a key in a dot product, so both need one width. Yours: {wide[0]} and {wide[1]} columns.")
    return [matrix.float() for matrix in made]


def leanings(judged: Tensor) -> Tensor:
    """What tells mistakes apart: in a row that is not decided which words get most, however much it is. Of values, those of the first
    word, to one decimal and no larger than 2; and who else hands anything over."""
    if judged.shape[1] == 2:
        others = (judged[1:] != 0).any(-1, keepdim=True).expand(-1, 2)
        return torch.cat([judged[:1].round(decimals=1).clamp(-2, 2), others.to(judged.dtype)])
    most = judged.amax(-1, keepdim=True)
    open_rows = (most < 1) & (most > judged.amin(-1, keepdim=True))
    return torch.where(open_rows, (judged > most - 0.04) / 2, judged)


def fixed() -> list[Case]:
    asked = {"weights": "who looks at whom (0.9 and more counts as 1)", "values": "what each word hands over"}
    return [Case(f"“{sentence}”: {what}", {}, part) for part, what in asked.items() for sentence in SENTENCES]


EXERCISE = FunctionExercise(file=__file__, right=set_roles, oracle=oracle, draw=lambda seed: [], fixed=fixed, raw=leanings, effect=effect)
