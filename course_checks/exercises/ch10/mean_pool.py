"""Exercise 10.3: the mean of the real tokens. The oracle goes sentence by sentence in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn


def mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    weight = mask[..., None].to(hidden.dtype)
    count = weight.sum(1).clamp_min(1)
    return (hidden * weight).sum(1) / count


def oracle(hidden: Tensor, mask: Tensor) -> Tensor:
    sentences = zip(hidden.double(), mask, strict=True)
    return torch.stack([sentence[real].sum(0) / max(1, int(real.sum())) for sentence, real in sentences]).float()


def case(g: torch.Generator, label: str, part: str, mask: Tensor, d: int) -> Case:
    return Case(label, {"hidden": randn(g, *mask.shape, d), "mask": mask}, part, gradients=("hidden",), shape="(batch, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 sentences of 4 tokens, no padding", "values", torch.ones(2, 4, dtype=torch.bool), 5),
        case(g, "3 sentences of 2, 6 and 3 tokens", "padding", torch.arange(6) < torch.tensor([[2], [6], [3]]), 4),
    ]


def fixed() -> list[Case]:
    g = generator(3)
    gap = torch.tensor([[True, False, True, True, False], [True, True, True, True, True]])
    return [
        case(g, "padding in the middle", "padding", gap, 3),
        case(g, "the second sentence is all padding", "empty sentence", torch.arange(4) < torch.tensor([[3], [0]]), 3),
    ]


EXERCISE = FunctionExercise(right=mean_pool, oracle=oracle, draw=draw, fixed=fixed, forbidden=("course_utils.models.bert.mean_pool",))
