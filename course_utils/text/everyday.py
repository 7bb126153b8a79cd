"""Everyday English and Chinese: short pairs of our own, and a fair choice of sentences that are never trained on."""

from collections import Counter
from hashlib import sha256
from importlib.resources import files

from .vocabulary import characters, words

SHOWN = ("I have a cat.", "Why do we work?")  # the chapters walk through these, so they stay in the training set


def pairs() -> list[tuple[str, str]]:
    """Every ``(english, chinese)`` pair of ``everyday.tsv``: two to eight English words, simplified Chinese."""
    text = files(__package__).joinpath("everyday.tsv").read_text(encoding="utf-8")
    return [(english, chinese) for english, chinese in (line.split("\t") for line in text.splitlines())]


def split(count: int = 40, at_least: int = 2) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """``(training, held_out)``: the same choice on every machine.

    Each English word and each Chinese character of a held-out pair occurs in ``at_least`` training pairs or more, and no
    held-out sentence is in the training set on either side: a model has met every piece, but never the whole. Raises
    ValueError for a count below 1, or when fewer than ``count`` pairs meet the rule.
    """
    if count < 1:
        raise ValueError(f"count={count} must be at least 1")
    everything = pairs()
    pieces = {pair: {("en", w) for w in words(pair[0])} | {("zh", c) for c in characters(pair[1])} for pair in everything}
    left = Counter(piece for found in pieces.values() for piece in found)
    chinese = Counter(pair[1] for pair in everything)
    chosen = []
    for pair in sorted(everything, key=lambda p: sha256(p[0].encode()).digest()):  # an arbitrary order, but always the same
        short = len([w for w in words(pair[0]) if w.isalpha()]) < 3
        if short or pair[0] in SHOWN or chinese[pair[1]] > 1 or any(left[piece] <= at_least for piece in pieces[pair]):
            continue
        chosen.append(pair)
        left.subtract(pieces[pair])
        if len(chosen) == count:
            break
    if len(chosen) < count:
        raise ValueError(f"only {len(chosen)} pairs are made of pieces seen {at_least} times elsewhere, count={count} were asked for")
    apart = set(chosen)
    return [pair for pair in everything if pair not in apart], chosen
