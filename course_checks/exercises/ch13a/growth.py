"""Exercise 13a.4: what grows with n, what with the batch. The oracle counts bytes and pairs at two sizes and divides."""

import math
from functools import cache

import torch

from course_utils.models.blocks import block_attention, blocks
from course_utils.models.memory import saved_bytes

from ..common import Case, Prediction

WORDS = ("stays", "doubles", "quadruples")
RIGHT = {
    "n doubles: weights kept by plain attention": "quadruples",
    "n doubles: bytes kept by blocks": "doubles",
    "n doubles: arithmetic of blocks": "quadruples",
    "n doubles: bytes moved by blocks, same block size": "quadruples",
    "n doubles: bytes moved by blocks, block of twice the rows": "doubles",
    "n doubles: key/value cache": "doubles",
    "batch doubles: key/value caches together": "doubles",
    "batch doubles: parameters read for one step of writing": "stays",
    "batch doubles: arithmetic of one step of writing": "doubles",
}


def kept(n: int) -> int:
    x = torch.zeros(n, 4, requires_grad=True)
    return saved_bytes(lambda: block_attention(x, x * 1, x * 1, size=16))


def pairs(n: int) -> int:
    return sum((r.stop - r.start) * (c.stop - c.start) for spans in blocks(n, n, 16, False) for r, c, _ in spans)


def moved(n: int, rows: int, d: int = 4) -> int:
    return 2 * n * d + 2 * sum(columns.stop - columns.start for spans in blocks(n, n, rows, False) for _, columns, _ in spans) * d


@cache
def oracle() -> dict[str, str]:
    n, d, layers, batch = 256, 4, 2, 3
    values = (
        (n * n, (2 * n) ** 2),
        (kept(n), kept(2 * n)),
        (pairs(n), pairs(2 * n)),
        (moved(n, 8), moved(2 * n, 8)),
        (moved(n, 8), moved(2 * n, 16)),
        (2 * layers * n * d, 2 * layers * 2 * n * d),
        (batch * n, 2 * batch * n),
        (12 * d * d, 12 * d * d),
        (batch * 12 * d * d, 2 * batch * 12 * d * d),
    )
    return {name: WORDS[round(math.log2(large / small))] for name, (small, large) in zip(RIGHT, values, strict=True)}


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your nine words", {})], choices=WORDS)
