"""Exercise 11c.1: the log-probability of an answer after its prompt. The oracle cuts it out of each row for PyTorch's cross-entropy."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, cross_entropy, generator, integers, randn


def answer_log_prob(logits: Tensor, ids: Tensor, prompts: Tensor, lengths: Tensor) -> Tensor:
    log_p = logits[:, :-1].log_softmax(-1)
    picked = log_p.gather(-1, ids[:, 1:, None])[..., 0]
    place = torch.arange(1, ids.shape[1])
    start, end = prompts[:, None], lengths[:, None]
    counts = (place >= start) & (place < end)
    return (picked * counts).sum(1)


def oracle(logits: Tensor, ids: Tensor, prompts: Tensor, lengths: Tensor) -> Tensor:
    rows = zip(logits.double(), ids, prompts.tolist(), lengths.tolist(), strict=True)
    return torch.stack([-cross_entropy(row[a - 1 : b - 1], tokens[a:b], reduction="sum") for row, tokens, a, b in rows]).float()


def _case(g: torch.Generator, label: str, prompts: list[int], lengths: list[int], n: int, vocab: int, part: str) -> Case:
    logits, ids = 1.5 * randn(g, len(lengths), n, vocab), integers(g, 0, vocab, len(lengths), n)
    args = arguments(answer_log_prob, logits, ids, torch.tensor(prompts), torch.tensor(lengths))
    return Case(label, args, part, gradients=("logits",), shape="(batch,)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        _case(g, "2 full rows of 6 tokens, prompts of 2", [2, 2], [6, 6], 6, 8, "one prompt length"),
        _case(g, "3 rows of 7, 5 and 6 tokens, prompts of 3, 1 and 2", [3, 1, 2], [7, 5, 6], 9, 11, "ragged"),
        _case(g, "4 rows of up to 8 tokens", [4, 2, 1, 3], [8, 7, 6, 5], 10, 7, "ragged"),
    ]


def fixed() -> list[Case]:
    steep = _case(generator(7), "logits in the hundreds", [2, 1], [5, 4], 5, 7, "one prompt length")
    steep.args["logits"] *= 60
    return [
        steep,
        _case(generator(8), "a single row", [2], [4], 4, 6, "one prompt length"),
        _case(generator(9), "an answer of one token, and a row without an answer", [3, 2], [4, 2], 5, 6, "ragged"),
    ]


EXERCISE = FunctionExercise(right=answer_log_prob, oracle=oracle, draw=draw, fixed=fixed)
