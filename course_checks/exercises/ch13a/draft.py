"""Exercise 13a.6: accept a drafted token or repair it. The oracle walks row by row with Python's numbers."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(p: Tensor, q: Tensor, token: Tensor, u: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    new, accepted = [], []
    for large, small, x, a, b in zip(*(y.double().tolist() for y in (p, q)), token.tolist(), u.tolist(), w.tolist(), strict=True):
        accepted.append(a < large[x] / small[x])
        if accepted[-1]:
            new.append(x)
            continue
        left = [max(0.0, s - t) for s, t in zip(large, small, strict=True)]
        running, total = 0.0, sum(left)
        for i, share in enumerate(left):
            running, choice = running + share / total, i
            if running > b:
                break
        new.append(choice)
    return torch.tensor(new), torch.tensor(accepted)


def _pick(weights: Tensor, w: Tensor) -> Tensor:
    running = weights.cumsum(1) / weights.sum(1, keepdim=True).clamp_min(1e-30)
    return (running <= w[:, None]).sum(1).clamp_max(weights.shape[1] - 1)


def _draft(p: Tensor, q: Tensor, token: Tensor, u: Tensor, w: Tensor, how: str = "right") -> tuple[Tensor, Tensor]:
    own = token[:, None]
    ps, qs = p.gather(1, own)[:, 0], q.gather(1, own)[:, 0]
    accepted = {"inverted": u < qs / ps, "large alone": u < ps, "half": ps > 0.5, "never by chance": ps >= qs, "opposite": u >= ps / qs,
                "difference": u < ps - qs, "most probable": token == p.argmax(1), "always": u < 2, "w for u": w < ps / qs,
                "product": u < ps * qs, "small alone": u < qs}.get(how, u < ps / qs)
    leftover = (p - q).clamp_min(0)
    match how:
        case "from p":
            leftover = p
        case "from q":
            leftover = q
        case "absolute":
            leftover = (p - q).abs()
        case "other leftover":
            leftover = (q - p).clamp_min(0)
        case "negative kept":
            leftover = p - q
        case "missing ratio":
            leftover = (1 - p / q).clamp_min(0)
        case "drafted removed":
            leftover = p.scatter(1, own, 0.0)
    repaired = _pick(leftover, w)
    match how:
        case "not normalised":
            repaired = (leftover.cumsum(1) <= w[:, None]).sum(1).clamp_max(p.shape[1] - 1)
        case "not normalised, open":
            repaired = (leftover.cumsum(1) <= w[:, None]).sum(1)
        case "negative kept":
            repaired = (leftover.cumsum(1) / leftover.clamp_min(0).sum(1, keepdim=True) <= w[:, None]).sum(1)
        case "batch":
            repaired = (leftover.cumsum(1) / leftover.sum() <= w[:, None]).sum(1)
        case "softmax":
            repaired = _pick(leftover.softmax(1), w)
        case "not running":
            repaired = (leftover / leftover.sum(1, keepdim=True) > w[:, None]).int().argmax(1)
        case "equal is enough":
            repaired = (leftover.cumsum(1) / leftover.sum(1, keepdim=True) < w[:, None]).sum(1)
        case "above counted":
            repaired = (leftover.cumsum(1) / leftover.sum(1, keepdim=True) > w[:, None]).sum(1)
        case "accepted alone":
            return token[accepted], accepted
        case "largest":
            repaired = leftover.argmax(1)
        case "u again":
            repaired = _pick(leftover, u)
        case "one too early":
            repaired = (repaired - 1).clamp_min(0)
        case "all repaired":
            return repaired, accepted
        case "kept":
            repaired = token
    return torch.where(accepted, token, repaired), accepted


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, tokens: int) -> Case:
        while True:
            p, q = (1.3 * torch.randn(2, n, tokens, generator=g)).softmax(-1)
            token = torch.multinomial(q, 1, generator=g)[:, 0]
            u, w = torch.rand(2, n, generator=g)
            ratio, left = (p / q).gather(1, token[:, None])[:, 0], (p - q).clamp_min(0)
            running = left.cumsum(1) / left.sum(1, keepdim=True)
            if ((u - ratio).abs() > 1e-3).all() and ((running - w[:, None]).abs() > 1e-4).all() and 4 <= (u < ratio).sum() <= n - 4:
                break
        return Case(f"{n} tokens of {tokens}", {"p": p, "q": q, "token": token, "u": u, "w": w}, shape="(n,), (n,)")

    return [case(40, 6), case(30, 9), case(50, 4)]


def _fixed() -> list[Case]:
    p, q = torch.tensor([[0.5, 0.25, 0.25, 0.0]]), torch.tensor([[0.25, 0.25, 0.0, 0.5]])

    def case(label: str, token: int, u: float, w: float, n: int = 1) -> Case:
        return Case(label, {"p": p.expand(n, 4).clone(), "q": q.expand(n, 4).clone(), "token": torch.full((n,), token),
                            "u": torch.full((n,), u), "w": torch.full((n,), w)}, part="edges")

    same = torch.tensor([[0.2, 0.3, 0.5]] * 3)
    return [case("the large model is surer than the small one", 0, 0.99, 0.9),
            case("the token is impossible for the large model", 3, 0.0, 0.2),
            case("w is exactly a running sum", 3, 0.5, 0.5),
            case("w close to 1", 3, 0.5, 0.999), case("w is 0", 3, 0.5, 0.0, 2),
            Case("w is 0, and the first token has no leftover", {
                "p": p.flip(1), "q": q.flip(1), "token": torch.tensor([0]), "u": torch.tensor([0.5]), "w": torch.tensor([0.0])},
                 part="edges"),
            Case("two equal models", {"p": same, "q": same.clone(), "token": torch.tensor([2, 0, 1]), "u": torch.tensor([0.99, 0.0, 0.5]),
                                      "w": torch.tensor([0.1, 0.5, 0.9])}, part="edges")]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_draft, how=how), hint)


DRAFT = Exercise(
    id="13a.6", title="Accept or repair", name="accept_or_repair", kind="function", stars=3, minutes=15,
    signature="accept_or_repair(p, q, token, u, w) -> new tokens (n,), accepted (n,)", oracle=_oracle, reference=_draft, draw=_draw,
    fixed=_fixed, parts={"values": 3, "edges": 1}, outputs=("new tokens", "accepted"),
    forbidden=("course_utils.training.speculative.accept_or_repair",),
    twins=(
        _twin("repaired from the large model", "from p",
             "You draw the repair from the large model itself. Tokens that the draft proposes often get a second chance, so they come too "
             "often."),
        _twin("repaired from the small model", "from q", "You draw the repair from the small model. The repair has to mend its mistakes."),
        _twin("absolute difference", "absolute", "Where the small model gives more than the large one, nothing is missing. Only positive "
              "differences count."),
        _twin("leftover of the small model", "other leftover", "Your leftover is where the small model gives more. The repair needs "
              "the tokens to which the large model gives more."),
        _twin("only the drafted token removed", "drafted removed", "You draw from the large model without the drafted token. Other tokens "
              "were proposed too often or too seldom as well."),
        _twin("leftover not made a distribution", "not normalised", "Your leftover sums to less than one, so the last token comes too "
              "often. First divide the leftover by its sum."),
        _twin("running sums end below one", "not normalised, open", "Your leftover sums to less than one. If the running sum never exceeds "
              "the drawn number, you return a token that does not exist. First divide the leftover by its sum."),
        _twin("one sum for the batch", "batch", "You divide the leftovers by one sum of all rows. Each row is a distribution of its own."),
        _twin("softmax of the leftover", "softmax", "A softmax gives every token a chance, also those that have no leftover at all. Divide "
              "by the sum instead."),
        _twin("negative differences kept", "negative kept", "Where the small model gives more than the large one, your differences are "
              "negative and the running sum falls. They count as 0."),
        _twin("missing part of the ratio", "missing ratio", "You draw where the ratio is below 1, and there the small model gives more. "
              "The repair needs the tokens to which the large model gives more."),
        _twin("shares not added up", "not running", "You compare each share of the leftover with the drawn number. Their running sum "
              "has to exceed it."),
        _twin("equal running sum taken", "equal is enough", "A running sum that equals the drawn number does not exceed it yet. With a "
              "drawn 0 you may return a token without any leftover."),
        _twin("running sums above counted", "above counted", "You count the running sums that exceed the drawn number. The sums that do "
              "not exceed it come before the token you look for."),
        _twin("repaired tokens missing", "accepted alone", "You return the accepted tokens alone. Each rejected token is replaced by a "
              "repaired one, in its place."),
        _twin("most of the leftover", "largest", "You take the token with the largest leftover. Draw a token from the leftover instead."),
        _twin("same number used twice", "u again", "You draw the new token with the number that rejected the old one. After a rejection, "
              "this number is no longer uniform."),
        _twin("one token too early", "one too early", "You return the token before the one at which the running sum exceeds the number."),
        _twin("ratio upside down", "inverted",
             "You turned the ratio round: you accept tokens that the large model likes less. Divide the large model's probability by the "
             "small one's."),
        _twin("accepted by the large model alone", "large alone",
             "You accept with the large model's probability. Compare it with the small model's probability."),
        _twin("accepted by the small model alone", "small alone", "You accept with the small model's probability. It was already used to "
              "draw the token."),
        _twin("accepted if above a half", "half", "You accept what has more than half of the probability. Then improbable tokens never "
              "come."),
        _twin("accepted without chance", "never by chance", "You reject every token that the small model likes more. Some of them have to "
              "be accepted, by chance."),
        _twin("accepted by the difference", "difference", "You compare with the difference of the two probabilities; their ratio counts."),
        _twin("accepted by the product", "product", "You multiply the two probabilities; their ratio counts."),
        _twin("only the most probable accepted", "most probable", "You accept only what the large model likes best. That is right for "
              "greedy writing alone."),
        _twin("everything accepted", "always", "You accept everything, so the text has the small model's distribution."),
        _twin("accepted and rejected exchanged", "opposite", "You accept the tokens that have to be rejected."),
        _twin("the other uniform number", "w for u", "You decide with the second uniform number, which is meant for the repair."),
        _twin("accepted tokens replaced as well", "all repaired", "Accepted tokens stay as they are; you repair all of them."),
        _twin("rejected tokens kept", "kept", "You find out which tokens are rejected, and keep them nevertheless."),
    ),
)
