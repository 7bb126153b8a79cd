"""Exercise 13b.2: one step of causal linear attention. The oracle sums with Python's numbers."""

import math
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, sizes

State = tuple[Tensor, Tensor, Tensor]
OURS, RESULTS = ("course_utils.models.linear_attention.step",), ("output", "written", "counted")


def linear_step(written: Tensor, counted: Tensor, query: Tensor, key: Tensor, value: Tensor) -> State:
    query, key = F.elu(query) + 1, F.elu(key) + 1
    written = written + torch.outer(key, value)
    counted = counted + key
    output = (query @ written) / (query @ counted)
    return output, written, counted


def oracle(written: Tensor, counted: Tensor, query: Tensor, key: Tensor, value: Tensor) -> State:
    s, z, q, k, v = (x.double().tolist() for x in (written, counted, query, key, value))
    q, k = ([x + 1 if x > 0 else math.exp(x) for x in raw] for raw in (q, k))
    s = [[old + a * b for old, b in zip(row, v, strict=True)] for row, a in zip(s, k, strict=True)]
    z = [old + a for old, a in zip(z, k, strict=True)]
    below = math.fsum(a * b for a, b in zip(q, z, strict=True))
    output = [math.fsum(a * row[j] for a, row in zip(q, s, strict=True)) / below for j in range(len(v))]
    return torch.tensor(output), torch.tensor(s), torch.tensor(z)


def case(g: torch.Generator, tokens: int, d: int, d_v: int, *, part: str = "values", factor: float = 1.0) -> Case:
    k, v = F.elu(randn(g, tokens, d)) + 1, randn(g, tokens, d_v)
    args = {"written": k.mT @ v, "counted": k.sum(0), "query": factor * randn(g, d), "key": factor * randn(g, d), "value": randn(g, d_v)}
    return Case(f"d = {d}, d_v = {d_v}, {tokens} tokens before", args, part, shape="(d_v,), (d, d_v), (d,)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(g, *sizes(g, 3, 3, 9)) for _ in range(3)]


def fixed() -> list[Case]:
    g = generator(32)
    large, small = case(g, 5, 4, 3, part="edges", factor=30.0), case(g, 0, 3, 4, part="edges")
    for name in ("query", "key"):
        large.args[name][0] = 20.0  # one feature at least is far from 0
        small.args[name] -= 6
    small = replace(small, label="features of about e⁻⁶, no token before")
    first = [case(g, 0, 5, 3, part="first token"), case(g, 0, 3, 6, part="first token")]
    return [*first, case(g, 4, 5, 5, part="edges"), case(g, 3, 1, 4, part="edges"), case(g, 3, 6, 1, part="edges"), large, small]


EXERCISE = FunctionExercise(right=linear_step, oracle=oracle, draw=draw, fixed=fixed, outputs=RESULTS, forbidden=OURS)
