"""Exercise 00.2: cutting a word into pieces of a vocabulary. The oracle is a regular expression."""

import re

import torch

from course_utils.text import wordpiece

from ..common import Case, FunctionExercise, generator


def split_word(word: str, vocabulary: list[str]) -> list[str]:
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in vocabulary:
                pieces.append(mark + word[start:end])
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def oracle(word: str, vocabulary: list[str]) -> list[str]:
    """The regular-expression engine tries alternatives in order: sorted by length, that is longest match first."""

    def alternatives(pieces: list[str]) -> re.Pattern:
        return re.compile("|".join(map(re.escape, sorted(pieces, key=len, reverse=True))) or "(?!)")

    first = alternatives([v for v in vocabulary if not v.startswith("##")])
    later = alternatives([v[2:] for v in vocabulary if v.startswith("##")])
    match = first.match(word)
    pieces, at = [], 0
    while match:
        pieces.append(("##" if at else "") + match.group())
        at = match.end()
        match = later.match(word, at) if at < len(word) else None
    return pieces if at == len(word) else ["[UNK]"]


def draw(seed: int) -> list[Case]:
    pieces = "un unkind kind play a time ##kind ##ness ##n ##s ##er ##e ##ing ##i u p ##layer ##kindly".split()
    vocabulary = [pieces[i] for i in torch.randperm(len(pieces), generator=generator(seed)).tolist()]
    words = {"values": ("unkindness", "players", "time", "playing"), "unknown words": ("zebra", "playful", "playun", "unkindly")}
    return [Case(f"the word {w!r}", {"word": w, "vocabulary": vocabulary}, part) for part, some in words.items() for w in some]


def fixed() -> list[Case]:
    vocabulary = ["play", "understanding", "##s", "##ness", "##er", "un"]

    def case(word: str, part: str = "values") -> Case:
        return Case(f"the word {word!r}, another vocabulary", {"word": word, "vocabulary": vocabulary}, part)

    long = "un" + 30 * "ness"
    known = [case("players"), case("understandings"), Case(f"a word of {len(long)} letters", {"word": long, "vocabulary": vocabulary})]
    return known + [case(word, "unknown words") for word in ("time", "Play", "sprint", "ness")]


FORBIDDEN = ("course_utils.text.wordpiece.split_word",)
EXERCISE = FunctionExercise(right=split_word, oracle=oracle, reference=wordpiece.split_word, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
