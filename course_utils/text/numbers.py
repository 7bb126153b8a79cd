"""Numbers as words in four languages: a translation task without an end, whose right answers are known.

German is the interesting one: the units come before the tens. 321 is "three hundred and twenty-one", but
"dreihunderteinundzwanzig", three hundred one-and-twenty, in a single word. A model that reads from left to right must look
ahead; its attention map crosses over. French counts in twenties from 70 on (97 is "quatre-vingt-dix-sept", 4·20 + 10 + 7).
"""

import operator
import random
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LANGUAGES = ("en", "de", "fr", "es")
LIMIT = 1_000_000  # numbers below it

_GERMAN = """null ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
             sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
             und hundert tausend""".split()
_PIECE = re.compile("|".join(sorted(_GERMAN, key=len, reverse=True)))  # the longest piece first
# For each language: the numbers that have a word of their own (0 to 19, in Spanish to 29), then the tens from 20 on.
_SMALL = {
    "en": """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
             seventeen eighteen nineteen""".split(),
    "de": [piece for piece in _GERMAN[:21] if piece != "ein"],
    "fr": """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
             dix-huit dix-neuf""".split(),
    "es": """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
             diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco
             veintiséis veintisiete veintiocho veintinueve""".split(),
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety".split(),
    "de": _GERMAN[21:29],
    "fr": "vingt trente quarante cinquante soixante".split(),
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(),
}
_SPANISH_HUNDREDS = """ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos
                       novecientos""".split()


def _english(n: int) -> str:
    thousands, hundreds, rest = n // 1000, n // 100 % 10, n % 100
    if thousands:
        join = ", " if hundreds else " and "
        return f"{_english(thousands)} thousand" + (join + _english(n % 1000) if n % 1000 else "")
    if hundreds:
        return f"{_SMALL['en'][hundreds]} hundred" + (f" and {_english(rest)}" if rest else "")
    if n < 20:
        return _SMALL["en"][n]
    return _TENS["en"][n // 10 - 2] + (f"-{_SMALL['en'][n % 10]}" if n % 10 else "")


def _german(n: int, last: bool = True) -> str:
    """``last``: nothing follows, so that the one is "eins" and not "ein"."""
    if n >= 1000:
        return _german(n // 1000, False) + "tausend" + (_german(n % 1000, last) if n % 1000 else "")
    if n >= 100:
        return _german(n // 100, False) + "hundert" + (_german(n % 100, last) if n % 100 else "")
    if n < 20:
        return "ein" if n == 1 and not last else _SMALL["de"][n]
    return (_german(n % 10, False) + "und" if n % 10 else "") + _TENS["de"][n // 10 - 2]


def _french(n: int, last: bool = True) -> str:
    """``last``: nothing follows, so that cents and quatre-vingts end in s."""
    thousands, hundreds = n // 1000, n // 100
    if thousands:
        many = f"{_french(thousands, False)} " if thousands > 1 else ""
        return f"{many}mille" + (f" {_french(n % 1000)}" if n % 1000 else "")
    if hundreds:
        many = f"{_SMALL['fr'][hundreds]} " if hundreds > 1 else ""
        plural = "s" if many and last and n % 100 == 0 else ""
        return f"{many}cent{plural}" + (f" {_french(n % 100, last)}" if n % 100 else "")
    if n < 20:
        return _SMALL["fr"][n]
    if n == 80:
        return "quatre-vingts" if last else "quatre-vingt"
    ten, unit = (n // 10, n % 10) if n < 60 else (n // 20 * 2, n % 20)  # from 60 on in twenties
    name = "quatre-vingt" if ten == 8 else _TENS["fr"][ten - 2]
    if unit in (1, 11) and ten < 8:
        return f"{name} et {_SMALL['fr'][unit]}"
    return f"{name}-{_SMALL['fr'][unit]}" if unit else name


def _spanish(n: int) -> str:
    if n >= 1000:
        many = _spanish(n // 1000) + " " if n >= 2000 else ""  # before a noun the one loses its ending
        many = many.replace("veintiuno ", "veintiún ").replace("uno ", "un ")
        return f"{many}mil" + (f" {_spanish(n % 1000)}" if n % 1000 else "")
    if n == 100:
        return "cien"
    if n > 100:
        return _SPANISH_HUNDREDS[n // 100 - 1] + (f" {_spanish(n % 100)}" if n % 100 else "")
    if n < 30:
        return _SMALL["es"][n]
    return _TENS["es"][n // 10 - 2] + (f" y {_SMALL['es'][n % 10]}" if n % 10 else "")


_WORDS = {"en": _english, "de": _german, "fr": _french, "es": _spanish}


def number_words(number: int, language: str = "en") -> str:
    """``number_words(21, "de")`` is ``"einundzwanzig"``. ValueError outside 0..999 999 or ``LANGUAGES``, TypeError for a fraction."""
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not one of {', '.join(LANGUAGES)}")
    number = operator.index(number)
    if not 0 <= number < LIMIT:
        raise ValueError(f"number={number} is outside 0..{LIMIT - 1}")
    return _WORDS[language](number)


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
    """``(source tokens, target tokens)`` of these numbers, or of 0..numbers-1. ValueError unless there are two known languages."""
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
    return found
