"""Exercise 06.9: a prefix and a window. The oracle goes through all pairs."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator
from .common import ATTENDS, MASKS, boolean, by_rule


def prefix_window_mask(n: int, prefix: int = 0, window: int | None = None) -> Tensor:
    wide = n if window is None else window
    query, key = torch.arange(n)[:, None], torch.arange(n)
    distance = query - key  # negative: the future
    near = (distance >= 0) & (distance < wide)
    return near | (key < prefix)


def oracle(n: int, prefix: int = 0, window: int | None = None) -> Tensor:
    return by_rule(n, n, lambda i, j: j < prefix or i - (n if window is None else window) < j <= i)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = int(torch.randint(8, 11, (), generator=g))
    prefix, window = (int(torch.randint(3, 5, (), generator=g)) for _ in range(2))
    both = {"n": n, "prefix": prefix, "window": 2}  # narrower than the prefix, or the prefix would be in reach anyway
    return [
        Case(f"{n} tokens, prefix {prefix}", {"n": n, "prefix": prefix}, part="prefix", shape="(query, key)"),
        Case(f"{n} tokens, window {window}", {"n": n, "window": window}, part="window", shape="(query, key)"),
        Case(f"{n} tokens, prefix {prefix} and window 2", both, part="both", shape="(query, key)"),
    ]


def fixed() -> list[Case]:
    return [
        Case("neither prefix nor window: plain causal", {"n": 4}, part="prefix"),
        Case("the prefix is everything", {"n": 5, "prefix": 5}, part="prefix"),
        Case("window 1: each token for itself", {"n": 4, "window": 1}, part="window"),
        Case("a window wider than the sequence", {"n": 4, "window": 9}, part="window"),
        Case("70 tokens, prefix 4 and window 3", {"n": 70, "prefix": 4, "window": 3}, part="both"),
    ]


OURS = (MASKS + "prefix_mask", MASKS + "sliding_window_mask")
EXERCISE = FunctionExercise(right=prefix_window_mask, oracle=oracle, draw=draw, fixed=fixed, raw=boolean, compared=ATTENDS, forbidden=OURS)
