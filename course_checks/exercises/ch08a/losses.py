"""Exercises 08a.5 and 08a.6: the loss of a whole target in one pass, and label smoothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin, generator
from ..common import cross_entropy, integers, randn
from .callables import VOCAB


def _loss_oracle(model: Callable, source: Tensor, target: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    model, (batch, n) = CALLABLES[model.name] if isinstance(model, Registered) else model, target.shape
    losses = torch.zeros(batch, n - 1, dtype=torch.float64)
    count = 0
    for b in range(batch):
        for t in range(n - 1):  # one prefix after the other
            if target[b, t + 1] != pad_id:
                scores = model(source[b:b + 1], target[b:b + 1, :t + 1])[0, -1].double()
                losses[b, t] = torch.logsumexp(scores, 0) - scores[target[b, t + 1]]
                count += 1
    return (losses.sum() / count).float(), losses.float()


def _loss(model: Callable, source: Tensor, target: Tensor, pad_id: int = 0, how: str = "right") -> tuple[Tensor, Tensor]:
    if target.shape[1] < 2:
        raise ValueError(f"a target of {target.shape[1]} token leaves nothing to predict")
    given, wanted = target[:, :-1], target[:, 1:]
    match how:
        case "whole target":
            given = wanted = target
        case "no shift":
            wanted = target[:, :-1]
        case "answer given":
            given = target[:, 1:]
        case "wrong way":
            given, wanted = target[:, 1:], target[:, :-1]
        case "two ahead":
            given, wanted = target[:, :-2], target[:, 2:]
        case "end cut off":
            given, wanted = target[:, :-2], target[:, 1:-1]
        case "swapped":
            source, given = given, source[:, :given.shape[1]]
    scores = model(source, given)
    scores = scores.reshape(len(scores), -1, scores.shape[1]).mT if how == "reshaped" else scores
    scores = torch.softmax(scores, -1) if how == "twice" else scores
    axis = {"over positions": 1}.get(how, -1)
    log_p = torch.log(torch.sigmoid(scores)) if how == "sigmoid" else scores if how == "raw" else torch.log_softmax(scores, axis)
    losses = -log_p.gather(-1, wanted[..., None])[..., 0]
    losses = losses / math.log(2) if how == "bits" else 1 - torch.exp(-losses) if how == "probability" else losses
    real = wanted != (0 if how == "zero" else pad_id)
    if how == "input's pads":
        real = given != pad_id
    if how == "no eos":
        real = real & (wanted != 2)
    losses = losses if how == "pads count" else losses * real
    losses = losses.detach() if how == "cut off" else losses
    match how:
        case "mean over all" | "pads count":
            return losses.mean(), losses
        case "sum":
            return losses.sum(), losses
        case "by sentence":
            return (losses.sum(1) / real.sum(1)).mean(), losses
        case "by batch":
            return losses.sum() / len(losses), losses
        case "begin counted":
            return losses.sum() / (target != pad_id).sum(), losses
        case "sign":
            return -losses.sum() / real.sum(), -losses
        case "mean only right":
            losses = -log_p.gather(-1, wanted[..., None])[..., 0]
    return (losses * real).sum() / real.sum(), losses


def _targets(g: torch.Generator, lengths: list[int], pad_id: int) -> Tensor:
    """Begin, words, end, padding behind; 1 and 2 are begin and end."""
    target = torch.full((len(lengths), max(lengths) + 2), pad_id)
    for row, length in zip(target, lengths, strict=True):
        words = integers(g, 3, VOCAB, length)
        row[:length + 2] = torch.cat([torch.tensor([1]), torch.where(words == pad_id, 4, words), torch.tensor([2])])
    return target


def _draw_loss(seed: int) -> list[Case]:
    g, model = generator(seed), Registered("causal_toy")
    return [
        Case("2 sentences of 5 words", {"model": model, "source": integers(g, 3, VOCAB, 2, 6), "target": _targets(g, [5, 5], 0),
                                        "pad_id": 0}, calls={"model": 1}),
        Case("3 sentences of 1, 6 and 3 words", {"model": model, "source": integers(g, 3, VOCAB, 3, 7), "target": _targets(g, [1, 6, 3], 0),
                                                 "pad_id": 0}, part="padding"),
        Case("padding has the id 7", {"model": model, "source": integers(g, 3, 7, 2, 9), "target": _targets(g, [2, 6], 7), "pad_id": 7},
             part="padding")]


def _fixed_loss() -> list[Case]:
    g, model = generator(4), Registered("causal_toy")
    begun = torch.tensor([[1, 5, 4, 2], [1, 0, 0, 0], [1, 9, 2, 0]])
    return [Case("a model whose source is floats", {"model": Registered("listening_toy"), "source": randn(g, 2, 6),
                                                    "target": _targets(g, [2, 5], 0), "pad_id": 0}, part="padding", gradients=("source",)),
            Case("one target is begin and pads", {"model": model, "source": integers(g, 3, VOCAB, 3, 5), "target": begun, "pad_id": 0},
                 part="padding"),
            Case("a target of begin and end alone", {"model": model, "source": integers(g, 3, VOCAB, 1, 3),
                                                     "target": torch.tensor([[1, 2]]), "pad_id": 0}),
            Case("a target of one token", {"model": model, "source": integers(g, 3, VOCAB, 2, 3), "target": torch.tensor([[1], [1]]),
                                           "pad_id": 0}, part="refusal", rejects=ValueError, mentions=("1",))]


LOSS = Exercise(
    id="08a.5", title="The loss of a whole target", name="translation_loss", kind="function", stars=2, minutes=12,
    signature="translation_loss(model, source, target, pad_id=0) -> loss (), losses (batch, n-1)", oracle=_loss_oracle, reference=_loss,
    draw=_draw_loss, fixed=_fixed_loss, parts={"values": 2, "padding": 2, "refusal": 1}, outputs=("loss", "losses"),
    forbidden=("course_utils.training.schedules.token_loss",),
    twins=(
        Twin("each token predicts itself", partial(_loss, how="no shift"),
             "Position t is compared with the token it has just read. It should be compared with the one that follows."),
        Twin("nothing shifted at all", partial(_loss, how="whole target"),
             "You feed the whole target and compare with the whole target. Nothing follows the last token, and position t has to name "
             "the token after the one it reads."),
        Twin("softmax taken twice", partial(_loss, how="twice"),
             "The cross-entropy of PyTorch takes scores and does the softmax itself. Yours are probabilities already."),
        Twin("the answer is the input", partial(_loss, how="answer given"),
             "The model is fed the very tokens it should predict. Its input must start with the begin token and stop one token early."),
        Twin("shifted the wrong way", partial(_loss, how="wrong way"),
             "Your model predicts the past from the future. The input should lack the last token, the wanted tokens the first."),
        Twin("shifted by two", partial(_loss, how="two ahead"), "You shift by two places. Each wanted token is the next one."),
        Twin("losses cut off from learning", partial(_loss, how="cut off"),
             "The numbers are right, but the model cannot learn from them: a gradient has to flow back through the losses."),
        Twin("source and target exchanged", partial(_loss, how="swapped"), "The model takes the source first and the target second."),
        Twin("padding counts", partial(_loss, how="pads count"),
             "Where the wanted token is a pad there is nothing to learn: its loss is 0."),
        Twin("divided by all places", partial(_loss, how="mean over all"),
             "The pads' losses are 0, but the mean still divides by them. Divide by the number of real wanted tokens."),
        Twin("losses of pads returned", partial(_loss, how="mean only right"),
             "The mean is right, but the table of losses still has numbers where a pad is wanted."),
        Twin("sum instead of mean", partial(_loss, how="sum"),
             "The losses are added up. A mean does not grow with the size of the batch."),
        Twin("mean of the sentences' means", partial(_loss, how="by sentence"),
             "You give each sentence the same weight, long or short. Here each token has the same weight."),
        Twin("divided by the sentences", partial(_loss, how="by batch"),
             "You divide by the number of sentences. Divide by the number of tokens."),
        Twin("begin token counted", partial(_loss, how="begin counted"),
             "You divide by all real tokens of the target. The begin token is given and never has to be predicted, so it does not count."),
        Twin("last token never predicted", partial(_loss, how="end cut off"),
             "You leave out the last column of the target. The model need not read that column but has to predict it."),
        Twin("pad id taken for 0", partial(_loss, how="zero"), "The id of the padding is an argument; yours is fixed."),
        Twin("pads of the input ignored", partial(_loss, how="input's pads"),
             "You look for pads among the tokens the model is given. What matters is whether the wanted token is a pad."),
        Twin("end token not counted", partial(_loss, how="no eos"),
             "You leave out the end token. It has to be learned like any word, or no sentence stops."),
        Twin("reshaped instead of transposed", partial(_loss, how="reshaped"),
             "The vocabulary has to become the second axis. A reshape leaves the numbers in their old order; swap the axes instead."),
        Twin("softmax over the positions", partial(_loss, how="over positions"),
             "Your softmax runs over the positions. At each position it should run over the vocabulary."),
        Twin("sigmoid for softmax", partial(_loss, how="sigmoid"), "The words compete for one place, so their probabilities sum to 1."),
        Twin("no softmax", partial(_loss, how="raw"),
             "Scores are not log-probabilities yet: a log-softmax over the vocabulary is missing."),
        Twin("bits instead of nats", partial(_loss, how="bits"), "The logarithm here is the natural one, not that to the base 2."),
        Twin("probability instead of its logarithm", partial(_loss, how="probability"),
             "The loss is the negative logarithm of the probability."),
        Twin("sign lost", partial(_loss, how="sign"), "A loss falls when the right word grows more probable; yours rises."),
    ),
)


def _smooth_oracle(scores: Tensor, target: Tensor, eps: float) -> Tensor:
    flat = cross_entropy(scores.reshape(-1, scores.shape[-1]), target.reshape(-1), label_smoothing=eps, reduction="none")
    return flat.reshape(target.shape)


def _smooth(scores: Tensor, target: Tensor, eps: float = 0.1, how: str = "right") -> Tensor:
    if not 0 <= eps < 1:
        raise ValueError(f"eps={eps} must be at least 0 and below 1")
    count = scores.shape[-1]
    log_p = scores if how == "raw" else scores.log() if how == "logarithm alone" else torch.log_softmax(
        scores, {"axis": -2, "axis 1": 1}.get(how, -1))
    sure = log_p.gather(-1, target[..., None])[..., 0]
    match how:
        case "plain":
            return -sure
        case "eps ignored":
            eps = 0.1
        case "a bit added":
            log_p = (torch.softmax(scores, -1) + 1e-9).log()
            sure = log_p.gather(-1, target[..., None])[..., 0]
        case "scores averaged":
            return -(1 - eps) * sure - eps * scores.mean(-1)
        case "log of softmax":
            log_p = torch.softmax(scores, -1).log()
            sure = log_p.gather(-1, target[..., None])[..., 0]
        case "others only":
            return -(1 - eps) * sure - eps * (log_p.sum(-1) - sure) / (count - 1)
        case "right one short":
            return -(1 - eps) * sure - eps * (log_p.sum(-1) - sure) / count
        case "sum":
            return -(1 - eps) * sure - eps * log_p.sum(-1)
        case "swapped":
            return -eps * sure - (1 - eps) * log_p.mean(-1)
        case "added":
            return -sure - eps * log_p.mean(-1)
        case "first half":
            return -(1 - eps) * sure
        case "sign":
            return (1 - eps) * sure + eps * log_p.mean(-1)
        case "log of the mixture":
            return -torch.log((1 - eps) * sure.exp() + eps / count)
        case "bits":
            return (-(1 - eps) * sure - eps * log_p.mean(-1)) / math.log(2)
        case "logarithm of 0":  # entropy and divergence of the smoothed target, added up
            q = torch.full_like(log_p, eps / count).scatter(-1, target[..., None], 1 - eps + eps / count)
            return -(q * q.log()).sum(-1) + (q * (q.log() - log_p)).sum(-1)
        case "divergence":
            right = 1 - eps + eps / count
            floor = -right * math.log(right) - ((count - 1) * eps / count * math.log(eps / count) if eps else 0.0)
            return -(1 - eps) * sure - eps * log_p.mean(-1) - floor
    losses = -(1 - eps) * sure - eps * log_p.mean(-1)
    return losses.mean() if how == "mean" else losses


def _draw_smooth(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, eps: float, vocab: int, *shape: int) -> Case:
        return Case(label, {"scores": 1.5 * randn(g, *shape, vocab), "target": integers(g, 0, vocab, *shape), "eps": eps},
                    gradients=("scores",), shape="(batch, n)" if len(shape) == 2 else "(n,)")

    return [case("2 sentences of 4 tokens, 7 words, eps = 0.1", 0.1, 7, 2, 4), case("5 tokens, 6 words, eps = 0.3", 0.3, 6, 5)]


def _fixed_smooth() -> list[Case]:
    g = generator(6)
    scores, target = randn(g, 3, 5), torch.tensor([0, 4, 2])
    return [Case("eps = 0 is the plain loss", {"scores": scores, "target": target, "eps": 0.0}, gradients=("scores",), shape="(n,)"),
            Case("one token without an axis", {"scores": scores[0], "target": target[0], "eps": 0.2}, gradients=("scores",), shape="()"),
            Case("three axes", {"scores": randn(g, 2, 3, 4, 5), "target": integers(g, 0, 5, 2, 3, 4), "eps": 0.05}, gradients=("scores",),
                 shape="(2, 3, 4)"),
            Case("eps = 1.5", {"scores": scores, "target": target, "eps": 1.5}, part="refusal", rejects=ValueError, mentions=("1.5",)),
            Case("scores of size 200", {"scores": 200 * scores, "target": target, "eps": 0.1}, shape="(n,)"),
            Case("eps = 1", {"scores": scores, "target": target, "eps": 1.0}, part="refusal", rejects=ValueError, mentions=("1",)),
            Case("eps = -0.5", {"scores": scores, "target": target, "eps": -0.5}, part="refusal", rejects=ValueError, mentions=("0.5",))]


SMOOTHING = Exercise(
    id="08a.6", title="Label smoothing by hand", name="smoothed_loss", kind="function", stars=2, minutes=10,
    signature="smoothed_loss(scores, target, eps=0.1) -> the shape of target", oracle=_smooth_oracle, reference=_smooth,
    draw=_draw_smooth, fixed=_fixed_smooth, parts={"values": 3, "refusal": 1},
    forbidden=("torch.nn.functional.cross_entropy", "torch.nn.functional.kl_div"),
    twins=(
        Twin("no smoothing", partial(_smooth, how="plain"), "You do not spread the share eps: this is the plain cross-entropy."),
        Twin("spread over the wrong words only", partial(_smooth, how="others only"),
             "You share eps among the wrong words. In the docstring's rule every word gets its part, the right one too."),
        Twin("the right word gets no share", partial(_smooth, how="right one short"),
             "Your target probabilities do not sum to 1: the right word should get its part of eps as well."),
        Twin("every word gets the whole share", partial(_smooth, how="sum"),
             "You give all of eps to every word. Divide it among the words instead."),
        Twin("shares exchanged", partial(_smooth, how="swapped"), "The right word should keep the large share, and eps is spread."),
        Twin("smoothing added on top", partial(_smooth, how="added"), "What is spread over all words must be taken from the right word."),
        Twin("share taken and not given", partial(_smooth, how="first half"),
             "The right word's part is reduced, but nobody receives what was taken."),
        Twin("the prediction smoothed instead", partial(_smooth, how="log of the mixture"),
             "You mix the model's probabilities with equal ones. Mix the target instead, and take the logarithm of the model's "
             "probabilities alone."),
        Twin("the floor taken off", partial(_smooth, how="divergence"),
             "You have subtracted the entropy of the target, which leaves the divergence. The loss itself is asked for."),
        Twin("logarithm of 0 in the target", partial(_smooth, how="logarithm of 0"),
             "Without smoothing most words have the target 0, and 0 times the logarithm of 0 is NaN. In an entropy it counts as 0: "
             "`torch.special.xlogy` knows that."),
        Twin("logarithm of a softmax", partial(_smooth, how="log of softmax"),
             "For large scores the softmax rounds small probabilities to 0, and their logarithm is infinite. Take both in one step."),
        Twin("no log-softmax", partial(_smooth, how="raw"),
             "Scores are not log-probabilities yet: a log-softmax over the vocabulary is missing."),
        Twin("scores averaged", partial(_smooth, how="scores averaged"),
             "The right word's part is a log-probability, but what you spread over all words is a mean of raw scores. Use "
             "log-probabilities there too."),
        Twin("scores taken for probabilities", partial(_smooth, how="logarithm alone"),
             "You take the logarithm of the scores themselves, and that of a negative number is NaN. They have to go through a softmax "
             "first."),
        Twin("axis 1 taken for the words", partial(_smooth, how="axis 1"),
             "Axis 1 holds the words only where there are two axes. They are always on the last axis."),
        Twin("softmax along the tokens", partial(_smooth, how="axis"),
             "The probabilities of one token sum to 1 over the vocabulary, the last axis."),
        Twin("eps argument ignored", partial(_smooth, how="eps ignored"),
             "A tenth is used whatever the caller asks for. The share is an argument; a tenth is only its default."),
        Twin("a small number inside the logarithm", partial(_smooth, how="a bit added"),
             "What you add keeps the logarithm finite, but makes it wrong where a probability is small. Take softmax and logarithm "
             "in one step."),
        Twin("sign lost", partial(_smooth, how="sign"), "All your losses are negative. The loss is the log-probability with a minus sign."),
        Twin("bits instead of nats", partial(_smooth, how="bits"), "The logarithm here is the natural one, not that to the base 2."),
        Twin("averaged over the tokens", partial(_smooth, how="mean"), "Return one number for each token, not the mean of them."),
    ),
)
