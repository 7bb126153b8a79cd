"""Exercise 08a.6: label smoothing by hand. The oracle is PyTorch's cross-entropy, which smooths as well."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, cross_entropy, generator, integers, randn, refusal


def smoothed_loss(scores: Tensor, target: Tensor, eps: float = 0.1) -> Tensor:
    if not 0 <= eps < 1:
        raise ValueError(f"eps={eps} must be at least 0 and below 1")
    log_p = torch.log_softmax(scores, dim=-1)  # (..., vocab)
    right = log_p.gather(-1, target[..., None])[..., 0]  # (...)
    return -(1 - eps) * right - eps * log_p.mean(-1)


def oracle(scores: Tensor, target: Tensor, eps: float) -> Tensor:
    flat = cross_entropy(scores.reshape(-1, scores.shape[-1]), target.reshape(-1), label_smoothing=eps, reduction="none")
    return flat.reshape(target.shape)


def case(label: str, eps: float, scores: Tensor, target: Tensor, shape: str) -> Case:
    return Case(label, {"scores": scores, "target": target, "eps": eps}, gradients=("scores",), shape=shape)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    label = "2 sentences of 4 tokens, 7 words, eps = 0.1"
    return [
        case(label, 0.1, 1.5 * randn(g, 2, 4, 7), integers(g, 0, 7, 2, 4), "(batch, n)"),
        case("5 tokens, 6 words, eps = 0.3", 0.3, 1.5 * randn(g, 5, 6), integers(g, 0, 6, 5), "(n,)"),
    ]


def fixed() -> list[Case]:
    g = generator(6)
    scores, target = randn(g, 3, 5), torch.tensor([0, 4, 2])
    given = {"scores": scores, "target": target}
    return [
        case("eps = 0 is the plain loss", 0.0, scores, target, "(n,)"),
        case("one token without an axis", 0.2, scores[0], target[0], "()"),
        case("three axes", 0.05, randn(g, 2, 3, 4, 5), integers(g, 0, 5, 2, 3, 4), "(2, 3, 4)"),
        refusal("eps = 1.5", given | {"eps": 1.5}, "1.5", part="refusal"),
        Case("scores of size 200", {"scores": 200 * scores, "target": target, "eps": 0.1}, shape="(n,)"),
        refusal("eps = 1", given | {"eps": 1.0}, "1", part="refusal"),
        refusal("eps = -0.5", given | {"eps": -0.5}, "0.5", part="refusal"),
    ]


FORBIDDEN = ("torch.nn.functional.cross_entropy", "torch.nn.functional.kl_div")
EXERCISE = FunctionExercise(right=smoothed_loss, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
