"""Exercise 09.1: the longest piece first. The oracle takes the lexicographically longest of all ways to split a word."""

from collections.abc import Collection
from random import Random

from ...case import Case, refusal
from ...exercise import FunctionExercise

UNKNOWN = "[UNK]"


def split_word(word: str, vocabulary: Collection[str]) -> list[str]:
    if not word:
        raise ValueError("the word is empty")
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "" if start == 0 else "##"
        ends = range(len(word), start, -1)
        for end in ends:
            piece = mark + word[start:end]
            known = piece in vocabulary
            if known:
                pieces.append(piece)
                start = end
                break
        else:
            return [UNKNOWN]
    return pieces


def _oracle(word: str, vocabulary: Collection[str]) -> list[str]:
    """Follow the longest first piece, then the longest second one, by trying every cut; the search never comes back."""
    if not word:
        raise ValueError("the word is empty")

    def first(start: int) -> str | None:
        found = [
            piece
            for piece in vocabulary
            if piece.startswith("##") == (start > 0) and piece.removeprefix("##") and word.startswith(piece.removeprefix("##"), start)
        ]
        return max(found, key=len, default=None)

    pieces, start = [], 0
    while start < len(word):
        piece = first(start)
        if piece is None:
            return [UNKNOWN]
        pieces.append(piece)
        start += len(piece.removeprefix("##"))
    return pieces


def _first_in_the_list(word: str, vocabulary: Collection[str]) -> list[str]:
    pieces: list[str] = []
    rest = word
    while rest:
        mark = "##" if pieces else ""
        piece = next((p for p in vocabulary if len(p) > len(mark) and (mark + rest).startswith(p)), None)
        if piece is None:
            return [UNKNOWN]
        pieces.append(piece)
        rest = rest[len(piece) - len(mark) :]
    return pieces


def _from_the_end(word: str, vocabulary: Collection[str]) -> list[str]:
    pieces, end = [], len(word)
    while end:
        for start in range(end):
            if ("##" if start else "") + word[start:end] in vocabulary:
                pieces.insert(0, ("##" if start else "") + word[start:end])
                end = start
                break
        else:
            return [UNKNOWN]
    return pieces


def _anywhere(word: str, start: int, stop: int, vocabulary: Collection[str]) -> list[str] | None:
    """The longest piece of the whole rest first, then what is left of it and right of it."""
    if start == stop:
        return []
    for length in range(stop - start, 0, -1):
        for i in range(start, stop - length + 1):
            piece = ("##" if i else "") + word[i : i + length]
            if piece in vocabulary:
                left, right = _anywhere(word, start, i, vocabulary), _anywhere(word, i + length, stop, vocabulary)
                return None if left is None or right is None else [*left, piece, *right]
    return None


def _fewest(word: str, vocabulary: Collection[str]) -> list[str]:
    """The split into the fewest pieces, found by trying them all."""
    best: dict[int, list[str]] = {0: []}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if start in best and piece in vocabulary and len(best[start]) + 1 < len(best.get(end, [""] * 99)):
                best[end] = [*best[start], piece]
    return best.get(len(word), [UNKNOWN])


SYLLABLES = ("un", "kind", "ness", "play", "er", "ing", "s", "re", "form", "at")


LETTERS = tuple("adefgiklmnoprstuyU")


def _vocabulary(draw: Random) -> list[str]:
    """Some letters and syllables, each in both forms or one; ``x`` is never in it."""
    pieces = [*LETTERS, *("##" + c for c in LETTERS)] + ["un", "kind", "##kind", "##ness", "##ne", "##nes", "kin", "##er", "play"]
    pieces += draw.sample([mark + s for s in SYLLABLES for mark in ("", "##")], 8)
    return draw.sample(sorted(set(pieces)), len(set(pieces)))


def _draw(seed: int) -> list[Case]:
    draw = Random(seed)
    vocabulary = _vocabulary(draw)
    word = "".join(draw.sample(SYLLABLES, 3))
    return [
        Case("unkindness", {"word": "unkindness", "vocabulary": vocabulary}),
        Case(word, {"word": word, "vocabulary": vocabulary}),
        Case("a word with an unknown letter at its end", {"word": "playerx", "vocabulary": vocabulary}, part="unknown"),
    ]


GREEDY = ["a", "ab", "##cd", "##c", "##de", "##d", "bc", "abc", "##cde"]


def _fixed() -> list[Case]:
    return [
        Case("a word that is a piece", {"word": "abc", "vocabulary": GREEDY}),
        Case("abc and bc exist only as beginnings of words", {"word": "abbc", "vocabulary": [*GREEDY, "##b"]}, part="unknown"),
        Case("bc may only begin a word", {"word": "abbc", "vocabulary": GREEDY}, part="unknown"),
        Case(
            "longest first finds no split, although one exists",
            {"word": "abcde", "vocabulary": ["ab", "abc", "##cde", "##c", "##d"]},
            part="unknown",
        ),
        Case("longest first, although two pieces would be enough", {"word": "abcde", "vocabulary": ["ab", "abc", "##cde", "##d", "##e"]}),
        Case(
            "four pieces from the left, although three would be enough",
            {"word": "abcdefgh", "vocabulary": ["abc", "##defg", "##h", "abcd", "##e", "##f", "##gh"]},
        ),
        Case("a longer piece further right has to wait", {"word": "abcdefg", "vocabulary": ["a", "ab", "##bcdef", "##cd", "##ef", "##g"]}),
        Case("a word of 24 letters", {"word": "abcd" * 6, "vocabulary": ["a", "ab", "##cd", "##ab", "##dab", "##cda"]}),
        Case("a word of 132 letters", {"word": "ha" * 66, "vocabulary": ["h", "ha", "##ha", "##hahaha", "##a"]}),
        Case("capitals are other letters", {"word": "Ab", "vocabulary": ["a", "ab", "A", "##b"]}),
        Case("a letter that occurs only inside words", {"word": "d", "vocabulary": GREEDY}, part="unknown"),
        Case("one letter", {"word": "a", "vocabulary": GREEDY}),
        Case("an unknown letter in the middle", {"word": "abxcd", "vocabulary": GREEDY}, part="unknown"),
        refusal("an empty word", {"word": "", "vocabulary": GREEDY}, "empty", part="unknown"),
    ]


EXERCISE = FunctionExercise(
    file=__file__,
    right=split_word,
    oracle=_oracle,
    draw=_draw,
    fixed=_fixed,
    forbidden=(
        "course_utils.text.wordpiece.split_word",
        "course_utils.text.wordpiece.WordPiece.word_ids",
        "course_utils.text.wordpiece.tokenize",
    ),
)
