"""Exercise 12b.3: an order as two masks. The oracle asks for every pair of positions who had its turn first."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def order_masks(order: Tensor) -> tuple[Tensor, Tensor]:
    n = len(order)
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"order={order.tolist()} does not name each of the {n} positions once")
    rank = order.argsort()
    own = torch.eye(n, dtype=torch.bool)
    query = rank < rank[:, None]
    content = query | own
    return content, query


def oracle(order: Tensor) -> tuple[Tensor, Tensor]:
    turns = order.tolist()
    sooner = torch.tensor([[turns.index(i) - turns.index(j) for j in range(len(turns))] for i in range(len(turns))])
    return sooner >= 0, sooner > 0


def _telling(g: torch.Generator, n: int) -> Tensor:
    """An order that is not its own inverse, nor mirrored in it, so that mixed-up readings show."""
    while True:
        order = torch.randperm(n, generator=g)
        inverse = order.argsort()
        others = (order, n - 1 - order, n - 1 - inverse, torch.arange(n), torch.arange(n).flip(0))
        if all((inverse != other).sum() >= 3 for other in others) and int(inverse[0]) not in (0, n - 1):
            return order


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case(f"order {order.tolist()}", {"order": order}, shape="(n, n)") for order in (_telling(g, n) for n in (5, 6, 7))]


def fixed() -> list[Case]:
    def bad(label: str, *order: int) -> Case:
        return refusal(f"an order {label}", {"order": torch.tensor(order)}, ", ".join(map(str, order)), part="refusal")

    return [
        Case("two tokens, the second first", {"order": torch.tensor([1, 0])}, part="edges", shape="(n, n)"),
        Case("left to right", {"order": torch.arange(4)}, part="edges", shape="(n, n)"),
        bad("that leaves positions out", 0, 2, 5),
        bad("that names two positions twice", 0, 0, 3, 3),
        bad("with a negative position", 0, -1, 1),
        bad("counted from 1", 2, 1, 3),
        bad("that names position 2 twice", 0, 2, 2, 1),
    ]


OURS = ("course_utils.models.xlnet.permutation_masks",)
EXERCISE = FunctionExercise(right=order_masks, oracle=oracle, draw=draw, fixed=fixed, forbidden=OURS, outputs=("content", "query"))
