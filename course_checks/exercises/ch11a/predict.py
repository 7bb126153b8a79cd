"""Exercise 11a.9: six numbers about bytes, rows, bits and shares. The oracle measures them."""

from __future__ import annotations

import math
from functools import cache

import torch

from course_utils.models.gpt import GPT, GPT2
from course_utils.models.sizes import shapes_only
from course_utils.text.bpe import ByteBPE

from ...exercise import Case, Exercise, Twin

NAMES = ("tokens that a byte-level BPE without merges makes of “naïve café”",
         "targets in one pass over 16 windows of 64 inputs", "targets if only the last row of each window is used",
         "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token",
         "of ten parameters of a block, how many are in its feed-forward network",
         "of ten parameters of GPT-2 small, how many are in the token embedding")


@cache
def _measure() -> dict[str, float]:
    tokens = len(ByteBPE([]).encode("naïve café"))
    ids = torch.zeros(16, 65, dtype=torch.long)
    rows, last = ids[:, 1:].numel(), ids[:, -1:].numel()
    bits = -math.log2(torch.zeros(1024).softmax(0)[0].item()) / 2.5
    with shapes_only():
        model = GPT(GPT2["small"])
    size, block, inner = (sum(p.numel() for p in part.parameters()) for part in (model, model.blocks[0], model.blocks[0].feed_forward))
    return dict(zip(NAMES, (tokens, rows, last, bits, 10 * inner / block, 10 * model.token.weight.numel() / size), strict=True))


RIGHT = dict(zip(NAMES, (12, 1024, 16, 4.0, 6.66, 3.10), strict=True))


def _with(*changes: tuple[int, float]) -> dict[str, float]:
    return {**RIGHT, **{NAMES[index]: value for index, value in changes}}


PREDICT = Exercise(
    id="11a.9", title="Predict: bytes, rows, bits and shares", name="prediction_of_gpt", kind="value", stars=1, minutes=8,
    signature="prediction_of_gpt: dict of 6 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.0, atol=0.5,
    draw=lambda seed: [Case("your six numbers", {})],
    twins=(
        Twin("characters counted", _with((0, 10)), "Letters with accents are not single bytes in UTF-8."),
        Twin("one byte missing", _with((0, 11)),
             "Each of the two letters with accents takes two bytes, and the space takes one byte as well."),
        Twin("the space left out", _with((0, 9)), "The space between the words is a byte as well, and a letter with an accent is two."),
        Twin("words counted", _with((0, 2)), "You count words. Without any merge, each byte is a token of its own."),
        Twin("one target a window taken away", _with((1, 1008)),
             "The last row of a window has a target too, because the window is cut one token longer than its inputs."),
        Twin("tokens of the cut counted", _with((1, 16 * 65)),
             "You count the tokens of the cut. It is one token longer than the inputs. There is one target for each row."),
        Twin("windows counted", _with((1, 16)), "Each window has as many targets as rows, not one."),
        Twin("one window's rows", _with((1, 64)), "That is what one window gives. The batch holds sixteen of them."),
        Twin("one target in all", _with((2, 1)), "Each window of the batch has a last row of its own."),
        Twin("last row counted per position", _with((2, 64)), "Each window has one last row, and there are sixteen windows."),
        Twin("bits per token", _with((3, 10)), "That is the number of bits for one token. How many characters does one token stand for?"),
        Twin("nats instead of bits", _with((3, math.log(1024) / 2.5)), "Your number is right in nats. Bits are logarithms to the base 2."),
        Twin("multiplied by the characters", _with((3, 25)), "Long tokens make the bits per character fewer, not more: divide by "
             "their length."),
        Twin("nats a token", _with((3, math.log(1024))), "You give nats for one token. Give bits for one character."),
        Twin("the attention's part", _with((4, 3.3)), "That is the attention's part. The feed-forward network has the rest."),
        Twin("both parts alike", _with((4, 5)),
             "The attention has four matrices of d × d, the feed-forward network two of d × 4d: count them in d²."),
        Twin("four times the attention", _with((4, 8)),
             "The inner width is four times d, but there are two such matrices, and the attention has four of d × d."),
        Twin("the blocks' part", _with((5, 6.9)), "That is the part of the blocks. The table of tokens has nearly all of the rest."),
        Twin("output matrix counted extra", _with((5, 4.7)), "The output matrix is the token embedding itself, so count it only once."),
        Twin("the table of positions", _with((5, 0.1)), "That is the table of positions. The one of the tokens has 50,257 rows."),
        Twin("percent", _with((4, 66.7), (5, 31)), "Your two numbers are right as percentages. Give them out of ten."),
        Twin("shares", _with((4, 0.667), (5, 0.31)), "Your two numbers are right as shares of one. Give them out of ten."),
    ),
)
