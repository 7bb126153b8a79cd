"""Numbers below 1,000 in six languages, and their letters: what the network of chapter 00b reads.

Dutch and Italian are written here, the other four in :mod:`.numbers`. What a language shows in accents is taken away: ü becomes u, é
becomes e, ß becomes ss.
"""

import operator
import unicodedata
from collections.abc import Iterable

import torch
from torch import Tensor

from . import numbers

SIX = {"en": "English", "de": "German", "nl": "Dutch", "fr": "French", "es": "Spanish", "it": "Italian"}
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
LIMIT = 1_000

_DUTCH = """nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien
            achttien negentien""".split()
_DUTCH_TENS = "twintig dertig veertig vijftig zestig zeventig tachtig negentig".split()
_ITALIAN = """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici
              diciassette diciotto diciannove""".split()
_ITALIAN_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()


def _dutch(n: int) -> str:
    if n >= 100:
        return ("" if n < 200 else _DUTCH[n // 100]) + "honderd" + (_dutch(n % 100) if n % 100 else "")
    if n < 20:
        return _DUTCH[n]
    unit = _DUTCH[n % 10] + ("ën" if n % 10 in (2, 3) else "en")  # two vowels of which the second begins a syllable
    return (unit if n % 10 else "") + _DUTCH_TENS[n // 10 - 2]


def _italian(n: int) -> str:
    if n >= 100:
        rest = _italian(n % 100) if n % 100 else ""
        return ("" if n < 200 else _ITALIAN[n // 100]) + ("cent" if rest.startswith("o") else "cento") + rest
    if n < 20:
        return _ITALIAN[n]
    ten, unit = _ITALIAN_TENS[n // 10 - 2], n % 10
    if unit in (1, 8):  # before a vowel the ten loses its own, as a hundred does above
        ten = ten[:-1]
    return ten + ("tré" if unit == 3 else _ITALIAN[unit] if unit else "")


def spelled(number: int, language: str) -> str:
    """As it is written: ``spelled(21, "nl")`` is ``"eenentwintig"``. ValueError outside 0..999 and ``SIX``, TypeError for a fraction."""
    if language not in SIX:
        raise ValueError(f"language {language!r} is not one of {', '.join(SIX)}")
    number = operator.index(number)
    if not 0 <= number < LIMIT:
        raise ValueError(f"number={number} is outside 0..{LIMIT - 1}")
    own = {"nl": _dutch, "it": _italian}.get(language)
    return own(number) if own else numbers.number_words(number, language)


def bare(text: str) -> str:
    """The letters a to z of a text, without accents, spaces and hyphens: ``"fünf"`` gives ``"funf"``."""
    plain = unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
    return "".join(c for c in plain if c in ALPHABET)


def letter_counts(words: Iterable[str]) -> Tensor:
    """How often each letter of the alphabet stands in each word: ``(words, 26)``, as float32."""
    return torch.tensor([[word.count(letter) for letter in ALPHABET] for word in words], dtype=torch.float32)
