"""Exercise 13b.5: what memories answer, and what they take. The oracle writes small tensors, reads them, and counts what is kept."""

from __future__ import annotations

from collections import deque
from functools import cache

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator

NAMES = ("read from a plain sum", "read from a plain sum divided by the key's count", "read from a delta memory, strength 1",
         "read by sharp softmax attention without positions", "read by sharp softmax attention that prefers recent keys",
         "n doubles: cache of softmax attention", "n doubles: cache of a window of 64 tokens", "n doubles: state of linear attention",
         "features double: state of linear attention")
WORDS = ("a", "b", "a + b", "their mean", "stays", "doubles")


def _reads() -> list[str]:
    """What each way of reading gives for a key of length 1 that comes second and fifth among six keys at right angles."""
    g = generator(35)
    keys = torch.linalg.qr(torch.randn(6, 6, generator=g, dtype=torch.double)).Q
    keys[4] = keys[1]
    values = torch.randn(6, 3, generator=g, dtype=torch.double)
    query, a, b = keys[1], values[1], values[4]

    def word(read: Tensor) -> str:
        return next(name for name, x in zip(WORDS, (a, b, a + b, (a + b) / 2), strict=False) if torch.allclose(read, x, atol=1e-6))

    written, matrix = torch.einsum("nd,nv->dv", keys, values), torch.zeros(6, 3, dtype=torch.double)
    for k, v in zip(keys, values, strict=True):
        matrix = (torch.eye(6, dtype=torch.double) - torch.outer(k, k)) @ matrix + torch.outer(k, v)
    scores = 60 * keys @ query
    recent = scores + 20 * torch.arange(6)  # less than the 60 that the right key is ahead, for the key at place 4
    recent[5] -= 20  # a key of the same age as the right one
    return [word(read) for read in (query @ written, (query @ written) / (keys @ query).sum(), query @ matrix, scores.softmax(0) @ values,
                                    recent.softmax(0) @ values)]


def _softmax_cache(n: int) -> int:
    return sum(x.numel() for x in [torch.zeros(5) for _ in range(n) for _ in ("key", "value")])


def _window_cache(n: int, window: int = 64) -> int:
    kept: deque[Tensor] = deque(maxlen=window)
    for _ in range(n):
        kept.append(torch.zeros(2, 5))
    return sum(x.numel() for x in kept)


def _state(n: int, features: int) -> int:
    key, value = torch.zeros(n, features), torch.zeros(n, 5)
    return (key.mT @ value).numel() + key.sum(0).numel()


@cache
def _measure() -> dict[str, str]:
    counts = ((_softmax_cache(512), _softmax_cache(1024)), (_window_cache(512), _window_cache(1024)), (_state(512, 8), _state(1024, 8)),
              (_state(512, 8), _state(512, 16)))
    grow = [{1: "stays", 2: "doubles"}[after // before] for before, after in counts if after % before == 0]
    return dict(zip(NAMES, [*_reads(), *grow], strict=True))


RIGHT = dict(zip(NAMES, ("a + b", "their mean", "b", "their mean", "b", "doubles", "stays", "stays", "doubles"), strict=True))


def _with(*changes: tuple[int, str]) -> dict[str, str]:
    return {**RIGHT, **{NAMES[index]: word for index, word in changes}}


def _twin(name: str, hint: str, *changes: tuple[int, str]) -> Twin:
    return Twin(name, _with(*changes), hint)


PREDICT = Exercise(
    id="13b.5", title="Predict: what a memory answers, and what it takes", name="prediction_of_memory", kind="value", stars=1, minutes=8,
    signature="prediction_of_memory: dict of 9 words", oracle=_measure, reference=RIGHT, parts={"values": 3}, choices=WORDS,
    draw=lambda seed: [Case("your nine words", {})],
    twins=(
        _twin("a plain sum replaces", "A sum forgets nothing. The second value is added to the first one.", (0, "b")),
        _twin("a plain sum keeps the first", "A sum does not stop after the first value. The second value is added to it.", (0, "a")),
        _twin("a plain sum averages", "A sum divides by nothing. Averaging would need to know how often the key was written.",
              (0, "their mean")),
        _twin("a count does not divide", "The key was written twice, and the sum is divided by that number.", (1, "a + b")),
        _twin("a count prefers the last", "A sum knows no order, and dividing it by a number does not bring the order back.", (1, "b")),
        _twin("a count keeps the first", "Both values are in the sum, and a sum knows no order.", (1, "a")),
        _twin("a delta memory adds", "Before it writes, a delta memory takes away what it knew of this key.", (2, "a + b")),
        _twin("a delta memory averages", "With strength 1 all of what was known of the key is taken away, and not half of it.",
              (2, "their mean")),
        _twin("a delta memory keeps the first", "What is taken away is the old value. The new one is written in its place.", (2, "a")),
        _twin("plain sum and delta exchanged", "The delta memory takes the old value away before it writes, and the plain sum does "
              "not.", (0, "b"), (2, "a + b")),
        _twin("softmax replaces", "Two equal keys have equal scores, and without positions nothing tells which one came later.", (3, "b")),
        _twin("softmax takes the first", "Two equal keys have equal scores, and without positions nothing tells which one came first.",
              (3, "a")),
        _twin("softmax adds", "The weights of a softmax sum to one, so two equal keys have to share.", (3, "a + b")),
        _twin("recent keys still share", "Between two keys that are equal, a preference for recent ones decides.", (4, "their mean")),
        _twin("the oldest is preferred", "The value that was written later belongs to the more recent key.", (4, "a")),
        _twin("recent keys add up", "The weights of a softmax sum to one, and the recent key takes nearly all.", (4, "a + b")),
        _twin("softmax memory stays", "Softmax attention keeps a key and a value for each token.", (5, "stays")),
        _twin("a window grows", "A window forgets its oldest token whenever a new one comes.", (6, "doubles")),
        _twin("a state grows with the text", "All tokens are added into one matrix, whose shape does not depend on their number.",
              (7, "doubles")),
        _twin("features cost nothing", "The state has one row for each feature. More features make more rows.", (8, "stays")),
        _twin("cache and state exchanged", "The cache keeps each token by itself. The state keeps a sum over all of them.", (5, "stays"),
              (7, "doubles")),
    ),
)
