"""Exercise 06.3: the mask of a decoder, padding and causal together. The oracle goes through all pairs."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from .common import MASKS, boolean, by_rule


def _builder_oracle(ids: Tensor, pad_id: int = 0, n: int | None = None) -> Tensor:
    m = ids.shape[1]
    n = m if n is None else n
    return torch.stack([by_rule(n, m, lambda i, j: row[j] != pad_id and j <= m - n + i) for row in ids.tolist()])  # noqa: B023


def _builder(ids: Tensor, pad_id: int = 0, n: int | None = None, how: str = "right") -> Tensor:
    batch, m = ids.shape
    n = m if n is None else n
    row, key = torch.arange(n)[:, None], torch.arange(m)
    query = row + m - n
    causal, real = key <= query, ids != pad_id
    keys, queries = real[:, None, :], real[:, m - n:, None]
    match how:
        case "or":
            return keys | causal
        case "rows":
            return queries & causal
        case "sideways":  # fails where fewer queries than keys ask, with PyTorch's own words
            return real[:, :, None] & causal
        case "sideways, causal first":
            return causal & real[:, :, None]
        case "rows and columns":
            return keys & queries & causal
        case "inverted":
            return ~(keys & causal)
        case "pads shown":
            return ~keys & causal
        case "future shown":
            return keys & (key >= query)
        case "only padding":
            return keys.expand(batch, n, m)
        case "only causal":
            return causal.expand(batch, n, m)
        case "pad is 0":
            return (ids != 0)[:, None, :] & causal
        case "positive ids":
            return (ids > pad_id)[:, None, :] & causal
        case "strict":
            return keys & (key < query)
        case "top left":
            return keys & (key <= row)
        case "four axes":
            return (keys & causal)[:, None]
        case "added":
            return keys.float() + causal.float()
        case "numbers":
            return (keys & causal).float()
        case "on the right":
            return (key < real.sum(1)[:, None])[:, None, :] & causal
        case "first pad ends":
            return (real.cumprod(1) > 0)[:, None, :] & causal
        case "pads see themselves":
            return (keys & causal) | ((key == query) & ~queries)
        case "empty rows opened":
            return keys & causal | ~(keys & causal).any(-1, keepdim=True)
        case "all queries":
            return keys & (key <= key[:, None])
    return keys & causal


def _checked(ids: Tensor, pad_id: int = 0, n: int | None = None) -> Tensor:
    if ids.dim() != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (batch, m)")
    return _builder(ids, pad_id, n)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    m, more = 6 + seed % 3, 5 + seed % 4
    right = torch.randint(1, 9, (3, m), generator=g)
    right[0, 4:], right[2, 2:] = 0, 0
    left = torch.randint(1, 9, (2, more), generator=g)
    left[1, :2] = 0
    other = torch.randint(0, 5, (3, 7), generator=g)
    other[0, 0], other[2, 1], other[1, 5:] = 0, 0, 5  # here 0 is a word and 5 the pad
    return [Case(f"3 sentences of up to {m} tokens", {"ids": right}, shape="(batch, query, key)"),
            Case("pads on the left", {"ids": left}, part="values", shape="(batch, query, key)"),
            Case("pad_id = 5, and 0 is a word", {"ids": other, "pad_id": 5}, part="pad_id", shape="(batch, query, key)"),
            Case(f"the last 4 of {m} tokens ask", {"ids": right, "n": 4}, part="cached", shape="(batch, query, key)")]


BUILDER = Exercise(
    id="06.3", title="The mask of a decoder", name="decoder_mask", kind="function", stars=2, minutes=12,
    signature="decoder_mask(ids, pad_id=0, n=None) -> (batch, n, m)", oracle=_builder_oracle, reference=_checked, draw=_draw,
    raw=boolean, compared="True where a query may attend", parts={"values": 3, "pad_id": 1, "cached": 1, "bad input": 1},
    forbidden=(MASKS + "padding_mask", MASKS + "length_mask", MASKS + "combine"),
    fixed=lambda: [
        Case("one sentence of one token", {"ids": torch.tensor([[3]])}, shape="(batch, query, key)"),
        Case("a sentence of nothing but pads", {"ids": torch.tensor([[0, 0, 0], [4, 2, 0]])}, shape="(batch, query, key)"),
        Case("a pad in the middle", {"ids": torch.tensor([[4, 0, 2, 6]])}, shape="(batch, query, key)"),
        Case("one sentence of 70 tokens", {"ids": torch.arange(70)[None] % 9}, shape="(batch, query, key)"),
        Case("pad_id = -1, and 0 is a word", {"ids": torch.tensor([[4, 0, -1], [0, 50_000, 2]]), "pad_id": -1}, part="pad_id",
             shape="(batch, query, key)"),
        Case("one new token after three", {"ids": torch.tensor([[0, 7, 2, 5], [1, 3, 2, 8]]), "n": 1}, part="cached",
             shape="(batch, query, key)"),
        Case("ids without a batch axis, 7 numbers", {"ids": torch.ones(7, dtype=torch.long)}, part="bad input", rejects=ValueError,
             mentions=("7",)),
        Case("ids with three axes, 2 × 3 × 4", {"ids": torch.ones(2, 3, 4, dtype=torch.long)}, part="bad input", rejects=ValueError,
             mentions=("2", "3", "4"))],
    twins=(
        Twin("or instead of and", partial(_builder, how="or"),
             "You permit a pair if one of the two masks does. Both must permit it: padding in the past stays hidden, and so does the "
             "future of real tokens."),
        Twin("padding on the queries", partial(_builder, how="rows"),
             "You closed the rows of the pads and left their columns open. A pad is dangerous only as a key: nobody reads its output."),
        Twin("padding mask turned sideways", partial(_builder, how="sideways"),
             "You gave the padding mask its new axis at the end, where the keys belong. So it closes the rows of pads and leaves their "
             "columns open. With fewer queries than keys, its shape does not even fit."),
        Twin("padding turned sideways", partial(_builder, how="sideways, causal first"),
             "You gave the padding mask its new axis at the end, where the keys belong. So it closes the rows of pads and leaves their "
             "columns open. With fewer queries than keys, its shape does not even fit."),
        Twin("rows of pads closed too", partial(_builder, how="rows and columns"),
             "You closed the columns of the pads, and their rows as well. The docstring asks only for the columns; closing the "
             "rows only makes empty rows."),
        Twin("True means hide", partial(_builder, how="inverted"),
             "Every entry is the opposite of what it should be: True means “may attend”."),
        Twin("pads shown, words hidden", partial(_builder, how="pads shown"),
             "Your columns are open exactly at the pads. The triangle is right, but the padding part is inverted."),
        Twin("future shown, past hidden", partial(_builder, how="future shown"),
             "The padding is right, but the triangle points the wrong way: keys that come later are open."),
        Twin("causal part missing", partial(_builder, how="only padding"), "Pads are hidden, but every query sees the future."),
        Twin("padding part missing", partial(_builder, how="only causal"), "The future is hidden, but pads of the past are open."),
        Twin("pad id taken for zero", partial(_builder, how="pad is 0"),
             "You compare with 0. The tokenizer decides which id is the pad, and your function gets it as an argument."),
        Twin("pad id taken for smallest", partial(_builder, how="positive ids"),
             "You keep only the ids above that of the pad. But the pad need not have the smallest id: every other id is a word."),
        Twin("own position hidden", partial(_builder, how="strict"), "A query may see its own token: position i reads inputs 0 to i."),
        Twin("new queries taken for the first", partial(_builder, how="top left"),
             "The n queries are the last of the m tokens. Your row 0 is treated as position 0."),
        Twin("rows for all tokens", partial(_builder, how="all queries"),
             "You make a row for each of the m tokens. Only the last n of them are queries; the others are just keys from the cache."),
        Twin("axis of the heads added", partial(_builder, how="four axes"),
             "The values are right, with one axis too many. Multi-head attention adds that axis by itself."),
        Twin("masks added up", partial(_builder, how="added"),
             "You added two masks: the sum is 0, 1 or 2, and as a boolean both 1 and 2 are True. Combine the masks by logic."),
        Twin("numbers instead of booleans", partial(_builder, how="numbers"),
             "The pattern is right, but masks in this course are boolean."),
        Twin("pads assumed on the right", partial(_builder, how="on the right"),
             "You counted real tokens and opened that many columns from the left. Pads may also be on the left, or between words."),
        Twin("first pad ends the sentence", partial(_builder, how="first pad ends"),
             "You hide everything after the first pad. But a pad may also come first, with real words after it."),
        Twin("empty rows opened", partial(_builder, how="empty rows opened"),
             "You opened the rows that would be empty. Then a pad reads everything, the future too. Leave them empty: the policy of "
             "chapter 03 takes care of them."),
        Twin("pads allowed to see themselves", partial(_builder, how="pads see themselves"),
             "You opened the diagonal for pads, perhaps to avoid empty rows. In this course empty rows are harmless: the policy of "
             "chapter 03 takes care of them."),
    ),
)
