"""Exercises 00b.2 and 00b.3: scores become probabilities, and probabilities become a loss."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import cross_entropy, integers, randn, sizes

# ---- 00b.2 softmax ------------------------------------------------------------------------------------------

_library_softmax = F.softmax  # kept here: the name is forbidden while an answer runs


def _softmax_oracle(scores: Tensor, temperature: float) -> Tensor:
    return _library_softmax(scores.double() / temperature, dim=-1).float()


def _softmax(scores: Tensor, temperature: float, how: str = "right") -> Tensor:
    axis = 0 if how == "first axis" else -1
    if how == "multiplied":
        scores = scores * temperature
    elif how not in ("ignored", "outside"):
        scores = scores / (temperature**2 if how == "squared" else temperature)
    match how:
        case "hard":
            return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)
        case "each alone":
            return 1 / (1 + torch.exp(-scores))
        case "no exponential":
            return scores / scores.sum(-1, keepdim=True)
        case "shifted only":
            positive = scores - scores.min(-1, keepdim=True).values
            return positive / positive.sum(-1, keepdim=True)
        case "not normalised":
            return torch.exp(scores - scores.max(-1, keepdim=True).values)
        case "overflow":
            strength = torch.exp(scores)
            return strength / strength.sum(-1, keepdim=True)
        case "one maximum for all":
            strength = torch.exp(scores - scores.max())
            return strength / strength.sum(-1, keepdim=True)
        case "mean subtracted":
            strength = torch.exp(scores - scores.mean(-1, keepdim=True))
            return strength / strength.sum(-1, keepdim=True)
        case "clamped":
            strength = torch.exp(scores.clamp(-80, 80))
            return strength / strength.sum(-1, keepdim=True)
        case "repaired":
            strength = torch.exp(scores)
            return torch.nan_to_num(strength / strength.sum(-1, keepdim=True))
        case "minimum":
            strength = torch.exp(scores - scores.min(-1, keepdim=True).values)
            return strength / strength.sum(-1, keepdim=True)
        case "whole sum":
            strength = torch.exp(scores - scores.max(-1, keepdim=True).values)
            return strength / strength.sum()
        case "a little more":
            strength = torch.exp(scores)
            return strength / (strength.sum(-1, keepdim=True) + 1e-8)
        case "powers of two":
            strength = torch.pow(2.0, scores - scores.max(-1, keepdim=True).values)
            return strength / strength.sum(-1, keepdim=True)
    strength = torch.exp(scores - scores.max(axis, keepdim=True).values)
    if how == "minus":
        strength = torch.exp(scores.min(-1, keepdim=True).values - scores)
    shares = strength / strength.sum(axis, keepdim=True)
    if how == "logarithms":
        return shares.log()
    return shares / temperature if how == "outside" else shares


def _refusing_softmax(scores: Tensor, temperature: float = 1.0) -> Tensor:
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, got {temperature}")
    return _softmax(scores, temperature)


def _draw_softmax(seed: int) -> list[Case]:
    g = generator(seed)
    a, n, k = sizes(g, 3, 2, 7)
    warm = 1.5 + torch.rand((), generator=g).item()
    return [Case(f"{n} rows of {k} scores, temperature 1", {"scores": 1.5 * randn(g, n, k), "temperature": 1.0}, shape="(row, score)",
                 gradients=("scores",)),
            Case(f"{n} rows of {k} scores, a warm softmax", {"scores": 1.5 * randn(g, n, k), "temperature": warm}, shape="(row, score)"),
            Case("the same, cold", {"scores": 0.5 * randn(g, n, k), "temperature": 0.4}, shape="(row, score)"),
            Case("three axes", {"scores": randn(g, a, n, k), "temperature": warm}, shape="(group, row, score)"),
            Case("scores in the hundreds", {"scores": 300 * randn(g, n, k) + 500, "temperature": 1.0}, part="large scores",
                 shape="(row, score)")]


SOFTMAX = Exercise(
    id="00b.2", title="Softmax, from any scores", name="softmax", kind="function", stars=2, minutes=10,
    signature="softmax(scores, temperature) -> like scores",
    oracle=_softmax_oracle, reference=_refusing_softmax, draw=_draw_softmax,
    parts={"values": 2, "large scores": 2, "bad input": 1},
    forbidden=("torch.softmax", "torch.nn.functional.softmax", "torch.Tensor.softmax", "torch.nn.functional.log_softmax",
               "torch.log_softmax", "torch.Tensor.log_softmax", "torch.special.softmax", "torch.special.log_softmax",
               "torch.nn.functional.softmin", "torch.nn.Softmax", "torch.nn.LogSoftmax"),
    fixed=lambda: [
        Case("one row, no batch", {"scores": torch.tensor([2.0, -1.0, 0.5]), "temperature": 1.0}, shape="(score,)"),
        Case("rows of a single score", {"scores": torch.tensor([[3.0], [-2.0]]), "temperature": 2.0}, shape="(row, score)"),
        Case("three equal scores", {"scores": torch.full((2, 3), 7.0), "temperature": 0.5}, shape="(row, score)"),
        Case("one row of huge scores, one of hugely negative ones", {"scores": torch.tensor([[900.0, 898.0], [-901.0, -900.0]]),
             "temperature": 1.0}, part="large scores", shape="(row, score)"),
        Case("hugely negative scores alone", {"scores": torch.tensor([[-400.0, -401.0, -399.5]]), "temperature": 1.0},
             part="large scores", shape="(row, score)"),
        Case("the temperature 0", {"scores": torch.tensor([[1.0, 2.0]]), "temperature": 0.0}, part="bad input", rejects=ValueError,
             mentions=("0",)),
        Case("a negative temperature", {"scores": torch.tensor([[1.0, 2.0]]), "temperature": -1.5}, part="bad input",
             rejects=ValueError, mentions=("-1.5",)),
    ],
    twins=(
        Twin("too large for the exponential", partial(_softmax, how="overflow"),
             "The exponential of 89 no longer fits into a float32, and those of very negative scores are all rounded to 0. Shift each row "
             "first, so that its largest score is 0: the shares stay the same."),
        Twin("one maximum for all rows", partial(_softmax, how="one maximum for all"),
             "Where a whole row lies far below the largest score of the table, every exponential becomes 0, and you divide 0 by 0. Each "
             "row needs its own maximum."),
        Twin("the minimum subtracted", partial(_softmax, how="minimum"),
             "Any shift gives the same shares, but after yours the largest score can still be huge. Shift so that the largest becomes 0."),
        Twin("the mean subtracted", partial(_softmax, how="mean subtracted"),
             "Any shift gives the same shares, but after yours the largest score can still lie hundreds above 0. Shift so that the largest "
             "becomes 0."),
        Twin("scores clamped", partial(_softmax, how="clamped"),
             "Scores beyond your bounds become equal, even if one was far larger than the other. A shift keeps all differences."),
        Twin("overflow repaired afterwards", partial(_softmax, how="repaired"),
             "Where the exponential overflows, you replace NaN by 0, and the row no longer sums to 1. Keep the "
             "exponentials small from the start."),
        Twin("a small number added below", partial(_softmax, how="a little more"),
             "A small number in the denominator hides the division by 0, but then the shares no longer sum to 1, and large scores still "
             "overflow."),
        Twin("softmax along the first axis", partial(_softmax, how="first axis"),
             "Your columns sum to 1. The scores of one row should compete with each other, along the last axis."),
        Twin("one sum for everything", partial(_softmax, how="whole sum"),
             "You divide by the sum of the whole table. Every row has a sum of its own."),
        Twin("temperature as a factor", partial(_softmax, how="multiplied"),
             "A hot softmax should be more even than a cold one; yours is the other way round."),
        Twin("temperature outside", partial(_softmax, how="outside"),
             "Outside the softmax, the temperature only makes all shares smaller or larger. It has to act on the scores."),
        Twin("temperature ignored", partial(_softmax, how="ignored"), "The result does not depend on the temperature at all."),
        Twin("temperature squared", partial(_softmax, how="squared"), "The scores are divided by the temperature itself."),
        Twin("scores divided by their sum", partial(_softmax, how="no exponential"),
             "Scores may be negative, and then your shares can be negative too. The exponential makes the scores positive first."),
        Twin("shifted instead of exponentiated", partial(_softmax, how="shifted only"),
             "Subtracting the smallest score makes all of them positive, but the lowest then always gets nothing. Use the exponential "
             "instead."),
        Twin("each score by itself", partial(_softmax, how="each alone"),
             "Each number is between 0 and 1, but they do not sum to 1: the scores of a row have to compete."),
        Twin("exponentials not divided", partial(_softmax, how="not normalised"),
             "These are the exponentials. Divided by their sum, they become shares."),
        Twin("only the largest counts", partial(_softmax, how="hard"),
             "You give everything to the largest score. That is what the temperature 0 would do."),
        Twin("powers of two", partial(_softmax, how="powers of two"), "The base of the exponential is e and not 2."),
        Twin("sign turned round", partial(_softmax, how="minus"), "In your result the largest score gets the smallest share."),
        Twin("logarithms returned", partial(_softmax, how="logarithms"),
             "You return the logarithms of the probabilities. Return the probabilities themselves."),
    ),
)

# ---- 00b.3 cross-entropy --------------------------------------------------------------------------------------


def _entropy_oracle(logits: Tensor, target: Tensor) -> Tensor:
    """Log-sum-exp in NumPy's double precision, through which no gradient flows; where one is asked for, PyTorch's own loss."""
    if logits.requires_grad:
        return cross_entropy(logits.double(), target).float()
    scores = logits.double().numpy()
    total = np.logaddexp.reduce(scores, axis=1)
    return torch.tensor(float(np.mean(total - scores[np.arange(len(scores)), target.numpy()])))


def _log_softmax(logits: Tensor, dim: int) -> Tensor:
    return logits - torch.logsumexp(logits, dim, keepdim=True)


def _cross_entropy(logits: Tensor, target: Tensor, how: str = "right", little: float = 1e-9) -> Tensor:
    rows = torch.arange(len(target))
    match how:
        case "overflow":
            return -torch.log(torch.exp(logits) / torch.exp(logits).sum(1, keepdim=True))[rows, target].mean()
        case "logarithm of 0":
            return -torch.log(torch.softmax(logits, 1))[rows, target].mean()
        case "a little more":
            return -torch.log(torch.softmax(logits, 1) + little)[rows, target].mean()
        case "sum too large":
            return (torch.log(torch.exp(logits).sum(1)) - logits[rows, target]).mean()
        case "maximum":
            return (logits.max(1).values - logits[rows, target]).mean()
        case "no logarithm":
            return 1 - torch.softmax(logits, 1)[rows, target].mean()
        case "mean first":
            return -torch.log(torch.softmax(logits, 1)[rows, target].mean())
        case "other axis":
            return -_log_softmax(logits, 0)[rows, target].mean()
        case "right score alone":
            return -logits[rows, target].mean()
        case "entropy":
            log_p = _log_softmax(logits, 1)
            return -(log_p.exp() * log_p).sum(1).mean()
        case "all classes":
            return -_log_softmax(logits, 1).mean()
        case "both softmaxes":
            return -_log_softmax(torch.softmax(logits, 1), 1)[rows, target].mean()
        case "sure of its guess":
            return -_log_softmax(logits, 1).max(1).values.mean()
    surprise = -_log_softmax(logits, 1)[rows, target]
    match how:
        case "bits":
            return surprise.mean() / torch.log(torch.tensor(2.0))
        case "minus":
            return -surprise.mean()
        case "sum":
            return surprise.sum()
        case "all entries":
            return surprise.sum() / logits.numel()
        case "not averaged":
            return surprise
        case "first row":
            return surprise[0]
    return surprise.mean()


def _draw_entropy(seed: int) -> list[Case]:
    g = generator(seed)
    n, k = sizes(g, 2, 3, 9)
    target = integers(g, 0, k, n)
    return [Case(f"{n} words, {k} languages", {"logits": 1.5 * randn(g, n, k), "target": target}, gradients=("logits",)),
            Case("logits in the hundreds", {"logits": 300 * randn(g, n, k), "target": target}, part="large logits"),
            Case("the same, far above 0", {"logits": 500 + 2 * randn(g, n, k), "target": target}, part="large logits")]


CROSS_ENTROPY = Exercise(
    id="00b.3", title="Cross-entropy from logits", name="cross_entropy", kind="function", stars=2, minutes=12,
    signature="cross_entropy(logits, target) -> ()",
    oracle=_entropy_oracle, reference=_cross_entropy, draw=_draw_entropy, parts={"values": 3, "large logits": 2},
    forbidden=("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "torch.nn.functional.log_softmax",
               "torch.log_softmax", "torch.Tensor.log_softmax", "torch.special.log_softmax", "torch.nn.CrossEntropyLoss",
               "torch.nn.NLLLoss", "torch.nn.LogSoftmax"),
    fixed=lambda: [
        Case("a single word", {"logits": torch.tensor([[1.0, -2.0, 0.5]]), "target": torch.tensor([2])}),
        Case("all logits equal", {"logits": torch.full((3, 4), 2.5), "target": torch.tensor([0, 3, 3])}),
        Case("sure, and wrong", {"logits": torch.tensor([[0.0, 200.0], [0.0, -200.0]]), "target": torch.tensor([0, 0])},
             part="large logits", gradients=("logits",)),
    ],
    twins=(
        Twin("too large for the exponential", partial(_cross_entropy, how="overflow"),
             "The exponential of a large logit is infinite. The logarithm of a sum of exponentials can be computed without it: take "
             "the largest logit out of the sum first."),
        Twin("logarithm of a probability that became 0", partial(_cross_entropy, how="logarithm of 0"),
             "A tiny probability is rounded to 0, and its logarithm is minus infinity. Stay with logits: the loss is a difference of two "
             "ordinary numbers."),
        Twin("sum of exponentials too large", partial(_cross_entropy, how="sum too large"),
             "The exponentials overflow before the logarithm can make them small again. There is a function that does both in one go, and "
             "the text above the exercise names it."),
        *(Twin(f"a small number inside the logarithm ({little:g})", partial(_cross_entropy, how="a little more", little=little),
               "The small number avoids infinity, but it also keeps the loss below a bound, however wrong the model is. Stay with logits: "
               "then you need no such number.") for little in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)),
        Twin("the largest logit for the log-sum-exp", partial(_cross_entropy, how="maximum"),
             "You use the largest logit as the log-sum-exp. The two are close but not equal: with all logits equal, your loss would be 0."),
        Twin("no logarithm", partial(_cross_entropy, how="no logarithm"),
             "That is the probability of being wrong. Surprise is the negative logarithm of the probability of what happened."),
        Twin("averaged before the logarithm", partial(_cross_entropy, how="mean first"),
             "You average the probabilities and take the logarithm of that. Every word has a surprise of its own; average those."),
        Twin("compared along the words", partial(_cross_entropy, how="other axis"),
             "Your probabilities sum to 1 over the words. They should sum to 1 over the languages of each word, the last axis."),
        Twin("the right logit alone", partial(_cross_entropy, how="right score alone"),
             "A logit alone means nothing: add 10 to a whole row and your loss changes. The log-sum-exp of the row is missing."),
        Twin("entropy of the prediction", partial(_cross_entropy, how="entropy"),
             "You weight the surprises with the model's own probabilities. The target says what happened: only its surprise counts."),
        Twin("all languages count", partial(_cross_entropy, how="all classes"),
             "You average over all languages. Only the surprise of the target's language counts."),
        Twin("softmax taken twice", partial(_cross_entropy, how="both softmaxes"),
             "You turn the logits into probabilities and then treat these as logits. One softmax is enough."),
        Twin("the model's favourite as the target", partial(_cross_entropy, how="sure of its guess"),
             "You take the surprise of the most probable language, so a model that is sure and wrong is never punished."),
        Twin("bits instead of nats", partial(_cross_entropy, how="bits"), "You take logarithms to base 2. Nats use the natural logarithm."),
        Twin("sign turned round", partial(_cross_entropy, how="minus"),
             "Your loss is negative, and training would make the model worse. Surprise is the negative logarithm."),
        Twin("summed instead of averaged", partial(_cross_entropy, how="sum"), "You add up the surprises of all words. Take their mean."),
        Twin("divided by all entries", partial(_cross_entropy, how="all entries"),
             "You divide by the number of entries. There is one surprise for each word, so divide by the number of words."),
        Twin("one surprise for each word", partial(_cross_entropy, how="not averaged"),
             "These are the surprises of the words. The loss is their mean."),
        Twin("only the first word", partial(_cross_entropy, how="first row"),
             "You return the surprise of the first word. The loss is the mean over all words."),
    ),
)
