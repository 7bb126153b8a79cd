"""Number words in six languages."""

from __future__ import annotations

import hashlib

import pytest
import torch

from course_utils.text.languages import ALPHABET, SIX, bare, letter_counts, spelled


def test_words_are_those_of_the_library_num2words():
    """Its letters (0.5.14), with the Italian 118, 218, … put right: it writes "centodicotto"."""
    text = "\n".join(bare(spelled(n, code)).replace("centodiciotto", "centodicotto") for code in SIX for n in range(1_000))
    assert hashlib.sha256(text.encode()).hexdigest() == "59a2eaef7e26669ab21cf1afb899c0c4f9d922e13077f66ea688eab2b1a61259"


def test_words_of_note():
    assert [spelled(n, "nl") for n in (21, 22, 100, 342)] == ["eenentwintig", "tweeëntwintig", "honderd", "driehonderdtweeënveertig"]
    assert [spelled(n, "it") for n in (21, 23, 28, 108, 118, 180)] == [
        "ventuno",
        "ventitré",
        "ventotto",
        "centotto",
        "centodiciotto",
        "centottanta",
    ]
    assert spelled(21, "de") == "einundzwanzig" and bare("Dreißig, fünf-six") == "dreissigfunfsix"


def test_every_word_belongs_to_one_number_of_its_language():
    for code in SIX:
        assert len({bare(spelled(n, code)) for n in range(1_000)}) == 1_000


def test_letters_are_counted():
    counts = letter_counts(["sept", "sette"])
    assert counts.shape == (2, 26) and counts.dtype == torch.float32
    assert dict(zip(ALPHABET, counts[1].tolist(), strict=True))["t"] == 2 and counts.sum(1).tolist() == [4, 5]


@pytest.mark.parametrize(
    "number, language, error, message",
    [
        (1_000, "nl", ValueError, "number=1000 is outside 0..999"),
        (-1, "it", ValueError, "number=-1"),
        (3, "zh", ValueError, "'zh' is not one of en, de, nl, fr, es, it"),
        (1.5, "nl", TypeError, "float"),
    ],
)
def test_what_is_no_word_is_refused(number, language, error, message):
    with pytest.raises(error, match=message):
        spelled(number, language)
