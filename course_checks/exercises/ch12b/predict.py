"""Exercise 12b.6: numbers of orders, masks, pairs and parameters. The oracle enumerates and counts."""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations

import torch

from course_utils.models.xlnet import XLNet, XLNetConfig, permutation_masks

from ...exercise import Case, Exercise, Twin
from .pairs import _oracle as apart

NAMES = ("pairs that the content mask of 3→2→4→1 allows", "pairs that its query mask allows",
         "tokens that a token of 9 sees before its turn, on average over all orders",
         "New York and Los Angeles, half each: probability of no city, both words guessed at once",
         "four such cities, a quarter each: bits lost by guessing both words at once", "parameters only the query stream has, width 768")


@cache
def _measure() -> dict[str, float]:
    content, query = permutation_masks(torch.tensor([2, 1, 3, 0]))
    seen = [order.index(4) for order in permutations(range(9))]
    two, four = torch.eye(2) / 2, torch.eye(4) / 4
    model = XLNet(XLNetConfig(vocab_size=9, num_layers=1))
    model.encode(torch.zeros(1, 4, dtype=torch.long)).sum().backward()  # the content stream alone
    alone = sum(p.numel() for p in model.parameters() if p.grad is None)
    values = (int(content.sum()), int(query.sum()), sum(seen) / len(seen),
              (apart(two)[0] * (two == 0)).sum().item(), apart(four)[1].item() / math.log(2), alone)
    return dict(zip(NAMES, values, strict=True))


RIGHT = dict(zip(NAMES, (10, 6, 4.0, 0.5, 2.0, 768), strict=True))


def _with(*changes: tuple[int, float]) -> dict[str, float]:
    return {**RIGHT, **{NAMES[index]: value for index, value in changes}}


PREDICT = Exercise(
    id="12b.6", title="Predict: orders, masks, pairs", name="prediction", kind="value", stars=1, minutes=8,
    signature="prediction: dict of 6 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.0, atol=0.02,
    draw=lambda seed: [Case("your six numbers", {})],
    twins=(
        Twin("diagonal left out of the content mask", _with((0, 6)), "The content stream may look at its own place as well."),
        Twin("all pairs", _with((0, 16)), "A position does not see those whose turn comes later."),
        Twin("all but the diagonal", _with((0, 12)),
             "You let every position see every other. A position does not see those whose turn comes later."),
        Twin("only the diagonal", _with((0, 4)), "A position sees itself and, besides, all those that had their turn before."),
        Twin("only the turn before and itself", _with((0, 7)), "Every earlier turn may be seen, not the last one alone."),
        Twin("query mask: only the turn before", _with((1, 3)), "Every earlier turn may be seen, not the last one alone."),
        Twin("diagonal counted in the query mask", _with((1, 10)), "The query stream must not look at its own place."),
        Twin("query mask: all but the diagonal", _with((1, 12)),
             "Those are all pairs of two different positions. A position sees only those that had their turn before."),
        Twin("masks exchanged", _with((0, 6), (1, 10)), "You have the right numbers, but the stream that may see its own place is the "
             "content stream."),
        Twin("own turn counted", _with((2, 5)), "The token itself is not seen before its turn. Which turn does it have on average?"),
        Twin("half of the sentence", _with((2, 4.5)), "Half of nine counts the token itself among what it might see."),
        Twin("the whole sentence", _with((2, 9)), "Neither the token itself nor those with a later turn are seen before its turn."),
        Twin("all others", _with((2, 8)), "That is what BERT's tokens see. In an order only those count that had their turn."),
        Twin("first word settles the second", _with((3, 0)),
             "In real text it does. If both are guessed at once, the second guess does not know the first."),
        Twin("all four pairs wrong", _with((3, 1)), "Two of the four pairs are cities, and they get their share."),
        Twin("three wrong pairs of four", _with((3, 0.75)), "How many of the four pairs are cities? It is not one alone."),
        Twin("one wrong pair of four", _with((3, 0.25)), "Write the four pairs down. How many of them are not a city?"),
        Twin("bits of two cities", _with((4, 1)), "One bit is lost with two cities. Here the first word tells which of four it is."),
        Twin("bits of both words", _with((4, 4)), "Four bits is the whole loss of guessing apart. Even with the joint table, "
             "some of it remains."),
        Twin("nats", _with((4, math.log(4))), "Your number is right in nats; bits are asked for."),
        Twin("nothing lost", _with((4, 0)), "Nothing is lost only if the two words are independent of each other."),
        Twin("query stream has its own weights", _with((5, 7_087_872)),
             "That is a whole block. Both streams use the same weights; what does the query stream begin with?"),
        Twin("a query projection of its own", _with((5, 768 * 768)),
             "That is a matrix. All matrices are shared by both streams; what does the query stream begin with?"),
        Twin("four projections of its own", _with((5, 4 * 768 * 768)),
             "Those are four matrices. All matrices are shared by both streams; what does the query stream begin with?"),
        Twin("one start vector for each place", _with((5, 512 * 768)),
             "The start vector is the same at all places. What tells places apart is the table of positions, which both streams use."),
        Twin("no parameter at all", _with((5, 0)), "The blocks are shared. But which vector takes the place of the word at the beginning?"),
    ),
)
