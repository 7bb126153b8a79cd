"""Exercise 12b.7: the loss of masked diffusion. The oracle hands each sentence's hidden words to PyTorch's cross-entropy."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, cross_entropy, generator, integers, randn, refusal


def diffusion_loss(logits: Tensor, ids: Tensor, hidden: Tensor, t: Tensor) -> Tensor:
    if not ((t > 0) & (t <= 1)).all():
        raise ValueError(f"t={t.tolist()} must be above 0 and at most 1")
    log_p = logits.log_softmax(-1)
    nats = -log_p.gather(-1, ids[..., None])[..., 0]
    each = (nats * hidden).sum(1) / t
    return each.mean()


def oracle(logits: Tensor, ids: Tensor, hidden: Tensor, t: Tensor) -> Tensor:
    rows = zip(logits.double(), ids, hidden, t.double(), strict=True)
    return torch.stack([cross_entropy(row[gaps], words[gaps], reduction="sum") / share for row, words, gaps, share in rows]).mean().float()


def _args(g: torch.Generator, n: int, vocab: int, t: list[float], counts: list[int]) -> dict:
    hidden = torch.stack([torch.randperm(n, generator=g) < count for count in counts])
    return {"logits": 1.5 * randn(g, len(t), n, vocab), "ids": integers(g, 0, vocab, len(t), n), "hidden": hidden, "t": torch.tensor(t)}


def _case(label: str, part: str, args: dict) -> Case:
    return Case(label, args, part=part, gradients=("logits",), shape="()")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        _case("3 sentences of 6 words", "values", _args(g, 6, 9, [0.3, 0.55, 0.8], [3, 2, 5])),
        _case("4 sentences of 7 words", "values", _args(g, 7, 5, [0.9, 0.2, 0.45, 0.65], [6, 1, 4, 3])),
        _case("3 sentences, in one of them nothing is hidden", "edges", _args(g, 5, 8, [0.4, 0.1, 0.7], [2, 0, 4])),
    ]


def fixed() -> list[Case]:
    g = generator(6)
    logits = torch.tensor([[[120.0, -90.0, 0.0], [10.0, -200.0, 150.0], [0.0, 40.0, -130.0]]])
    hidden = torch.tensor([[True, False, True]])
    sure = {"logits": logits, "ids": torch.tensor([[1, 0, 2]]), "hidden": hidden, "t": torch.tensor([0.5])}
    return [
        _case("logits in the hundreds", "edges", sure),
        _case("everything is hidden, t = 1", "edges", _args(g, 4, 6, [1.0, 1.0], [4, 4])),
        refusal("t = 1.5", _args(g, 4, 6, [0.5, 1.5], [2, 2]), "1.5", part="refusal"),
        refusal("t = -0.25", _args(g, 4, 6, [0.5, -0.25], [2, 2]), "-0.25", part="refusal"),
        refusal("t = 0", _args(g, 4, 6, [0.5, 0.0], [2, 0]), part="refusal"),
    ]


EXERCISE = FunctionExercise(right=diffusion_loss, oracle=oracle, draw=draw, fixed=fixed)
