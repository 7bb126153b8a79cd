"""Exercise 06.1: no looking ahead. The oracle goes through all pairs."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise
from .common import ATTENDS, MASKS, boolean, by_rule


def causal_mask(n: int) -> Tensor:
    query = torch.arange(n)[:, None]
    key = torch.arange(n)
    return key <= query


def oracle(n: int) -> Tensor:
    return by_rule(n, n, lambda i, j: j <= i)


def case(n: int) -> Case:
    return Case(f"{n} tokens" if n > 1 else "a single token", {"n": n}, shape="(query, key)")


def draw(seed: int) -> list[Case]:
    return [case(4 + seed % 3), case(7 + seed % 5)]


def fixed() -> list[Case]:
    return [case(1), case(70)]


FORBIDDEN = (MASKS + "causal_mask", MASKS + "sliding_window_mask", MASKS + "prefix_mask")
EXERCISE = FunctionExercise(right=causal_mask, oracle=oracle, draw=draw, fixed=fixed, raw=boolean, compared=ATTENDS, forbidden=FORBIDDEN)
