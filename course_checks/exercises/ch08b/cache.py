"""Exercises 08b.2 and 08b.3: attention with a cache; what a cache saves and costs. Oracle: the fused kernel over everything at once."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import FUSED_NAME, fused, randn


def _heads(x: Tensor, num_heads: int) -> Tensor:
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _oracle(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, num_heads: int, keys: Tensor | None = None,
            values: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries for the old tokens too (any will do), one causal pass over all of them, the last rows of it."""
    def per_head(w: Tensor) -> Tensor:
        width = w.shape[1] // num_heads
        return torch.stack([x @ w[:, h * width:(h + 1) * width] for h in range(num_heads)], 1)

    q, k, v = per_head(w_q), per_head(w_k), per_head(w_v)
    if keys is not None:
        k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    old = k.shape[2] - q.shape[2]
    q = torch.cat([torch.zeros(*q.shape[:2], old, q.shape[3]), q], 2)
    output = fused(q, k, v, is_causal=True)[:, :, old:]
    return torch.cat(list(output.unbind(1)), -1), k, v


def _cached(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, num_heads: int, keys: Tensor | None = None,
            values: Tensor | None = None, how: str = "right") -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if how == "reshaped":
        q, k, v = ((x @ w).reshape(len(x), num_heads, x.shape[1], -1) for w in (w_q, w_k, w_v))
    if how == "interleaved":
        q, k, v = ((x @ w).unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2) for w in (w_q, w_k, w_v))
    new_k, new_v = k, v
    if keys is not None and how != "thrown away":
        if how == "in front":
            k, v = torch.cat([k, keys], 2), torch.cat([v, values], 2)
        else:
            k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    n, m = x.shape[1], k.shape[2]
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
    if how == "no mask" or how == "no mask with cache" and keys is not None:
        mask = torch.ones(n, m, dtype=torch.bool)
    elif how == "no mask without cache" and keys is None:
        mask = torch.ones(n, m, dtype=torch.bool)
    elif how == "corner":
        mask = torch.ones(n, m, dtype=torch.bool).tril()
    elif how == "one ahead":
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n + 1)
    elif how == "one behind":
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n - 1)
    elif how == "not itself":
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n - 1)
        mask[:, 0] = True
    elif how == "future":
        mask = torch.ones(n, m, dtype=torch.bool).triu(m - n)
    elif how == "old only" and m > n:
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
        mask[:, m - n:] = torch.eye(n, dtype=torch.bool)
    scale = {"not scaled": 1.0, "tokens": math.sqrt(x.shape[-1]), "whole width": math.sqrt(w_q.shape[1])}.get(how, math.sqrt(q.shape[-1]))
    weights = (q @ k.mT / scale).masked_fill(~mask, -torch.inf).softmax(-2 if how == "queries" else -1)
    if how == "queries":
        weights = weights.nan_to_num()
    output = (weights @ v).transpose(1, 2).flatten(2)
    if how == "heads merged wrongly":
        output = (weights @ v).reshape(len(x), n, -1)
    if how == "new only":
        return output, new_k, new_v
    if how == "swapped":
        return output, v, k
    if how == "cut off":
        return output, k.detach(), v.detach()
    return output, k, v


