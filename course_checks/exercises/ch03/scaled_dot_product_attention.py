"""Exercise 03.2: scaled dot-product attention with a mask. The oracle is PyTorch's fused kernel."""

import torch
from torch import Tensor

from course_utils.models import attention

from ..common import FUSED_NAME, Case, FunctionExercise, fused, generator, randn, refusal, sizes, some_keys
from .attention_scores import attention_scores


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values")
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones(scores.shape, dtype=torch.bool)
    nobody = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask & ~nobody, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(nobody, 0.0)
    return weights @ value, weights


def oracle(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Output by the fused kernel, weights by the same kernel fed with one-hot values; empty rows by hand."""
    one_hot = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    if mask is None:
        return fused(query, key, value), fused(query, key, one_hot)
    empty = ~mask.any(-1, keepdim=True)
    output, weights = (fused(query, key, v, attn_mask=mask | empty).masked_fill(empty, 0.0) for v in (value, one_hot))
    return output, weights


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
    gap = {**args, "mask": torch.tensor([[True, True, False, True], [False] * 4, [True, False, False, False]])}
    steep = {"query": 60 * randn(g, 2, 3, 6), "key": randn(g, 2, 7, 6), "value": randn(g, 2, 7, 4)}
    scores = steep["query"] @ steep["key"].mT
    lowest = {**steep, "mask": scores <= scores.kthvalue(2, dim=-1, keepdim=True).values}
    low = {"query": torch.full((2, 3, 6), 3e5), "key": -3e5 * (1 + torch.rand(2, 4, 6, generator=g)), "value": randn(g, 2, 4, 5)}
    one = {"query": randn(g, 1, 1, 3), "key": randn(g, 1, 4, 3), "value": randn(g, 1, 4, 2)}
    single = {**args, "key": args["key"][:1], "value": args["value"][:1]}
    largest = "scores 60,000 times as large, only the two lowest keys permitted"

    def bad(label: str, *mentions: str, **more: Tensor) -> Case:
        return refusal(label, {**args, **more}, *mentions)

    return [
        case("a batch of one, one query", one, "values"),
        case("scores 60 times as large", steep, "values"),
        case("row 1 may attend to nothing", gap, "empty row", "(query, d_v)", gradients=("query", "key", "value")),
        case("scores 60 times as large, only the two lowest keys permitted", lowest),
        case(largest, {**lowest, "query": 1e3 * steep["query"]}),
        case("each query permits one key, with a score below minus 100 thousand million", {**low, "mask": torch.eye(3, 4).bool()}),
        case("a single key: it gets all the weight", single, "values", ""),
        *(bad(f"queries of width 6, keys of width {d}", "6", str(d), key=torch.ones(4, d)) for d in (4, 8, 1)),
        bad("queries of width 1, keys of width 6", "1", "6", query=torch.ones(3, 1)),
        *(bad(f"4 keys but {m} values", "4", str(m), value=torch.ones(m, 5)) for m in (3, 7)),
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
