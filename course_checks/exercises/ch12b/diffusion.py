"""Exercise 12b.7: the loss of masked diffusion. The oracle adds up hidden words one by one in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, ids: Tensor, hidden: Tensor, t: Tensor) -> Tensor:
    total = logits.double().sum() * 0
    for rows, words, gaps, share in zip(logits.double(), ids.tolist(), hidden.tolist(), t.tolist(), strict=True):
        for row, word, gap in zip(rows, words, gaps, strict=True):
            if gap:
                total = total + (torch.logsumexp(row, 0) - row[word]) / share
    return (total / len(ids)).float()


def _loss(logits: Tensor, ids: Tensor, hidden: Tensor, t: Tensor, how: str = "right") -> Tensor:
    if how == "next word":
        ids = ids.roll(-1, 1)
    log_p = {"raw": logits, "log of softmax": logits.softmax(-1).log(), "tiny number": (logits.softmax(-1) + 1e-9).log(),
             "axis": logits.log_softmax(1)}.get(how, logits.log_softmax(-1))
    nats = -log_p.gather(-1, ids[..., None])[..., 0]  # (batch, n)
    counted = {"visible": ~hidden, "all words": torch.ones_like(hidden)}.get(how, hidden)
    each, count = (nats * counted).sum(1), hidden.sum(1)  # (batch,)
    match how:
        case "no weight":
            each, t = each, torch.ones_like(t)
        case "times t":
            t = 1 / t
        case "visible share":
            t = (1 - t).clamp_min(1e-6)
        case "mean of hidden":
            each = each / count.clamp_min(1)
        case "mean, no weight":
            return each.sum() / count.sum().clamp_min(1)
        case "mean, weighted later":
            each = each.sum() / count.sum().clamp_min(1)
        case "share that came out":
            t = (count / ids.shape[1]).clamp_min(1e-6)
        case "mean share":
            t = t.mean()
        case "first share":
            t = t[:1]
        case "squared":
            t = t**2
        case "each word":
            each = each / ids.shape[1]
    each = each / t
    match how:
        case "empty left out":
            return each.sum() / (count > 0).sum().clamp_min(1)
        case "sum":
            return each.sum()
        case "all hidden words":
            return each.sum() / count.sum().clamp_min(1)
        case "bits":
            return each.mean() / math.log(2)
        case "sign":
            return -each.mean()
    return each.mean()


def _reference(logits: Tensor, ids: Tensor, hidden: Tensor, t: Tensor) -> Tensor:
    if not ((t > 0) & (t <= 1)).all():
        raise ValueError(f"t={t.tolist()} must be above 0 and at most 1")
    return _loss(logits, ids, hidden, t)


def _args(g: torch.Generator, n: int, vocab: int, t: list[float], counts: list[int]) -> dict:
    hidden = torch.stack([torch.randperm(n, generator=g) < count for count in counts])
    return {"logits": 1.5 * torch.randn(len(t), n, vocab, generator=g), "ids": torch.randint(0, vocab, (len(t), n), generator=g),
            "hidden": hidden, "t": torch.tensor(t)}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    more = {"gradients": ("logits",), "shape": "()"}
    return [Case("3 sentences of 6 words", _args(g, 6, 9, [0.3, 0.55, 0.8], [3, 2, 5]), **more),
            Case("4 sentences of 7 words", _args(g, 7, 5, [0.9, 0.2, 0.45, 0.65], [6, 1, 4, 3]), **more),
            Case("3 sentences, in one of them nothing is hidden", _args(g, 5, 8, [0.4, 0.1, 0.7], [2, 0, 4]), part="edges", **more)]


def _fixed() -> list[Case]:
    g = generator(6)
    sure = {"logits": torch.tensor([[[120.0, -90.0, 0.0], [10.0, -200.0, 150.0], [0.0, 40.0, -130.0]]]), "ids": torch.tensor([[1, 0, 2]]),
            "hidden": torch.tensor([[True, False, True]]), "t": torch.tensor([0.5])}
    return [Case("logits in the hundreds", sure, part="edges", gradients=("logits",), shape="()"),
            Case("everything is hidden, t = 1", _args(g, 4, 6, [1.0, 1.0], [4, 4]), part="edges", gradients=("logits",), shape="()"),
            *(Case(f"t = {value}", _args(g, 4, 6, [0.5, value], [2, 2]), part="refusal", rejects=ValueError, mentions=(str(value),))
              for value in (1.5, -0.25)),
            Case("t = 0", _args(g, 4, 6, [0.5, 0.0], [2, 0]), part="refusal", rejects=ValueError)]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_loss, how=how), hint)


DIFFUSION = Exercise(
    id="12b.7", title="The loss of masked diffusion", name="diffusion_loss", kind="function", stars=2, minutes=12,
    signature="diffusion_loss(logits, ids, hidden, t) -> ()", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 1, "refusal": 1},
    twins=(
        _twin("not weighted", "no weight", "You add up the hidden words and leave t out. A sentence with few gaps then counts less than it "
              "should."),
        _twin("plain mean over the gaps", "mean, no weight", "That is the loss of chapter 09: the mean over all hidden words. Here each "
              "sentence is a sum, divided by its own t."),
        _twin("multiplied by t", "times t", "You multiply by t. Few gaps mean a small t, and then each gap has to count more, not less."),
        _twin("divided by what is visible", "visible share",
              "You divide by the probability of staying visible; t is that of being hidden."),
        _twin("mean of each sentence's gaps", "mean of hidden", "You take the mean of a sentence's hidden words and divide it by t as "
              "well. This corrects for the number of gaps twice. Take the sum of the hidden words instead."),
        _twin("one mean for the batch, weighted afterwards", "mean, weighted later",
              "You take one mean over all hidden words of the batch and weight it afterwards. Each sentence is a sum of its own, divided "
              "by its own t."),
        _twin("share that came out hidden", "share that came out", "You divide by the share of words that happened to be hidden. Divide by "
              "the probability with which each word was hidden."),
        _twin("mean t for all", "mean share", "Each sentence has a t of its own; you divide all of them by the mean."),
        _twin("first t for all", "first share", "Each sentence has a t of its own; you use the first one for all."),
        _twin("divided by t twice", "squared", "Your weight falls with the square of t. One division by t is enough."),
        _twin("nats a word", "each word", "You divide by the length of the sentence as well. The bound is on the whole sentence."),
        _twin("empty sentences left out", "empty left out",
              "Your mean is over the sentences that have a gap. A sentence without a gap adds 0, but it is counted too."),
        _twin("sum over the batch", "sum", "The mean over the sentences is asked for; yours grows with the batch."),
        _twin("divided by all gaps", "all hidden words",
              "You divide by the number of hidden words of the whole batch. Divide by the number of sentences."),
        _twin("visible words counted", "visible",
             "You count the words that the model was shown. True in `hidden` means that the model did not see the word."),
        _twin("all words counted", "all words", "You count all words. The model was shown some of them, so only the hidden words count."),
        _twin("each row predicts the next word", "next word", "Row i predicts the word at position i. Nothing is shifted here."),
        _twin("a tiny number in the logarithm", "tiny number",
              "You add a number inside the logarithm. So the loss has an upper limit, however wrong the answer is."),
        _twin("logarithm of a softmax", "log of softmax",
              "An improbable word's probability rounds to 0, and its logarithm is minus infinity. Use a log-softmax."),
        _twin("softmax over the positions", "axis", "Probabilities sum to one over the vocabulary, not over the sentence."),
        _twin("no softmax", "raw", "You use the logits as they are. They are not yet logarithms of probabilities."),
        _twin("bits", "bits", "Your loss is right in bits; nats are asked for."),
        _twin("sign lost", "sign", "A loss is small when the right word is probable; yours is large."),
    ),
)
