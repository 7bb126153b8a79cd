"""Exercise 12b.1: what two words lose when they are guessed apart. The oracle sums over both tables at once, in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def guessed_apart(joint: Tensor) -> tuple[Tensor, Tensor]:
    total = joint.sum().item()
    if abs(total - 1) > 1e-4:
        raise ValueError(f"the probabilities add up to {total:.4g} instead of 1")
    first, second = joint.sum(1, keepdim=True), joint.sum(0)
    product = first * second
    seen = joint > 0
    p, q = joint[seen], product[seen]
    lost = (p * (p / q).log()).sum()
    return product, lost


def oracle(joint: Tensor) -> tuple[Tensor, Tensor]:
    p = joint.double()
    product = torch.einsum("ij,kl->il", p, p)
    return product.float(), (torch.xlogy(p, p) - torch.xlogy(p, product)).sum().float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def table(rows: int, columns: int, holes: bool) -> Tensor:
        weight = torch.rand(rows, columns, generator=g) + 0.15
        weight[0, 1] += 1.5
        if holes:
            weight[1, 0] = weight[0, 2] = weight[2, 1] = 0
        return weight / weight.sum()

    return [
        Case("3 × 4 words", {"joint": table(3, 4, False)}, part="every pair possible"),
        Case("4 × 5 words, some pairs impossible", {"joint": table(4, 5, True)}, part="impossible pairs"),
        Case("5 × 3 words, some pairs impossible", {"joint": table(5, 3, True)}, part="impossible pairs"),
    ]


def fixed() -> list[Case]:
    new_york = torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    independent = torch.outer(torch.tensor([0.2, 0.8]), torch.tensor([0.1, 0.6, 0.3]))
    return [
        Case("two cities, half each, and a second word that never occurs", {"joint": new_york}, part="impossible pairs"),
        Case("words that do not know of each other", {"joint": independent}, part="every pair possible"),
        refusal("a table that adds up to 0.75", {"joint": torch.full((3, 2), 0.125)}, "0.75", part="refusal"),
        refusal("a table that adds up to 0.9375", {"joint": torch.full((3, 5), 0.0625)}, part="refusal"),
        refusal("a table that adds up to 1.5", {"joint": torch.full((2, 3), 0.25)}, "1.5", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=guessed_apart, oracle=oracle, draw=draw, fixed=fixed, outputs=("product", "lost"), atol=2e-5)
