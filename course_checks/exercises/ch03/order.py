"""Exercise 03.9: what shuffling the tokens does, predicted. The oracle shuffles and looks what stays, moves along or changes."""

import torch
from torch import Tensor

from ..common import Case, Prediction, fused, generator, randn


def oracle() -> dict[str, str]:
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


EXERCISE = Prediction(
    file=__file__, oracle=oracle, draw=lambda seed: [Case("your five words", {})], choices=("unchanged", "shuffled along", "changed")
)
