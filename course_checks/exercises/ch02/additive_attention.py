"""Exercise 02.2: additive attention as a module. The oracle goes query by query with only the permitted keys, in double precision."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, randn, sizes, some_keys


class AdditiveAttention(nn.Module):
    def __init__(self, d_query: int, d_key: int, d_attn: int):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k = self.w_q(query), self.w_k(key)
        pairs = q[:, :, None] + k[:, None]
        scores = self.v(torch.tanh(pairs)).squeeze(-1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights


def oracle(init: dict, parameters: dict, inputs: dict) -> tuple[Tensor, Tensor]:
    w_q, w_k, v = (parameters[f"{name}.weight"].double() for name in ("w_q", "w_k", "v"))
    query, key, value = (inputs[name].double() for name in ("query", "key", "value"))
    shape = (len(query), query.shape[1], key.shape[1])
    mask = torch.ones(shape, dtype=torch.bool) if inputs.get("mask") is None else inputs["mask"].expand(shape)
    outputs, weights = [], []
    for b in range(shape[0]):
        for i in range(shape[1]):
            use = mask[b, i].nonzero().flatten()
            scores = torch.tanh(w_q.mv(query[b, i]) + key[b, use] @ w_k.T) @ v[0]
            power = torch.exp(scores - scores.max())
            share = power / power.sum()
            outputs.append(share @ value[b, use])
            weights.append(torch.zeros(shape[2], dtype=torch.double).index_add(0, use, share))
    return torch.stack(outputs).view(*shape[:2], -1).float(), torch.stack(weights).view(shape).float()


def arguments(g: torch.Generator, d_query: int, d_key: int, d_attn: int) -> dict:
    weights = {"w_q.weight": 0.5 * randn(g, d_attn, d_query), "w_k.weight": 0.5 * randn(g, d_attn, d_key), "v.weight": randn(g, 1, d_attn)}
    return {"init": {"d_query": d_query, "d_key": d_key, "d_attn": d_attn}, "parameters": weights}


def case(label: str, args: dict, inputs: dict, part: str = "mask", **more) -> Case:
    return Case(label, {**args, "inputs": inputs}, part, shape="(batch, query, d_v)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, m, d_query, d_key, d_attn, d_v = sizes(g, 6, 3, 9)
    args = arguments(g, d_query, d_key, d_attn)
    inputs = {"query": randn(g, 2, n, d_query), "key": randn(g, 2, m, d_key), "value": randn(g, 2, m, d_v)}
    padding = torch.arange(m) < torch.tensor([m - 1, 1])[:, None, None]
    pairs = some_keys(g, 2, n, m, hidden=-1)
    one = {"query": randn(g, 2, 1, d_query), "key": inputs["key"], "value": randn(g, 2, m, d_v), "mask": padding}
    label, every = f"2 × {n} queries, {m} keys, widths {d_query} and {d_key}, values of width {d_v}", (*args["parameters"], *inputs)
    return [
        case(label, args, {**inputs, "mask": None}, "values", gradients=every),
        case("padded sources: a mask of shape (batch, 1, key)", args, {**inputs, "mask": padding}, gradients=every),
        case("a mask of its own for every query", args, {**inputs, "mask": pairs}),
        case("a mask of shape (query, key) for the whole batch", args, {**inputs, "mask": pairs[1]}),
        case("one query and padded sources", args, one),
    ]


def fixed() -> list[Case]:
    g = generator(8)
    args = arguments(g, 4, 5, 6)
    inputs = {"query": randn(g, 2, 2, 4), "key": randn(g, 2, 7, 5), "value": randn(g, 2, 7, 3)}
    steep = {**args["parameters"], "v.weight": 3e5 * args["parameters"]["v.weight"]}
    w_q, w_k, v = steep.values()
    scores = (torch.tanh((inputs["query"] @ w_q.T)[:, :, None] + (inputs["key"] @ w_k.T)[:, None]) @ v.T)[..., 0]
    lowest = scores <= scores.kthvalue(2, dim=-1, keepdim=True).values
    alone = {"query": randn(g, 1, 3, 4), "key": randn(g, 1, 2, 5), "value": randn(g, 1, 2, 1)}
    million, far = {**args, "parameters": steep}, {**args, "parameters": {**steep, "v.weight": 1e5 * v}}
    return [
        case("a batch of one, values of width 1, mask left out", args, alone, "values"),
        case("2 × 2 queries and masks of shape (query, key)", args, {**inputs, "mask": lowest[1]}),
        case("scores of about a million, mask left out", million, inputs, "values"),
        case("scores of about a million, the largest hidden", million, {**inputs, "mask": lowest}),
        case("scores of about a hundred thousand million, the largest hidden", far, {**inputs, "mask": lowest}),
    ]


NAMES = ("output", "weights")
FORBIDDEN = ("course_utils.models.recurrent.AdditiveAttention.forward", "course_utils.models.recurrent.AdditiveAttention.scores")
EXERCISE = ModuleExercise(right=AdditiveAttention, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=FORBIDDEN)
