"""Exercise 11b.5: the log-probability of an answer after its prompt. The oracle walks token by token in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, ids: Tensor, prompts: Tensor, lengths: Tensor) -> Tensor:
    sums = []
    for row, tokens, prompt, length in zip(logits.double(), ids.tolist(), prompts.tolist(), lengths.tolist(), strict=True):
        total = row.sum() * 0
        for t in range(prompt, length):
            total = total + row[t - 1, tokens[t]] - torch.logsumexp(row[t - 1], 0)
        sums.append(total)
    return torch.stack(sums).float()


def _answer(logits: Tensor, ids: Tensor, prompts: Tensor, lengths: Tensor, shift: str = "right", places: str = "right",
            form: str = "sum") -> Tensor:
    n = ids.shape[1]
    log_p = {"raw": logits, "small number": (logits.softmax(-1) + 1e-9).log(),
             "axis": logits.log_softmax(1),
             "axis, last left out": torch.cat([logits[:, :-1].log_softmax(1), logits[:, -1:]], 1),
             "sigmoid": torch.sigmoid(logits).log()}.get(form, logits.log_softmax(-1))
    given, wanted, place = log_p[:, :-1], ids[:, 1:], torch.arange(1, n)
    if shift == "none":
        given, wanted, place = log_p, ids, torch.arange(n)
    if shift == "wrong way":
        given, wanted, place = log_p[:, 1:], ids[:, :-1], torch.arange(n - 1)
    picked = given.gather(-1, wanted[..., None])[..., 0]
    start, end = prompts[:, None], lengths[:, None]
    match places:
        case "everything":
            start = torch.ones_like(start)
        case "one early":
            start = start - 1
        case "one late":
            start = start + 1
        case "not moved":
            start, end = start + 1, end + 1
        case "padding":
            end = torch.full_like(end, n)
        case "one more":
            end = end + 1
        case "one less":
            end = end - 1
        case "prompt":
            start, end = torch.ones_like(start), start
        case "first prompt":
            start = start[:1].expand_as(start)
        case "as length":
            end = start + end
    real = (place >= start) & (place < end)
    if places == "last":
        real = place == end - 1
    if form == "product":
        return torch.where(real, picked.exp(), 1.0).prod(1)
    if form == "probabilities":
        return (picked.exp() * real).sum(1)
    total = (picked * real).sum(1)
    match form:
        case "mean":
            return total / real.sum(1).clamp_min(1)
        case "negative":
            return -total
        case "bits":
            return total / math.log(2)
        case "batch":
            return total.mean()
        case "all places":
            return total / n
    return total


def _case(g: torch.Generator, label: str, prompts: list[int], lengths: list[int], n: int, vocab: int, part: str) -> Case:
    return Case(label, {"logits": 1.5 * torch.randn(len(lengths), n, vocab, generator=g),
                        "ids": torch.randint(0, vocab, (len(lengths), n), generator=g), "prompts": torch.tensor(prompts),
                        "lengths": torch.tensor(lengths)}, part=part, gradients=("logits",), shape="(batch,)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "2 full rows of 6 tokens, prompts of 2", [2, 2], [6, 6], 6, 8, "one prompt length"),
            _case(g, "3 rows of 7, 5 and 6 tokens, prompts of 3, 1 and 2", [3, 1, 2], [7, 5, 6], 9, 11, "ragged"),
            _case(g, "4 rows of up to 8 tokens", [4, 2, 1, 3], [8, 7, 6, 5], 10, 7, "ragged")]


def _fixed() -> list[Case]:
    steep = _case(generator(7), "logits in the hundreds", [2, 1], [5, 4], 5, 7, "one prompt length")
    steep.args["logits"] *= 60
    return [steep, _case(generator(8), "a single row", [2], [4], 4, 6, "one prompt length"),
            _case(generator(9), "an answer of one token, and a row without an answer", [3, 2], [4, 2], 5, 6, "ragged")]


ANSWER = Exercise(
    id="11b.5", title="The probability of an answer", name="answer_log_prob", kind="function", stars=2, minutes=12,
    signature="answer_log_prob(logits, ids, prompts, lengths) -> (batch,)", oracle=_oracle, reference=_answer, draw=_draw, fixed=_fixed,
    parts={"one prompt length": 2, "ragged": 2},
    twins=(
        Twin("places not moved with the ids", partial(_answer, places="not moved"),
             "You move the ids by one, but not the places. After the move column t is about token t + 1, so the whole window lies one "
             "token too late."),
        Twin("softmax over the places", partial(_answer, form="axis, last left out"),
             "Your probabilities sum to 1 over the places of the text. At each place they have to sum to 1 over the vocabulary."),
        Twin("prompt counted", partial(_answer, places="everything"),
             "You add up the whole text. The prompt is given, so its probability does not count for the answer."),
        Twin("prompt instead of answer", partial(_answer, places="prompt"),
             "You add up what is given and leave out what was written. The answer begins where the prompt ends."),
        Twin("one token of the prompt counted", partial(_answer, places="one early"),
             "The last token of the prompt is given too. A prompt of two tokens ends with token 1; the answer begins with token 2."),
        Twin("first token of the answer missing", partial(_answer, places="one late"),
             "You leave out the first token of the answer. The row of the last prompt token predicts it."),
        Twin("padding counted", partial(_answer, places="padding"),
             "You count the padding. Tokens after the length of a row do not belong to the text."),
        Twin("one pad counted", partial(_answer, places="one more"),
             "A row of five real tokens ends with token 4. You count the first pad behind it."),
        Twin("last token of the answer missing", partial(_answer, places="one less"),
             "The last real token belongs to the answer as well. Often it is the token that ends the text."),
        Twin("last token only", partial(_answer, places="last"),
             "You keep only the last token. The probability of an answer is the product of the probabilities of all its tokens."),
        Twin("first row's prompt for all", partial(_answer, places="first prompt"),
             "Every row has a prompt length of its own. You use the first row's for all."),
        Twin("length counted from the prompt", partial(_answer, places="as length"),
             "The lengths count all real tokens of a row, the prompt included."),
        Twin("each token predicts itself", partial(_answer, shift="none"),
             "Row t has read token t. It says how probable the token after it is."),
        Twin("shifted the wrong way", partial(_answer, shift="wrong way"),
             "You compare row t with the token before it. Row t predicts the token after it."),
        Twin("mean instead of sum", partial(_answer, form="mean"),
             "You divide by the number of tokens. The logarithm of a product is the sum; a mean would be another quantity."),
        Twin("divided by all places", partial(_answer, form="all places"),
             "You divide by the width of the batch, padding included. Do not divide the sum at all."),
        Twin("one number for the batch", partial(_answer, form="batch"),
             "You average over the rows. Each row has a log-probability of its own."),
        Twin("sign turned round", partial(_answer, form="negative"),
             "A loss is the negative of this. The logarithm of a probability is at most 0."),
        Twin("probability instead of its logarithm", partial(_answer, form="product"),
             "You return the probability itself, which for a long answer is too small for the computer. Its logarithm is asked for."),
        Twin("probabilities added", partial(_answer, form="probabilities"),
             "Probabilities of tokens one after the other are multiplied, so their logarithms are added."),
        Twin("softmax over the positions", partial(_answer, form="axis"),
             "The probabilities of one position sum to 1 over the vocabulary, the last axis."),
        Twin("no softmax", partial(_answer, form="raw"),
             "Logits are not log-probabilities yet: a log-softmax over the vocabulary is missing."),
        Twin("sigmoid for softmax", partial(_answer, form="sigmoid"),
             "The tokens compete for one place: their probabilities sum to 1."),
        Twin("small number in the logarithm", partial(_answer, form="small number"),
             "A small number inside the logarithm hides how improbable a token is. A log-softmax needs no such help."),
        Twin("bits instead of nats", partial(_answer, form="bits"), "The logarithm here is the natural one, not that to the base 2."),
    ),
)
