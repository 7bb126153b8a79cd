"""Exercise 09.7: does the answer leak? The oracle builds each set-up and differentiates."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn

N, D, PLACE = 5, 4, 2
NAMES = ("1 layer, own key hidden", "1 layer, own key hidden, no residual",
         "1 layer, own key hidden, no residual, query from the position", "2 layers of that kind",
         "2 layers, the key hidden from everybody, no residual, query from the position", "2 ordinary layers, [MASK] put in its place")


@cache
def _leaks() -> dict[str, str]:
    """Whether the last state at one position depends on the token that stood there."""
    g = generator(1)
    tokens, places, w_q, w_k, w_v, hole = (randn(g, *shape) for shape in ((N, D), (N, D), (D, D), (D, D), (D, D), (D,)))
    own = ~torch.eye(N, dtype=torch.bool)  # True = may attend
    column = torch.ones(N, N, dtype=torch.bool)
    column[:, PLACE] = False

    def run(layers: int, mask: Tensor | None = None, residual: bool = False, from_place: bool = False, masked: bool = False) -> str:
        def last(token: Tensor) -> Tensor:
            row = torch.arange(N)[:, None] == PLACE
            x = torch.where(row, hole if masked else token, tokens) + places
            for _ in range(layers):
                scores = (places if from_place else x) @ w_q @ (x @ w_k).T / D**0.5
                scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
                update = torch.softmax(scores, -1) @ (x @ w_v)
                x = x + update if residual else update
            return x[PLACE]

        return "yes" if torch.autograd.functional.jacobian(last, tokens[PLACE]).abs().max() > 1e-6 else "no"

    answers = (run(1, own, residual=True), run(1, own), run(1, own, from_place=True), run(2, own, from_place=True),
               run(2, column, from_place=True), run(2, residual=True, masked=True))
    return dict(zip(NAMES, answers, strict=True))


RIGHT = dict(zip(NAMES, ("yes", "yes", "no", "yes", "no", "no"), strict=True))


def _but(*numbers: int) -> dict[str, str]:
    """The right table with some entries turned round."""
    return {name: ({"yes": "no", "no": "yes"}[word] if i in numbers else word) for i, (name, word) in enumerate(RIGHT.items())}


LEAK = Exercise(
    id="09.7", title="Predict: does the answer leak?", name="prediction", kind="value", stars=2, minutes=8,
    signature="prediction: dict of 6 words", choices=("yes", "no"), oracle=_leaks, reference=RIGHT, parts={"values": 2},
    draw=lambda seed: [Case("your six words", {})],
    twins=(
        Twin("residual forgotten", _but(0),
             "A mask acts only on the attention. Every block has a second path beside it: what does that path carry?"),
        Twin("query forgotten", _but(1),
             "Its key and value are not read, but where does the query come from? The weights on all the other tokens depend on it."),
        Twin("residual and query forgotten", _but(0, 1),
             "Hiding a key closes one path of three. The token also passes beside the attention, and its query depends on it."),
        Twin("query and detour forgotten", _but(1, 3),
             "The residual is not the only path. The query comes from the token itself, and before a second layer the neighbours have "
             "read the token."),
        Twin("position taken for the token", _but(2),
             "Key and value are hidden, nothing is added, and the query knows only the place. Follow each arrow into that state."),
        Twin("second layer like the first", _but(3),
             "After the first layer the neighbours have read the token. What does its own place read in the second?"),
        Twin("only direct ways counted", _but(0, 1, 3),
             "You follow the direct reading of a key only. Other paths are the residual, the query, and the detour through a neighbour."),
        Twin("hidden from all but still read", _but(4),
             "If nobody may read the token in any layer, no neighbour can hand it on; and nothing else carries it here."),
        Twin("[MASK] lets the token through", _but(5),
             "The token is not in the input any more. What is not there cannot be read in any layer."),
        Twin("only [MASK] thought safe", _but(2, 4),
             "Two set-ups without [MASK] close every path, at a price. Look for paths from the token to the state at its place."),
        Twin("everything leaks", dict.fromkeys(NAMES, "yes"), "Three of the six close every way from the token to the state at its place."),
        Twin("turned round", _but(0, 1, 2, 3, 4, 5), "Yes means that the state still depends on the token, and that the task is spoiled."),
    ),
)
