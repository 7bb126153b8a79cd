"""Exercise 04.6: the output as a sum, one term for each head. The oracle silences all heads but one, in turn."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, fused, generator, randn, sizes


def head_contributions(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, mask: Tensor | None = None) -> Tensor:
    num_heads, _, d_v = w_v.shape
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    heads = torch.softmax(scores, dim=-1) @ value
    return heads @ w_o.reshape(num_heads, d_v, -1)


def oracle(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, mask: Tensor | None = None) -> Tensor:
    heads = [fused((x @ q)[None], (x @ k)[None], (x @ v)[None], attn_mask=mask)[0] for q, k, v in zip(w_q, w_k, w_v, strict=True)]
    return torch.stack([torch.cat([head * float(i == j) for j, head in enumerate(heads)], dim=-1) @ w_o for i in range(len(heads))])


def arguments(g: torch.Generator, n: int = 5, d_model: int = 7, h: int = 3, d_k: int = 4, d_v: int = 2) -> dict[str, Tensor]:
    x, (w_q, w_k, w_v) = randn(g, n, d_model), (0.5 * randn(g, h, d_model, width) for width in (d_k, d_k, d_v))
    return {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": randn(g, h * d_v, d_model)}


def case(label: str, args: dict[str, Tensor], part: str = "mask", **more) -> Case:
    return Case(label, args, part, shape="(head, token, d_model)", **more)


def draw(seed: int) -> list[Case]:
    g, d_model = generator(seed), 11 + 2 * (seed % 2)  # a prime: never as wide as the heads together
    n, h, d_k, d_v = sizes(g, 4, 2, 8)
    n += 8 * (n == 2)  # with two tokens a mask leaves one
    args = arguments(g, n, d_model, h, d_k, d_v)
    names, hidden = tuple(args), (torch.arange(n) % 3 != 1)[None]
    return [
        case(f"{n} tokens, d_model = {d_model}, {h} heads, d_k = {d_k}, d_v = {d_v}", args, "values", gradients=names),
        case("the same, every third token hidden by a mask (1, key)", {**args, "mask": hidden}, gradients=names),
    ]


def fixed() -> list[Case]:
    g = generator(4)
    causal = {**arguments(g), "mask": torch.ones(5, 5).tril().bool()}
    steep = {**arguments(g), "mask": torch.eye(5).bool()}
    far, steep["w_q"] = {**steep, "w_q": 1e11 * steep["w_q"]}, 1e5 * steep["w_q"]
    return [
        case("scores of about a hundred thousand, each token sees itself alone", steep),
        case("scores of about a hundred thousand million, each token sees itself alone", far),
        Case("one head", arguments(g, n=4, h=1, d_v=5)),
        Case("heads wider than the model", arguments(g, n=3, h=2, d_v=8)),
        case("no token may look ahead", causal),
    ]


EXERCISE = FunctionExercise(right=head_contributions, oracle=oracle, draw=draw, fixed=fixed)