def _reference(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, num_heads: int, keys: Tensor | None = None,
               values: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    if keys is not None and len(keys) != len(x):
        raise ValueError(f"the cache holds {len(keys)} sentences, the new tokens belong to {len(x)}")
    return _cached(x, w_q, w_k, w_v, num_heads, keys, values)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    weights = {"w_q": 0.5 * randn(g, 9, 10), "w_k": 0.5 * randn(g, 9, 10), "w_v": 0.5 * randn(g, 9, 14), "num_heads": 2}
    first = weights | {"x": randn(g, 3, 4, 9)}
    later = weights | {"keys": randn(g, 3, 2, 6, 5), "values": randn(g, 3, 2, 6, 7)}
    shape, grads = "(batch, n, heads · d_v)", ("x", "w_q", "w_k", "w_v")
    return [Case("4 tokens, nothing cached", first, part="empty cache", gradients=grads, shape=shape),
            Case("1 new token, 6 cached", later | {"x": randn(g, 3, 1, 9)}, part="one token", gradients=grads, shape=shape),
            Case("4 new tokens, 6 cached", later | {"x": randn(g, 3, 4, 9)}, part="several tokens", gradients=grads, shape=shape),
            Case("as before, with other tokens in the cache", later | {"x": randn(g, 3, 4, 9), "keys": randn(g, 3, 2, 6, 5),
                 "values": randn(g, 3, 2, 6, 7)}, part="several tokens", shape=shape)]


def _fixed() -> list[Case]:
    g = generator(5)
    weights = {"w_q": randn(g, 9, 10), "w_k": randn(g, 9, 10), "w_v": randn(g, 9, 14), "num_heads": 2}
    return [Case("the very first token of a single sentence", weights | {"x": randn(g, 1, 1, 9)}, part="empty cache",
                 shape="(batch, n, heads · d_v)"),
            Case("5 new tokens, 2 cached, one sentence, 3 heads", {"w_q": randn(g, 7, 6), "w_k": randn(g, 7, 6), "w_v": randn(g, 7, 12),
                 "num_heads": 3, "x": randn(g, 1, 5, 7), "keys": randn(g, 1, 3, 2, 2), "values": randn(g, 1, 3, 2, 4)},
                 part="several tokens", shape="(batch, n, heads · d_v)"),
            Case("2 new tokens, as many cached as were new before, a single head", weights | {"num_heads": 1, "x": randn(g, 2, 2, 9),
                 "keys": randn(g, 2, 1, 4, 10), "values": randn(g, 2, 1, 4, 14)}, part="several tokens", shape="(batch, n, heads · d_v)"),
            *(Case(f"the cache is for {old} sentences, the new tokens are of {new}", weights
                   | {"x": randn(g, new, 1, 9), "keys": randn(g, old, 2, 6, 5), "values": randn(g, old, 2, 6, 7)}, part="bad input",
                   rejects=ValueError, mentions=(str(old), str(new)))
              for old, new in ((1, 4), (4, 1))),
            Case("the cache is for 3 sentences, the new tokens are of 4", weights | {"x": randn(g, 4, 1, 9), "keys": randn(g, 3, 2, 6, 5),
                 "values": randn(g, 3, 2, 6, 7)}, part="bad input", rejects=ValueError, mentions=("3", "4"))]


CACHE = Exercise(
    id="08b.2", title="Attention that remembers", name="cached_attention", kind="function", stars=2, minutes=15,
    signature="cached_attention(x, w_q, w_k, w_v, num_heads, keys=None, values=None) -> output, keys, values",
    oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed, outputs=("output", "keys", "values"),
    parts={"empty cache": 1, "one token": 2, "several tokens": 2, "bad input": 1}, forbidden=(FUSED_NAME,),
    twins=(
        Twin("cache thrown away", partial(_cached, how="thrown away"),
             "The old keys and values are accepted and then not used: a new token sees only the tokens that came with it."),
        Twin("new tokens in front", partial(_cached, how="in front"),
             "You put the new keys before the old ones. Keep them in the order of the sentence, or the mask hides the wrong ones."),
        Twin("no mask at all", partial(_cached, how="no mask"),
             "Within a piece of several tokens the first one can read the later ones. Every token may read all old keys, but "
             "only the new keys before it and its own."),
        Twin("no mask without a cache", partial(_cached, how="no mask without cache"),
             "With a cache your mask is right. Without one, several tokens may arrive together as well, and the first must not read the "
             "last."),
        Twin("kept keys cut off from learning", partial(_cached, how="cut off"),
             "The numbers are right, but no gradient comes back through the keys and values that you return."),
        Twin("no mask once there is a cache", partial(_cached, how="no mask with cache"),
             "You still need the mask when there is a cache. When several tokens arrive together, the first must not read the last."),
        Twin("mask counted from the corner", partial(_cached, how="corner"),
             "Your first new token may see the first key only. But it comes after all the cached tokens: shift the triangle by their "
             "number."),
        Twin("a token does not see itself", partial(_cached, how="not itself"),
             "Your triangle is one step short: it hides each new token from itself. A token may read its own key."),
        Twin("mask the wrong way round", partial(_cached, how="future"),
             "Your tokens see themselves and what follows. A token may read the keys up to its own position, not later ones."),
        Twin("new tokens see only themselves", partial(_cached, how="old only"),
             "Each new token sees the cache and itself. It must also see the new tokens before it."),
        Twin("returns the new keys only", partial(_cached, how="new only"),
             "The attention is right, but you return the keys of the new tokens only. In the next step everything before them is lost."),
        Twin("keys and values swapped", partial(_cached, how="swapped"),
             "What you return as keys are the values. In the next step they would be compared with the queries."),
        Twin("heads cut across the tokens", partial(_cached, how="reshaped"),
             "Your reshape mixes features of different tokens. Split the features into heads first, then swap the axes."),
        Twin("heads interleaved", partial(_cached, how="interleaved"),
             "You deal the columns out to the heads one by one. The first block of columns belongs to the first head, the next to the "
             "second."),
        Twin("softmax over the queries", partial(_cached, how="queries"),
             "Your weights sum to 1 over the new tokens. Each new token shares out its attention among the keys."),
        Twin("heads merged without transposing", partial(_cached, how="heads merged wrongly"),
             "The heads of one token must be side by side. Move the token axis before the heads, then flatten."),
        Twin("the next token is seen", partial(_cached, how="one ahead"),
             "Your triangle is one column too wide: each new token also sees the next one. Draw rows and columns for a small case."),
        Twin("triangle one column short", partial(_cached, how="one behind"),
             "Your triangle hides each new token from itself, so the very first token of a sentence sees nothing at all."),
        Twin("scaled by the token width", partial(_cached, how="tokens"),
             "You divide by the root of the width of x. The dot product runs over the width of one head's keys."),
        Twin("not scaled", partial(_cached, how="not scaled"), "You do not scale the dot products: they grow with the width of a head."),
        Twin("scaled by the whole width", partial(_cached, how="whole width"),
             "Each head's dot product runs over the width of one head, not over that of all heads together."),
    ),
)

_KEYS = ("positions computed without cache, 100 tokens", "positions computed with cache, 100 tokens",
         "numbers kept per token, 12 layers of width 768", "kilobytes of that in 16 bits",
         "numbers per token if block inputs are kept instead")


def _predict() -> dict[str, float]:
    """Counted, not calculated: run the two loops, and look at the shapes of what is kept."""
    without = sum(1 for t in range(1, 101) for _ in range(t))
    with_cache = sum(1 for t in range(1, 101) for _ in range(1))
    kept = sum(torch.empty(768).numel() for _layer in range(12) for _what in ("key", "value"))
    inputs = sum(torch.empty(768).numel() for _layer in range(12))
    bits = torch.empty(kept, dtype=torch.float16)
    return dict(zip(_KEYS, (without, with_cache, kept, bits.numel() * bits.element_size() / 1000, inputs), strict=True))


def _guess(*numbers: float) -> dict[str, float]:
    return dict(zip(_KEYS, numbers, strict=True))


PREDICT = Exercise(
    id="08b.3", title="Predict: what a cache saves and costs", name="prediction_of_cache", kind="value", stars=1, minutes=6,
    signature="prediction_of_cache: dict of 5 numbers", oracle=_predict, reference=_predict(), rtol=0.0, atol=0.2, parts={"values": 2},
    draw=lambda seed: [Case("your five numbers", {})],
    twins=(
        Twin("every step counted as the last", _guess(10_000, 100, 18_432, 36.864, 9_216),
             "Only the last step reads all 100 tokens. The first reads one, the second two: add those up."),
        Twin("the current token not counted", _guess(4_950, 100, 18_432, 36.864, 9_216),
             "Step t reads t tokens, and the start token is one of them. You counted one too few in every step."),
        Twin("the start token not counted", _guess(4_950, 99, 18_432, 36.864, 9_216),
             "The first token is not free: the start token is the input of its step. A hundred tokens take a hundred steps."),
        Twin("the last token read as well", _guess(5_151, 101, 18_432, 36.864, 9_216),
             "The last token is written and never read again. The inputs are the start token and the first ninety-nine."),
        Twin("values forgotten", _guess(5_050, 100, 9_216, 18.432, 9_216),
             "A cache of keys alone can compare but has nothing to mix. Each token leaves a key and a value in every layer."),
        Twin("layers forgotten", _guess(5_050, 100, 1_536, 3.072, 768),
             "Every layer has keys and values of its own; the cache exists once for each of them."),
        Twin("heads counted on top", _guess(5_050, 100, 221_184, 442.368, 110_592),
             "The heads share out the 768 features between them. All heads together keep one vector of that width."),
        Twin("bytes of 32 bits", _guess(5_050, 100, 18_432, 73.728, 9_216), "A number of 16 bits takes two bytes, not four."),
        Twin("bits counted as bytes", _guess(5_050, 100, 18_432, 294.912, 9_216),
             "Sixteen bits are two bytes. You multiplied by sixteen as if each bit were a byte."),
        Twin("block inputs as large as both", _guess(5_050, 100, 18_432, 36.864, 18_432),
             "If you keep the inputs of the blocks, you keep one vector for each layer. Key and value are computed again in every step."),
        Twin("queries kept as well", _guess(5_050, 100, 27_648, 55.296, 9_216),
             "A query is used in its own step and never again. Only keys and values are looked up later."),
        Twin("a kilobyte of 1024 bytes", _guess(5_050, 100, 18_432, 36.0, 9_216),
             "Here a kilobyte has a thousand bytes; what you used is called a kibibyte."),
        Twin("bytes instead of kilobytes", _guess(5_050, 100, 18_432, 36_864, 9_216),
             "That is the number of bytes. A kilobyte has a thousand of them."),
        Twin("the first cached step not counted", _guess(5_050, 99, 18_432, 36.864, 9_216),
             "The start token is computed as well, in the first step. A hundred tokens take a hundred steps of one position."),
        Twin("start token counted twice", _guess(5_150, 100, 18_432, 36.864, 9_216),
             "You counted one token too many in every step. The start token is already one of the t tokens that step t reads."),
        Twin("a step for the start token", _guess(5_050, 101, 18_432, 36.864, 9_216),
             "The step that reads the start token already writes the first token. A hundred tokens take a hundred steps."),
        Twin("layers of the cache forgotten", _guess(5_050, 100, 1_536, 3.072, 9_216),
             "You are short by a factor of 12: every layer keeps keys and values of its own."),
        Twin("cache times its heads", _guess(5_050, 100, 221_184, 442.368, 9_216),
             "You have 12 times too many: the 768 features are those of all heads together."),
        Twin("sixteen bits taken for one byte", _guess(5_050, 100, 18_432, 18.432, 9_216), "A byte has eight bits, so 16 bits are two."),
        Twin("input of a single block", _guess(5_050, 100, 18_432, 36.864, 768),
             "That is the input of one block. Each of the twelve blocks has its own input, and all are kept."),
        Twin("cache grows with each step", _guess(5_050, 5_050, 18_432, 36.864, 9_216),
             "With a cache each step computes one new position, however long the sentence is. It reads the old ones but does not make "
             "them again."),
        Twin("a single step suffices", _guess(5_050, 1, 18_432, 36.864, 9_216),
             "Each token needs the one before it as input, so there are as many steps as tokens. Each step computes one position."),
    ),
)
