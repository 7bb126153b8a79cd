"""Exercise 04.3: heads side by side. The oracle concatenates them."""

import torch
from torch import Tensor

from course_utils.models.multihead import merge_heads as reference

from ..common import Case, FunctionExercise, generator, randn, sizes


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def oracle(x: Tensor) -> Tensor:
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)


def case(g: torch.Generator, batch: int, heads: int, n: int, width: int, label: str, part: str = "edges") -> Case:
    return Case(label, {"x": randn(g, batch, heads, n, width)}, part, gradients=("x",), shape="(batch, token, num_heads·d_v)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, heads, n, width = sizes(g, 4)
    return [case(g, batch, heads, n, width, f"{batch} sequences, {heads} heads, {n} tokens, d_v = {width}", "values")]


def fixed() -> list[Case]:
    edges = ((3, 2, 1, 4, "sequences of one token"), (2, 1, 3, 5, "one head"), (1, 4, 2, 3, "a batch of one"))
    return [case(generator(seed), *numbers) for seed, numbers in enumerate(edges, start=1)]


OURS = ("course_utils.models.multihead.merge_heads",)
EXERCISE = FunctionExercise(right=merge_heads, oracle=oracle, reference=reference, draw=draw, fixed=fixed, forbidden=OURS)
