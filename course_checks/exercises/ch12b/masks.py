"""Exercise 12b.3: an order as two masks. The oracle asks for every pair of positions who had its turn first."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(order: Tensor) -> tuple[Tensor, Tensor]:
    turns = order.tolist()
    query = [[turns.index(j) < turns.index(i) for j in range(len(turns))] for i in range(len(turns))]
    content = [[turns.index(j) <= turns.index(i) for j in range(len(turns))] for i in range(len(turns))]
    return torch.tensor(content), torch.tensor(query)


def _masks(order: Tensor, how: str = "right") -> tuple[Tensor, Tensor]:
    n = len(order)
    rank, own = order.argsort(), torch.eye(n, dtype=torch.bool)
    if how == "entries taken for ranks":
        rank = order
    if how == "positions":
        rank = torch.arange(n)
    earlier = rank < rank[:, None]
    match how:
        case "transposed":
            earlier = earlier.T
        case "left only":
            earlier = earlier & (torch.arange(n) < torch.arange(n)[:, None])
        case "one before":
            earlier = rank == rank[:, None] - 1
        case "all others":
            earlier = ~own
    content, query = earlier | own, earlier
    match how:
        case "rows in order":
            return content[order], query[order]
        case "shuffled rows":
            triangle = torch.ones(n, n, dtype=torch.bool)
            return triangle.tril()[order], triangle.tril(-1)[order]
        case "rows by turn":
            triangle = torch.ones(n, n, dtype=torch.bool)
            return triangle.tril()[rank], triangle.tril(-1)[rank]
        case "both strict":
            return query, query
        case "both with diagonal":
            return content, content
        case "inverted":
            return ~content, ~query
        case "numbers":
            return content.float(), query.float()
        case "first sees itself":
            query = query | (own & (rank == 0))
        case "last sees all, others nothing":
            return content & (rank[:, None] == n - 1), query & (rank[:, None] == n - 1)
    return content, query


def _reference(order: Tensor) -> tuple[Tensor, Tensor]:
    if sorted(order.tolist()) != list(range(len(order))):
        raise ValueError(f"order={order.tolist()} does not name each of the {len(order)} positions once")
    return _masks(order)


def _telling(g: torch.Generator, n: int) -> Tensor:
    """An order that is not its own inverse, nor mirrored in it, so that mixed-up readings show."""
    while True:
        order = torch.randperm(n, generator=g)
        inverse = order.argsort()
        others = (order, n - 1 - order, n - 1 - inverse, torch.arange(n), torch.arange(n).flip(0))
        if all((inverse != other).sum() >= 3 for other in others) and int(inverse[0]) not in (0, n - 1):
            return order


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case(f"order {order.tolist()}", {"order": order}, shape="(n, n)") for order in (_telling(g, n) for n in (5, 6, 7))]


MASKS = Exercise(
    id="12b.3", title="An order as two masks", name="order_masks", kind="function", stars=2, minutes=10,
    signature="order_masks(order) -> content (n, n), query (n, n)", oracle=_oracle, reference=_reference, draw=_draw,
    forbidden=("course_utils.models.xlnet.permutation_masks",), outputs=("content", "query"), parts={"values": 3, "edges": 1, "refusal": 1},
    fixed=lambda: [
        Case("two tokens, the second first", {"order": torch.tensor([1, 0])}, part="edges", shape="(n, n)"),
        Case("left to right", {"order": torch.arange(4)}, part="edges", shape="(n, n)"),
        *(Case(label, {"order": torch.tensor(order)}, part="refusal", rejects=ValueError, mentions=(", ".join(map(str, order)),))
          for label, order in (("an order that leaves positions out", [0, 2, 5]), ("an order that names two positions twice", [0, 0, 3, 3]),
                               ("an order with a negative position", [0, -1, 1]), ("an order counted from 1", [2, 1, 3]))),
        Case("an order that names position 2 twice", {"order": torch.tensor([0, 2, 2, 1])}, part="refusal", rejects=ValueError,
             mentions=("0, 2, 2, 1",))],
    twins=(
        Twin("only the rows follow the order", partial(_masks, how="rows by turn"),
             "The rows of your triangle follow the order, but the columns do not. Columns are positions too and have the same turns."),
        Twin("entries taken for ranks", partial(_masks, how="entries taken for ranks"),
             "Entry 0 of the order is the position that has its turn first. You read it as the turn of position 0. (Shuffling rows and "
             "columns of a triangle by the order comes to the same.)"),
        Twin("order ignored", partial(_masks, how="positions"), "Your masks are causal, whatever the order is."),
        Twin("sees those after it", partial(_masks, how="transposed"),
             "Your positions see those whose turn comes later. Rows belong to the position that looks, columns to those it may see."),
        Twin("rows sorted by turn", partial(_masks, how="rows in order"),
             "Your first row belongs to the position that has its turn first. Row i belongs to position i: the words have not moved."),
        Twin("rows of a triangle shuffled", partial(_masks, how="shuffled rows"),
             "You shuffled the rows of a triangle. Its columns are positions as well, so they have to be reordered too."),
        Twin("left neighbours only", partial(_masks, how="left only"),
             "You let a position see earlier turns only if they stand to its left. Seeing both sides is what the orders are for."),
        Twin("only the turn before", partial(_masks, how="one before"), "Every earlier turn may be seen, not the last one alone."),
        Twin("all others seen", partial(_masks, how="all others"),
             "In your masks every position sees all others, as in BERT. A word that has not had its turn is unknown."),
        Twin("diagonal missing in the content mask", partial(_masks, how="both strict"),
             "The content stream carries the word itself, so it may look at its own place. Your two masks are the same."),
        Twin("query stream sees its own word", partial(_masks, how="both with diagonal"),
             "The query stream has to guess the word at its place, so it must not look there. Your two masks are the same."),
        Twin("True means hide", partial(_masks, how="inverted"), "Every entry is the opposite: True means “may attend”."),
        Twin("numbers instead of booleans", partial(_masks, how="numbers"), "The pattern is right, but masks in this course are boolean."),
        Twin("an empty row opened", partial(_masks, how="first sees itself"),
             "You let the first position of the order see itself, perhaps to avoid an empty row. But then it reads its own answer. The "
             "policy for empty rows already covers this row."),
        Twin("only the last row filled", partial(_masks, how="last sees all, others nothing"),
             "You fill only the row of the last turn. Each position has a turn, and sees those that had their turn before."),
    ),
)
