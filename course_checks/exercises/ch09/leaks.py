"""Exercise 09.1: does the answer leak? The oracle builds each set-up and differentiates."""

from functools import cache

import torch
from torch import Tensor

from ..common import Case, Prediction, generator, randn

RIGHT = {
    "1: own key hidden": "yes",
    "2: and no residual": "yes",
    "3: and the query from the position": "no",
    "4: two layers of set-up 3": "yes",
    "5: as 4, the key hidden from everybody": "no",
    "6: two ordinary layers, [MASK] put in": "no",
}
N, D, PLACE = 5, 4, 2


@cache
def oracle() -> dict[str, str]:
    """Whether the last state at one position depends on the token that stood there."""
    g = generator(1)
    tokens, places, w_q, w_k, w_v, hole = (randn(g, *shape) for shape in ((N, D), (N, D), (D, D), (D, D), (D, D), (D,)))
    row = torch.arange(N)[:, None] == PLACE
    own, everybody = ~torch.eye(N, dtype=torch.bool), ~row.T.expand(N, N)  # True = may attend

    def run(layers: int, mask: Tensor | None = None, residual: bool = False, from_place: bool = False, masked: bool = False) -> str:
        def last(token: Tensor) -> Tensor:
            x = torch.where(row, hole if masked else token, tokens) + places
            for _ in range(layers):
                scores = (places if from_place else x) @ w_q @ (x @ w_k).T / D**0.5
                scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
                update = torch.softmax(scores, -1) @ (x @ w_v)
                x = x + update if residual else update
            return x[PLACE]

        return "yes" if torch.autograd.functional.jacobian(last, tokens[PLACE]).abs().max() > 1e-6 else "no"

    one = run(1, own, residual=True), run(1, own), run(1, own, from_place=True)
    two = run(2, own, from_place=True), run(2, everybody, from_place=True), run(2, residual=True, masked=True)
    return dict(zip(RIGHT, one + two, strict=True))


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your six words", {})], choices=("yes", "no"))
