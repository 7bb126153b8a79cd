"""Noise that a model learns to undo: BART's five functions and T5's spans with sentinels.

Texts are lists of token ids; ``rng`` is a ``random.Random``. Sources: Lewis et al. 2020, section 2.2; Raffel et al. 2020, section 3.1.4.
"""

import math
from collections.abc import Sequence
from random import Random


def mask_tokens(ids: Sequence[int], share: float, mask_id: int, rng: Random) -> list[int]:
    """``round(share · n)`` tokens, drawn without replacement, become the mask."""
    chosen = _draw(len(ids), share, rng)
    return [mask_id if place in chosen else token for place, token in enumerate(ids)]


def delete_tokens(ids: Sequence[int], share: float, rng: Random) -> list[int]:
    """``round(share · n)`` tokens vanish: the model has to find out where something is missing."""
    chosen = _draw(len(ids), share, rng)
    return [token for place, token in enumerate(ids) if place not in chosen]


def infill(ids: Sequence[int], share: float, mask_id: int, rng: Random, mean: float = 3.0) -> list[int]:
    """Spans of Poisson length become *one* mask each, until ``round(share · n)`` tokens are gone; length 0 puts a mask between two tokens.

    Spans neither overlap nor touch, so that the number of masks tells the number of spans.
    """
    budget = round(_checked(share) * len(ids))
    lengths: list[int] = []
    while sum(lengths) < budget:
        lengths.append(min(_poisson(mean, rng), budget - sum(lengths)))
    rest = len(ids) - sum(lengths)
    while len(lengths) > rest + 1:  # too many to keep apart: the last ones become one
        lengths[-2:] = [lengths[-2] + lengths[-1]]
    rng.shuffle(lengths)
    gaps, place = sorted(rng.sample(range(rest + 1), len(lengths))), 0
    spoiled: list[int] = []
    for gap, length in zip(gaps, lengths, strict=True):  # gap: how many of the kept tokens stand before the span
        kept = gap - (len(spoiled) - spoiled.count(mask_id))
        spoiled += [*ids[place : place + kept], mask_id]
        place += kept + length
    return spoiled + list(ids[place:])


def shuffle_sentences(ids: Sequence[int], end_id: int, rng: Random) -> list[int]:
    """Sentences, each up to and with ``end_id``, in random order."""
    sentences: list[list[int]] = [[]]
    for token in ids:
        sentences[-1].append(token)
        if token == end_id:
            sentences.append([])
    if not sentences[-1]:
        sentences.pop()
    rng.shuffle(sentences)
    return [token for sentence in sentences for token in sentence]


def rotate(ids: Sequence[int], rng: Random) -> list[int]:
    """The text begins with a token drawn at random, and what stood before it follows at the end."""
    start = rng.randrange(len(ids)) if ids else 0
    return [*ids[start:], *ids[:start]]


def corrupt_spans(
    ids: Sequence[int], sentinels: Sequence[int], rng: Random, share: float = 0.15, mean: float = 3.0
) -> tuple[list[int], list[int]]:
    """T5's pair (input, target): spans of mean length ``mean``, together ``round(share · n)`` tokens, become one sentinel each.

    The target repeats each sentinel, followed by what it hides, and ends with the next one. Spans do not touch. ValueError where the
    sentinels do not suffice.
    """
    n, gone = len(ids), min(max(1, round(_checked(share) * len(ids))), len(ids) - 1)
    if n < 2:
        raise ValueError(f"a text of {n} tokens cannot be corrupted: something has to stay")
    spans = min(max(1, round(gone / mean)), n - gone)
    if len(sentinels) <= spans:
        raise ValueError(f"{spans} spans need {spans + 1} sentinels, got {len(sentinels)}")
    lengths, kept = _parts(gone, spans, rng), _parts(n - gone, spans, rng)
    source, target, place = [], [], 0
    for sentinel, before, length in zip(sentinels, kept, lengths, strict=False):
        source += [*ids[place : place + before], sentinel]
        target += [sentinel, *ids[place + before : place + before + length]]
        place += before + length
    return source, [*target, sentinels[spans]]


def restore_spans(source: Sequence[int], target: Sequence[int], sentinels: Sequence[int]) -> list[int]:
    """The text that ``corrupt_spans`` cut; ValueError where the target lacks a sentinel of the source."""
    hidden: dict[int, list[int]] = {}
    found: list[int] = []
    for token in target:
        if token in sentinels:
            found = hidden.setdefault(token, [])
        else:
            found.append(token)
    missing = [token for token in source if token in sentinels and token not in hidden]
    if missing:
        raise ValueError(f"the target lacks the sentinels {missing}")
    return [word for token in source for word in (hidden[token] if token in sentinels else [token])]


def _parts(total: int, count: int, rng: Random) -> list[int]:
    """``count`` positive numbers with this sum, every way to cut as likely as any other."""
    cuts = sorted(rng.sample(range(1, total), count - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def _poisson(mean: float, rng: Random) -> int:
    """A Poisson number, by multiplying uniform ones until they fall below exp(-mean)."""
    count, product = 0, rng.random()
    while product > math.exp(-mean):
        count, product = count + 1, product * rng.random()
    return count


def _draw(n: int, share: float, rng: Random) -> set[int]:
    return set(rng.sample(range(n), round(_checked(share) * n)))


def _checked(share: float) -> float:
    if not 0 <= share <= 1:
        raise ValueError(f"share={share} must lie in 0 to 1")
    return share
