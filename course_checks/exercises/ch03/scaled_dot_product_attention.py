"""Exercise 03.2: scaled dot-product attention with a mask. The oracle is PyTorch's fused kernel."""

import torch
from torch import Tensor

from course_utils.models import attention

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn, sizes, some_keys
from .attention_scores import attention_scores


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


def oracle(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Output by the fused kernel, weights by the same kernel fed with one-hot values."""
    one_hot = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    return fused(query, key, value, attn_mask=mask), fused(query, key, one_hot, attn_mask=mask)


def case(label: str, args: dict, part: str = "mask", shape: str = "(batch, query, d_v)", **more) -> Case:
    return Case(label, args, part, shape=shape, **more)


def draw(seed: int) -> list[Case]:
    g, every = generator(seed), ("query", "key", "value")
    n, m, d, d_v = sizes(g, 4, 3, 9)
    args = {"query": randn(g, 2, n, d), "key": randn(g, 2, m, d), "value": randn(g, 2, m, d_v)}
    mask = some_keys(g, 2, n, m, hidden=-1)
    heads = {"query": randn(g, 2, 3, 4, 7), "key": randn(g, 2, 3, 5, 7), "value": randn(g, 2, 3, 5, 6)}
    heads["mask"] = torch.tensor([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]]).bool()[:, None, None]
    return [
        case(f"2 × {n} queries, {m} keys, width {d}", args, "values", gradients=every),
        case("the same with a random mask", {**args, "mask": mask}, gradients=every),
        case("a mask of shape (query, key) for the whole batch", {**args, "mask": mask[0]}),
        case("2 × 3 heads with a mask of shape (batch, 1, 1, key)", heads, shape="(batch, head, query, d_v)"),
    ]


def fixed() -> list[Case]:
    g = generator(7)
    args = {"query": randn(g, 3, 6), "key": randn(g, 4, 6), "value": randn(g, 4, 5)}
    steep = {"query": 60 * randn(g, 2, 3, 6), "key": randn(g, 2, 7, 6), "value": randn(g, 2, 7, 4)}
    scores = steep["query"] @ steep["key"].mT
    lowest = {**steep, "mask": scores <= scores.kthvalue(2, dim=-1, keepdim=True).values}
    low = {"query": torch.full((2, 3, 6), 3e5), "key": -3e5 * (1 + torch.rand(2, 4, 6, generator=g)), "value": randn(g, 2, 4, 5)}
    one = {"query": randn(g, 1, 1, 3), "key": randn(g, 1, 4, 3), "value": randn(g, 1, 4, 2)}
    single = {**args, "key": args["key"][:1], "value": args["value"][:1]}
    largest = "scores 60,000 times as large, only the two lowest keys permitted"
    return [
        case("a batch of one, one query", one, "values"),
        case("scores 60 times as large", steep, "values"),
        case("scores 60 times as large, only the two lowest keys permitted", lowest),
        case(largest, {**lowest, "query": 1e3 * steep["query"]}),
        case("each query permits one key, with a score below minus 1e11", {**low, "mask": torch.eye(3, 4).bool()}),
        case("a single key: it gets all the weight", single, "values", ""),
    ]


EXERCISE = FunctionExercise(
    file=__file__,
    right=scaled_dot_product_attention,
    oracle=oracle,
    reference=attention.scaled_dot_product_attention,
    draw=draw,
    fixed=fixed,
    outputs=("output", "weights"),
    forbidden=(FUSED_NAME, "course_utils.models.attention.attention", "course_utils.models.attention.scaled_dot_product_attention"),
)
