"""Exercise 12a.5: a student learns from a teacher's probabilities. The oracle sums over the vocabulary in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, arguments, generator, integers, randn, refusal


def distil(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float) -> Tensor:
    t = temperature
    if t <= 0:
        raise ValueError(f"temperature={t} must be positive")
    log_p = (teacher.detach() / t).log_softmax(-1)
    log_q = (student / t).log_softmax(-1)
    soft = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    hard = F.cross_entropy(student, labels)
    return share * t**2 * soft + (1 - share) * hard


def oracle(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float) -> Tensor:
    mine, theirs = student.double(), teacher.detach().double()
    p, q = ((x / temperature).exp() / (x / temperature).exp().sum(-1, keepdim=True) for x in (theirs, mine))
    soft = (p * (p.log() - q.log())).sum(-1)
    hard = mine.exp().sum(-1).log() - mine[range(len(labels)), labels]
    return (share * temperature**2 * soft + (1 - share) * hard).mean().float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, vocab: int, temperature: float, share: float) -> Case:
        args = arguments(distil, 1.5 * randn(g, n, vocab), 2 * randn(g, n, vocab), integers(g, 0, vocab, n), temperature, share)
        return Case(f"{n} tokens, temperature {temperature}, share {share}", args, gradients=("student", "teacher"), shape="()")

    return [case(4, 7, 2.0, 0.7), case(5, 6, 3.0, 0.4), case(3, 8, 4.0, 0.75)]


def fixed() -> list[Case]:
    sure = torch.tensor([[80.0, -10.0, 0.0], [1.0, 150.0, -120.0]]), torch.tensor([[-60.0, 130.0, 250.0], [220.0, -30.0, 160.0]])
    one = torch.tensor([[1.0, 2.0, -0.5]]), torch.tensor([[0.5, 0.0, 3.0]]), torch.tensor([0])
    flat = torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([1])
    large, both = arguments(distil, *sure, torch.tensor([2, 0]), 1.5, 0.5), ("student", "teacher")
    return [
        refusal("temperature 0", arguments(distil, *flat, 0.0, 0.5), "0", part="edges"),
        refusal("temperature -1.5", arguments(distil, *flat, -1.5, 0.5), "-1.5", part="edges"),
        Case("a teacher that is certain, logits in the hundreds", large, gradients=both, shape="()"),
        Case("one token, the teacher alone", arguments(distil, *one, 3.0, 1.0), part="edges", gradients=("student",), shape="()"),
        Case("labels alone", arguments(distil, *one, 2.0, 0.0), part="edges", gradients=("student",), shape="()"),
    ]


OURS = "course_utils.experiments.ch12a_distil.distillation_loss"
EXERCISE = FunctionExercise(right=distil, oracle=oracle, draw=draw, fixed=fixed, forbidden=(OURS,))
