"""BLEU: how many n-grams of a translation stand in its reference. Source: Papineni et al. 2002, section 2.3."""

import math
from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n tokens occurs."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], order: int = 4) -> float:
    """Corpus BLEU from 0 to 100, not smoothed, tokens as given. ValueError for no sentences, or not one reference for each."""
    if len(candidates) != len(references) or not candidates:
        raise ValueError(f"{len(candidates)} candidates and {len(references)} references: as many of both, at least one")
    if order < 1:
        raise ValueError(f"order={order} must be at least 1")
    precision = []
    for n in range(1, order + 1):
        pairs = [(ngrams(c, n), ngrams(r, n)) for c, r in zip(candidates, references, strict=True)]
        total = sum(c.total() for c, _ in pairs)
        hits = sum((c & r).total() for c, r in pairs)  # the smaller count of each: repeating a word does not pay
        if hits == 0:
            return 0.0
        precision.append(hits / total)
    length, wanted = sum(map(len, candidates)), sum(map(len, references))
    brevity = min(1.0, math.exp(1 - wanted / length))
    return 100 * brevity * math.exp(sum(map(math.log, precision)) / order)
