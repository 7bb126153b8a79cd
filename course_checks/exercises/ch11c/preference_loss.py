"""Exercise 11c.2: the loss of direct preference optimisation. The oracle adds the two probabilities of a pair, in logarithms."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, arguments, generator, randn, refusal

Pair = tuple[Tensor, Tensor]


def preference_loss(
    policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Pair:
    if not beta > 0:
        raise ValueError(f"beta={beta} must be positive")
    chosen = policy_chosen - reference_chosen
    rejected = policy_rejected - reference_rejected
    margins = beta * (chosen - rejected)
    loss = -F.logsigmoid(margins).mean()
    return loss, margins


def oracle(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float) -> Pair:
    a, b, c, d = (x.double() for x in (policy_chosen, policy_rejected, reference_chosen, reference_rejected))
    margins = beta * (a - b) - beta * (c - d)
    return torch.logaddexp(torch.zeros_like(margins), -margins).mean().float(), margins.float()  # ln(1 + e^-margin)


def _args(g: torch.Generator, pairs: int, beta: float, scale: float = 1.0) -> dict:
    known = [-5.0 - 2 * torch.rand(pairs, generator=g) for _ in range(2)]
    policy = [x + scale * randn(g, pairs) if scale else x.clone() for x in known]
    return arguments(preference_loss, *policy, *known, beta)


def _case(label: str, args: dict, part: str = "values") -> Case:
    return Case(label, args, part=part, gradients=("policy_chosen", "policy_rejected"), shape="()")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case("5 pairs, beta 0.4", _args(g, 5, 0.4)), _case("3 pairs, beta 1.7", _args(g, 3, 1.7))]


def fixed() -> list[Case]:
    g = generator(4)
    far = _args(g, 2, 1.0, scale=0.5)
    far["policy_chosen"] += torch.tensor([-400.0, 300.0])
    return [
        _case("a single pair", _args(g, 1, 0.7)),
        _case("policy equal to the reference", _args(g, 4, 0.3, scale=0), "edges"),
        _case("policy and reference hundreds of nats apart: the sigmoid rounds to 0, exp overflows", far, "edges"),
        refusal("beta 0", _args(g, 2, 0.0), "0", part="refusal"),
        refusal("beta -0.5", _args(g, 2, -0.5), "-0.5", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=preference_loss, oracle=oracle, draw=draw, fixed=fixed, outputs=("loss", "margins"))
