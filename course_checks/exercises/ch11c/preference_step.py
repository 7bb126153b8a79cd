"""Exercise 11c.7: one step of direct preference optimisation on a table of scores. The oracle lets autograd differentiate, in doubles."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, arguments, generator, integers, randn


def preference_step(scores: Tensor, known: Tensor, chosen: Tensor, rejected: Tensor, beta: float, rate: float) -> Tensor:
    gain = scores.log_softmax(0) - known
    margins = beta * (gain[chosen] - gain[rejected])
    force = beta * torch.sigmoid(-margins) / len(chosen)
    change = torch.zeros_like(scores)
    change = change.index_add(0, chosen, force)
    change = change.index_add(0, rejected, -force)
    return scores + rate * change


def oracle(scores: Tensor, known: Tensor, chosen: Tensor, rejected: Tensor, beta: float, rate: float) -> Tensor:
    with torch.enable_grad():
        before = scores.detach().double().requires_grad_()
        margins = beta * (before[chosen] - before[rejected] - (known[chosen] - known[rejected]).double())
        (slope,) = torch.autograd.grad(-F.logsigmoid(margins).mean(), before)
    return (before.detach() - rate * slope).float()


def case(label: str, part: str, *values) -> Case:
    return Case(label, arguments(preference_step, *values), part, shape="(answers,)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def drawn(label: str, answers: int, pairs: int, beta: float, rate: float) -> Case:
        chosen = integers(g, 0, answers, pairs)
        rejected = (chosen + integers(g, 1, answers, pairs)) % answers
        part = "pairs" if pairs > 1 else "one pair"
        return case(label, part, 1.2 * randn(g, answers), randn(g, answers).log_softmax(0), chosen, rejected, beta, rate)

    return [
        drawn("3 answers, one pair", 3, 1, 0.7, 0.9),
        drawn("6 answers, 4 pairs", 6, 4, 1.6, 0.5),
        drawn("4 answers, 11 pairs: they occur again and again", 4, 11, 0.4, 1.5),
    ]


def fixed() -> list[Case]:
    known, far = torch.tensor([0.5, 0.3, 0.2]).log(), torch.tensor([700.0, 0.0, 1.0])
    both, settled, lost = (torch.tensor(pairs) for pairs in ([[0, 1], [1, 0]], [[0, 2], [1, 1]], [[1, 2], [0, 1]]))
    return [
        case("policy equal to the reference, a pair and its opposite", "pairs", known.clone(), known, *both, 0.8, 1.3),
        case("a pair that is settled by 700 nats", "pairs", far, known, *settled, 1.2, 0.6),
        case("a pair that is lost by 700 nats", "pairs", far, known, *lost, 1.2, 0.6),
    ]


EXERCISE = FunctionExercise(right=preference_step, oracle=oracle, draw=draw, fixed=fixed, rtol=1e-3)
