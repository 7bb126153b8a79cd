"""Exercise 03.7: what shuffling the tokens does."""

from __future__ import annotations

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import fused, randn


def _order() -> dict[str, str]:
    """Shuffle and look: which outputs stay, which move along, which change."""
    g = generator(3)
    x, order = randn(g, 5, 4), torch.tensor([2, 0, 3, 4, 1])
    w_q, w_k, w_v, query = (randn(g, 4, 4) for _ in range(4))

    def own(x: Tensor, causal: bool = False) -> Tensor:
        return fused((x @ w_q)[None], (x @ w_k)[None], (x @ w_v)[None], is_causal=causal)[0]

    def ask(keys: Tensor, values: Tensor) -> Tensor:
        return fused(query[None], keys[None], values[None])[0]

    def word(before: Tensor, after: Tensor) -> str:
        if torch.allclose(before, after, atol=1e-5):
            return "unchanged"
        same_shape = len(before) == len(order)
        return "shuffled along" if same_shape and torch.allclose(before[order], after, atol=1e-5) else "changed"

    return {
        "self-attention": word(own(x), own(x[order])),
        "mean of its outputs": word(own(x).mean(0), own(x[order]).mean(0)),
        "fixed query, pairs shuffled": word(ask(x, x), ask(x[order], x[order])),
        "fixed query, only keys shuffled": word(ask(x, x), ask(x[order], x)),
        "causal self-attention": word(own(x, True), own(x[order], True)),
    }


ORDER = Exercise(
    id="03.7", title="Predict: what shuffling does", name="prediction_of_order", kind="value", stars=2, minutes=6,
    signature="prediction_of_order: dict of 5 words", choices=("unchanged", "shuffled along", "changed"),
    oracle=_order, reference=_order(), parts={"values": 2},
    draw=lambda seed: [Case("your five words", {})],
    twins=(
        Twin("self-attention taken for invariant", {**_order(), "self-attention": "unchanged"},
             "Token i takes its output with it when it moves: the rows of the output are shuffled like the rows of the input. "
             "That is equivariance."),
        Twin("the mean taken for equivariant", {**_order(), "mean of its outputs": "shuffled along"},
             "A mean has no rows left to shuffle: it adds the same outputs in another order."),
        Twin("pairs taken for equivariant", {**_order(), "fixed query, pairs shuffled": "shuffled along"},
             "The rows of the output belong to the queries, and those stay where they are. A weighted sum does not depend on the order "
             "of its terms."),
        Twin("keys and values taken apart", {**_order(), "fixed query, only keys shuffled": "unchanged"},
             "If you shuffle only the keys, each value gets the key of another, and the weights meet the wrong values."),
        Twin("causal taken for equivariant", {**_order(), "causal self-attention": "shuffled along"},
             "The mask stays in place while the tokens move, so a token that moves to the front loses what it could see."),
        Twin("self-attention taken to change", {**_order(), "self-attention": "changed"},
             "Nothing in the formula depends on the place of a token. Its output stays the same and only moves to another row."),
        Twin("pairs taken to matter", {**_order(), "fixed query, pairs shuffled": "changed"},
             "Each value keeps its key, so each keeps its weight. A sum does not depend on the order of its terms."),
        Twin("keys taken to move along", {**_order(), "fixed query, only keys shuffled": "shuffled along"},
             "The output has one row, for the one query: there is nothing that could move along. The values simply get the wrong weights."),
        Twin("the mean taken to change", {**_order(), "mean of its outputs": "changed"},
             "The outputs come in another order, but they are the same outputs, and their mean does not depend on the order."),
        Twin("causal taken for invariant", {**_order(), "causal self-attention": "unchanged"},
             "The causal mask lets a token see only itself and the tokens before it. After a shuffle these are other tokens, so the "
             "outputs change."),
        Twin("order never matters", {key: "unchanged" for key in _order()},
             "Shuffle two rows of the input by hand and look where the rows of the output have gone."),
    ),
)
