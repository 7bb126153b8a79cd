"""Exercise 12a.5: XLM's input of two translations. The oracle writes it token by token."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...checks.exercise import Case, Exercise, Twin, generator


def _oracle(first: Tensor, second: Tensor, languages: list[int], bound: int) -> tuple[Tensor, Tensor, Tensor]:
    rows = []
    for sentence, language in ((first, languages[0]), (second, languages[1])):
        place = 0
        for token in [bound, *sentence.tolist(), bound]:
            rows.append((token, place, language))
            place += 1
    ids, positions, marks = zip(*rows, strict=True)
    return torch.tensor(ids), torch.tensor(positions), torch.tensor(marks)


def _pair(first: Tensor, second: Tensor, languages: list[int], bound: int, how: str = "right") -> tuple[Tensor, Tensor, Tensor]:
    x, y, (a, b) = first.tolist(), second.tolist(), languages
    match how:
        case "sentences exchanged":
            x, y, a, b = y, x, b, a
        case "languages exchanged":
            a, b = b, a
        case "zero and one":
            a, b = 0, 1
        case "one language":
            b = a
    left, right = [bound, *x, bound], [bound, *y, bound]
    match how:
        case "one bound between":
            left = left[:-1]
        case "BERT's bounds":
            right = right[1:]
        case "no last bound":
            right = right[:-1]
        case "no closing bounds":
            left, right = left[:-1], right[:-1]
        case "outer bounds":
            left, right = left[:-1], right[1:]
        case "no bounds":
            left, right = x, y
    ids = left + right
    positions, marks = [*range(len(left)), *range(len(right))], [a] * len(left) + [b] * len(right)
    match how:
        case "positions go on":
            positions = list(range(len(ids)))
        case "first length for both":
            positions, marks = [*range(len(left))] * 2, [a] * len(left) + [b] * len(left)
        case "from one":
            positions = [p + 1 for p in positions]
        case "bounds stand nowhere":
            positions = [0, *range(len(x)), 0, 0, *range(len(y)), 0]
        case "bound before the count":
            positions = [p - 1 for p in positions]
        case "begin behind the bound":
            positions = [*range(len(left) + 1), *range(len(right) - 1)]
        case "backwards":
            positions = [*range(len(left)), *reversed(range(len(right)))]
        case "bounds have no language":
            marks = [0, *[a] * len(x), 0, 0, *[b] * len(y), 0]
        case "second bound too early":
            marks = [a] * (len(left) + 1) + [b] * (len(right) - 1)
        case "first bound too late":
            marks = [a] * (len(left) - 1) + [b] * (len(right) + 1)
        case "segments alternate":
            marks = [(a, b)[i % 2] for i in range(len(ids))]
    return torch.tensor(ids), torch.tensor(positions), torch.tensor(marks)


def _reference(first: Tensor, second: Tensor, languages: list[int], bound: int) -> tuple[Tensor, Tensor, Tensor]:
    if not len(first) or not len(second):
        raise ValueError(f"a pair needs two sentences, these have {len(first)} and {len(second)} tokens")
    return _pair(first, second, languages, bound)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, m: int, languages: list[int]) -> Case:
        first, second = (torch.randint(10, 90, (size,), generator=g) for size in (n, m))
        return Case(f"{n} and {m} tokens", {"first": first, "second": second, "languages": languages, "bound": 5}, shape="(n,)")

    return [case(3, 6, [2, 7]), case(5, 4, [4, 1])]


def _fixed() -> list[Case]:
    return [Case("one token each", {"first": torch.tensor([8]), "second": torch.tensor([9]), "languages": [3, 1], "bound": 2},
                 shape="(n,)"),
            Case("one sentence of one token", {"first": torch.tensor([8]), "second": torch.tensor([9, 9, 4]), "languages": [0, 6],
                                               "bound": 1}, shape="(n,)"),
            Case("an empty first sentence", {"first": torch.tensor([], dtype=torch.long), "second": torch.tensor([8, 4]),
                                             "languages": [0, 1], "bound": 5}, part="refusal", rejects=ValueError, mentions=("0", "2")),
            Case("an empty second sentence", {"first": torch.tensor([8, 4, 6]), "second": torch.tensor([], dtype=torch.long),
                                              "languages": [0, 1], "bound": 2}, part="refusal", rejects=ValueError, mentions=("3", "0"))]


PAIR = Exercise(
    id="12a.5", title="A pair of translations as XLM reads it", name="translation_pair", kind="function", stars=1, minutes=8,
    signature="translation_pair(first, second, languages, bound) -> ids, positions, languages", oracle=_oracle, reference=_reference,
    draw=_draw, fixed=_fixed, parts={"values": 2, "refusal": 1}, outputs=("ids", "positions", "languages"),
    twins=(
        Twin("length of the first for both", partial(_pair, how="first length for both"),
             "You use the length of the first sentence for both. The second has a length of its own."),
        Twin("positions go on", partial(_pair, how="positions go on"),
             "Your positions run on through the second sentence, as in BERT. In XLM each of the two sentences begins anew."),
        Twin("positions from one", partial(_pair, how="from one"), "Positions count from 0: the bound that opens a sentence stands there."),
        Twin("first word at 0", partial(_pair, how="bound before the count"),
             "Your first words have position 0 and the bounds before them -1. The opening bound has position 0."),
        Twin("bounds without a place", partial(_pair, how="bounds stand nowhere"),
             "A bound is a token like others. The first word of a sentence comes after it, and the closing bound has the last place."),
        Twin("restart behind the bound", partial(_pair, how="begin behind the bound"),
             "You begin anew with the second sentence's first word. Its opening bound already belongs to it."),
        Twin("second sentence counted backwards", partial(_pair, how="backwards"),
             "Both sentences are counted in reading direction; a translation is no mirror image."),
        Twin("one bound between the sentences", partial(_pair, how="one bound between"),
             "Between the sentences stand two bounds: one closes the first sentence, one opens the second."),
        Twin("BERT's way of joining", partial(_pair, how="BERT's bounds"),
             "BERT closes both parts and opens only the first. XLM opens and closes each of its sentences."),
        Twin("last bound missing", partial(_pair, how="no last bound"), "The second sentence has to be closed as well."),
        Twin("nothing closed", partial(_pair, how="no closing bounds"), "Your sentences are opened and never closed; each has two bounds."),
        Twin("bounds at the outer ends alone", partial(_pair, how="outer bounds"),
             "Only the whole pair is opened and closed. Between the two sentences two bounds are missing."),
        Twin("no bounds at all", partial(_pair, how="no bounds"), "Each sentence stands between two bounds; yours stand bare."),
        Twin("languages counted instead of named", partial(_pair, how="zero and one"),
             "First and second are not languages. The numbers of the two languages are given."),
        Twin("languages exchanged", partial(_pair, how="languages exchanged"), "The first language belongs to the first sentence."),
        Twin("one language for both", partial(_pair, how="one language"),
             "All of your tokens carry the language of the first sentence. What is the second number for?"),
        Twin("bounds without a language", partial(_pair, how="bounds have no language"),
             "The bounds around a sentence carry its language, too."),
        Twin("opening bound in the wrong language", partial(_pair, how="second bound too early"),
             "The bound that opens the second sentence carries the second language."),
        Twin("closing bound in the wrong language", partial(_pair, how="first bound too late"),
             "The bound that closes the first sentence still carries the first language."),
        Twin("languages alternate", partial(_pair, how="segments alternate"),
             "The sentences stand one behind the other, so each language is one stretch of equal numbers."),
        Twin("sentences exchanged", partial(_pair, how="sentences exchanged"),
             "You put the second sentence in front; the first comes first."),
    ),
)
