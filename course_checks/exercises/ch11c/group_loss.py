"""Exercise 11c.3: the loss of a policy gradient with a group for its baseline. The oracle asks Python's statistics, group by group."""

import statistics

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, randn, refusal


def group_loss(log_probs: Tensor, rewards: Tensor) -> tuple[Tensor, Tensor]:
    if rewards.shape[1] < 2:
        raise ValueError(f"a group of {rewards.shape[1]} answer has nothing to be compared with")
    mean = rewards.mean(1, keepdim=True)
    spread = rewards.std(1, keepdim=True, correction=0)
    centred = rewards - mean
    advantages = torch.where(spread == 0, 0.0, centred / spread)
    loss = -(advantages * log_probs).mean()
    return loss, advantages


def oracle(log_probs: Tensor, rewards: Tensor) -> tuple[Tensor, Tensor]:
    rows = []
    for group in rewards.tolist():
        mean, spread = statistics.fmean(group), statistics.pstdev(group)
        rows.append([(reward - mean) / spread if spread else 0.0 for reward in group])
    advantages = torch.tensor(rows, dtype=torch.double)
    return (-torch.einsum("qg,qg->", advantages, log_probs.double()) / log_probs.numel()).float(), advantages.float()


def case(g: torch.Generator, label: str, rewards: Tensor, part: str = "values") -> Case:
    args = arguments(group_loss, -1.0 - 6 * torch.rand(rewards.shape, generator=g), rewards)
    return Case(label, args, part, gradients=("log_probs",), shape="(questions, group)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "4 questions, 5 answers each", torch.rand(4, 5, generator=g)),
        case(g, "3 questions, 7 answers each", 3 * randn(g, 3, 7) + torch.tensor([[5.0], [-4.0], [1.0]])),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    lonely = arguments(group_loss, torch.tensor([[-1.0], [-2.0]]), torch.tensor([[1.0], [0.0]]))
    return [
        case(g, "rewards a hundredth apart", 1e-2 * randn(g, 3, 4)),
        case(g, "right or wrong, 1 or 0", torch.tensor([[1.0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 0, 1]])),
        case(g, "one group all right, one all wrong", torch.tensor([[1.0, 1, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]]), "equal"),
        case(g, "nothing to choose from anywhere", torch.ones(2, 3), "equal"),
        refusal("groups of one", lonely, "1", part="refusal"),
    ]


RESULTS = ("loss", "advantages")
EXERCISE = FunctionExercise(right=group_loss, oracle=oracle, draw=draw, fixed=fixed, outputs=RESULTS, rtol=1e-3, atol=1e-4)
