"""Exercise 09.5: the loss of the selected tokens alone. The oracle walks over single tokens in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Registered, Twin, generator
from ..common import IGNORED, integers, randn
from .callables import VOCAB, toy_head


def _oracle(hidden: Tensor, labels: Tensor, head: Callable) -> tuple[Tensor, Tensor]:
    total, rows = hidden.sum().double() * 0, []
    for b in range(len(labels)):
        for t in range(labels.shape[1]):
            if labels[b, t] != IGNORED:
                rows.append(toy_head(hidden[b, t][None])[0])
                total = total + torch.logsumexp(rows[-1].double(), 0) - rows[-1][labels[b, t]].double()
    logits = torch.stack(rows) if rows else hidden.new_zeros(0, VOCAB)
    return (total / max(len(rows), 1)).float(), logits


def _loss(hidden: Tensor, labels: Tensor, head: Callable, how: str = "right") -> tuple[Tensor, Tensor]:
    if how == "first input":
        hidden, labels = hidden[:1], labels[:1]
    chosen = labels != IGNORED
    match how:
        case "zero is ignored":
            chosen = chosen & (labels != 0)
        case "shifted":
            chosen = torch.cat([chosen[:, 1:], chosen[:, :1]], 1)
        case "inverted":
            chosen = ~chosen
    wanted = labels[labels != IGNORED] if how in ("shifted", "sorted") else labels[chosen]
    rows = hidden[chosen]
    if how == "all rows":
        logits = head(hidden.flatten(0, 1))
        log_p = torch.log_softmax(logits, -1)
        picked = -log_p[chosen.flatten(), wanted]
        return (picked.sum() / max(len(picked), 1)) + 0 * logits.sum(), logits
    if how == "inverted":
        wanted = wanted.clamp_min(0)
    if how == "each input alone":
        parts = [head(row[keep]) for row, keep in zip(hidden, chosen, strict=True)]
        logits = torch.cat(parts)
        picked = logits.log_softmax(-1)[torch.arange(len(logits)), labels[chosen]]
        return -picked.sum() / max(len(picked), 1), logits
    if how == "columns":  # gathers in the order of positions, not of sentences
        rows, wanted = hidden.transpose(0, 1)[chosen.T], labels.T[chosen.T]
    if how == "sorted":
        rows = rows.flip(0)
    if how == "first":
        keep = chosen.cumsum(1).eq(1) & chosen
        rows, wanted = hidden[keep], labels[keep]
    if how == "picked afterwards":
        logits = head(hidden.flatten(0, 1))[chosen.flatten()]
    else:
        logits = head(rows.detach() if how == "cut" else rows)
    if how == "softmax first":
        logits = torch.softmax(logits, -1)
    scores = torch.softmax(logits, -1) if how == "twice" else logits
    log_p = torch.log_softmax(scores, 0 if how == "axis" else -1) if how != "raw" else scores
    losses = -log_p[torch.arange(len(wanted)), wanted]
    if how == "loss cut":
        losses = losses.detach()
    match how:
        case "nan":
            return losses.mean(), logits
        case "sum":
            return losses.sum(), logits
        case "all tokens":
            return losses.sum() / labels.numel(), logits
        case "by sentence":
            counts = chosen.sum(1)
            parts = [part.mean() for part in losses.split(counts.tolist()) if len(part)]
            return (torch.stack(parts).mean() if parts else logits.sum()), logits
        case "by batch":
            return losses.sum() / len(labels), logits
        case "sign":
            losses = -losses
        case "bits":
            losses = losses / math.log(2)
        case "probabilities":
            return losses.sum() / max(len(losses), 1), torch.softmax(logits, -1)
        case "each":
            return losses, logits
    return losses.sum() / max(len(losses), 1), logits


def _args(g: torch.Generator, batch: int, n: int, counts: list[int], d: int = 6, head: str = "toy_head") -> dict:
    labels = torch.full((batch, n), IGNORED)
    for row, count in zip(labels, counts, strict=True):
        row[torch.randperm(n, generator=g)[:count]] = integers(g, 1, VOCAB, count)
    if counts[0]:
        labels[0, (labels[0] != IGNORED).nonzero()[0, 0]] = 0  # an id like any other
    return {"hidden": randn(g, batch, n, d), "labels": labels, "head": Registered(head)}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case("2 inputs of 7 tokens, 2 and 4 of them selected", _args(g, 2, 7, [2, 4]), gradients=("hidden",), shape="()"),
            Case("3 inputs of 9 tokens, 4, 0 and 1 of them selected", _args(g, 3, 9, [4, 0, 1], 5), gradients=("hidden",), shape="()")]


def _fixed() -> list[Case]:
    g = generator(9)
    return [Case("a single selected token", _args(g, 1, 4, [1]), gradients=("hidden",), shape="()"),
            Case("a head that takes the 5 selected tokens alone, in one call", _args(g, 3, 6, [2, 0, 3], 4, "head_for_five"),
                 gradients=("hidden",), shape="()", calls={"head": 1}),
            Case("nothing is selected", _args(g, 2, 5, [0, 0]), part="nothing selected", shape="()")]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_loss, how=how), hint)


LOSS = Exercise(
    id="09.5", title="The loss of the selected tokens", name="masked_loss", kind="function", stars=2, minutes=10,
    signature="masked_loss(hidden, labels, head) -> loss (), logits (selected, vocab)", oracle=_oracle, reference=_loss, draw=_draw,
    fixed=_fixed, parts={"values": 3, "nothing selected": 1}, outputs=("loss", "logits"),
    forbidden=("course_utils.models.bert.BertForPretraining.loss",),
    twins=(
        _twin("first input only", "first input",
              "You use only the selected tokens of the first input. The selected tokens of the whole batch count."),
        _twin("every token goes through the head", "all rows",
              "You give the head every token. Pick the hidden states of the selected tokens first; the others do not need it."),
        _twin("picked behind the head", "picked afterwards",
              "The head has worked on every token before you pick. Pick hidden states instead of logits: most tokens do not need the "
              "head, which costs most."),
        _twin("the head called for each input", "each input alone",
              "You call the head once for each input. Collect the selected tokens of the whole batch first, and call it once for all."),
        _twin("id 0 is ignored as well", "zero is ignored", "Zero is an id like any other here. Only one negative number means “ignored”."),
        _twin("neighbours picked", "shifted",
              "You pick the hidden state beside the selected token. In a masked model each token is predicted at its own place, and "
              "nothing is shifted."),
        _twin("the unselected are picked", "inverted", "You pick the places that are to be ignored."),
        _twin("only the first of each input", "first", "An input may have several selected tokens, and each of them counts."),
        _twin("gathered by position", "columns",
              "The rows are in another order: take the inputs one after the other, and their tokens from left to right."),
        _twin("states and labels in different order", "sorted",
              "Each label belongs to the hidden state of its own place. You pair them in different orders."),
        _twin("no gradient", "cut", "The numbers are right, but nothing flows back to the hidden states."),
        _twin("loss without gradient", "loss cut",
              "The numbers are right, but no gradient flows from your loss to the hidden states. The model cannot learn from it."),
        _twin("softmax taken twice", "twice", "The cross-entropy does the softmax itself; you hand it probabilities."),
        _twin("softmax before the cross-entropy", "softmax first",
              "The cross-entropy does the softmax itself; you hand it probabilities, and return them where logits are asked for."),
        _twin("no softmax", "raw", "Logits are not log-probabilities yet: a log-softmax over the vocabulary is missing."),
        _twin("softmax over the selected tokens", "axis", "The probabilities of one token sum to 1 over the vocabulary, the last axis."),
        _twin("mean over nothing", "nan",
              "When no token is selected, the mean divides 0 by 0. The docstring asks for 0 in that case."),
        _twin("sum instead of mean", "sum", "The losses are added up. A mean does not grow with the number of selected tokens."),
        _twin("divided by all tokens", "all tokens", "You divide by the number of all tokens. Divide by the number of selected ones."),
        _twin("mean of the inputs' means", "by sentence", "You give each input the same weight. Give it to each selected token."),
        _twin("divided by the inputs", "by batch", "You divide by the number of inputs. Divide by the number of selected tokens."),
        _twin("sign lost", "sign", "A loss falls when the right token grows more probable; yours rises."),
        _twin("bits instead of nats", "bits", "The logarithm here is the natural one, not that to the base 2."),
        _twin("probabilities returned", "probabilities", "The second result is the logits themselves, before any softmax."),
        _twin("one loss for each token", "each", "The first result is one number, the mean of the losses you return."),
    ),
)
