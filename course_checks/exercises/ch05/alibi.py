"""Exercise 05.5: what ALiBi adds. The oracle writes it entry by entry."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise


def alibi(num_heads: int, n: int) -> Tensor:
    heads = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * heads / num_heads)
    place = torch.arange(n)
    distance = (place[:, None] - place[None, :]).abs()
    return -slopes[:, None, None] * distance


def oracle(num_heads: int, n: int) -> Tensor:
    entry = [[[-abs(i - j) * 0.5 ** (8 * h / num_heads) for j in range(n)] for i in range(n)] for h in range(1, num_heads + 1)]
    return torch.tensor(entry)


def draw(seed: int) -> list[Case]:
    sizes = ((4, 6 + seed % 5), (8, 5), (2, 3), (1, 4), (4, 1), (16, 4))
    return [Case(f"{h} heads, {n} tokens", {"num_heads": h, "n": n}, shape="(head, query, key)") for h, n in sizes]


OURS = ("course_utils.models.positions.alibi", "course_utils.models.positions.alibi_slopes")
EXERCISE = FunctionExercise(right=alibi, oracle=oracle, draw=draw, forbidden=OURS)
