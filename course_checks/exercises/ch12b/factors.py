"""Exercise 12b.2: one sentence along any order. The oracle adds up entries of the joint table one by one."""

from itertools import pairwise, product

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def factors(joint: Tensor, sentence: Tensor, order: Tensor) -> Tensor:
    n = joint.dim()
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"order={order.tolist()} does not name each of the {n} positions once")
    words = sentence.tolist()
    turns = order.tolist()
    found = []
    for t, i in enumerate(turns):
        known = turns[:t]
        above = mass(joint, words, [*known, i])
        below = mass(joint, words, known)
        found.append(above / below)
    return torch.stack(found)


def mass(joint: Tensor, words: list[int], known: list[int]) -> Tensor:
    """The probability of all sentences that have these words at the known positions."""
    agreeing = joint[tuple(words[i] if i in known else slice(None) for i in range(joint.dim()))]
    return agreeing.sum()


def oracle(joint: Tensor, sentence: Tensor, order: Tensor) -> Tensor:
    words, turns = sentence.tolist(), order.tolist()
    cells = list(product(*map(range, joint.shape)))
    masses = [sum(joint[cell].item() for cell in cells if all(cell[i] == words[i] for i in turns[:t])) for t in range(len(turns) + 1)]
    return torch.tensor([above / below for below, above in pairwise(masses)])


def _table(g: torch.Generator, *shape: int) -> Tensor:
    weight = torch.rand(*shape, generator=g) ** 2 + 0.02
    return weight / weight.sum()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(order: list[int], *shape: int) -> Case:
        joint = _table(g, *shape)
        sentence = torch.tensor([int(torch.randint(1, size, (), generator=g)) for size in shape])
        if order == [1, 2, 0]:  # words that every axis has: whoever moves them gets wrong numbers, not an IndexError
            sentence = torch.randperm(min(shape), generator=g)
        args = {"joint": joint, "sentence": sentence, "order": torch.tensor(order)}
        part = "left to right" if order == sorted(order) else "other orders"
        return Case(f"{len(shape)} words, order {order}", args, part, shape="(n,)")

    three = [case([0, 1, 2], 3, 4, 5), case([1, 2, 0], 4, 3, 5), case([2, 0, 1], 5, 3, 4)]
    return [*three, case([2, 1, 3, 0], 4, 3, 5, 6), case([1, 3, 0, 2], 5, 3, 4, 6)]


def fixed() -> list[Case]:
    joint, sentence = _table(generator(4), 3, 4, 2), torch.tensor([0, 1, 1])
    one = {"joint": torch.tensor([0.3, 0.7]), "sentence": torch.tensor([1]), "order": torch.tensor([0])}

    def bad(label: str, *order: int) -> Case:
        args = {"joint": joint, "sentence": sentence, "order": torch.tensor(order)}
        return refusal(f"an order {label}", args, ", ".join(map(str, order)), part="refusal")

    return [
        Case("a sentence of one word", one, part="left to right", shape="(n,)"),
        bad("that is too short", 0, 1),
        bad("with a position 3 of 3", 0, 1, 3),
        bad("with a negative position", 0, 1, -1),
        bad("that is too long", 0, 1, 2, 0),
        bad("that names position 1 twice", 1, 0, 1),
    ]


EXERCISE = FunctionExercise(right=factors, helpers=(mass,), oracle=oracle, draw=draw, fixed=fixed)
