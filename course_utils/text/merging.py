"""The loop inside every tokenizer that learns by merging: count neighbouring pairs in words, join one, count again."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

Symbol = TypeVar("Symbol", str, bytes)


class Merger(Generic[Symbol]):
    """Words as lists of symbols; ``singles`` and ``pairs`` count symbols and neighbours, each word as often as it occurs.

    A merge touches only the words that hold the pair, so that a thousand merges take a second or two.
    """

    def __init__(self, words: Mapping[str, Sequence[Symbol]], counts: Mapping[str, int]) -> None:
        self.words: dict[str, list[Symbol]] = {word: list(symbols) for word, symbols in words.items()}
        self.counts = counts
        self.singles: Counter[Symbol] = Counter()
        self.pairs: Counter[tuple[Symbol, Symbol]] = Counter()
        self._where: defaultdict[tuple[Symbol, Symbol], set[str]] = defaultdict(set)
        for word in self.words:
            self._count(word, 1)

    def _count(self, word: str, sign: int) -> None:
        symbols, n = self.words[word], sign * self.counts[word]
        for symbol in symbols:
            self.singles[symbol] += n
        for pair in zip(symbols, symbols[1:], strict=False):
            self.pairs[pair] += n
            self._where[pair].add(word)

    def best(self, min_count: int, score: Callable[[tuple[Symbol, Symbol]], float]) -> tuple[Symbol, Symbol] | None:
        """The pair with the highest score among those seen at least ``min_count`` times (ties: the first in order), or None."""
        scores = {pair: score(pair) for pair, n in self.pairs.items() if n >= min_count}
        highest = max(scores.values(), default=None)
        return min((pair for pair, found in scores.items() if found == highest), default=None)

    def merge(self, pair: tuple[Symbol, Symbol], joined: Symbol) -> None:
        """Replace every occurrence of the pair, from left to right, by ``joined``."""
        for word in self._where.pop(pair, ()):
            self._count(word, -1)
            self.words[word] = join(self.words[word], pair, joined)
            self._count(word, 1)
        self.pairs.pop(pair, None)


def join(symbols: Sequence[Symbol], pair: tuple[Symbol, Symbol], joined: Symbol) -> list[Symbol]:
    """Every occurrence of the pair, from left to right, replaced by ``joined``; ``aaa`` holds the pair ``aa`` once."""
    out: list[Symbol] = []
    i = 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            out.append(joined)
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out
