"""Exercise 04.8: our masks in the form that nn.MultiheadAttention expects. The oracle fills them in head by head."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, sizes


def mask_for_pytorch(mask: Tensor, num_heads: int) -> Tensor:
    return ~mask.repeat_interleave(num_heads, dim=0)


def oracle(mask: Tensor, num_heads: int) -> Tensor:
    return torch.stack([sentence.logical_not() for sentence in mask for _ in range(num_heads)])


def numbers(mask: Tensor) -> Tensor:
    """What is compared: numbers in place of booleans count as different, because PyTorch *adds* them to the scores."""
    return mask.double() if mask.dtype == torch.bool else mask.double() + 2


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, m, heads = sizes(g, 3, 3, 8)
    mask = torch.rand(2, n, m, generator=g) < 0.6
    mask[..., -1] |= ~mask.any(-1)  # a row that is hidden everywhere has a case of its own
    mask[0, 0], mask[0, 1, 0], mask[1, 0, 0], mask[1, 1] = True, False, False, True  # no two copies alike
    mask[0, 1, 1] = mask[1, 0, 1] = True
    label = f"2 sentences, {n} queries, {m} keys, {heads} heads"
    return [Case(label, {"mask": mask, "num_heads": heads}, shape="(batch·num_heads, query, key)")]


def fixed() -> list[Case]:
    hidden = torch.tensor([[[True, False], [False, False], [True, True]]])
    return [
        Case("one sentence, two heads", {"mask": torch.ones(3, 4).tril().bool()[None], "num_heads": 2}, "edges"),
        Case("one head", {"mask": torch.rand(2, 3, 4, generator=generator(5)) < 0.5, "num_heads": 1}, "edges"),
        Case("a row that may attend to nothing", {"mask": hidden, "num_heads": 4}, "edges"),
    ]


EXERCISE = FunctionExercise(
    right=mask_for_pytorch, oracle=oracle, draw=draw, fixed=fixed, raw=numbers, compared="False counted as 0, True as 1"
)
