"""Exercise 01.8: a soft dictionary with its temperature on the wrong side. The oracle is NumPy in double precision."""

import numpy as np
import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def soft_lookup(query: Tensor, keys: Tensor, values: Tensor, temperature: float) -> Tensor:
    scores = query @ keys.T
    shares = torch.softmax(scores / temperature, dim=-1)
    return shares @ values


def oracle(query: Tensor, keys: Tensor, values: Tensor, temperature: float) -> Tensor:
    scores = query.double().numpy() @ keys.double().numpy().T / temperature
    kernel = np.exp(scores - scores.max(1, keepdims=True))
    return torch.from_numpy(kernel / kernel.sum(1, keepdims=True) @ values.double().numpy()).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, n, d, d_v = sizes(g, 4)
    gap = 0.0  # between the best two keys of a query: frozen, only one of them may be left, whatever else is wrong with the answer
    while not 0.2 < gap < 0.4:
        query, keys = randn(g, m, d), randn(g, n, d)
        gap = (query @ keys.T).topk(2).values.diff().abs().min().item()
    args = {"query": query, "keys": keys, "values": randn(g, n, d_v), "temperature": 1.6 + torch.rand((), generator=g).item()}
    return [
        Case(f"{m} queries, {n} entries, a warm dictionary", args, shape="(query, d_v)"),
        Case("the same at temperature 0.35", {**args, "temperature": 0.35}, shape="(query, d_v)"),
        Case("the same at temperature 0.004", {**args, "temperature": 0.004}, part="cold", shape="(query, d_v)"),
    ]


EXERCISE = FunctionExercise(right=soft_lookup, oracle=oracle, draw=draw)
