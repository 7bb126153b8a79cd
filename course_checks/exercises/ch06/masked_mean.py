"""Exercise 06.8: the mean over real tokens. The oracle takes the real tokens out of each sentence, in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    keep = mask[..., None]  # (batch, n, 1)
    clean = x.masked_fill(~keep, 0.0)
    count = keep.sum(dim=1).clamp(min=1)
    return clean.sum(dim=1) / count


def oracle(x: Tensor, mask: Tensor) -> Tensor:
    sentences = zip(x.double(), mask, strict=True)
    return torch.stack([sentence[real].sum(0) / max(1, int(real.sum())) for sentence, real in sentences]).float()


def case(label: str, x: Tensor, mask: list | Tensor, part: str = "values", shape: str = "") -> Case:
    return Case(label, {"x": x, "mask": torch.as_tensor(mask).bool()}, part=part, gradients=("x",), shape=shape)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = 5 + seed % 3
    x = torch.randn(3, n, 4, generator=g) + 1.0
    mask = torch.ones(3, n)
    mask[:, :5] = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1], [1, 0, 1, 0, 0]])
    dirty = x.clone()
    dirty[0, 3], dirty[1, 0], dirty[2, 4] = torch.nan, torch.inf, -torch.inf
    return [
        case(f"3 sentences of {n} places, pads anywhere", x, mask, shape="(batch, d)"),
        case("NaN and infinities on the pads", dirty, mask, "dirty pads", "(batch, d)"),
    ]


def fixed() -> list[Case]:
    x = torch.randn(2, 4, 3, generator=generator(4))
    return [
        case("no pads at all, one sentence", x[:1], [[1, 1, 1, 1]]),
        case("one sentence of one token", x[:1, :1], [[1]]),
        case("numbers around 1000", x + 1000, [[1, 1, 0, 1], [0, 1, 0, 0]]),
        case("the second sentence has no token", x, [[1, 0, 1, 1], [0, 0, 0, 0]], "no token", "(batch, d)"),
    ]


EXERCISE = FunctionExercise(right=masked_mean, oracle=oracle, draw=draw, fixed=fixed)
