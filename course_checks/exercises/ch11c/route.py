"""Exercise 11c.6: the router of a mixture of experts, handed out with faults. The oracle sorts each token's experts as a list."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def route(logits: Tensor, active: int) -> tuple[Tensor, Tensor]:
    experts = logits.shape[1]
    if not 1 <= active <= experts:
        raise ValueError(f"active={active} must lie between 1 and the {experts} experts")
    p = logits.softmax(1)
    top = p.topk(active, dim=1).indices
    chosen = torch.zeros_like(p).scatter(1, top, 1.0)
    weights = p * chosen
    weights = weights / weights.sum(1, keepdim=True)
    share = chosen.sum(0) / chosen.sum()
    mean = p.mean(0)
    balance = experts * (share * mean).sum()
    return weights, balance


def oracle(logits: Tensor, active: int) -> tuple[Tensor, Tensor]:
    tokens, experts = logits.shape
    scores = logits.double()
    p = torch.exp(scores - torch.logsumexp(scores, 1, keepdim=True))
    best = [sorted(range(experts), key=row.__getitem__, reverse=True)[:active] for row in logits.tolist()]
    chosen = torch.tensor([[e in mine for e in range(experts)] for mine in best]).double()
    weights = p * chosen / torch.einsum("te,te->t", p, chosen)[:, None]
    balance = experts * torch.einsum("te,se->", chosen, p) / (tokens * active * tokens)
    return weights.float(), balance.float()


def _case(label: str, logits: Tensor, active: int, part: str = "two or more", gradients: tuple[str, ...] = ("logits",)) -> Case:
    return Case(label, {"logits": logits, "active": active}, part=part, gradients=gradients, shape="(tokens, experts)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(tokens: int, experts: int, active: int, part: str = "two or more") -> Case:
        spread = torch.randn(tokens, experts, generator=g)
        ranks = torch.rand(tokens, experts, generator=g).argsort(1) * 0.3  # no two logits of a token lie close together
        place = ranks.argsort(1)
        logits = 0.4 * spread.sort(1).values.gather(1, place) + ranks.sort(1).values.gather(1, place)
        return _case(f"{tokens} tokens, {active} of {experts} experts", logits, active, part)

    return [case(7, 4, 1, "one expert"), case(6, 5, 2), case(9, 7, 3), case(5, 3, 2)]


def fixed() -> list[Case]:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.2, 1.4, -0.3], [1.1, 0.1, 0.6], [-0.6, 0.4, 1.7]])
    two = torch.tensor([[1.5, 1.5, 0.0, -1.0]])
    return [
        _case("a router with zero weights: all logits equal, 2 of 8", torch.zeros(3, 8), 2, gradients=()),
        _case("two experts equally probable, 1 of 4", two, 1, "one expert", gradients=()),
        _case("a single token", logits[:1], 2),
        refusal("-1 of 3 experts", {"logits": logits, "active": -1}, "-1", "3", part="refusal"),
        _case("all experts active", logits, 3, gradients=()),
        refusal("4 of 3 experts", {"logits": logits, "active": 4}, "4", "3", part="refusal"),
        refusal("0 of 3 experts", {"logits": logits, "active": 0}, "0", "3", part="refusal"),
    ]


def sorted_ties(result: Tensor) -> Tensor:
    """Rows of the cases with equal logits are sorted: any of the equal experts are right there."""
    return result.sort(1).values if result.shape in ((3, 8), (1, 4)) else result


TWO, COMPARED = ("weights", "balance"), "of equal experts any are right"
EXERCISE = FunctionExercise(right=route, oracle=oracle, draw=draw, fixed=fixed, outputs=TWO, raw=sorted_ties, compared=COMPARED)
