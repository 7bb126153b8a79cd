"""Exercise 11a.10: the share of a model in a mixture, by EM. The oracle is a loop over Python's floats."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(p: Tensor, q: Tensor, rounds: int) -> float:
    share, pairs = 0.5, list(zip(p.tolist(), q.tolist(), strict=True))
    for _ in range(rounds):
        share = sum(share * a / (share * a + (1 - share) * b) for a, b in pairs) / len(pairs)
    return share


def _share(p: Tensor, q: Tensor, rounds: int, how: str = "right") -> float:
    share = 0.0 if how == "from 0" else 1.0 if how == "from 1" else 0.5
    if how == "one less":
        rounds = max(0, rounds - 1)
    elif how == "one more":
        rounds += 1
    for _ in range(rounds):
        weight = 0.5 if how == "always one half" else share
        mine, other = weight * p, (1 - weight) * q
        match how:
            case "the other's":
                mine, other = other, mine
        asked = mine / (mine + other)
        match how:
            case "ratio of sums":
                share = (mine.sum() / (mine + other).sum()).item()
            case "hard":
                share = (mine > other).float().mean().item()
            case "sum":
                share = asked.sum().item()
            case "median":
                share = asked.median().item()
            case "odds":
                share = (mine / other).mean().item()
            case "geometric":
                share = asked.log().mean().exp().item()
            case "logarithms":
                a, b = -(mine.log()), -(other.log())
                share = (a / (a + b)).mean().item()
            case "last token":
                share = asked[-1].item()
            case _:
                share = asked.mean().item()
    return share


def _reference(p: Tensor, q: Tensor, rounds: int) -> float:
    if len(p) != len(q):
        raise ValueError(f"{len(p)} and {len(q)} tokens cannot be mixed")
    return _share(p, q, rounds)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def two(n: int, tilt: float) -> dict[str, Tensor]:
        return {"p": torch.rand(n, generator=g) * 0.7 + 0.05, "q": torch.rand(n, generator=g) * tilt + 0.02}

    return [Case("one round, 9 tokens", two(9, 0.5) | {"rounds": 1}), Case("three rounds, 14 tokens", two(14, 0.9) | {"rounds": 3}),
            Case("eight rounds, 23 tokens", two(23, 0.6) | {"rounds": 8})]


def _fixed() -> list[Case]:
    p, q = torch.tensor([0.8, 0.1, 0.5]), torch.tensor([0.2, 0.3, 0.6])
    return [Case("0 rounds", {"p": p, "q": q, "rounds": 0}, part="edges"),
            Case("a single token", {"p": p[:1], "q": q[:1], "rounds": 2}, part="edges"),
            Case("two equal models", {"p": p, "q": p.clone(), "rounds": 5}, part="edges"),
            Case("probabilities near 1e-20", {"p": p * 1e-20, "q": q * 1e-20, "rounds": 4}, part="edges"),
            Case("3 and 2 tokens", {"p": p, "q": q[:2], "rounds": 2}, part="bad input", rejects=ValueError, mentions=("3", "2")),
            Case("3 tokens and 1", {"p": p, "q": q[:1], "rounds": 2}, part="bad input", rejects=ValueError, mentions=("3", "1"))]


SHARING = Exercise(
    id="11a.10", title="The share in a mixture", name="mixing_share", kind="function", stars=2, minutes=10,
    signature="mixing_share(p, q, rounds) -> float", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 3, "edges": 1, "bad input": 1}, forbidden=("course_utils.experiments.ch11a_counting.best_share",),
    twins=(
        Twin("begins again with one half", partial(_share, how="always one half"),
             "You use one half as the share in every round: p / (p + q). Use the share that the round before has found."),
        Twin("the other one's share", partial(_share, how="the other's"),
             "You compute the probability that q was asked. The share is that of the model with probabilities p."),
        Twin("a ratio of sums", partial(_share, how="ratio of sums"),
             "You add up first and then divide. Each token has its own probability that the model was asked. Average those."),
        Twin("all or nothing", partial(_share, how="hard"),
             "You count the tokens for which the model was more probably asked. A token at .6 counts .6, not 1."),
        Twin("sum instead of mean", partial(_share, how="sum"), "The share is a mean over the tokens; yours grows with their number."),
        Twin("median instead of mean", partial(_share, how="median"), "The new share is the mean over the tokens, not the median."),
        Twin("odds instead of a probability", partial(_share, how="odds"),
             "w p / ((1 - w) q) are the odds. The probability divides by the sum of both."),
        Twin("geometric mean", partial(_share, how="geometric"), "You average logarithms. The share is the mean of the probabilities."),
        Twin("logarithms in the ratio", partial(_share, how="logarithms"),
             "Bayes' rule needs the probabilities themselves, not their logarithms."),
        Twin("one round too few", partial(_share, how="one less"), "Count the rounds: yours stops one too early."),
        Twin("one round too many", partial(_share, how="one more"), "You make one round too many. After 0 rounds the share is 0.5."),
        Twin("begins with 0", partial(_share, how="from 0"), "A share of 0 stays 0 for ever. It starts at one half."),
        Twin("begins with 1", partial(_share, how="from 1"), "A share of 1 stays 1 for ever. It starts at one half."),
        Twin("only the last token", partial(_share, how="last token"), "The new share is the mean over all tokens; you keep one token's."),
    ),
)
