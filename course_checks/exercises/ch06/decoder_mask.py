"""Exercise 06.3: the mask of a decoder, padding and causal together. The oracle goes through all pairs."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator
from .causal_mask import causal_mask
from .common import ATTENDS, MASKS, boolean


def decoder_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    batch, n = ids.shape
    real = ids != pad_id
    keys = real[:, None, :]
    causal = causal_mask(n)
    return keys & causal


def oracle(ids: Tensor, pad_id: int = 0) -> Tensor:
    n = ids.shape[1]
    return torch.tensor([[[token != pad_id and j <= i for j, token in enumerate(row)] for i in range(n)] for row in ids.tolist()])


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
    ]


def fixed() -> list[Case]:
    return [
        case("one sentence of one token", [[3]]),
        case("a sentence of nothing but pads", [[0, 0, 0], [4, 2, 0]]),
        case("a pad in the middle", [[4, 0, 2, 6]]),
        case("one sentence of 70 tokens", torch.arange(70)[None] % 9),
        case("pad_id = -1, and 0 is a word", [[4, 0, -1], [0, 50_000, 2]], "pad_id", pad_id=-1),
    ]


FORBIDDEN = (MASKS + "padding_mask", MASKS + "length_mask", MASKS + "combine")
EXERCISE = FunctionExercise(right=decoder_mask, oracle=oracle, draw=draw, fixed=fixed, raw=boolean, compared=ATTENDS, forbidden=FORBIDDEN)
