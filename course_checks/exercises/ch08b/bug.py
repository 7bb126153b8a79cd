"""Exercise 08b.4: a step-wise decoder that starts counting anew. The oracle is one causal pass over the whole sentence."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import FUSED_NAME, fused, randn


def _oracle(ids: Tensor, pieces: list[int], embedding: Tensor, table: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """The pieces do not matter."""
    n = ids.shape[1]
    x = torch.nn.functional.embedding(ids, embedding) + table[:n]
    return fused((x @ w_q)[:, None], (x @ w_k)[:, None], (x @ w_v)[:, None], is_causal=True)[:, 0]


FILLS = {"nought": 0.0, "minus one": -1.0, "minus ten": -10.0}


def _stepwise(ids: Tensor, pieces: list[int], embedding: Tensor, table: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
              place: str = "right", mask: str = "right", keep: str = "right") -> Tensor:
    outputs, seen = [], 0
    keys = values = None
    for step, size in enumerate(pieces):
        at = {"zero": 0, "step": step, "late": seen + 1, "early": max(seen - 1, 0), "size": step * size}.get(place, seen)
        at = min(at, len(table) - size)
        rows = table[seen + size - 1] if place == "last" else table[seen] if place == "same" else table[at:at + size]
        if place == "first row":
            rows = table[0]
        if place == "modulo":
            rows = table[torch.arange(seen, seen + size) % pieces[0]]
        if place == "none":
            rows = torch.zeros_like(rows)
        x = embedding[ids[:, seen:seen + size]] + rows
        query, key, value = x @ w_q, x @ w_k, x @ w_v
        old = 0 if keys is None else keys.shape[1]
        if old and keep != "forgets":
            key, value = torch.cat([keys, key], 1), torch.cat([values, value], 1)
        keys, values = key, value
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        n, m = size, key.shape[1]
        hidden = torch.zeros(n, m, dtype=torch.bool)
        if mask == "right":
            hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1)
        elif mask == "wide":
            hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n + 2)
        elif mask == "corner":
            hidden = torch.ones(n, m, dtype=torch.bool).triu(1)
        elif mask == "strict":
            hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n)
            hidden[:, 0] = False
        elif mask == "first only" and not old:
            hidden = torch.ones(n, m, dtype=torch.bool).triu(1)
        elif mask == "later only" and old:
            hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1)
        scores = scores * math.sqrt(query.shape[-1]) if keep == "scale lost" else scores
        hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1) if mask in FILLS else hidden
        if mask == "short":
            hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n)
        if mask == "late":
            outputs.append((scores.softmax(-1) * torch.ones(n, m, dtype=torch.bool).tril(m - n)) @ value)
            seen += size
            continue
        outputs.append(scores.masked_fill(hidden, FILLS.get(mask, -torch.inf)).softmax(-1) @ value)
        seen += size
    return torch.cat(outputs, 1)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    args = {"ids": torch.randint(0, 11, (3, 7), generator=g), "embedding": randn(g, 11, 8), "table": randn(g, 10, 8),
            "w_q": 0.4 * randn(g, 8, 5), "w_k": 0.4 * randn(g, 8, 5), "w_v": 0.4 * randn(g, 8, 6)}
    names, shape = ("embedding", "w_k", "w_v"), "(batch, n, d_v)"
    return [Case("7 tokens, one at a time", args | {"pieces": [1] * 7}, part="one at a time", gradients=names, shape=shape),
            Case("a prompt of 3, then one at a time", args | {"pieces": [3, 1, 1, 1, 1]}, part="a prompt first", shape=shape),
            Case("pieces of 2, 3 and 2", args | {"pieces": [2, 3, 2]}, part="later pieces", gradients=names, shape=shape)]


def _fixed() -> list[Case]:
    g = generator(9)
    args = {"ids": torch.randint(0, 11, (1, 5), generator=g), "embedding": randn(g, 11, 8), "table": randn(g, 10, 8),
            "w_q": randn(g, 8, 4), "w_k": randn(g, 8, 4), "w_v": randn(g, 8, 6)}
    loud = {**args, "w_q": 4 * args["w_q"], "w_k": 4 * args["w_k"]}
    return [Case("one token, then four, large scores", loud | {"pieces": [1, 4]}, part="later pieces", shape="(batch, n, d_v)"),
            Case("four tokens, then one, large scores", loud | {"pieces": [4, 1]}, part="a prompt first", shape="(batch, n, d_v)"),
            Case("all five tokens in a single piece", args | {"pieces": [5]}, part="a prompt first", shape="(batch, n, d_v)")]


BUG = Exercise(
    id="08b.4", title="Find the bugs: decoding in pieces", name="decode_in_pieces", kind="function", stars=2, minutes=12,
    signature="decode_in_pieces(ids, pieces, embedding, table, w_q, w_k, w_v) -> (batch, n, d_v)",
    oracle=_oracle, reference=_stepwise, draw=_draw, fixed=_fixed, forbidden=(FUSED_NAME,),
    parts={"one at a time": 2, "a prompt first": 1, "later pieces": 1},
    twins=(
        Twin("still the handed-out bugs", partial(_stepwise, place="zero", mask="none"),
             "Feed the same sentence whole and token by token, and print which row of the position table each token gets.", untouched=True),
        Twin("only the mask mended", partial(_stepwise, place="zero"),
             "No token reads its future any more, but every piece still begins at position 0. How many tokens came before it?"),
        Twin("prompt masked, positions unmended", partial(_stepwise, place="zero", mask="first only"),
             "The prompt is masked now. But a later piece of several tokens also has a future, which must be hidden. And every piece still "
             "begins at position 0."),
        Twin("mask too wide, positions unmended", partial(_stepwise, place="zero", mask="wide"),
             "There is a triangle now, but one column too wide: each token reads the next one. And every piece still begins at "
             "position 0."),
        Twin("weak mask, positions unmended", partial(_stepwise, place="zero", mask="minus one"),
             "Minus 1 is an ordinary score; only minus infinity is below all scores. And every piece still begins at position 0."),
        Twin("only the positions mended", partial(_stepwise, mask="none"),
             "The positions are right now. But in a piece of several tokens the first token still reads the last."),
        Twin("position is the number of the piece", partial(_stepwise, place="step"),
             "You count pieces. That gives the position only as long as each piece is one token."),
        Twin("piece number times its size", partial(_stepwise, place="size"),
             "You assume that all earlier pieces were as long as this one. Count the tokens that really came before."),
        Twin("positions one too late", partial(_stepwise, place="late"),
             "The first token of the sentence is at position 0, so a piece starts at exactly the number of tokens before it."),
        Twin("positions one too early", partial(_stepwise, place="early"),
             "Every piece but the first starts one position too early: its first token repeats the position of the one before."),
        Twin("one position for the whole piece", partial(_stepwise, place="same"),
             "All tokens of a piece get the position of its first one. Each needs the next row of the table."),
        Twin("last position for the whole piece", partial(_stepwise, place="last"),
             "All tokens of a piece get the position of its last one. That is right for pieces of one token only."),
        Twin("positions left out", partial(_stepwise, place="none"),
             "You leave out the positions. Then nothing tells the decoder in which order the tokens come."),
        Twin("every token at position 0", partial(_stepwise, place="first row"),
             "All tokens get the first row of the table. Each needs the row of its own position in the sentence."),
        Twin("positions start anew at the prompt's length", partial(_stepwise, place="modulo"),
             "Your positions count up to the length of the first piece and start again. They should go on to the end of the sentence."),
        Twin("the next token is seen", partial(_stepwise, mask="wide"),
             "The positions are right now, but the triangle is one column too wide: each token reads the next one."),
        Twin("hidden scores set to nought", partial(_stepwise, mask="nought"),
             "A score of 0 is an ordinary score: its exponential is 1. So hidden keys still receive weight."),
        Twin("hidden scores set to -1", partial(_stepwise, mask="minus one"),
             "Minus 1 is an ordinary score, larger than many others. Only minus infinity is below all scores."),
        Twin("hidden scores set to -10", partial(_stepwise, mask="minus ten"),
             "Some of the visible scores are lower than minus 10. Only minus infinity is below all of them."),
        Twin("scale lost", partial(_stepwise, keep="scale lost"),
             "Positions and mask are right now, but the scores are no longer divided by the root of the width."),
        Twin("mask counted from the corner", partial(_stepwise, mask="corner"),
             "Your triangle starts at the very first key, so that new tokens lose most of the cache. Shift it by the number "
             "of cached keys."),
        Twin("a token hidden from itself", partial(_stepwise, mask="strict"),
             "Your triangle hides each token from itself. Every token may read its own key."),
        Twin("nothing left for the first", partial(_stepwise, mask="short"),
             "Your triangle hides each token from itself too. Nothing is left for the very first token, and a row of minus infinity gives "
             "NaN."),
        Twin("masked after the softmax", partial(_stepwise, mask="late"),
             "You mask after the softmax: hidden keys are still in its denominator, and the weights no longer sum to 1. Hide the "
             "scores before it."),
        Twin("mask for the first piece only", partial(_stepwise, mask="first only"),
             "The prompt is masked now. But a later piece of several tokens also has a future, which must be hidden."),
        Twin("mask for later pieces only", partial(_stepwise, mask="later only"),
             "Later pieces are masked, but the first one, the prompt, still reads ahead."),
        Twin("cache dropped", partial(_stepwise, keep="forgets"),
             "Each piece now sees only itself. It must also read the keys and values of the earlier pieces."),
    ),
)
