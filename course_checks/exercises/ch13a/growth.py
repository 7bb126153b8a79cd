"""Exercise 13a.4: what grows with n, with d and with the batch. The oracle counts pairs, bytes and products at two sizes and divides."""

import math
from functools import cache

from course_utils.models.blocks import blocks

from ..common import Case, Prediction

WORDS = ("stays", "doubles", "quadruples")
RIGHT = {
    "d doubles: attention weights kept by plain attention": "stays",
    "d doubles: bytes moved by blocks, same block size": "doubles",
    "n doubles: bytes moved by blocks, block of twice the rows": "doubles",
    "n doubles: arithmetic of attention for one new token": "doubles",
    "n and batch double: key/value caches together": "quadruples",
    "batch doubles: parameters read for one step of writing": "stays",
    "batch doubles: arithmetic of one step of writing": "doubles",
}


def pairs(queries: int, keys: int) -> int:
    spans = [span for row in blocks(queries, keys, 16, False) for span in row]
    return sum((r.stop - r.start) * (c.stop - c.start) for r, c, _ in spans)


def moved(n: int, rows: int, d: int = 4) -> int:
    return 2 * n * d + 2 * sum(columns.stop - columns.start for spans in blocks(n, n, rows, False) for _, columns, _ in spans) * d


@cache
def oracle() -> dict[str, str]:
    n, d, layers, batch = 256, 4, 2, 3
    values = (
        (pairs(n, n), pairs(n, n)),  # a weight for each pair, whatever d is
        (moved(n, 8, d), moved(n, 8, 2 * d)),
        (moved(n, 8), moved(2 * n, 16)),
        (pairs(1, n) * 2 * d, pairs(1, 2 * n) * 2 * d),
        (batch * 2 * layers * n * d, 2 * batch * 2 * layers * 2 * n * d),
        (12 * d * d, 12 * d * d),
        (batch * 12 * d * d, 2 * batch * 12 * d * d),
    )
    return {name: WORDS[round(math.log2(large / small))] for name, (small, large) in zip(RIGHT, values, strict=True)}


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your seven words", {})], choices=WORDS)
