"""Exercise 13b.4: the delta rule, handed out with three faults. The oracle solves one triangular system for all pairs together."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, sizes


def delta_memory(keys: Tensor, values: Tensor, strength: float = 1.0) -> Tensor:
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values, strict=True):
        key = key / key.norm()
        known = key @ matrix
        matrix = matrix + torch.outer(key, strength * value)
        matrix = matrix - torch.outer(key, strength * known)
    return matrix


def oracle(keys: Tensor, values: Tensor, strength: float = 1.0) -> Tensor:
    k, v = F.normalize(keys.double(), dim=1), values.double()
    mixed = torch.eye(len(k), dtype=torch.double) + strength * (k @ k.T).tril(-1)  # what a pair meets of the pairs before it
    return (k.T @ torch.linalg.solve_triangular(mixed, strength * v, upper=False)).float()


def case(g: torch.Generator, n: int, d: int, d_v: int, *, part: str = "edges", twice: bool = False, **strength: float) -> Case:
    keys = randn(g, n, d) * (0.5 + 1.5 * torch.rand(n, 1, generator=g)) + 0.4  # of several lengths, and not at right angles
    if twice:
        keys[-1] = 1.7 * keys[0]
    label = f"{n} pairs, d = {d}, d_v = {d_v}, strength {strength.get('strength', 'left out')}"
    args = {"keys": keys, "values": randn(g, n, d_v), **strength}
    return Case(label + ", the first key comes twice" * twice, args, part, shape="(d, d_v)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(g, *sizes(g, 3, 3, 9), part="values", strength=strength) for strength in (0.5, 0.8, 0.3)]


def fixed() -> list[Case]:
    g = generator(34)
    return [
        case(g, 5, 4, 3, part="strength 1"),
        case(g, 4, 6, 5, part="strength 1", twice=True, strength=1.0),
        case(g, 7, 3, 4, part="strength 1"),
        case(g, 1, 4, 3, strength=0.6),
        case(g, 6, 5, 2, twice=True, strength=0.4),
        case(g, 4, 1, 3, strength=0.7),
        case(g, 3, 4, 1, strength=0.7),
        case(g, 5, 3, 4, strength=0.0),
    ]


OURS = ("course_utils.models.linear_attention.remember",)
EXERCISE = FunctionExercise(right=delta_memory, oracle=oracle, draw=draw, fixed=fixed, outputs=("matrix",), forbidden=OURS)
