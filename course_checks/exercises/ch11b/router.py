"""Exercise 11b.7: the router of a mixture of experts, handed out with faults. The oracle sorts each token's experts as a list."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, active: int) -> tuple[Tensor, Tensor]:
    tokens, experts = logits.shape
    scores = logits.double()
    p = torch.exp(scores - torch.logsumexp(scores, 1, keepdim=True))
    best = [sorted(range(experts), key=lambda e, row=row: -row[e])[:active] for row in logits.tolist()]
    chosen = torch.tensor([[float(e in mine) for e in range(experts)] for mine in best], dtype=torch.double)
    weights = p * chosen / torch.einsum("te,te->t", p, chosen)[:, None]
    balance = experts * sum(sum(e in mine for mine in best) / (tokens * active) * p[:, e].sum() / tokens for e in range(experts))
    return weights.float(), balance.float()


def _route(logits: Tensor, active: int, axis: int = 1, normal: str = "chosen", balance: str = "right", pick: str = "rows"
           ) -> tuple[Tensor, Tensor]:
    tokens, experts = logits.shape
    p = logits.sigmoid() if normal == "sigmoid" else logits.softmax(axis)
    k = min(experts, active + 1) if pick == "one more" else active
    place = p.topk(k, dim=1, largest=pick != "smallest").indices
    if pick == "first token":
        place = place[:1].expand(tokens, k)
    mask = torch.zeros_like(p).scatter(1, place, 1.0)
    if pick == "ties too":
        mask = (p >= p.topk(k, dim=1).values[:, -1:]).to(p.dtype)
    if pick == "strictly":
        mask = (p > p.topk(k, dim=1).values[:, -1:]).to(p.dtype)
    if pick == "columns":  # each expert takes its best tokens
        mask = torch.zeros_like(p).scatter(0, p.topk(min(tokens, active), dim=0).indices, 1.0)
    if pick == "all":
        mask = torch.ones_like(p)
    weights = p * mask
    match normal:
        case "chosen" | "sigmoid":
            weights = weights / weights.sum(1, keepdim=True)
        case "again":
            weights = weights.masked_fill(mask == 0, -torch.inf).softmax(1)
        case "logits":
            weights = logits * mask / (logits * mask).sum(1, keepdim=True)
        case "zeros":
            weights = (logits * mask).softmax(1)
        case "unmasked again":
            weights = weights.softmax(1)
        case "total":
            weights = weights / weights.sum()
        case "even":
            weights = mask / mask.sum(1, keepdim=True)
        case "columns":
            weights = weights / weights.sum(0, keepdim=True).clamp_min(1e-9)
        case word if word != "none":
            raise ValueError(word)
    share, mean = mask.sum(0) / mask.sum(), p.mean(0)
    match balance:
        case "no factor":
            return weights, (share * mean).sum()
        case "share twice":
            return weights, experts * (share * share).sum() + 0 * logits.sum()
        case "detached":
            return weights, experts * (share * mean.detach()).sum()
        case "mean twice":
            return weights, experts * (mean * mean).sum()
        case "per token":
            return weights, experts * (mask.mean(0) * mean).sum()
        case "weights":
            return weights, experts * (share * weights.mean(0)).sum()
        case "first choice":
            first = torch.zeros_like(p).scatter(1, p.argmax(1, keepdim=True), 1.0).mean(0)
            return weights, experts * (first * mean).sum()
        case "tokens":
            return weights, tokens * (share * mean).sum()
        case "sums":
            return weights, experts * (mask.sum(0) * p.sum(0)).sum()
        case "summed":
            return weights, experts * (share * p.sum(0)).sum()
        case "active factor":
            return weights, active * (share * mean).sum()
        case "deviation":
            return weights, (mean - 1 / experts).square().sum()
    return weights, experts * (share * mean).sum()


def _careful(logits: Tensor, active: int, **ways: Any) -> tuple[Tensor, Tensor]:
    if not 1 <= active <= logits.shape[1]:
        raise ValueError(f"active={active} must lie between 1 and the {logits.shape[1]} experts")
    return _route(logits, active, **ways)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, tokens: int, experts: int, active: int) -> Case:
        spread = torch.randn(tokens, experts, generator=g)
        ranks = torch.rand(tokens, experts, generator=g).argsort(1) * 0.3  # no two logits of a token lie close together
        return Case(f"{tokens} tokens, {active} of {experts} experts", {"logits": 0.4 * spread.sort(1).values.gather(1, ranks.argsort(1))
                    + ranks.sort(1).values.gather(1, ranks.argsort(1)), "active": active}, part=part, gradients=("logits",),
                    shape="(tokens, experts)")

    return [case("one expert", 7, 4, 1), case("two or more", 6, 5, 2), case("two or more", 9, 7, 3), case("two or more", 5, 3, 2)]


def _fixed() -> list[Case]:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.2, 1.4, -0.3], [1.1, 0.1, 0.6], [-0.6, 0.4, 1.7]])
    return [Case("a router with zero weights: all logits equal, 2 of 8", {"logits": torch.zeros(3, 8), "active": 2}, part="two or more",
                 shape="(tokens, experts)"),
            Case("two experts equally probable, 1 of 4", {"logits": torch.tensor([[1.5, 1.5, 0.0, -1.0]]), "active": 1}, part="one expert",
                 shape="(tokens, experts)"),
            Case("a single token", {"logits": logits[:1], "active": 2}, part="two or more", shape="(tokens, experts)",
                 gradients=("logits",)),
            Case("-1 of 3 experts", {"logits": logits, "active": -1}, part="refusal", rejects=ValueError, mentions=("-1", "3")),
            Case("all experts active", {"logits": logits, "active": 3}, part="two or more", shape="(tokens, experts)"),
            Case("4 of 3 experts", {"logits": logits, "active": 4}, part="refusal", rejects=ValueError, mentions=("4", "3")),
            Case("0 of 3 experts", {"logits": logits, "active": 0}, part="refusal", rejects=ValueError, mentions=("0", "3"))]


def _sorted_ties(result: Tensor) -> Tensor:
    """Rows of the cases with equal logits are sorted: any of the equal experts are right there."""
    return result.sort(1).values if result.shape in ((3, 8), (1, 4)) else result


STUB = {"pick": "ties too", "normal": "zeros", "balance": "per token"}

ROUTER = Exercise(
    id="11b.7", title="Find the bugs: the router", name="route", kind="function", stars=3, minutes=18,
    signature="route(logits, active) -> weights (tokens, experts), balance ()", oracle=_oracle, reference=_careful, draw=_draw,
    fixed=_fixed, parts={"one expert": 2, "two or more": 2, "refusal": 1}, outputs=("weights", "balance"),
    raw=_sorted_ties, compared="of equal experts any are right",
    twins=(
        Twin("probabilities added up", partial(_route, balance="summed"),
             "You add up each expert's probabilities over the tokens, so the balance grows with the batch. Their mean is wanted."),
        Twin("still the handed-out bugs", partial(_careful, **STUB),
             "Try a router whose logits are all 0, and one whose logits are far apart. Print the weights, the shares, and their sums.",
             untouched=True),
        Twin("only the choice mended", partial(_route, normal="zeros", balance="per token"),
             "Each token now chooses as many as it should. Look at the weights of those not chosen, and at the sum of the shares."),
        Twin("only the weights mended", partial(_route, pick="ties too", balance="per token"),
             "The weights are right where no two experts are equal. Try equal logits, and add up the shares."),
        Twin("only the shares mended", partial(_route, pick="ties too", normal="zeros"),
             "The shares are right. Look at the weights of experts that were not chosen, and try equal logits."),
        Twin("softmax over the tokens", partial(_route, axis=0),
             "The experts compete for a token, not the tokens for an expert: which axis should sum to 1?"),
        Twin("softmax over the tokens, weights as they are", partial(_route, axis=0, normal="none"),
             "Your tokens compete for an expert, and a token's weights do not sum to 1."),
        Twin("weights not normalised", partial(_route, normal="none"),
             "You keep the probabilities of the chosen experts as they are. Divide them so that each token's weights sum to 1."),
        Twin("balance without a gradient", partial(_route, balance="share twice"),
             "Counting is a step function: its gradient is zero. One of the two factors has to be the mean probability."),
        Twin("mean probability cut off", partial(_route, balance="detached"),
             "The numbers are right, but you detach the mean probabilities. The router can learn only through this factor."),
        Twin("softmax of the probabilities", partial(_route, normal="again"),
             "The chosen probabilities go through a second softmax, which flattens them. A division is enough."),
        Twin("softmax over idle experts too", partial(_route, normal="unmasked again"),
             "A second softmax gives weight to the experts that were set to 0 as well. A division is enough."),
        Twin("normalised over the whole batch", partial(_route, normal="total"),
             "You divide by the sum over all tokens. Each token mixes its own experts, so each row has a sum of its own."),
        Twin("removed experts at logit 0", partial(_route, normal="zeros"),
             "A logit of 0 still has a probability. Experts that were not chosen must get weight 0."),
        Twin("chosen experts weighted alike", partial(_route, normal="even"),
             "All chosen experts get the same weight, so no gradient tells the router which of them was better."),
        Twin("weights normalised over the tokens", partial(_route, normal="columns"),
             "Your weights sum to 1 down a column. Each token mixes its own experts, so its row should sum to 1."),
        Twin("sigmoid for softmax", partial(_route, normal="sigmoid"),
             "You give each expert a probability of its own. Here the experts of a token share a total of 1."),
        Twin("one expert too many", partial(_route, pick="one more"),
             "You choose one expert too many. Each token uses exactly `active` experts."),
        Twin("ties take more experts", partial(_route, pick="ties too"),
             "You choose everything that is at least as probable as the last of the best. If experts are equal, this can be too "
             "many: a router with zero weights makes all of them equal."),
        Twin("the last of the best left out", partial(_route, pick="strictly"),
             "You choose only experts that are more probable than the last of the best. That one is then missing. With one active "
             "expert none is left, and 0/0 gives nan."),
        Twin("logits shared out", partial(_route, normal="logits"),
             "Your weights are shares of the logits, which may be negative. Take the probabilities."),
        Twin("the worst experts chosen", partial(_route, pick="smallest"), "You choose the least probable experts of each token."),
        Twin("the first token's choice for all", partial(_route, pick="first token"),
             "Every token chooses for itself. Yours sends all of them where the first one goes."),
        Twin("experts choose the tokens", partial(_route, pick="columns"),
             "Your experts choose their best tokens, so some tokens get no expert. Here each token chooses."),
        Twin("all experts used", partial(_route, pick="all"),
             "You give every expert a weight. Experts that were not chosen should stay idle."),
        Twin("factor of the experts missing", partial(_route, balance="no factor"),
             "With an even load the loss should be 1, whatever the number of experts; yours shrinks with it."),
        Twin("probabilities twice", partial(_route, balance="mean twice"),
             "Mean probabilities can be even while all choices fall on one expert. One factor has to count choices."),
        Twin("share of the tokens", partial(_route, balance="per token"),
             "With several choices for each token, your shares sum to more than 1. Divide by the number of choices."),
        Twin("weights for probabilities", partial(_route, balance="weights"),
             "The second factor is the mean of all probabilities, also of those experts that were not chosen."),
        Twin("first choice only", partial(_route, balance="first choice"),
             "You count the best expert of each token alone. Second choices make work as well."),
        Twin("multiplied by the tokens", partial(_route, balance="tokens"),
             "The factor is the number of experts, so that an even load gives 1, however many tokens there are."),
        Twin("sums instead of shares", partial(_route, balance="sums"),
             "Your loss grows with the number of tokens. Both factors are shares: each sums to 1 over the experts."),
        Twin("multiplied by the active experts", partial(_route, balance="active factor"),
             "An even load gives active / experts in yours, where it should give 1. Either the factor is not the number of all experts, or "
             "the shares do not sum to 1."),
        Twin("distance from even probabilities", partial(_route, balance="deviation"),
             "Your loss uses only the probabilities and is 0 when they are even. Multiply shares of choices by mean probabilities."),
    ),
)
