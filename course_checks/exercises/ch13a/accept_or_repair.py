"""Exercise 13a.5: accept a drafted token or repair it. The oracle walks row by row with Python's numbers."""

from itertools import accumulate

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator


def accept_or_repair(p: Tensor, q: Tensor, token: Tensor, u: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    own = token[:, None]
    ratio = (p.gather(1, own) / q.gather(1, own))[:, 0]
    accepted = u < ratio
    leftover = (p - q).clamp_min(0)
    running = leftover.cumsum(1) / leftover.sum(1, keepdim=True).clamp_min(1e-30)
    repaired = (running <= w[:, None]).sum(1).clamp_max(p.shape[1] - 1)
    return torch.where(accepted, token, repaired), accepted


def oracle(p: Tensor, q: Tensor, token: Tensor, u: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    new, accepted = [], []
    for large, small, x, a, b in zip(*(y.double().tolist() for y in (p, q)), token.tolist(), u.tolist(), w.tolist(), strict=True):
        accepted.append(a < large[x] / small[x])
        sums = list(accumulate(max(0.0, s - t) for s, t in zip(large, small, strict=True)))
        above = [i for i, running in enumerate(sums) if running > b * sums[-1]]
        new.append(x if accepted[-1] else above[0])
    return torch.tensor(new), torch.tensor(accepted)


def drawn(g: torch.Generator, n: int, tokens: int) -> Case:
    """Random models, and no decision so close that rounding errors make it."""
    while True:
        p, q = (1.3 * torch.randn(2, n, tokens, generator=g)).softmax(-1)
        token = torch.multinomial(q, 1, generator=g)[:, 0]
        u, w = torch.rand(2, n, generator=g)
        ratio, left = (p / q).gather(1, token[:, None])[:, 0], (p - q).clamp_min(0)
        running = left.cumsum(1) / left.sum(1, keepdim=True)
        if ((u - ratio).abs() > 1e-3).all() and ((running - w[:, None]).abs() > 1e-4).all() and 4 <= (u < ratio).sum() <= n - 4:
            return Case(f"{n} tokens of {tokens}", {"p": p, "q": q, "token": token, "u": u, "w": w}, shape="(n,), (n,)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [drawn(g, 40, 6), drawn(g, 30, 9), drawn(g, 50, 4)]


def case(label: str, p: list[float], q: list[float], token: list[int], u: list[float], w: list[float]) -> Case:
    """The same two distributions for every token."""
    args = {"p": torch.tensor([p] * len(token)), "q": torch.tensor([q] * len(token))}
    args |= {"token": torch.tensor(token), "u": torch.tensor(u), "w": torch.tensor(w)}
    return Case(label, args, part="edges")


def fixed() -> list[Case]:
    p, q, same = [0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5], [0.2, 0.3, 0.5]
    return [
        case("the large model is surer than the small one", p, q, [0], [0.99], [0.9]),
        case("the token is impossible for the large model", p, q, [3], [0.0], [0.2]),
        case("w is exactly a running sum", p, q, [3], [0.5], [0.5]),
        case("w close to 1", p, q, [3], [0.5], [0.999]),
        case("w is 0", p, q, [3, 3], [0.5, 0.5], [0.0, 0.0]),
        case("w is 0, and the first token has no leftover", p[::-1], q[::-1], [0], [0.5], [0.0]),
        case("two equal models", same, same, [2, 0, 1], [0.99, 0.0, 0.5], [0.1, 0.5, 0.9]),
    ]


FORBIDDEN = ("course_utils.training.speculative.accept_or_repair",)
OUTPUTS = ("new tokens", "accepted")
EXERCISE = FunctionExercise(right=accept_or_repair, oracle=oracle, draw=draw, fixed=fixed, outputs=OUTPUTS, forbidden=FORBIDDEN)
