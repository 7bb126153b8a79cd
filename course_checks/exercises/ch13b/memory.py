"""Exercise 13b.5: what memories answer, and what they take. The oracle writes small tensors, reads them, and counts what is kept."""

from collections import deque
from functools import cache

import torch
from torch import Tensor

from ..common import Case, Prediction, generator

WORDS = ("a", "b", "a + b", "their mean", "stays", "doubles")
RIGHT = {
    "read from a plain sum": "a + b",
    "read from a plain sum divided by the key's count": "their mean",
    "read from a delta memory, strength 1": "b",
    "read by sharp softmax attention without positions": "their mean",
    "read by sharp softmax attention that prefers recent keys": "b",
    "n doubles: cache of softmax attention": "doubles",
    "n doubles: cache of a window of 64 tokens": "stays",
    "n doubles: state of linear attention": "stays",
    "features double: state of linear attention": "doubles",
}


def reads() -> list[str]:
    """What each way of reading gives for a key of length 1 that comes second and fifth among six keys at right angles."""
    g = generator(35)
    keys = torch.linalg.qr(torch.randn(6, 6, generator=g, dtype=torch.double)).Q
    keys[4] = keys[1]
    values = torch.randn(6, 3, generator=g, dtype=torch.double)
    query, a, b = keys[1], values[1], values[4]
    written, matrix = torch.einsum("nd,nv->dv", keys, values), torch.zeros(6, 3, dtype=torch.double)
    for k, v in zip(keys, values, strict=True):
        matrix = (torch.eye(6, dtype=torch.double) - torch.outer(k, k)) @ matrix + torch.outer(k, v)
    scores = 60 * keys @ query
    recent = scores + 20 * torch.arange(6)  # less than the 60 that the right key is ahead, for the key at place 4
    recent[5] -= 20  # a key of the same age as the right one
    plain = query @ written
    found = (plain, plain / (keys @ query).sum(), query @ matrix, scores.softmax(0) @ values, recent.softmax(0) @ values)
    answers = dict(zip(WORDS, (a, b, a + b, (a + b) / 2), strict=False))
    return [next(word for word, x in answers.items() if torch.allclose(read, x, atol=1e-6)) for read in found]


def softmax_cache(n: int) -> int:
    return sum(x.numel() for x in [torch.zeros(5) for _ in range(n) for _ in ("key", "value")])


def window_cache(n: int, window: int = 64) -> int:
    kept: deque[Tensor] = deque(maxlen=window)
    for _ in range(n):
        kept.append(torch.zeros(2, 5))
    return sum(x.numel() for x in kept)


def state(n: int, features: int = 8) -> int:
    key, value = torch.zeros(n, features), torch.zeros(n, 5)
    return (key.mT @ value).numel() + key.sum(0).numel()


@cache
def oracle() -> dict[str, str]:
    counts = [(kept(512), kept(1024)) for kept in (softmax_cache, window_cache, state)] + [(state(512), state(512, 16))]
    grow = [{1: "stays", 2: "doubles"}[after // before] for before, after in counts if after % before == 0]
    return dict(zip(RIGHT, [*reads(), *grow], strict=True))


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your nine words", {})], choices=WORDS)
