"""Exercise 06.1: no looking ahead. The oracle goes through all pairs."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal
from .common import ATTENDS, MASKS, boolean, by_rule


def causal_mask(n: int, m: int | None = None) -> Tensor:
    m = n if m is None else m
    if m < n:
        raise ValueError(f"{n} queries cannot be the last of {m} keys")
    query = torch.arange(m - n, m)[:, None]
    key = torch.arange(m)
    return key <= query


def oracle(n: int, m: int | None = None) -> Tensor:
    m = n if m is None else m
    return by_rule(n, m, lambda i, j: j <= m - n + i)


def case(label: str, n: int, **m: int) -> Case:
    return Case(label, {"n": n, **m}, part="cached" if m else "square", shape="(query, key)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, more = (int(torch.randint(low, high, (), generator=g)) for low, high in ((4, 7), (2, 4)))
    return [case(f"{n} tokens", n), case(f"the last {n} of {n + more} tokens", n, m=n + more)]


def fixed() -> list[Case]:
    return [
        case("a single token", 1),
        case("70 tokens", 70),
        case("one new token after six", 1, m=7),
        case("m given and equal to n", 3, m=3),
        case("the last 5 of 80 tokens", 5, m=80),
        refusal("the last 5 of 4 tokens", {"n": 5, "m": 4}, "5", "4"),
        refusal("the last 3 of no tokens, m = 0", {"n": 3, "m": 0}, "3", "0"),
    ]


FORBIDDEN = (MASKS + "causal_mask", MASKS + "sliding_window_mask", MASKS + "prefix_mask")
EXERCISE = FunctionExercise(right=causal_mask, oracle=oracle, draw=draw, fixed=fixed, raw=boolean, compared=ATTENDS, forbidden=FORBIDDEN)
