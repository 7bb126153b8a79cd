"""Numbers as words in four languages: a translation task without an end, whose right answers are known.

German is the interesting one: the units come before the tens. 321 is "three hundred and twenty-one", but
"dreihunderteinundzwanzig", three hundred one-and-twenty, in a single word. A model that reads from left to right must look
ahead; its attention map crosses over. French counts in twenties from 70 on (97 is "quatre-vingt-dix-sept", 4·20 + 10 + 7).
The words come from the library num2words (LGPL).
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LANGUAGES = ("en", "de", "fr", "es")
LIMIT = 1_000_000  # numbers below it

_GERMAN = """null ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
             achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig und hundert tausend""".split()
_PIECE = re.compile("|".join(sorted(_GERMAN, key=len, reverse=True)))  # the longest piece first
# What the library gets wrong: before "thousand" the one loses its ending (Duden; Real Academia Española).
_REPAIRS = {"de": (("einstausend", "eintausend"),), "es": (("veintiuno mil", "veintiún mil"), ("uno mil", "un mil"))}


def number_words(number: int, language: str = "en") -> str:
    """``number`` as it is written: ``number_words(21, "de")`` is ``"einundzwanzig"``.

    Raises ValueError for a number outside 0..999 999 or an unknown language, TypeError for a fraction,
    ModuleNotFoundError without num2words.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not one of {', '.join(LANGUAGES)}")
    number = operator.index(number)
    if not 0 <= number < LIMIT:
        raise ValueError(f"number={number} is outside 0..{LIMIT - 1}")
    try:
        from num2words import num2words
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("number words need a small library: pip install num2words") from error
    text = num2words(number, lang=language)
    for wrong, right in _REPAIRS.get(language, ()):
        text = text.replace(wrong, right)
    return text


def split_german(word: str) -> list[str]:
    """Pieces of a German number word: ``"dreihunderteinundzwanzig"`` -> ``["drei", "hundert", "ein", "und", "zwanzig"]``.

    The longest piece from left to right; the pieces joined are the word. Raises ValueError for any other word.
    """
    pieces = _PIECE.findall(word)
    if not word or "".join(pieces) != word:
        raise ValueError(f"{word!r} is not a German number word below one million")
    return pieces


def number_tokens(number: int, language: str = "en") -> list[str]:
    """Tokens of a number: German in its pieces, the others split at spaces and hyphens, without commas."""
    text = number_words(number, language)
    return split_german(text) if language == "de" else text.replace(",", " ").replace("-", " ").split()


def number_pairs(numbers: int | Iterable[int], languages: tuple[str, str] = ("en", "de")) -> list[tuple[list[str], list[str]]]:
    """``(source tokens, target tokens)`` of the given numbers, or of 0..numbers-1 where ``numbers`` is an integer.

    Raises ValueError unless there are two languages, and as ``number_words`` does.
    """
    if len(languages) != 2:
        raise ValueError(f"languages={languages!r} must name a source and a target")
    source, target = languages
    numbers = range(numbers) if isinstance(numbers, int) else numbers
    return [(number_tokens(n, source), number_tokens(n, target)) for n in numbers]


class Split(NamedTuple):
    """Numbers of three disjoint sets, each in rising order."""

    train: list[int]
    validation: list[int]
    test: list[int]


def split(numbers: int | Sequence[int], validation: float = 0.1, test: float = 0.1, seed: int = 0) -> Split:
    """Deal numbers (0..numbers-1 where an integer is given) into training, validation and test, by number and by ``seed``.

    ``validation`` and ``test`` are fractions, rounded down. A number belongs to one set only. Raises ValueError for
    repeated numbers, fractions outside 0..1, or when nothing would be left to train on.
    """
    pool = list(range(numbers) if isinstance(numbers, int) else numbers)
    if len(set(pool)) != len(pool):
        raise ValueError(f"{len(pool) - len(set(pool))} numbers are repeated; a repeated number could be trained on and tested")
    if validation < 0 or test < 0 or validation + test >= 1:
        raise ValueError(f"validation={validation} and test={test} must not be negative and must leave something to train on")
    pool.sort()
    random.Random(seed).shuffle(pool)
    a, b = int(len(pool) * validation), int(len(pool) * test)
    found = Split(sorted(pool[a + b :]), sorted(pool[:a]), sorted(pool[a : a + b]))
    if not found.train:
        raise ValueError(f"{len(pool)} numbers leave nothing to train on")
    assert set(found.train).isdisjoint(found.test) and set(found.train).isdisjoint(found.validation)
    assert set(found.validation).isdisjoint(found.test)
    return found
