"""Exercise 11b.10: one step of direct preference optimisation on a table of scores. The oracle adds up pair by pair in doubles."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(scores: Tensor, known: Tensor, chosen: Tensor, rejected: Tensor, beta: float, rate: float) -> Tensor:
    before, reference = scores.tolist(), known.tolist()
    after = list(before)
    for c, r in zip(chosen.tolist(), rejected.tolist(), strict=True):
        margin = beta * (before[c] - before[r] - reference[c] + reference[r])
        force = beta / (1 + math.exp(margin)) if margin < 500 else 0.0
        after[c] += rate * force / len(chosen)
        after[r] -= rate * force / len(chosen)
    return torch.tensor(after)


def _step(scores: Tensor, known: Tensor, chosen: Tensor, rejected: Tensor, beta: float, rate: float, how: str = "right") -> Tensor:
    gain = scores.log_softmax(0) - known
    if how == "probabilities of the policy":
        gain = scores.softmax(0) - known
    if how == "no reference":
        gain = scores.log_softmax(0)
    if how == "added":
        gain = scores.log_softmax(0) + known
    if how == "probabilities":
        gain = scores.softmax(0) - known.exp()
    margins = beta * (gain[chosen] - gain[rejected])
    if how == "no beta inside":
        margins = margins / beta
    force = torch.sigmoid(margins if how == "wrong sign inside" else -margins)
    if how == "constant":
        force = torch.full_like(force, 0.5)
    if how == "margin":
        force = -margins
    if how == "slope":
        force = force * (1 - force)
    if how != "no beta outside":
        force = beta * force
    if how != "sum":
        force = force / len(chosen)
    if how == "last":
        change = torch.zeros_like(scores)
        change[chosen] += force
        change[rejected] -= force
    else:
        change = torch.zeros_like(scores).index_add(0, chosen, force)
        if how != "chosen only":
            change = change.index_add(0, rejected, force if how == "both up" else -force)
    if how == "rejected only":
        change = torch.zeros_like(scores).index_add(0, rejected, -force)
    match how:
        case "adaptive":
            return scores + rate * change.sign()
        case "in turn":
            after = scores
            for pair in zip(chosen.split(1), rejected.split(1), strict=True):
                after = _step(after, known, *pair, beta, rate / len(chosen))
            return after
        case "up the loss":
            return scores - rate * change
        case "gradient":
            return -change
        case "no rate":
            return scores + change
        case "change":
            return rate * change
        case "log":
            return (scores + rate * change).log_softmax(0)
        case "softmax":
            return (scores + rate * change).softmax(0)
        case "in place":
            return scores.add_(rate * change)
        case "two":
            first = scores + rate * change
            return _step(first, known, chosen, rejected, beta, rate)
    return scores + rate * change


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, answers: int, pairs: int, beta: float, rate: float, part: str) -> Case:
        chosen = torch.randint(answers, (pairs,), generator=g)
        rejected = (chosen + torch.randint(1, answers, (pairs,), generator=g)) % answers
        return Case(label, {"scores": 1.2 * torch.randn(answers, generator=g), "known": torch.randn(answers, generator=g).log_softmax(0),
                            "chosen": chosen, "rejected": rejected, "beta": beta, "rate": rate}, part=part, shape="(answers,)")

    return [case("3 answers, one pair", 3, 1, 0.7, 0.9, "one pair"), case("6 answers, 4 pairs", 6, 4, 1.6, 0.5, "pairs"),
            case("4 answers, 11 pairs: they occur again and again", 4, 11, 0.4, 1.5, "pairs")]


def _fixed() -> list[Case]:
    known = torch.tensor([0.5, 0.3, 0.2]).log()
    return [Case("policy equal to the reference, a pair and its opposite", {
        "scores": known.clone(), "known": known, "chosen": torch.tensor([0, 1]), "rejected": torch.tensor([1, 0]), "beta": 0.8,
        "rate": 1.3}, part="pairs", shape="(answers,)"),
            Case("a pair that is settled by 700 nats", {
                "scores": torch.tensor([700.0, 0.0, 1.0]), "known": known, "chosen": torch.tensor([0, 2]),
                "rejected": torch.tensor([1, 1]), "beta": 1.2, "rate": 0.6}, part="pairs", shape="(answers,)"),
            Case("a pair that is lost by 700 nats", {
                "scores": torch.tensor([700.0, 0.0, 1.0]), "known": known, "chosen": torch.tensor([1, 2]),
                "rejected": torch.tensor([0, 1]), "beta": 1.2, "rate": 0.6}, part="pairs", shape="(answers,)")]


STEP = Exercise(
    id="11b.10", title="A step of DPO", name="preference_step", kind="function", stars=2, minutes=15,
    signature="preference_step(scores, known, chosen, rejected, beta, rate) -> (answers,)", oracle=_oracle, reference=_step, draw=_draw,
    fixed=_fixed, parts={"one pair": 1, "pairs": 3}, rtol=1e-3, atol=1e-5,
    twins=(
        Twin("the reference left out", partial(_step, how="no reference"),
             "Your margins compare the policy's log-probabilities alone. Each of them has to be a gain over the reference."),
        Twin("the reference added", partial(_step, how="added"), "You add the logarithms. The logarithm of a ratio is their difference."),
        Twin("probabilities for logarithms", partial(_step, how="probabilities"),
             "You subtract probabilities. The reward is a logarithm of their ratio."),
        Twin("beta missing in the margin", partial(_step, how="no beta inside"),
             "The margin is beta times the difference of the gains. In yours beta stands only before the sigmoid."),
        Twin("beta missing before the sigmoid", partial(_step, how="no beta outside"),
             "The derivative of the margin by a score contains beta too, so beta appears twice: inside and before the sigmoid."),
        Twin("settled pairs pull hardest", partial(_step, how="wrong sign inside"),
             "Your force grows when a pair is won more clearly. The force is the sigmoid of minus the margin."),
        Twin("every pair with the same force", partial(_step, how="constant"),
             "All your pairs pull with the same force. The force has to fall as the margin grows."),
        Twin("the margin as force", partial(_step, how="margin"),
             "Your force is the margin itself. The derivative of -ln sigmoid is a sigmoid."),
        Twin("derivative of the sigmoid alone", partial(_step, how="slope"),
             "You differentiate the sigmoid, but the loss is its logarithm: one of the two factors cancels."),
        Twin("sum instead of mean", partial(_step, how="sum"), "The loss is the mean over the pairs; your step grows with their number."),
        Twin("repeated answers count once", partial(_step, how="last"),
             "An answer may occur in many pairs. Assignment with an index keeps only one of them; index_add adds all."),
        Twin("only the chosen move", partial(_step, how="chosen only"), "The rejected answers have to lose what the chosen ones gain."),
        Twin("only the rejected move", partial(_step, how="rejected only"), "The chosen answers have to gain what the rejected ones lose."),
        Twin("both move up", partial(_step, how="both up"), "Your rejected answers gain as well. Their change needs the opposite sign."),
        Twin("up the loss", partial(_step, how="up the loss"),
             "You go along the gradient, and the loss rises: the rejected answers win. Descent goes against it."),
        Twin("gradient returned", partial(_step, how="gradient"), "That is the gradient. The scores after the step are asked for."),
        Twin("change returned", partial(_step, how="change"), "That is by how much the scores change. Add it to the scores."),
        Twin("rate forgotten", partial(_step, how="no rate"), "You do not multiply the step by the rate, so its length is wrong."),
        Twin("scores normalised afterwards", partial(_step, how="log"),
             "You turn the new scores into log-probabilities. That shifts all of them; return the scores."),
        Twin("probabilities returned", partial(_step, how="softmax"), "You return probabilities. The scores after the step are asked for."),
        Twin("probabilities less logarithms", partial(_step, how="probabilities of the policy"),
             "You subtract the reference's logarithms from the policy's probabilities. Take the log-softmax of the scores."),
        Twin("an adaptive optimiser", partial(_step, how="adaptive"),
             "You change a score by the whole rate, as with Adam, whatever the size of its gradient. Plain descent takes rate · gradient."),
        Twin("pair after pair", partial(_step, how="in turn"),
             "You move after each pair and compute the next force from the scores moved. All forces come from the scores as they were."),
        Twin("two steps", partial(_step, how="two"), "You step twice, or compute the force anew on the way. One step is asked for."),
    ),
)
