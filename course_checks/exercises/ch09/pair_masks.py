"""Exercise 09.8: who may look at whom in a pair. The oracle asks for one query and one key at a time."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator

KINDS = ("everything", "own text", "own text, [CLS] all")


def _oracle(segments: Tensor, real: Tensor, kind: str) -> Tensor:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown")
    batch, n = segments.shape
    found = torch.zeros(batch, n, n, dtype=torch.bool)
    for row in range(batch):
        for query in range(n):
            for key in range(n):
                together = bool(segments[row, query] == segments[row, key]) or kind == KINDS[0] or (query == 0 and kind == KINDS[2])
                found[row, query, key] = together and bool(real[row, query]) and bool(real[row, key])
    return found


def _mask(segments: Tensor, real: Tensor, kind: str, how: str = "right") -> Tensor:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown; choose one of {KINDS}")
    same = segments[:, :, None] == segments[:, None, :]
    first = torch.zeros_like(same)
    first[:, 0] = True
    together = same | (kind == KINDS[0]) | (first if kind == KINDS[2] else torch.zeros_like(same))
    keys, queries = real[:, None, :], real[:, :, None]
    match how:
        case "pads are seen":
            return together & queries
        case "pads look":
            return together & keys
        case "pads ignored":
            return together
        case "inverted":
            return ~(together & keys & queries)
        case "cls seen":
            together = same | (kind == KINDS[0]) | (first.transpose(1, 2) if kind == KINDS[2] else torch.zeros_like(same))
        case "cls both":
            together = together | (first.transpose(1, 2) if kind == KINDS[2] else torch.zeros_like(same))
        case "cls never":
            together = same | (kind == KINDS[0])
        case "cls always":
            together = together | first
        case "first text":
            together = together | ((segments == 0)[:, :, None] & (kind == KINDS[2]))
        case "other text":
            together = ~same | (kind == KINDS[0]) | (first if kind == KINDS[2] else torch.zeros_like(same))
        case "not itself":
            together = together & ~torch.eye(same.shape[1], dtype=torch.bool)
        case "causal":
            together = together & torch.ones_like(same[0]).tril()
        case "first input":
            together = together[:1].expand_as(together)
        case "or":
            return together & (keys | queries)
        case "first of batch":
            together = same | (kind == KINDS[0])
            together[0] |= kind == KINDS[2]
        case "cls and pads":
            return (together & keys & queries) | (first if kind == KINDS[2] else torch.zeros_like(same))
        case "by product":
            together = together & ((segments[:, :, None] * segments[:, None, :]).bool() | (kind == KINDS[0]) | first)
        case "always everything":
            together = torch.ones_like(same)
        case "always own":
            together = same
    return together & keys & queries


def _batch(g: torch.Generator, lengths: list[tuple[int, int]]) -> dict[str, Tensor]:
    """Pairs of these lengths, padded by one more place than the longest needs; pads have segment 0, as in the course."""
    n = max(map(sum, lengths)) + 1
    segments, real = torch.zeros(len(lengths), n, dtype=torch.long), torch.zeros(len(lengths), n, dtype=torch.bool)
    for row, (first, second) in enumerate(lengths):
        segments[row, first : first + second], real[row, : first + second] = 1, True
    return {"segments": segments, "real": real}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    lengths = [tuple(int(torch.randint(low, high, (), generator=g)) for low, high in ((3, 6), (2, 5))) for _ in range(3)]
    lengths[1] = (lengths[0][0] + 1, lengths[0][1] + 1)
    parts = {KINDS[0]: "everything", KINDS[1]: "own text", KINDS[2]: "[CLS]"}
    return [Case(f"3 pairs, {kind}", {**_batch(g, lengths), "kind": kind}, part=parts[kind], shape="(batch, query, key)")
            for kind in KINDS]


def _fixed() -> list[Case]:
    g = generator(8)
    single = _batch(g, [(4, 0)])
    return [Case("one text and no second one", {**single, "kind": KINDS[1]}, part="own text"),
            Case("one pair without a pad, [CLS] sees all", {"segments": torch.tensor([[0, 0, 0, 1, 1]]), "real": torch.ones(1, 5).bool(),
                                                            "kind": KINDS[2]}, part="[CLS]"),
            Case("a kind that does not exist", {**single, "kind": "nobody"}, part="refusal", rejects=ValueError, mentions=("nobody",))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_mask, how=how), hint)


PAIR_MASKS = Exercise(
    id="09.8", title="The mask of a pair", name="pair_mask", kind="function", stars=2, minutes=10,
    signature="pair_mask(segments, real, kind) -> (batch, query, key)", oracle=_oracle, reference=_mask, draw=_draw, fixed=_fixed,
    parts={"everything": 1, "own text": 1, "[CLS]": 1, "refusal": 1},
    twins=(
        _twin("mask inverted", "inverted", "Your True means “may not look”. In this course True means “may attend”."),
        _twin("pads are looked at", "pads are seen",
              "In your mask tokens may look at pads. The key has to be a real token as well as the query."),
        _twin("pads look", "pads look", "Your rows of pads are not empty. A pad sees nothing, so the query has to be real."),
        _twin("pads not masked at all", "pads ignored",
              "You compare the segments only. Pads have segment 0 as well, and so they belong to the first text."),
        _twin("everybody sees [CLS]", "cls seen",
              "You opened the first column: all tokens may look at [CLS]. Open the first row instead: [CLS] may look at all tokens."),
        _twin("[CLS] opened both ways", "cls both",
              "[CLS] may look at all tokens, but the second text may not look at [CLS]: [CLS] would carry the first text to it."),
        _twin("[CLS] like any other", "cls never", "In the third kind [CLS] looks at both texts. Yours looks at the first text only."),
        _twin("[CLS] sees all always", "cls always",
              "Your [CLS] looks at both texts for every kind. With “own text” it is a token of the first text like any other."),
        _twin("the first text sees all", "first text",
              "You opened the rows of the whole first text. Only the first token of an input looks at both texts."),
        _twin("[CLS] looks at pads", "cls and pads", "Your [CLS] looks at pads. “All” means all real tokens."),
        _twin("only the other text", "other text", "You let a token look where the segments differ. In its own text they are equal."),
        _twin("nobody looks at itself", "not itself", "A token may look at itself as well: it belongs to its own text."),
        _twin("no look ahead", "causal", "You forbid looking ahead. An encoder reads in both directions."),
        _twin("the first input's mask for all", "first input",
              "All inputs of your batch have the mask of the first. Each has texts and pads of its own length."),
        _twin("segments multiplied", "by product",
              "The product of two segments is 1 only for two tokens of the second text. Ask whether they are equal."),
        _twin("always everything", "always everything", "Your mask is the same for every kind: everybody sees all real tokens."),
        _twin("everything is the own text", "always own",
              "With “everything” a token looks at the other text as well. Yours looks at its own text only."),
        _twin("one of the two is enough", "or",
              "You ask whether the query or the key is a real token. Both have to be: a pad neither sees nor is seen."),
        _twin("the first input opened", "first of batch",
              "You opened the first input of the batch. The axes are (batch, query, key): [CLS] is the first query of each input."),
    ),
)
