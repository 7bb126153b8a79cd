"""Exercise 08a.8: a training step once more, with masks and padding. The oracle is Adam by hand, in double precision."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin, generator
from ..common import cross_entropy, integers
from . import callables  # noqa: F401  (registers the makers of models)
from .callables import VOCAB
from .losses import _targets

Ids = list[Tensor]


def _by_hand(new_model: Any, sources: Ids, targets: Ids, rates: list[float], pad_id: int = 0) -> tuple[list[float], Tensor]:
    """Kingma and Ba 2015, algorithm 1, on gradients of a loss that goes prefix by prefix."""
    model = (CALLABLES[new_model.name] if isinstance(new_model, Registered) else new_model)()
    weights = {name: value.detach().double().requires_grad_() for name, value in model.named_parameters()}
    first = {name: torch.zeros_like(value) for name, value in weights.items()}
    second, losses = {name: torch.zeros_like(value) for name, value in weights.items()}, []

    def log_p(source: Tensor, prefix: Tensor) -> Tensor:
        real = (source != pad_id)[:, None]
        triangle = torch.ones(prefix.shape[1], prefix.shape[1], dtype=torch.bool).tril()
        return torch.log_softmax(functional_call(model, weights, (source, prefix, real, triangle))[:, -1], -1)

    with torch.enable_grad():
        for step, (source, target, rate) in enumerate(zip(sources, targets, rates, strict=True), start=1):
            total, count = 0.0, 0
            for t in range(1, target.shape[1]):
                real = target[:, t] != pad_id
                total = total - (log_p(source, target[:, :t]).gather(1, target[:, t:t + 1])[:, 0] * real).sum()
                count += int(real.sum())
            loss = total / count
            losses.append(loss.item())
            slopes = torch.autograd.grad(loss, list(weights.values()))
            for (name, value), slope in zip(list(weights.items()), slopes, strict=True):
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.98 * second[name] + 0.02 * slope ** 2
                high = torch.sqrt(second[name] / (1 - 0.98 ** step)) + 1e-9
                weights[name] = (value - rate * first[name] / (1 - 0.9 ** step) / high).detach().requires_grad_()
    source, target = sources[-1], targets[-1]
    model.eval()
    with torch.no_grad():
        real = (source != pad_id)[:, None]
        triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        rows = [functional_call(model, weights, (source, target[:, :t], real, triangle[:t, :t]))[:, -1]
                for t in range(1, target.shape[1])]
    return losses, torch.stack(rows, 1).float()


def _train(new_model: Any, sources: Ids, targets: Ids, rates: list[float], pad_id: int = 0,
           how: str = "right") -> tuple[list[float], Tensor]:
    with torch.enable_grad():  # the engine asks for right results of changed inputs without gradients
        return _loop(new_model, sources, targets, rates, pad_id, how)


def _loop(new_model: Any, sources: Ids, targets: Ids, rates: list[float], pad_id: int,
          how: str) -> tuple[list[float], Tensor]:
    make = CALLABLES[new_model.name] if isinstance(new_model, Registered) else new_model
    settings = {"betas": (0.9, 0.999 if how == "usual memory" else 0.98), "eps": 1e-9}

    def begin(model: Any) -> torch.optim.Optimizer:
        if how == "gradient descent":
            return torch.optim.SGD(model.parameters(), lr=rates[0])
        return torch.optim.Adam(model.parameters(), lr=rates[0], **settings)

    def scores_of(source: Tensor, target: Tensor) -> Tensor:
        given = target if how == "whole target" else target[:, 1:] if how == "answer given" else target[:, :-1]
        n = given.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool).tril(-1 if how == "own hidden" else 0)
        real = (source != (0 if how == "zero" else pad_id))[:, None]
        mask = torch.ones_like(mask) if how == "future open" else mask.T if how == "past hidden" else mask
        mask, real = (~mask, ~real) if how == "inverted" else (mask, real)
        mask = mask & (given != pad_id)[:, None] if how == "target pads hidden" else mask
        return model(source, given, torch.ones_like(real) if how == "source pads read" else real, mask)

    model, losses = make(), []
    optimizer = begin(model)
    if how == "never in training mode":
        model.eval()
    for source, target, rate in zip(sources, targets, rates, strict=True):
        if how == "new model":
            model = make()
        if how in ("new model", "new optimiser"):
            optimizer = begin(model)
        for group in optimizer.param_groups:
            if how not in ("rate ignored", "rate late"):
                group["lr"] = rate
        if how not in ("not cleared", "never moves"):
            optimizer.zero_grad()

        def loss_now(source: Tensor = source, target: Tensor = target) -> Tensor:
            scores = scores_of(source, target)
            wanted = target if how == "whole target" else target[:, :-1] if how == "no shift" else target[:, 1:]
            scores = torch.softmax(scores, -1) if how == "twice" else scores
            single = cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
            real = wanted != pad_id if how != "no eos" else (wanted != pad_id) & (wanted != 2)
            match how:
                case "pads count":
                    return single.mean()
                case "divided by all":
                    return (single * real).mean()
                case "by sentence":
                    return ((single * real).sum(1) / real.sum(1)).mean()
                case "sum":
                    return (single * real).sum()
            return (single * real).sum() / real.sum()

        loss = loss_now()
        if how != "never moves":
            (-loss if how == "climbs" else loss).backward()
            optimizer.step()
        if how == "rate late":
            for group in optimizer.param_groups:
                group["lr"] = rate
        if how == "after the step":
            with torch.no_grad():
                loss = loss_now()
        losses.append(loss.item())
        if how == "left after one":
            break
    if how != "in training mode":
        model.eval()
    with torch.no_grad():
        result = scores_of(*((sources[0], targets[0]) if how == "first batch" else (sources[-1], targets[-1])))
    return losses, torch.log_softmax(result, -1) if how == "log-probabilities" else result


def _batch(g: torch.Generator, lengths: list[int], m: int, pads: list[int], pad_id: int, vocab: int) -> tuple[Tensor, Tensor]:
    source = integers(g, 3, vocab, len(lengths), m)
    source = torch.where(source == pad_id, 4, source)
    for row, count in zip(source, pads, strict=True):
        row[m - count:] = pad_id
    target = _targets(g, lengths, pad_id)
    return source, torch.where((target >= vocab) & (target != pad_id), 4, target)


def _rates(g: torch.Generator, count: int) -> list[float]:
    return [round(0.02 + 0.06 * torch.rand((), generator=g).item(), 4) for _ in range(count)]


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, maker: str, part: str, even: bool, vocab: int, pad_id: int = 0) -> Case:
        count = 3 + int(torch.randint(3, (), generator=g))
        lengths = [[4, 4] if even else [1 + int(k) for k in torch.randperm(5, generator=g)[:3]] for _ in range(count)]
        pads = [[0, 0] if even else [0, 3, 1] for _ in range(count)]
        batches = [_batch(g, a, 6 + i % 2, b, pad_id, vocab) for i, (a, b) in enumerate(zip(lengths, pads, strict=True))]
        return Case(f"{count} batches of {len(lengths[0])} sentences{label}", {
            "new_model": Registered(maker), "sources": [a for a, _ in batches], "targets": [b for _, b in batches],
            "rates": _rates(g, count), "pad_id": pad_id}, part=part,
            calls={"new_model": 1})

    return [case(" of equal length", "eleven_words", "values", True, VOCAB),
            case(" of unequal length", "nine_words", "padding", False, 9),
            case(", padding has the id 7", "eleven_words", "padding", False, VOCAB, 7),
            case(", a model that differs in training mode", "other_when_training", "evaluation", False, VOCAB)]


def _fixed() -> list[Case]:
    g = generator(3)
    source, target = _batch(g, [3], 4, [0], 0, 9)
    return [Case("one batch, one sentence", {"new_model": Registered("nine_words"), "sources": [source], "targets": [target],
                                             "rates": [0.05], "pad_id": 0}, calls={"new_model": 1})]


TRAINING = Exercise(
    id="08a.8", title="A training step with masks and padding", name="train_translator", kind="function", stars=3, minutes=20,
    signature="train_translator(new_model, sources, targets, rates, pad_id=0) -> losses, scores (batch, n-1, vocab)",
    oracle=_by_hand, reference=_train, draw=_draw, fixed=_fixed, parts={"values": 3, "padding": 2, "evaluation": 1},
    outputs=("losses", "scores"), rtol=1e-3, atol=2e-4,
    forbidden=("course_utils.training.loop.fit", "course_utils.training.schedules.token_loss"),
    twins=(
        Twin("gradients never cleared", partial(_train, how="not cleared"),
             "The first step is right, the later ones are not: each backward pass adds its gradients to those that are there already."),
        Twin("the weights never move", partial(_train, how="never moves"),
             "The weights are the same after every batch. Clear the gradients, compute the loss, go backward, step, in this order."),
        Twin("climbs instead of descends", partial(_train, how="climbs"),
             "Your loss grows. The optimiser steps against the gradient by itself, without your help."),
        Twin("future not hidden", partial(_train, how="future open"),
             "Every position reads the whole target, its own answer included. The mask of the target is a triangle."),
        Twin("own position hidden", partial(_train, how="own hidden"),
             "A position may read its own input, because that is the word before the one it has to name. Keep the diagonal."),
        Twin("past and future exchanged", partial(_train, how="past hidden"),
             "Your triangle opens the future and hides the past. A row of the mask belongs to the position that reads."),
        Twin("both masks inverted", partial(_train, how="inverted"), "True means “may read”, here as everywhere in the course."),
        Twin("pads of the source are read", partial(_train, how="source pads read"),
             "The model reads the pads of the source. The source mask has to hide them."),
        Twin("pads of the target hidden", partial(_train, how="target pads hidden"),
             "Your target mask hides the pads, too. Real words never read them anyway, but the rows of the pads now get other scores, "
             "and all rows are compared. Use the triangle alone."),
        Twin("pad id taken for 0", partial(_train, how="zero"),
             "The mask of the source looks for the id 0. The id of the padding is an argument."),
        Twin("nothing shifted at all", partial(_train, how="whole target"),
             "You feed the whole target and compare with the whole target. Position t has to name the token after the one it reads."),
        Twin("the answer is the input", partial(_train, how="answer given"),
             "The model is given the tokens that it should name. Its input must start with the begin token and stop one token early."),
        Twin("each token predicts itself", partial(_train, how="no shift"),
             "Position t is compared with the token it has just read. It should be compared with the one that follows."),
        Twin("end token left out", partial(_train, how="no eos"),
             "The end token does not count in your loss. Then nothing teaches the model to stop."),
        Twin("padding counts", partial(_train, how="pads count"),
             "Where the wanted token is a pad there is nothing to learn: leave it out."),
        Twin("divided by all places", partial(_train, how="divided by all"),
             "The pads' losses are 0, but the mean still divides by them. Divide by the number of real wanted tokens."),
        Twin("mean of the sentences' means", partial(_train, how="by sentence"),
             "You give each sentence the same weight, long or short. Here each token has the same weight."),
        Twin("summed loss", partial(_train, how="sum"), "You add up the losses of all tokens. The mean is asked for."),
        Twin("softmax taken twice", partial(_train, how="twice"),
             "The cross-entropy of PyTorch takes scores and does the softmax itself. You give it probabilities."),
        Twin("first rate for all batches", partial(_train, how="rate ignored"),
             "Every step uses the same rate. Each batch has its own: the optimiser keeps it in its parameter groups."),
        Twin("rate set after the step", partial(_train, how="rate late"),
             "Each step is taken at the rate of the batch before. Set the rate first."),
        Twin("plain gradient descent", partial(_train, how="gradient descent"),
             "The task asks for Adam, and you use plain gradient descent."),
        Twin("Adam's usual memory", partial(_train, how="usual memory"),
             "Your Adam averages the squared gradients with PyTorch's default. The second beta of the paper is smaller."),
        Twin("a new optimiser at every batch", partial(_train, how="new optimiser"),
             "Adam remembers earlier gradients. A new optimiser for every batch remembers nothing: make one and keep it."),
        Twin("a new model at every batch", partial(_train, how="new model"),
             "You make a new model inside the loop, so that every batch starts from untrained weights. Make it once."),
        Twin("loss noted after the step", partial(_train, how="after the step"),
             "You compute the loss again after the update. Return the loss whose gradient made the step."),
        Twin("scored in training mode", partial(_train, how="in training mode"),
             "A model may behave differently in training. Tell it that training is over before you compute the last scores."),
        Twin("trained in evaluation mode", partial(_train, how="never in training mode"),
             "You put the model into evaluation mode before the loop. It arrives in training mode and should be trained in it."),
        Twin("scores of the first batch", partial(_train, how="first batch"),
             "The scores of the last batch are asked for, not of the first."),
        Twin("log-probabilities returned", partial(_train, how="log-probabilities"),
             "You return log-probabilities. Return the scores as they leave the model."),
        Twin("returns inside the loop", partial(_train, how="left after one"),
             "You stop after the first batch. Look at the indentation of the return."),
    ),
)
