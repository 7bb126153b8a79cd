"""The translation data: number words, everyday sentences, vocabulary and batches."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
import torch

from course_utils.paths import ROOT
from course_utils.text import everyday, numbers, vocabulary
from course_utils.text.vocabulary import Vocabulary, batches, characters, pad, words

# ---------------------------------------------------------------- number words

UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho "
    "diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
HUNDREDS = "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos".split()
VALUES = {
    lang: {**{w: i for i, w in enumerate(UNITS[lang].split())}, **{w: 10 * i for i, w in enumerate(TENS[lang].split(), 2)}}
    for lang in UNITS
}
VALUES["de"]["ein"] = VALUES["fr"]["une"] = VALUES["es"]["un"] = 1
VALUES["es"] |= {"cien": 100, "veintiún": 21} | {w: 100 * i for i, w in enumerate(HUNDREDS, 1)}
SCALE = {"hundred": 100, "hundert": 100, "cent": 100, "cents": 100}


def value(tokens: list[str], language: str) -> int:
    """Read number words back: written without the library, from the grammar of the four languages."""
    total = part = 0
    before = ""
    for token in tokens:
        if token in ("and", "und", "et", "y"):
            continue
        if token in ("thousand", "tausend", "mille", "mil"):
            total, part = max(part, 1) * 1000, 0
        elif token in SCALE:
            part = max(part, 1) * 100
        elif token in ("vingt", "vingts") and before == "quatre":
            part += 76  # four is counted already
        else:
            part += VALUES[language][token]
        before = token
    return total + part


def test_german_pieces_give_back_every_word_and_its_number():
    seen = set()
    for n in range(100_000):
        word = numbers.number_words(n, "de")
        pieces = numbers.split_german(word)
        assert "".join(pieces) == word, (n, pieces)
        assert value(pieces, "de") == n, (n, pieces)
        seen.update(pieces)
    assert len(seen) == 32
    assert seen == set(numbers._GERMAN)


@pytest.mark.parametrize("language", numbers.LANGUAGES)
def test_number_tokens_are_read_back(language):
    sample = [*range(2_300), *range(20_900, 22_200), *range(99_000, 102_000, 7), *range(0, 1_000_000, 997), 999_999]
    tokens = {n: numbers.number_tokens(n, language) for n in sample}
    assert [n for n in sample if value(tokens[n], language) != n] == []
    sizes = {"en": 31, "de": 32, "fr": 27, "es": 51}
    assert len({t for found in tokens.values() for t in found}) == sizes[language]
    assert not [t for found in tokens.values() for t in found if not t.isalpha()]


def test_number_words_of_note():
    assert numbers.number_tokens(321, "de") == "drei hundert ein und zwanzig".split()
    assert numbers.number_tokens(1_234, "en") == "one thousand two hundred and thirty four".split()
    assert numbers.number_tokens(97, "fr") == "quatre vingt dix sept".split()
    assert numbers.number_words(101_000, "de") == "einhunderteintausend"  # and not "einstausend"
    assert [numbers.number_words(n, "es") for n in (21_000, 31_000, 101_000)] == ["veintiún mil", "treinta y un mil", "ciento un mil"]
    assert numbers.number_pairs([21], ("de", "fr")) == [(["ein", "und", "zwanzig"], ["vingt", "et", "un"])]
    assert len(numbers.number_pairs(12)) == 12


def test_number_words_are_those_of_the_library_num2words():
    """Its words (0.5.14, with "eintausend", "veintiún mil" and "un mil" put right) for 12,610 numbers in each language."""
    text = "\n".join(numbers.number_words(n, language) for language in numbers.LANGUAGES for n in [*range(2_300), *range(0, 1_000_000, 97)])
    digest = "464bdd657fe0c5372f67faadec8955b505d502a02c03a5f95dd150b87a448c73"
    assert hashlib.sha256(text.encode()).hexdigest() == digest


@pytest.mark.parametrize("total, seed", [(10, 0), (1_000, 1), (100_000, 2)])
def test_number_split_is_disjoint_complete_and_repeatable(total, seed):
    found = numbers.split(total, seed=seed)
    assert found == numbers.split(total, seed=seed) != numbers.split(total, seed=seed + 1)
    assert found == numbers.split(list(range(total))[::-1], seed=seed)  # the order in which numbers are given does not matter
    assert [len(part) for part in found] == [total - 2 * (total // 10), total // 10, total // 10]
    assert sorted(n for part in found for n in part) == list(range(total))  # each number once: nothing is shared, nothing lost


# ---------------------------------------------------------------- everyday sentences

PAIRS = everyday.pairs()


def test_the_everyday_file_is_well_formed():
    assert len(PAIRS) >= 430
    assert {("I have a cat.", "我有一只猫。"), ("Why do we work?", "我们为什么工作？")} <= set(PAIRS)
    for side in (0, 1):
        assert [s for s, n in Counter(pair[side].lower() for pair in PAIRS).items() if n > 1] == []
    assert [s for s, n in Counter(re.sub(r"\W", "", english.lower()) for english, _ in PAIRS).items() if n > 1] == []
    for english, chinese in PAIRS:
        assert english == " ".join(english.split()), english
        assert re.fullmatch(r"[A-Z][A-Za-z', ]*[.?!]", english), english
        assert 2 <= len(re.findall(r"[A-Za-z']+", english)) <= 8, english
        assert re.fullmatch(r"[\u4e00-\u9fff，]+[。？！]", chinese), chinese  # no ASCII, no space, no half-width mark
        assert unicodedata.normalize("NFC", chinese) == chinese
        assert {".": "。", "?": "？", "!": "！"}[english[-1]] == chinese[-1], (english, chinese)


def test_everyday_words_recur():
    english = Counter(w for pair in PAIRS for w in set(words(pair[0])))
    chinese = Counter(c for pair in PAIRS for c in set(characters(pair[1])))
    assert len(english) <= 470
    assert min(english.values()) >= 2
    assert sum(n >= 3 for n in english.values()) >= 0.95 * len(english)
    assert len(chinese) <= 430
    assert sum(n >= 3 for n in chinese.values()) >= 0.85 * len(chinese)


def test_held_out_sentences_are_new_but_their_pieces_are_not():
    train, apart = everyday.split()
    assert len(apart) == 40
    assert sorted(train + apart) == sorted(PAIRS)
    for side in (0, 1):
        assert {pair[side] for pair in train}.isdisjoint(pair[side] for pair in apart)
    english = Counter(w for pair in train for w in set(words(pair[0])))
    chinese = Counter(c for pair in train for c in set(characters(pair[1])))
    for pair in apart:
        assert min(english[w] for w in words(pair[0])) >= 2
        assert min(chinese[c] for c in characters(pair[1])) >= 2
    assert {"I have a cat.", "Why do we work?"} <= {pair[0] for pair in train}
    strict = everyday.split(20, at_least=6)[0]
    assert len(strict) == len(PAIRS) - 20


# ---------------------------------------------------------------- vocabulary and batches


def test_words_and_characters():
    assert words("I don't know, Anna!") == ["i", "don't", "know", ",", "anna", "!"]
    assert words("Grüße  an_alle 3x… ") == ["grüße", "an", "_", "alle", "3x", "…"]
    assert characters("我有 一只猫。\n") == list("我有一只猫。")


def test_vocabulary():
    vocab = Vocabulary([["b", "a"], ["b"], ["a", "b"]])
    assert vocab.tokens == ("<pad>", "<bos>", "<eos>", "<unk>", "b", "a")
    assert len(vocab) == 6
    assert "a" in vocab
    assert "<eos>" in vocab
    assert "c" not in vocab
    assert 3 not in vocab
    assert vocab.encode(["a", "c", "b"]) == [5, 3, 4]
    assert vocab.encode(["a"], bos=True, eos=True) == [1, 5, 2]
    assert vocab.encode([]) == []
    assert vocab.decode([1, 5, 3, 4, 2, 5, 0]) == ["a", "<unk>", "b"] == vocab.decode(torch.tensor([1, 5, 3, 4, 2]))
    for first, second in PAIRS:
        for tokens in (words(first), characters(second)):
            own = Vocabulary([tokens])
            assert own.decode(own.encode(tokens, bos=True, eos=True)) == tokens


def test_pad():
    assert pad([[1, 2, 3], [], [4]]).tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0]]
    assert pad([[1], [2, 3]], value=-100).tolist() == [[1, -100], [2, 3]]
    assert pad([[1]]).dtype == torch.long


@pytest.mark.parametrize("by_length", [False, True])
def test_batches_hold_every_pair_once(by_length):
    pairs = [([i] * (1 + i * 7 % 11), [i, 100] * (1 + i * 5 % 9)) for i in range(1, 38)]

    def epoch(number: int, seed: int = 0):
        return list(batches(pairs, 5, seed, epoch=number, by_length=by_length))

    def rows(found):
        return [
            ([i for i in s if i], [i for i in t if i])
            for source, target in found
            for s, t in zip(source.tolist(), target.tolist(), strict=True)
        ]

    first, again, second = rows(epoch(0)), rows(epoch(0)), rows(epoch(1))
    assert first == again != second
    assert rows(epoch(0, seed=1)) != first
    assert sorted(first) == sorted(second) == sorted(pairs)
    for source, target in epoch(0):
        assert source.dtype == target.dtype == torch.long
        assert len(source) == len(target) <= 5
        assert (source != 0).any(0).all()
        assert (target != 0).any(0).all()  # no column of padding alone
    assert len(epoch(0)) == 8


def test_batches_by_length_pad_less():
    pairs = [([1] * n, [1] * n) for n in range(1, 200)]
    waste = [sum(int((t == 0).sum()) for _, t in batches(pairs, 16, by_length=flag)) for flag in (False, True)]
    assert waste[1] < waste[0] / 5


# ---------------------------------------------------------------- bad input, imports

DIGEST = "0" * 64


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Vocabulary(["a sentence"]), TypeError, "the string 'a sentence'"),
        (lambda: Vocabulary([["<eos>"]]), ValueError, "special token '<eos>'"),
        (lambda: Vocabulary([["a"]]).encode("a"), TypeError, "list of tokens"),
        (lambda: Vocabulary([["a"]]).decode([5]), ValueError, "id 5 is outside the vocabulary of 5 tokens"),
        (lambda: Vocabulary([["a"]]).decode([-1]), ValueError, "id -1"),
        (lambda: Vocabulary([["a"]]).decode(torch.ones(2, 3)), ValueError, r"shape \(2, 3\)"),
        (lambda: pad([]), ValueError, "empty list"),
        (lambda: batches([], 4), ValueError, "no pairs"),
        (lambda: batches([([1], [2])], 0), ValueError, "size=0"),
        (lambda: everyday.split(0), ValueError, "count=0"),
        (lambda: everyday.split(500), ValueError, r"only \d+ pairs.*count=500"),
        (lambda: numbers.number_words(1_000_000), ValueError, "number=1000000 is outside 0..999999"),
        (lambda: numbers.number_words(-1), ValueError, "number=-1"),
        (lambda: numbers.number_words(1.5), TypeError, "float"),  # type: ignore[arg-type]
        (lambda: numbers.number_words(1, "zh"), ValueError, "'zh' is not one of en, de, fr, es"),
        (lambda: numbers.split_german("einszweix"), ValueError, "'einszweix'"),
        (lambda: numbers.split_german(""), ValueError, "not a German number word"),
        (lambda: numbers.number_pairs(3, ("en",)), ValueError, "source and a target"),  # type: ignore[arg-type]
        (lambda: numbers.split([1, 2, 2]), ValueError, "1 numbers are repeated"),
        (lambda: numbers.split(10, 0.5, 0.5), ValueError, "validation=0.5 and test=0.5"),
        (lambda: numbers.split(10, -0.1), ValueError, "validation=-0.1"),
        (lambda: numbers.split(0), ValueError, "0 numbers leave nothing"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_importing_opens_nothing():
    code = (
        "import sys\nused = []\n"
        "net = ('socket.connect', 'socket.getaddr', 'urllib')\n"
        "sys.addaudithook(lambda event, _: used.append(event) if event.startswith(net) else None)\n"
        "import course_utils.text.numbers, course_utils.text.everyday as e\n"
        "assert len(e.pairs()) > 430 and not used, used\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert vocabulary.SPECIAL == ("<pad>", "<bos>", "<eos>", "<unk>")
