"""Near-duplicates of texts: shingles, Jaccard similarity, and MinHash signatures that estimate it without comparing all pairs.

Sources: shingles and their resemblance, Broder 1997; bands of a signature, Leskovec, Rajaraman and Ullman, chapter 3.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from zlib import crc32

import torch
from torch import Tensor

PRIME = 2**31 - 1


def shingles(text: str, n: int) -> frozenset[tuple[str, ...]]:
    """All rows of ``n`` neighbouring words, in lower case and without punctuation; a shorter text is one shingle. ValueError for n < 1."""
    if n < 1:
        raise ValueError(f"n={n} must be at least 1")
    words = re.findall(r"\w+", text.lower())
    return frozenset(tuple(words[i : i + n]) for i in range(max(1, len(words) - n + 1)))


def similar_pairs(sets: Sequence[frozenset], threshold: float) -> dict[tuple[int, int], float]:
    """Jaccard similarity of all pairs ``i < j`` that reach ``threshold``; exact. Only pairs that share a shingle are looked at."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold} must be above 0 and at most 1")
    where = defaultdict(list)
    for i, found in enumerate(sets):
        for shingle in found:
            where[shingle].append(i)
    shared = Counter(pair for places in where.values() for pair in combinations(places, 2))
    similarity = {(i, j): both / (len(sets[i]) + len(sets[j]) - both) for (i, j), both in shared.items()}
    return {pair: value for pair, value in similarity.items() if value >= threshold}


def signatures(sets: Iterable[frozenset], count: int = 128, seed: int = 0) -> Tensor:
    """MinHash signatures ``(texts, count)``: for each of ``count`` random orders of all shingles, the one of a set that comes first.

    Two sets agree in one place with a probability equal to their Jaccard similarity. ValueError for an empty set or count < 1.
    """
    if count < 1:
        raise ValueError(f"count={count} must be at least 1")
    draw = torch.Generator().manual_seed(seed)
    factor, shift = (torch.randint(1, PRIME, (count, 1), generator=draw) for _ in range(2))
    rows = []
    for number, found in enumerate(sets):
        if not found:
            raise ValueError(f"set {number} is empty: it has no first shingle")
        hashes = torch.tensor([crc32("\0".join(shingle).encode()) % PRIME for shingle in found])
        rows.append(((factor * hashes + shift) % PRIME).min(1).values)  # (count, shingles) -> (count,)
    return torch.stack(rows)


def candidates(signature: Tensor, bands: int) -> set[tuple[int, int]]:
    """Pairs ``i < j`` whose signatures ``(texts, count)`` agree in every place of at least one of ``bands`` equal bands."""
    texts, count = signature.shape
    if bands < 1 or count % bands:
        raise ValueError(f"{count} hashes cannot be cut into {bands} equal bands")
    found = set()
    for band in signature.view(texts, bands, -1).unbind(1):
        same = defaultdict(list)
        for number, key in enumerate(map(tuple, band.tolist())):
            same[key].append(number)
        found |= {pair for group in same.values() for pair in combinations(group, 2)}
    return found
