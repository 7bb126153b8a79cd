"""Exercise 11a.5: the loss of a language model, handed out with three faults. The oracle walks token by token in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
    losses = []
    for row, tokens, length in zip(logits.double(), ids.tolist(), lengths.tolist(), strict=True):
        for t in range(1, length):
            losses.append(torch.logsumexp(row[t - 1], 0) - row[t - 1, tokens[t]])
    return torch.stack(losses).mean().float()


def _loss(logits: Tensor, ids: Tensor, lengths: Tensor, axis: int = -1, shift: str = "right", pads: str = "right",
          rows: str = "all", form: str = "nats") -> Tensor:
    n = ids.shape[1]
    log_p = {"raw": logits, "sigmoid": torch.sigmoid(logits).log()}.get(form, logits.log_softmax(axis))
    if form == "twice":
        log_p = logits.softmax(-1).log_softmax(-1)
    given, wanted, place = log_p[:, :-1], ids[:, 1:], torch.arange(1, n)
    if form == "axis of the rest":
        given = logits[:, :-1].log_softmax(1)
    match shift:
        case "none":
            given, wanted, place = log_p, ids, torch.arange(n)
        case "wrong way":
            given, wanted, place = log_p[:, 1:], ids[:, :-1], torch.arange(n - 1)
        case "twice":
            given, wanted, place = log_p[:, :-2], ids[:, 2:], torch.arange(2, n)
        case "rolled":
            given, wanted, place = log_p, ids.roll(-1, 1), torch.arange(n)
    picked = -given.gather(-1, wanted[..., None])[..., 0]
    real = place < lengths[:, None]
    if rows == "first length":
        real = place < lengths[:1, None].expand(len(ids), 1)
    if pads == "one more":
        real = place <= lengths[:, None]
    if pads == "one less":
        real = place < lengths[:, None] - 1
    if rows == "last":
        real = place == lengths[:, None] - 1
    if rows == "last column":
        real = (place == n - 1).expand_as(picked)
    if rows == "first":
        real = real & (place == 1)
    picked = picked / math.log(2) if form == "bits" else 1 - (-picked).exp() if form == "probability" else picked
    if form == "sign":
        picked = -picked
    if pads == "count":
        return picked.mean()
    if pads == "divided":
        return (picked * real).mean()
    if pads == "sentences":
        return ((picked * real).sum(1) / real.sum(1).clamp_min(1)).sum() / (real.sum(1) > 0).sum()
    if pads in ("rows", "all rows"):
        counts = real.sum(1) if pads == "rows" else real.sum(1).clamp_min(1)
        return ((picked * real).sum(1) / counts).mean()
    total = (picked * real).sum()
    if pads == "sum":
        return total
    if pads == "batch":
        return total / len(ids)
    if pads == "lengths":
        return total / lengths.sum()
    return total / real.sum()


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, lengths: list[int], n: int, vocab: int, part: str) -> Case:
        return Case(label, {"logits": 1.5 * torch.randn(len(lengths), n, vocab, generator=g),
                            "ids": torch.randint(0, vocab, (len(lengths), n), generator=g), "lengths": torch.tensor(lengths)}, part=part,
                    gradients=("logits",), shape="()")

    return [case("2 full rows of 5 tokens", [5, 5], 5, 7, "full rows"), case("3 rows of 6, 2 and 4 tokens", [6, 2, 4], 6, 9, "padding"),
            case("4 rows of up to 7 tokens, one of them a single token", [3, 7, 1, 5], 7, 11, "a single token")]


BUG = Exercise(
    id="11a.5", title="Find the bugs: the loss of a language model", name="next_token_loss", kind="function", stars=2, minutes=12,
    signature="next_token_loss(logits, ids, lengths) -> tensor ()", oracle=_oracle, reference=_loss, draw=_draw,
    parts={"full rows": 2, "padding": 1, "a single token": 1},
    twins=(
        Twin("still the handed-out bugs", partial(_loss, axis=1, shift="none", pads="divided"),
             "Take logits that name the next token with certainty: the loss should be almost 0. Then look at what each line compares.",
             untouched=True),
        Twin("only the softmax mended", partial(_loss, shift="none", pads="divided"),
             "Each row is now a distribution over the vocabulary. It is still compared with the token it has read, and the mean still "
             "counts pads."),
        Twin("only the shift mended", partial(_loss, axis=1, pads="divided"),
             "The right tokens are compared now. But probabilities of one position have to sum to 1 over the vocabulary, and the mean "
             "still counts pads."),
        Twin("only the mean mended", partial(_loss, axis=1, shift="none"),
             "The divisor is right now. Over which axis does the softmax run? And which token has row t already read?"),
        Twin("each token predicts itself", partial(_loss, shift="none"),
             "Row t has read token t. It should be compared with the token after it."),
        Twin("softmax over the positions", partial(_loss, axis=1),
             "The probabilities of one position sum to 1 over the vocabulary, the last axis."),
        Twin("softmax over the positions but the last", partial(_loss, form="axis of the rest"),
             "You leave the last row out, and rightly so. But the softmax still runs over the positions; probabilities of one position sum "
             "to 1 over the vocabulary."),
        Twin("only the shift mended, last row left out", partial(_loss, form="axis of the rest", pads="divided"),
             "The right tokens are compared now. Over which axis should probabilities sum to 1, and how many losses does the mean count?"),
        Twin("first row's length for all", partial(_loss, rows="first length"),
             "Every row has a length of its own. You use the first row's for all."),
        Twin("softmax over the batch", partial(_loss, axis=0),
             "Your sentences compete with each other. The probabilities of one position sum to 1 over the vocabulary, the last axis."),
        Twin("divided by all places", partial(_loss, pads="divided"),
             "The losses at pads are 0, but the mean still divides by their number. Divide by the number of predicted tokens."),
        Twin("padding counts", partial(_loss, pads="count"), "Where the token to be predicted is a pad there is nothing to learn."),
        Twin("shifted the wrong way", partial(_loss, shift="wrong way"),
             "Your row t is compared with the token before it. It should name the token after it."),
        Twin("shifted twice", partial(_loss, shift="twice"),
             "Row t names the token two places on. If a model shifts inside, its data must not be shifted once more."),
        Twin("targets rolled round", partial(_loss, shift="rolled", pads="one more"),
             "No token follows the last row. Rolling gives this row the first token of the sentence as its target."),
        Twin("last row only", partial(_loss, rows="last"),
             "You use only the last real row. That is enough when a model writes. When it learns, every row has a target."),
        Twin("last column only", partial(_loss, rows="last column"),
             "You use the last column of the batch, which in short rows is padding. And every row has a target, not just the last."),
        Twin("first row only", partial(_loss, rows="first"), "Only the first prediction of each sentence is counted. All rows have a "
             "target."),
        Twin("one pad too many", partial(_loss, pads="one more"),
             "You count the first pad after each sentence. A row of five tokens has only four predictions."),
        Twin("last token not counted", partial(_loss, pads="one less"),
             "The last real token has to be predicted as well, from the row before it."),
        Twin("divided by all tokens", partial(_loss, pads="lengths"),
             "The first token of a sentence is not predicted, so a sentence of five tokens has four losses."),
        Twin("mean of the sentences' means", partial(_loss, pads="sentences"),
             "You give each sentence the same weight, long or short. Give each predicted token the same weight."),
        Twin("mean of the rows, nothing by nothing", partial(_loss, pads="rows"),
             "You divide by each row's number of predictions, which is 0 for a row of one token. Take one mean over all predicted tokens."),
        Twin("mean of the rows, empty ones too", partial(_loss, pads="all rows"),
             "You give each row the same weight, even a row without a prediction. Give each predicted token the same weight."),
        Twin("sum instead of mean", partial(_loss, pads="sum"), "The losses are added up. A mean does not grow with the size of the "
             "batch."),
        Twin("divided by the sentences", partial(_loss, pads="batch"),
             "The sum is divided by the number of sentences, not by that of predicted tokens."),
        Twin("softmax taken twice", partial(_loss, form="twice"),
             "You give probabilities to a function that expects logits. Such a function does the softmax itself."),
        Twin("no softmax", partial(_loss, form="raw"), "Logits are not log-probabilities yet: a log-softmax over the vocabulary is "
             "missing."),
        Twin("sigmoid for softmax", partial(_loss, form="sigmoid"), "The tokens compete for one place: their probabilities sum to 1."),
        Twin("bits instead of nats", partial(_loss, form="bits"), "The logarithm here is the natural one, not that to the base 2."),
        Twin("probability instead of its logarithm", partial(_loss, form="probability"),
             "The loss is the negative logarithm of the probability."),
        Twin("sign lost", partial(_loss, form="sign"), "A loss falls when the right token grows more probable; yours rises."),
    ),
)
