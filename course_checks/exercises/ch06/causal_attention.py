"""Exercise 06.6: find the bug in a causal attention. The oracle is the fused kernel with its own causal flag."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import FUSED_NAME, Case, ModuleExercise, fused, generator, randn


class CausalAttention(nn.Module):
    visible: Tensor

    def __init__(self, d_model: int, d_k: int, max_len: int):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        visible = self.visible[:n, :n]
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)
        scores = scores.masked_fill(~visible, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.w_v(x)


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    q, k, v = (F.linear(inputs["x"], parameters[f"w_{name}.weight"])[:, None] for name in "qkv")
    return fused(q, k, v, is_causal=True)[:, 0]


def case(label: str, seed: int, batch: int, n: int, d: int = 5, d_k: int = 3, max_len: int = 6) -> Case:
    g = generator(seed)
    parameters = {f"w_{name}.weight": 0.5 * randn(g, d_k, d) for name in "qkv"}
    init = {"d_model": d, "d_k": d_k, "max_len": max_len}
    args = {"init": init, "parameters": parameters, "inputs": {"x": randn(g, batch, n, d)}}
    return Case(label, args, gradients=("x", *parameters), shape="(batch, token, d_k)")


def low() -> Case:
    """All scores lie around -180: one feature, the same in every token, pulls them down alike."""
    args = case("", 8, 2, 4).args
    args["parameters"]["w_q.weight"][0], args["parameters"]["w_k.weight"][0] = torch.eye(5)[0] * 16, torch.eye(5)[0] * -19.5
    args["inputs"]["x"][..., 0] = 1.0
    return Case("scores around minus 180", args, gradients=("w_v.weight",), shape="(batch, token, d_k)")


def high() -> Case:
    """The last token's key lies about 185 above the others, so that whoever hides it late has nothing left."""
    args = case("", 9, 2, 4).args
    args["parameters"]["w_q.weight"][0], args["parameters"]["w_k.weight"][0] = torch.eye(5)[0] * 16, torch.eye(5)[1] * 20
    args["inputs"]["x"][..., 0], args["inputs"]["x"][..., 1] = 1.0, torch.eye(4)[3]
    return Case("the last token scores 185 above the others", args, gradients=("w_v.weight",), shape="(batch, token, d_k)")


def draw(seed: int) -> list[Case]:
    return [case("2 sentences of 6 tokens, as many as there may be", seed, 2, 6), case("2 sentences of 4 tokens", seed + 1, 2, 4)]


def fixed() -> list[Case]:
    one = "one sentence of 8 tokens, d_model = 4, d_k = 7, max_len = 9"
    return [case("a single token", 5, 1, 1), low(), high(), case(one, 6, 1, 8, 4, 7, 9)]


SHORTCUTS = ("attention", "scaled_dot_product_attention", "masked_softmax")
FORBIDDEN = (FUSED_NAME, *(f"course_utils.models.attention.{name}" for name in SHORTCUTS))
EXERCISE = ModuleExercise(right=CausalAttention, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
