"""Exercise 03.5: the values have slipped into the softmax. The oracle is PyTorch's fused kernel."""

import math

import torch
from torch import Tensor

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn, sizes


def self_attention(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    root = math.sqrt(w_q.shape[1])
    return torch.softmax(query @ key.T / root, dim=-1) @ value


def oracle(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    return fused((x @ w_q)[None], (x @ w_k)[None], (x @ w_v)[None])[0]


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, d_model, d_k, d_v = sizes(g, 4, 3, 9)
    args = {"x": randn(g, n, d_model)} | {f"w_{name}": 0.5 * randn(g, d_model, d) for name, d in (("q", d_k), ("k", d_k), ("v", d_v))}
    return [Case(f"{n} tokens of width {d_model}, d_k = {d_k}, d_v = {d_v}", args, gradients=tuple(args), shape="(token, d_v)")]


def fixed() -> list[Case]:
    (case,) = draw(2)
    x = case.args["x"]
    return [
        Case("a single token", {**case.args, "x": x[:1]}, shape="(token, d_v)"),
        Case("tokens 20 times as long: large scores", {**case.args, "x": 20 * randn(generator(3), *x.shape)}, shape="(token, d_v)"),
    ]


EXERCISE = FunctionExercise(file=__file__, right=self_attention, oracle=oracle, draw=draw, fixed=fixed, forbidden=(FUSED_NAME,))
