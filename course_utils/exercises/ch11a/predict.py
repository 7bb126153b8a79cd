"""Exercise 11a.9: five numbers about bytes, rows, bits and sizes. The oracle measures them."""

from __future__ import annotations

import math
from functools import cache

import torch

from ...checks.exercise import Case, Exercise, Twin
from ...models.gpt import GPT, GPT2
from ...models.sizes import shapes_only
from ...text.bpe import ByteBPE

NAMES = ("tokens that a byte-level BPE without merges makes of “naïve café”",
         "targets in one pass over 16 windows of 64 inputs", "targets if only the last row of each window is used",
         "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token",
         "millions of parameters of GPT-2 small, to half a million", "millions of these in the token embedding, to half a million")


@cache
def _measure() -> dict[str, float]:
    tokens = len(ByteBPE([]).encode("naïve café"))
    ids = torch.zeros(16, 65, dtype=torch.long)
    rows, last = ids[:, 1:].numel(), ids[:, -1:].numel()
    bits = -math.log2(torch.zeros(1024).softmax(0)[0].item()) / 2.5
    with shapes_only():
        model = GPT(GPT2["small"])
    size = sum(p.numel() for p in model.parameters())
    return dict(zip(NAMES, (tokens, rows, last, bits, size / 1e6, model.token.weight.numel() / 1e6), strict=True))


RIGHT = dict(zip(NAMES, (12, 1024, 16, 4.0, 124.44, 38.60), strict=True))


def _with(*changes: tuple[int, float]) -> dict[str, float]:
    return {**RIGHT, **{NAMES[index]: value for index, value in changes}}


PREDICT = Exercise(
    id="11a.9", title="Predict: bytes, rows, bits and sizes", name="prediction_of_gpt", kind="value", stars=1, minutes=8,
    signature="prediction_of_gpt: dict of 6 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.0, atol=0.5,
    draw=lambda seed: [Case("your six numbers", {})],
    twins=(
        Twin("characters counted", _with((0, 10)), "Letters with accents are not single bytes in UTF-8."),
        Twin("one byte missing", _with((0, 11)),
             "There are two letters with accents, each takes two bytes; and the space takes one as well."),
        Twin("the space left out", _with((0, 9)), "The space between the words is a byte as well, and a letter with an accent is two."),
        Twin("words counted", _with((0, 2)), "Words are what merges may grow into. Without any merge the bytes stay alone."),
        Twin("one target a window taken away", _with((1, 1008)),
             "Row t has the token after it as its target, and so has the last row: the window is cut one token longer."),
        Twin("tokens of the cut counted", _with((1, 16 * 65)),
             "A window is cut one token longer than its inputs, so that the last row has a target too. There is one target a row."),
        Twin("windows counted", _with((1, 16)), "Each window has as many targets as rows, not one."),
        Twin("one window's rows", _with((1, 64)), "That is what one window gives. The batch holds sixteen of them."),
        Twin("one target in all", _with((2, 1)), "Each window of the batch has a last row of its own."),
        Twin("last row counted per position", _with((2, 64)), "There is one last row a window, and sixteen windows."),
        Twin("bits per token", _with((3, 10)), "That is the number of bits a token. How many characters does one token stand for?"),
        Twin("nats instead of bits", _with((3, math.log(1024) / 2.5)), "Your number is right in nats. Bits are logarithms to the base 2."),
        Twin("multiplied by the characters", _with((3, 25)), "Long tokens make the bits per character fewer, not more: divide by "
             "their length."),
        Twin("nats a token", _with((3, math.log(1024))), "That is in nats and for a token. Bits for a character are asked for."),
        Twin("the paper's number", _with((4, 117)), "That is what the paper's table says. Add up the matrices instead."),
        Twin("BERT's number", _with((4, 110)), "That is what is said of BERT base and sometimes of GPT-1. Add up the matrices."),
        Twin("embedding left out", _with((4, 85)), "That is the blocks alone. The table of embeddings belongs to the model."),
        Twin("output matrix counted extra", _with((4, 163)), "The output matrix is the token embedding; it is there only once."),
        Twin("counted in ones", _with((4, 124_439_808), (5, 38_597_376)), "Your two sizes are right in single parameters. Write them in "
             "millions."),
        Twin("positions added to the embedding", _with((5, 39.4)), "The table of positions is another one; the tokens' table is asked "
             "for."),
        Twin("GPT-1's vocabulary", _with((5, 31)), "That fits the forty thousand tokens of GPT-1. GPT-2 has more."),
    ),
)
