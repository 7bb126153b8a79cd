"""Exercise 11a.3: the loss of a language model, handed out with three faults. The oracle walks token by token in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, randn


def next_token_loss(logits: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
    n = ids.shape[1]
    log_p = logits.log_softmax(-1)
    losses = -log_p[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    real = torch.arange(1, n) < lengths[:, None]
    return (losses * real).sum() / real.sum()


def oracle(logits: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
    losses = []
    for row, tokens, length in zip(logits.double(), ids.tolist(), lengths.tolist(), strict=True):
        for t in range(1, length):
            losses.append(torch.logsumexp(row[t - 1], 0) - row[t - 1, tokens[t]])
    return torch.stack(losses).mean().float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, lengths: list[int], n: int, vocab: int, part: str) -> Case:
        batch = len(lengths)
        args = {"logits": 1.5 * randn(g, batch, n, vocab), "ids": integers(g, 0, vocab, batch, n), "lengths": torch.tensor(lengths)}
        return Case(label, args, part, gradients=("logits",), shape="()")

    return [
        case("2 full rows of 5 tokens", [5, 5], 5, 7, "full rows"),
        case("3 rows of 6, 2 and 4 tokens", [6, 2, 4], 6, 9, "padding"),
        case("4 rows of up to 7 tokens, one of them a single token", [3, 7, 1, 5], 7, 11, "a single token"),
    ]


EXERCISE = FunctionExercise(right=next_token_loss, oracle=oracle, draw=draw)
