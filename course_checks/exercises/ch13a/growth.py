"""Exercise 13a.4: what grows with n, what with the batch. The oracle counts bytes and pairs at two sizes and divides."""

from __future__ import annotations

from functools import cache

import torch

from course_utils.models.blocks import block_attention, blocks
from course_utils.models.memory import saved_bytes

from ...exercise import Case, Exercise, Twin

NAMES = ("n doubles: weights kept by plain attention", "n doubles: bytes kept by blocks", "n doubles: arithmetic of blocks",
         "n doubles: bytes moved by blocks, same block size", "n doubles: bytes moved by blocks, block of twice the rows",
         "n doubles: key/value cache", "batch doubles: key/value caches together", "batch doubles: parameters read for one step of writing",
         "batch doubles: arithmetic of one step of writing")
WORDS = ("stays", "doubles", "quadruples")


def _kept(n: int) -> int:
    x = torch.zeros(n, 4, requires_grad=True)
    return saved_bytes(lambda: block_attention(x, x * 1, x * 1, size=16))


def _moved(n: int, rows: int, d: int = 4) -> int:
    return 2 * n * d + 2 * sum(columns.stop - columns.start for spans in blocks(n, n, rows, False) for _, columns, _ in spans) * d


@cache
def _measure() -> dict[str, str]:
    def word(small: float, large: float) -> str:
        return WORDS[round(torch.tensor(large / small).log2().item())]

    n, d, layers, batch = 256, 4, 2, 3
    pairs = [sum((r.stop - r.start) * (c.stop - c.start) for spans in blocks(k, k, 16, False) for r, c, _ in spans) for k in (n, 2 * n)]
    values = ((n * n, 4 * n * n), (_kept(n), _kept(2 * n)), pairs, (_moved(n, 8), _moved(2 * n, 8)), (_moved(n, 8), _moved(2 * n, 16)),
              (2 * layers * n * d, 4 * layers * n * d), (batch * n, 2 * batch * n), (12 * d * d, 12 * d * d),
              (batch * 12 * d * d, 2 * batch * 12 * d * d))
    return {name: word(*pair) for name, pair in zip(NAMES, values, strict=True)}


RIGHT = dict(zip(NAMES, ("quadruples", "doubles", "quadruples", "quadruples", "doubles", "doubles", "doubles", "stays", "doubles"),
                 strict=True))


def _with(*changes: tuple[int, str]) -> dict[str, str]:
    return {**RIGHT, **{NAMES[index]: word for index, word in changes}}


PREDICT = Exercise(
    id="13a.4", title="Predict: what grows with n, what with the batch", name="prediction_of_growth", kind="value", stars=1, minutes=8,
    signature="prediction_of_growth: dict of 9 words", oracle=_measure, reference=RIGHT, parts={"values": 3}, choices=WORDS,
    draw=lambda seed: [Case("your nine words", {})],
    twins=(
        Twin("weights are linear", _with((0, "doubles")), "There is one weight for each pair of query and key."),
        Twin("weights do not grow", _with((0, "stays")), "There is one weight for each pair of query and key, and more tokens make more "
             "pairs."),
        Twin("blocks keep the weights", _with((1, "quadruples")), "Blocks keep queries, keys, values, outputs and one number for each row, "
             "and no weight."),
        Twin("blocks keep nothing that grows", _with((1, "stays")), "One block has a fixed size, but queries, keys, values and outputs are "
             "kept for every token."),
        Twin("FlashAttention has less arithmetic", _with((2, "doubles")),
             "Every query still meets every key. FlashAttention saves memory, not arithmetic."),
        Twin("arithmetic belongs to one block", _with((2, "stays")), "One block has a fixed size. How many blocks are there?"),
        Twin("traffic is linear", _with((3, "doubles")), "All keys are read once for each block of queries, and there are twice as many "
             "such blocks."),
        Twin("traffic belongs to one block", _with((3, "stays")), "One block has a fixed size. How many blocks are there, and how many "
             "keys are read for each?"),
        Twin("larger blocks change nothing", _with((4, "quadruples")), "The rows of a block double along with n, so the number of blocks "
             "stays as it is."),
        Twin("larger blocks make up for everything", _with((4, "stays")), "The number of blocks stays as it is, but twice as many keys "
             "are read for each."),
        Twin("cache of pairs", _with((5, "quadruples")), "A cache holds a key and a value for each token. It holds nothing for pairs."),
        Twin("cache does not grow", _with((5, "stays")), "Each token leaves a key and a value in the cache."),
        Twin("one cache for the batch", _with((6, "stays")), "Each text of the batch has keys and values of its own."),
        Twin("caches of a batch are squared", _with((6, "quadruples")), "The texts of a batch do not look at each other."),
        Twin("weights read for each text", _with((7, "doubles")), "All texts of a batch are multiplied with the same weights in one go."),
        Twin("weights squared", _with((7, "quadruples")), "The weights are those of the model, however many texts there are."),
        Twin("arithmetic is free", _with((8, "stays")), "The weights are read once for all texts, but each text is multiplied with them."),
        Twin("texts meet each other", _with((8, "quadruples")), "The texts of a batch do not look at each other, so each costs the same."),
    ),
)
