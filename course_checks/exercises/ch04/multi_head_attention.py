"""Exercise 04.4: multi-head attention as a module. The oracle is PyTorch's own, with the same parameters."""

import math

import torch
from torch import Tensor, nn

from course_utils.models.attention import masked_softmax

from ..common import FORBIDDEN_MHA, Case, ModuleExercise, generator, randn, several_heads, sizes, some_keys
from .merge_heads import merge_heads
from .split_heads import split_heads


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, bias: bool = True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        layers = [nn.Linear(d_model, d_model, bias=bias) for _ in range(4)]
        self.w_q, self.w_k, self.w_v, self.w_o = layers

    def forward(self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        key = query if key is None else key
        value = key if value is None else value
        projected = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (split_heads(t, self.num_heads) for t in projected)
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = masked_softmax(scores, mask)
        return self.w_o(merge_heads(weights @ v))


def case(g: torch.Generator, label: str, part: str, *given: Tensor, mask: Tensor | None = None, heads: int = 3, bias: bool = True) -> Case:
    d, names = given[0].shape[-1], ("query", "key", "value")
    inputs = dict(zip(names, (*given, None, None), strict=False)) | {"mask": mask}
    parameters = {f"w_{name}.weight": 0.45 * randn(g, d, d) for name in "qkvo"}
    parameters |= {f"w_{name}.bias": 0.5 * randn(g, d) for name in "qkvo"} if bias else {}
    args = {"init": {"d_model": d, "num_heads": heads, "bias": bias}, "parameters": parameters, "inputs": inputs}
    return Case(label, args, part, gradients=(*names[: len(given)], *parameters), shape="(batch, query, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, m = sizes(g, 2, 4, 9)
    heads, width = sizes(g, 2, 3, 6)
    d = heads * width
    x, memory, third = randn(g, 2, n, d), randn(g, 2, m, d), randn(g, 2, n, d)
    label = f"{m} queries, keys from one sequence of {n}, values from another"
    return [
        case(g, f"self-attention: 2 sequences of {n} tokens, d_model = {d}, {heads} heads", "self", x, heads=heads),
        case(g, "the same without bias", "self", x, heads=heads, bias=False),
        case(g, f"{n} queries, {m} keys", "two sequences", x, memory, heads=heads),
        case(g, label, "two sequences", memory, x, third, heads=heads),
        case(g, "a mask (query, key)", "mask", x, memory, mask=some_keys(g, n, m), heads=heads),
        case(g, "a mask (batch, query, key)", "mask", memory, x, mask=some_keys(g, 2, m, n), heads=heads),
        case(g, "a mask (batch, 1, key)", "mask", x, memory, mask=some_keys(g, 2, 1, m), heads=heads),
        case(g, "as many sequences as heads, a mask for each", "mask", randn(g, 3, 4, 6), randn(g, 3, 5, 6), mask=some_keys(g, 3, 4, 5)),
    ]


def fixed() -> list[Case]:
    g, alone = generator(9), torch.eye(4, 5).bool()
    steep = "scores of about a hundred thousand, one key permitted"
    far = "scores of about ten thousand million, of either sign, one key permitted"
    left_out = case(g, "one sequence, all else left out", "self", randn(g, 1, 4, 12))
    left_out.args["inputs"] = {"query": left_out.args["inputs"]["query"]}
    del left_out.args["init"]["bias"]
    return [
        left_out,
        case(g, "sequences of one token", "self", randn(g, 2, 1, 12)),
        case(g, steep, "mask", 1e5 * randn(g, 2, 4, 6), randn(g, 2, 5, 6), mask=alone),
        case(g, far, "mask", 3e5 * randn(g, 2, 4, 6), 3e5 * randn(g, 2, 5, 6), randn(g, 2, 5, 6), mask=alone),
        case(g, "one head", "self", randn(g, 3, 4, 5), heads=1),
    ]


FORBIDDEN = (*FORBIDDEN_MHA, "course_utils.models.multihead.MultiHeadAttention.forward")
EXERCISE = ModuleExercise(right=MultiHeadAttention, oracle=several_heads, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
