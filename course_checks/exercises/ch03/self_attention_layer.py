"""Exercise 03.6: self-attention as a module. The oracle is that of 03.2, after three projections."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, randn, sizes
from .attention_scores import attention_scores
from .scaled_dot_product_attention import oracle as attention_oracle
from .scaled_dot_product_attention import scaled_dot_product_attention


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v: int):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        return scaled_dot_product_attention(query, key, value, mask)[0]


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    query, key, value = (F.linear(inputs["x"], parameters[f"w_{name}.weight"]) for name in "qkv")
    return attention_oracle(query, key, value, inputs.get("mask"))[0]


def arguments(g: torch.Generator, d_model: int, d_k: int, d_v: int) -> dict:
    parameters = {f"w_{name}.weight": 0.6 * randn(g, width, d_model) for name, width in (("q", d_k), ("k", d_k), ("v", d_v))}
    return {"init": {"d_model": d_model, "d_k": d_k, "d_v": d_v}, "parameters": parameters}


def case(label: str, args: dict, inputs: dict, part: str = "values", **more) -> Case:
    return Case(label, {**args, "inputs": inputs}, part, shape="(batch, token, d_v)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, d_model, d_k, d_v = sizes(g, 4, 3, 9)
    args = arguments(g, d_model, d_k, d_v)
    x, every = randn(g, 2, n, d_model), (*args["parameters"], "x")
    padded = torch.arange(n) < torch.tensor([n - 1, 1])[:, None, None]
    tried = [
        (f"2 sequences of {n} tokens, d_model = {d_model}, d_k = {d_k}, d_v = {d_v}", None, "values"),
        ("the same, no token may look ahead", torch.ones(n, n).tril().bool(), "mask"),
        ("padding: a mask of shape (batch, 1, key)", padded, "mask"),
    ]
    return [case(label, args, {"x": x, "mask": mask}, part, gradients=every) for label, mask, part in tried]


def fixed() -> list[Case]:
    g = generator(5)
    args = arguments(g, 6, 4, 3)
    x = 20 * randn(g, 1, 7, 6)
    query, key = (x @ args["parameters"][f"w_{name}.weight"].T for name in "qk")
    scores = query @ key.mT
    lowest = scores <= scores.kthvalue(2, dim=-1, keepdim=True).values
    return [
        case("one sequence, mask left out", args, {"x": randn(g, 1, 5, 6)}),
        case("one sequence of one token, d_v = d_model", arguments(generator(6), 6, 4, 6), {"x": randn(g, 1, 1, 6), "mask": None}),
        case("large scores, only the two lowest keys permitted", args, {"x": x, "mask": lowest}, "mask"),
    ]


HELPERS = (attention_scores, scaled_dot_product_attention)
OURS = ("course_utils.models.attention.SelfAttention.forward", "course_utils.models.attention.SelfAttention.weights")
EXERCISE = ModuleExercise(file=__file__, right=SelfAttention, helpers=HELPERS, oracle=oracle, draw=draw, fixed=fixed, forbidden=OURS)
