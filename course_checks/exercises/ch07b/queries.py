"""Exercise 07b.5: attention whose queries and keys are normalised."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, fused_layer_norm, fused_rms_norm, randn


def _oracle(query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, eps: float = 1e-6) -> Tensor:
    """PyTorch's fused functions, one after the other, in double precision."""
    width = query.shape[-1:]
    q, k = (fused_rms_norm(t.double(), width, w.double(), eps) for t, w in ((query, query_weight), (key, key_weight)))
    return fused(q, k, value.double()).float()


def _attend(query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, eps: float = 1e-6,
            how: str = "right") -> Tensor:
    if how == "eps ignored":
        eps = 1e-6
    if how == "one weight":
        key_weight = query_weight

    def norm(t: Tensor, weight: Tensor) -> Tensor:
        wide = t
        if how == "centred":
            return fused_layer_norm(t, t.shape[-1:], eps=eps) * weight
        if how == "over the tokens":
            return wide / (wide.square().mean(-2, keepdim=True) + eps).sqrt() * weight
        if how == "one for all":
            return wide / (wide.square().mean((-2, -1), keepdim=True) + eps).sqrt() * weight
        square = wide.square().sum(-1, keepdim=True) if how == "unit length" else wide.square().mean(-1, keepdim=True)
        if how == "eps outside":
            return wide / (square.sqrt() + eps) * weight
        if how == "no root":
            return wide / (square + eps) * weight
        return wide / (square + eps).sqrt() * (1 if how == "no weights" else weight)

    q = query * query_weight if how == "keys only" else norm(query, query_weight)
    k = key * key_weight if how == "queries only" else norm(key, key_weight)
    if how == "nothing":
        q, k = query * query_weight, key * key_weight
    scores = q @ k.mT
    root = query.shape[-1] ** 0.5
    if how == "scores normed":
        scores = (query * query_weight) @ (key * key_weight).mT
        scores = scores / (scores.square().mean(-1, keepdim=True) + eps).sqrt()
    elif how == "by the width":
        scores = scores / root**2
    elif how != "no root of the width":
        scores = scores / root
    weights = torch.softmax(scores, -2 if how == "softmax over queries" else -1)
    if how == "values too":
        value = value / (value.square().mean(-1, keepdim=True) + eps).sqrt()
    return weights @ value


def _case(g: torch.Generator, label: str, lead: tuple[int, ...], n: int, m: int, d: int, d_value: int, size: float = 1.0,
          part: str = "values", **more: float) -> Case:
    args = {"query": size * randn(g, *lead, n, d) + 0.3 * size, "key": size * randn(g, *lead, m, d) - 0.2 * size,
            "value": randn(g, *lead, m, d_value), "query_weight": 1 + 0.4 * randn(g, d), "key_weight": 1 + 0.4 * randn(g, d), **more}
    gradients = ("query", "key", "value", "query_weight", "key_weight") if not more else ()
    return Case(label, args, part=part, gradients=gradients, shape="(…, query, d_value)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "2 sequences, 3 heads, 5 queries, 7 keys, head_dim = 4, d_value = 6", (2, 3), 5, 7, 4, 6),
            _case(g, "2 sequences, 6 queries, 3 keys, head_dim = 5, d_value = 4", (2,), 6, 3, 5, 4),
            _case(g, "queries and keys twenty times as long", (2,), 3, 5, 6, 4, size=20.0, part="long vectors"),
            _case(g, "short vectors, eps = 0.05", (), 4, 6, 5, 3, size=0.2, part="eps", eps=0.05)]


def _fixed() -> list[Case]:
    g = generator(8)
    still = _case(g, "queries and keys of zeros", (2,), 3, 4, 5, 6, part="eps", eps=1e-6)
    still.args["query"], still.args["key"] = torch.zeros(2, 3, 5), torch.zeros(2, 4, 5)
    return [_case(g, "one query and one key", (1, 2), 1, 1, 4, 3), _case(g, "one query, no batch", (), 1, 5, 4, 3), still]


QK_NORM = Exercise(
    id="07b.5", title="QK-norm", name="qk_norm_attention", kind="function", stars=2, minutes=12,
    signature="qk_norm_attention(query, key, value, query_weight, key_weight, eps=1e-6) -> (…, query, d_value)", oracle=_oracle,
    reference=_attend, draw=_draw, fixed=_fixed, parts={"values": 2, "long vectors": 1, "eps": 1},
    twins=(
        Twin("nothing normalised", partial(_attend, how="nothing"),
             "Your queries and keys keep their lengths. First divide each by the root of its mean square."),
        Twin("keys not normalised", partial(_attend, how="queries only"),
             "Only the queries are normalised. A long key can still make its scores large."),
        Twin("queries not normalised", partial(_attend, how="keys only"),
             "Only the keys are normalised. A long query can still make all its scores large."),
        Twin("values normalised too", partial(_attend, how="values too"),
             "You normalise the values as well. They do not enter the scores, so leave them as they are."),
        Twin("scores normalised instead", partial(_attend, how="scores normed"),
             "You normalise the scores of each query. Normalise the queries and the keys instead, before their product."),
        Twin("centred as in LayerNorm", partial(_attend, how="centred"),
             "The mean is subtracted. This norm only divides by the root of the mean square."),
        Twin("normalised over the tokens", partial(_attend, how="over the tokens"),
             "Your mean of the squares runs over the tokens. Every query and every key needs its own mean, over its features."),
        Twin("one divisor for all tokens", partial(_attend, how="one for all"),
             "All tokens are divided by the same number. Every query and every key needs its own, computed from its own features."),
        Twin("vectors of length one", partial(_attend, how="unit length"),
             "You divide by the length, so that every vector has length 1. The root of the mean square is smaller than the length."),
        Twin("mean square without its root", partial(_attend, how="no root"),
             "You divide by the mean square. Divide by its root: only that makes the size one."),
        Twin("scores not divided", partial(_attend, how="no root of the width"),
             "The norm does not replace the root of the head width: the scores are divided by it as always."),
        Twin("scores divided by the width", partial(_attend, how="by the width"),
             "The scores are divided by the root of the head width, not by the width itself."),
        Twin("softmax over the queries", partial(_attend, how="softmax over queries"),
             "Your softmax runs over the queries. The weights of a query sum to one over the keys."),
        Twin("learned weights left out", partial(_attend, how="no weights"),
             "After the division each feature is multiplied by its learned factor, one vector for queries and one for keys."),
        Twin("one weight for both", partial(_attend, how="one weight"),
             "Queries and keys have learned factors of their own; you use those of the queries twice."),
        Twin("eps argument ignored", partial(_attend, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("eps outside the root", partial(_attend, how="eps outside"),
             "The small number is added to the mean square, before the root."),
    ),
)
