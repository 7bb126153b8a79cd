"""Exercise 11a.6: bits per character over windows. The oracle scores token by token, from the first window that reaches it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Registered, Twin, generator
from ..common import IGNORED
from .callables import VOCAB, causal_logits
from .windows import cut


def _oracle(logits_of: Callable, ids: Tensor, size: int, stride: int, characters: int) -> float:
    bits, read = 0.0, {}
    for place in range(1, len(ids)):
        start = stride * max(0, -((size - place) // stride))  # of the first window that reaches this token
        if start not in read:
            read[start] = causal_logits(ids[None, start:start + size])[0].double().softmax(-1).tolist()
        bits -= math.log2(read[start][place - 1 - start][int(ids[place])])
    return bits / characters


def _in_shared_memory(targets: Tensor, known: Tensor, stride: int) -> Tensor:
    """The windows as views of one row: what is crossed out in one of them is crossed out in all."""
    size = targets.shape[1]
    row = targets.new_full((stride * (len(targets) - 1) + size,), IGNORED)
    for number, window in enumerate(targets):
        row[number * stride:number * stride + size] = window
    views = row.unfold(0, size, stride)
    for number in range(len(views)):
        views[number][known[number]] = IGNORED
    return views.clone()


def _first_alone(logits_of: Callable, ids: Tensor, size: int, stride: int, characters: int) -> float:
    logits = logits_of(ids[None, :size])[0]
    return F.cross_entropy(logits[:-1], ids[1:size]).item() / math.log(2)


def _bits(logits_of: Callable, ids: Tensor, size: int, stride: int, characters: int, how: str = "right") -> float:
    forms = {"side by side": "no stride", "last dropped": "drop last", "itself": "not shifted", "inside": "no target across"}
    if how == "every token":
        stride = 1
    if how == "at once":
        size = stride = len(ids)
    inputs, targets = cut(ids, size, stride, forms.get(how, "right"))
    if how == "side by side":
        stride = size
    known = torch.zeros_like(targets, dtype=torch.bool)
    match how:
        case "all counted" | "shared out":
            pass
        case "first part lost":
            known[:, :size - stride] = True
        case "least context":
            known[:-1, stride:] = True
        case "one more":
            known[1:, :max(0, size - stride - 1)] = True
        case "one less":
            known[1:, :size - stride + 1] = True
        case "last row":
            known[:, :-1] = True
        case "first window":
            known[1:] = True
        case _:
            known[1:, :size - stride] = True
    if how == "from the end":  # as many of the last places as a stride has, also where the last window is short
        for row, length in enumerate((targets != IGNORED).sum(1).tolist()):
            known[row] = torch.arange(size) < (0 if row == 0 else max(0, length - stride))
    targets = _in_shared_memory(targets, known, stride) if how == "shared memory" else targets.masked_fill(known, IGNORED)
    real = targets != IGNORED
    if how == "filling scored":
        real, targets = ~known, targets.clamp_min(0)
    losses = F.cross_entropy(logits_of(inputs).flatten(0, 1), targets.flatten(), reduction="none", ignore_index=IGNORED).view_as(targets)
    total = (losses * real).sum()
    count = real.sum()
    if how == "means":
        total = ((losses * real).sum(1) / real.sum(1)).mean() * count
    if how == "all tokens":
        total = total / count * len(ids)
    if how == "shared out":
        total = total / count * (len(ids) - 1)
    bits = (total / math.log(2)).item()
    match how:
        case "nats":
            return total.item() / characters
        case "factor":
            return total.item() * math.log(2) / characters
        case "decimal":
            return total.item() / math.log(10) / characters
        case "decimal of 2":
            return total.item() / math.log10(2) / characters
        case "sum":
            return bits
        case "mean":
            return bits / count.item() / characters
        case "inverse":
            return characters / bits
        case "tokens":
            return bits / count.item()
        case "nats a token":
            return (total / count).item()
        case "times characters":
            return bits / count.item() * characters / len(ids)
        case "perplexity":
            return math.exp(total.item() / count.item())
        case "sign":
            return -bits / characters
    return bits / characters


def _case(g: torch.Generator, n: int, size: int, stride: int, characters: int, part: str) -> Case:
    return Case(f"{n} tokens, {characters} characters, windows of {size}, stride {stride}",
                {"logits_of": Registered("causal_logits"), "ids": torch.randint(0, VOCAB, (n,), generator=g), "size": size,
                 "stride": stride, "characters": characters}, part=part)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, 13, 4, 4, 31, "side by side"), _case(g, 16, 6, 6, 47, "a short window"), _case(g, 14, 5, 2, 37, "overlapping"),
            _case(g, 18, 7, 3, 41, "overlapping")]


def _fixed() -> list[Case]:
    g = generator(6)
    return [_case(g, 16, 7, 5, 30, "overlapping"), _case(g, 4, 9, 3, 10, "edges"), _case(g, 2, 5, 5, 3, "edges"),
            _case(g, 9, 4, 1, 25, "edges")]


BITS = Exercise(
    id="11a.6", title="Bits per character", name="bits_per_character", kind="function", stars=2, minutes=12,
    signature="bits_per_character(logits_of, ids, size, stride, characters) -> number", oracle=_oracle, reference=_bits, draw=_draw,
    fixed=_fixed, parts={"side by side": 1, "a short window": 1, "overlapping": 2, "edges": 1},
    twins=(
        Twin("windows in one memory", partial(_bits, how="shared memory"),
             "Your windows share one memory. If you overwrite a target in one of them, it changes in others too. Make a copy first."),
        Twin("divided by a decimal logarithm", partial(_bits, how="decimal of 2"),
             "The loss holds natural logarithms, and you divide by the decimal logarithm of 2. Both have to be of the same kind."),
        Twin("one window, bits a token", _first_alone,
             "You score the first window alone, as a mean over its tokens. Add up the bits of all windows, and divide by the characters."),
        Twin("nats instead of bits", partial(_bits, how="nats"), "A loss is in nats. A bit is smaller: how many nats does one bit hold?"),
        Twin("multiplied by the logarithm of 2", partial(_bits, how="factor"),
             "A bit is smaller than a nat, so the same loss is a larger number in bits. Your number gets smaller."),
        Twin("logarithm to the base 10", partial(_bits, how="decimal"), "Bits are logarithms to the base 2, not to the base 10."),
        Twin("bits of the whole text", partial(_bits, how="sum"), "That is what the whole text costs. Share it out among its characters."),
        Twin("bits per token", partial(_bits, how="tokens"),
             "You divide by the number of tokens, which depends on the tokenizer. The characters do not."),
        Twin("nats per token", partial(_bits, how="nats a token"),
             "That is the mean loss of a token. From nats to bits, and from tokens to characters, two steps are missing."),
        Twin("multiplied by the characters per token", partial(_bits, how="times characters"),
             "Long tokens make the bits of a character fewer: divide by the characters that a token stands for."),
        Twin("mean loss divided by the characters", partial(_bits, how="mean"),
             "You divide a mean over the tokens, so you divide twice. Take the sum over the tokens instead of the mean."),
        Twin("characters per bit", partial(_bits, how="inverse"),
             "You return the number of characters for one bit. Return the number of bits for one character."),
        Twin("perplexity returned", partial(_bits, how="perplexity"),
             "That is the perplexity of a token, which depends on the tokenizer. Logarithms are added up here, not undone."),
        Twin("sign lost", partial(_bits, how="sign"), "Bits are a cost and positive; your number is below zero."),
        Twin("overlap counted twice", partial(_bits, how="all counted"),
             "Tokens in two windows are counted twice. A text has each token once: score only what no earlier window has scored."),
        Twin("overlap averaged", partial(_bits, how="shared out"),
             "You average over all windows, so tokens in two of them weigh double. Only the score from the earlier window counts."),
        Twin("windows side by side", partial(_bits, how="side by side"),
             "Your windows do not overlap, so many tokens get little context. Each window begins one stride after the one before."),
        Twin("a window for every token", partial(_bits, how="every token"),
             "You move on by one token at a time, so each gets the longest context. The stride says how far a window moves."),
        Twin("the whole text at once", partial(_bits, how="at once"),
             "You hand over the whole text. The model reads no more than the size of a window; a real one would refuse."),
        Twin("head of the first window lost", partial(_bits, how="first part lost"),
             "You drop the first targets of every window. In the first window nothing has been scored before, so all its targets count."),
        Twin("least context kept", partial(_bits, how="least context"),
             "You score the beginning of each window, where the model has read least. The new tokens are at its end."),
        Twin("a short window counted from its end", partial(_bits, how="from the end"),
             "You score the last places of each window, as many as a stride has. A short window overlaps by as much as the others, so "
             "fewer of its places are new."),
        Twin("one token scored twice a window", partial(_bits, how="one more"),
             "The last target of a window is counted again in the next: your cut is one place too early."),
        Twin("one token lost a window", partial(_bits, how="one less"),
             "One token between two windows is never scored: your cut is one place too late."),
        Twin("only the last row of each window", partial(_bits, how="last row"),
             "You score only the last row of each window. Every row of the output predicts a token."),
        Twin("only the first window", partial(_bits, how="first window"), "The text is longer than one window; the others count as well."),
        Twin("last short window dropped", partial(_bits, how="last dropped"),
             "The tokens at the end of the text are never scored: the last window may be short."),
        Twin("filling scored", partial(_bits, how="filling scored"),
             "You count positions after the end of the text as if a token were there. Leave these positions out."),
        Twin("mean of the windows' means", partial(_bits, how="means"),
             "You give each window the same weight, even the short one. Each token should weigh the same: add up first."),
        Twin("first token counted", partial(_bits, how="all tokens"),
             "You multiply a mean by the number of all tokens. The first one has nothing before it and is not scored."),
        Twin("each token names itself", partial(_bits, how="itself"),
             "You score row t on token t, which it has read. Score it on the next token."),
        Twin("last row of each window unused", partial(_bits, how="inside"),
             "You do not use the last row of a window. It predicts the first token after the window, which is lost now."),
    ),
)
