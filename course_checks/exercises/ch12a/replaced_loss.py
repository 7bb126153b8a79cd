"""Exercise 12a.4: ELECTRA's loss, handed out with three faults. The oracle adds up both answers in logarithms, in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, arguments, generator, integers, randn


def replaced_loss(logits: Tensor, original: Tensor, spoiled: Tensor, chosen: Tensor, mask: Tensor) -> Tensor:
    replaced = spoiled != original
    labels = replaced.float()
    losses = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return losses[mask].mean()


def oracle(logits: Tensor, original: Tensor, spoiled: Tensor, chosen: Tensor, mask: Tensor) -> Tensor:
    against = torch.where(spoiled == original, logits, -logits).double()  # the logit of the other answer
    return torch.logaddexp(torch.zeros_like(against), against)[mask].mean().float()


def _case(label: str, part: str, *values: Tensor) -> Case:
    return Case(label, arguments(replaced_loss, *values), part, gradients=("logits",), shape="()")


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(batch: int, n: int, lengths: list[int]) -> Case:
        mask = torch.arange(n) < torch.tensor(lengths)[:, None]
        original = torch.where(mask, integers(g, 5, 30, batch, n), 0)
        chosen = torch.zeros(batch, n, dtype=torch.bool)
        for row, length in enumerate(lengths):
            chosen[row, torch.randperm(length, generator=g)[:3]] = True
        spoiled = torch.where(chosen, integers(g, 30, 40, batch, n), original)
        for row in range(batch):  # one guess of the generator in each sentence is right
            place = chosen[row].nonzero()[0, 0]
            spoiled[row, place] = original[row, place]
        return _case(f"{batch} sentences of {lengths} tokens", "values", 1.5 * randn(g, batch, n), original, spoiled, chosen, mask)

    return [case(2, 7, [7, 5]), case(3, 8, [8, 6, 5]), case(4, 9, [9, 4, 7, 6])]


def fixed() -> list[Case]:
    large = torch.tensor([[150.0, -210.0, 190.0, -120.0], [-160.0, 180.0, 90.0, 0.0]])
    original, spoiled = torch.tensor([[7, 8, 9, 5], [6, 6, 8, 0]]), torch.tensor([[7, 8, 4, 3], [6, 9, 8, 0]])
    chosen = torch.tensor([[False, True, True, True], [False, True, False, False]])
    logits, ids, second = torch.tensor([[0.5, -2.0, 1.0]]), torch.tensor([[7, 8, 9]]), torch.tensor([[False, True, False]])
    return [
        _case("logits in the hundreds", "edges", large, original, spoiled, chosen, original > 0),
        _case("every guess of the generator was right", "edges", logits, ids, ids.clone(), second, ids > 0),
    ]


EXERCISE = FunctionExercise(right=replaced_loss, oracle=oracle, draw=draw, fixed=fixed)
