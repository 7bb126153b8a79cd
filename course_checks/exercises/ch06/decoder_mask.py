"""Exercise 06.3: the mask of a decoder, padding and causal together. The oracle goes through all pairs."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal
from .causal_mask import causal_mask
from .common import ATTENDS, MASKS, boolean


def decoder_mask(ids: Tensor, pad_id: int = 0, n: int | None = None) -> Tensor:
    if ids.dim() != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (batch, m)")
    batch, m = ids.shape
    n = m if n is None else n
    real = ids != pad_id
    keys = real[:, None, :]
    causal = causal_mask(n, m)
    return keys & causal


def oracle(ids: Tensor, pad_id: int = 0, n: int | None = None) -> Tensor:
    m = ids.shape[1]
    n = m if n is None else n
    return torch.tensor([[[token != pad_id and j <= m - n + i for j, token in enumerate(row)] for i in range(n)] for row in ids.tolist()])


def case(label: str, ids: Tensor | list, part: str = "values", **more: int) -> Case:
    return Case(label, {"ids": torch.as_tensor(ids), **more}, part=part, shape="(batch, query, key)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, more = 6 + seed % 3, 5 + seed % 4
    right = torch.randint(1, 9, (3, m), generator=g)
    right[0, 4:], right[2, 2:] = 0, 0
    left = torch.randint(1, 9, (2, more), generator=g)
    left[1, :2] = 0
    other = torch.randint(0, 5, (3, 7), generator=g)
    other[0, 0], other[2, 1], other[1, 5:] = 0, 0, 5  # here 0 is a word and 5 the pad
    return [
        case(f"3 sentences of up to {m} tokens", right),
        case("pads on the left", left),
        case("pad_id = 5, and 0 is a word", other, "pad_id", pad_id=5),
        case(f"the last 4 of {m} tokens ask", right, "cached", n=4),
    ]


def fixed() -> list[Case]:
    return [
        case("one sentence of one token", [[3]]),
        case("a sentence of nothing but pads", [[0, 0, 0], [4, 2, 0]]),
        case("a pad in the middle", [[4, 0, 2, 6]]),
        case("one sentence of 70 tokens", torch.arange(70)[None] % 9),
        case("pad_id = -1, and 0 is a word", [[4, 0, -1], [0, 50_000, 2]], "pad_id", pad_id=-1),
        case("one new token after three", [[0, 7, 2, 5], [1, 3, 2, 8]], "cached", n=1),
        refusal("ids without a batch axis, 7 numbers", {"ids": torch.ones(7).long()}, "7"),
        refusal("ids with three axes, 2 × 3 × 4", {"ids": torch.ones(2, 3, 4).long()}, "2", "3", "4"),
    ]


FORBIDDEN = (MASKS + "padding_mask", MASKS + "length_mask", MASKS + "combine")
EXERCISE = FunctionExercise(right=decoder_mask, oracle=oracle, draw=draw, fixed=fixed, raw=boolean, compared=ATTENDS, forbidden=FORBIDDEN)
