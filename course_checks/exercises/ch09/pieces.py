"""Exercise 09.1: the longest piece first. The oracle takes the lexicographically longest of all ways to split a word."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from random import Random

from ...exercise import Case, Exercise, Twin

UNKNOWN = "[UNK]"


def _oracle(word: str, vocabulary: Collection[str]) -> list[str]:
    """Follow the longest first piece, then the longest second one, by trying every cut; the search never comes back."""
    if not word:
        raise ValueError("the word is empty")

    def first(start: int) -> str | None:
        found = [piece for piece in vocabulary if piece.startswith("##") == (start > 0) and piece.removeprefix("##")
                 and word.startswith(piece.removeprefix("##"), start)]
        return max(found, key=len, default=None)

    pieces, start = [], 0
    while start < len(word):
        piece = first(start)
        if piece is None:
            return [UNKNOWN]
        pieces.append(piece)
        start += len(piece.removeprefix("##"))
    return pieces


def _split(word: str, vocabulary: Collection[str], how: str = "right") -> list[str]:
    if not word:
        raise ValueError("the word is empty")
    if how == "lower":
        word = word.lower()
    if how == "long words" and len(word) > 20:
        return [UNKNOWN]
    if how == "first in the list":
        return _first_in_the_list(word, vocabulary)
    if how == "whole or letters":
        return [word] if word in vocabulary else _split(word, [p for p in vocabulary if len(p.removeprefix("##")) == 1])
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "" if start == 0 or how in ("no mark", "mark lost") else "##"
        if how == "marked everywhere":
            mark = "##"
        ends = range(len(word), start, -1)
        if how == "shortest":
            ends = range(start + 1, len(word) + 1)
        if how == "one short" and start or how == "always one short":
            ends = range(len(word) - 1, start, -1)
        for end in ends:
            piece = mark + word[start:end]
            known = piece in vocabulary or (how == "either" and word[start:end] in vocabulary)
            if how == "mark lost" and start:
                known = "##" + piece in vocabulary
            if known:
                pieces.append(piece)
                start = end
                break
        else:
            match how:
                case "unknown letter":
                    pieces.append(UNKNOWN)
                    start += 1
                case "unknown rest":
                    return [*pieces, UNKNOWN]
                case "rest dropped":
                    return pieces
                case "one piece":
                    return [word]
                case "letters":
                    pieces.append(mark + word[start])
                    start += 1
                case _:
                    return [UNKNOWN]
        if how == "first only":
            return pieces
    if how == "from the end":
        return _from_the_end(word, vocabulary)
    if how == "anywhere":
        return _anywhere(word, 0, len(word), vocabulary) or [UNKNOWN]
    if how == "fewest":
        return _fewest(word, vocabulary)
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
        rest = rest[len(piece) - len(mark):]
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
            piece = ("##" if i else "") + word[i:i + length]
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
    return [Case("unkindness", {"word": "unkindness", "vocabulary": vocabulary}),
            Case(word, {"word": word, "vocabulary": vocabulary}),
            Case("a word with an unknown letter at its end", {"word": "playerx", "vocabulary": vocabulary}, part="unknown")]


GREEDY = ["a", "ab", "##cd", "##c", "##de", "##d", "bc", "abc", "##cde"]


def _fixed() -> list[Case]:
    return [
        Case("a word that is a piece", {"word": "abc", "vocabulary": GREEDY}),
        Case("abc and bc exist only as beginnings of words", {"word": "abbc", "vocabulary": [*GREEDY, "##b"]}, part="unknown"),
        Case("bc may only begin a word", {"word": "abbc", "vocabulary": GREEDY}, part="unknown"),
        Case("longest first finds no split, although one exists", {"word": "abcde", "vocabulary": ["ab", "abc", "##cde", "##c", "##d"]},
             part="unknown"),
        Case("longest first, although two pieces would be enough", {"word": "abcde", "vocabulary": ["ab", "abc", "##cde", "##d", "##e"]}),
        Case("four pieces from the left, although three would be enough",
             {"word": "abcdefgh", "vocabulary": ["abc", "##defg", "##h", "abcd", "##e", "##f", "##gh"]}),
        Case("a longer piece further right has to wait",
             {"word": "abcdefg", "vocabulary": ["a", "ab", "##bcdef", "##cd", "##ef", "##g"]}),
        Case("a word of 24 letters", {"word": "abcd" * 6, "vocabulary": ["a", "ab", "##cd", "##ab", "##dab", "##cda"]}),
        Case("a word of 132 letters", {"word": "ha" * 66, "vocabulary": ["h", "ha", "##ha", "##hahaha", "##a"]}),
        Case("capitals are other letters", {"word": "Ab", "vocabulary": ["a", "ab", "A", "##b"]}),
        Case("a letter that occurs only inside words", {"word": "d", "vocabulary": GREEDY}, part="unknown"),
        Case("one letter", {"word": "a", "vocabulary": GREEDY}),
        Case("an unknown letter in the middle", {"word": "abxcd", "vocabulary": GREEDY}, part="unknown"),
        Case("an empty word", {"word": "", "vocabulary": GREEDY}, part="unknown", rejects=ValueError, mentions=("empty",))]


PIECES = Exercise(
    id="09.1", title="The longest piece first", name="split_word", kind="function", stars=2, minutes=12,
    signature="split_word(word, vocabulary) -> list of pieces", oracle=_oracle, reference=_split, draw=_draw, fixed=_fixed,
    parts={"values": 2, "unknown": 2},
    forbidden=("course_utils.text.wordpiece.split_word", "course_utils.text.wordpiece.WordPiece.word_ids",
               "course_utils.text.wordpiece.tokenize"),
    twins=(
        Twin("whole rest never tried", partial(_split, how="always one short"),
             "Your longest attempt stops one letter before the end of the word. The complete rest has to be tried first."),
        Twin("first piece in the list", partial(_split, how="first in the list"),
             "You take the first piece in the vocabulary's order that fits. Take the longest of all that fit."),
        Twin("the shortest piece first", partial(_split, how="shortest"),
             "You stop at the first end that works, counted from the beginning. Begin with the whole rest of the word and shorten it."),
        Twin("pieces inside without a mark", partial(_split, how="no mark"),
             "A piece that continues a word is another entry of the vocabulary, the one with two number signs in front."),
        Twin("mark lost in the answer", partial(_split, how="mark lost"),
             "You look up the marked piece, but put the bare letters into the answer. Then nobody can join the pieces again."),
        Twin("first piece marked as well", partial(_split, how="marked everywhere"),
             "The mark says that other letters come before. The first piece of a word has nothing before it."),
        Twin("either form accepted", partial(_split, how="either"),
             "Inside a word only marked pieces count, even if the form without the mark is in the vocabulary."),
        Twin("unknown letters one by one", partial(_split, how="unknown letter"),
             "You put the unknown token for a single letter and go on. If anything is left over, the whole word is unknown."),
        Twin("unknown token behind what was found", partial(_split, how="unknown rest"),
             "You keep the pieces found so far. But a word that cannot be split completely becomes one unknown token."),
        Twin("rest of the word dropped", partial(_split, how="rest dropped"),
             "When nothing fits any more, you drop the rest of the word. A word must be split completely or be unknown."),
        Twin("unknown word kept as it is", partial(_split, how="one piece"),
             "Your answer contains a piece that has no id, because it is not in the vocabulary."),
        Twin("unknown letters taken over", partial(_split, how="letters"),
             "A letter that is not in the vocabulary has no id. The word as a whole becomes unknown."),
        Twin("matched from the end", partial(_split, how="from the end"),
             "You look for the longest ending first. The rule works from left to right, and the results differ."),
        Twin("the longest piece anywhere", partial(_split, how="anywhere"),
             "You begin with the longest piece wherever it is in the word. The rule works from left to right: the first piece is "
             "chosen before all later ones."),
        Twin("long words given up", partial(_split, how="long words"),
             "You call a word unknown because it is long. Only a place at which nothing fits makes a word unknown."),
        Twin("the fewest pieces", partial(_split, how="fewest"),
             "You look for the best split of all. WordPiece is greedy: it takes the longest piece and never comes back."),
        Twin("only the first piece", partial(_split, how="first only"),
             "The loop stops after one piece: go on where the last piece ended."),
        Twin("whole words only", partial(_split, how="one short"),
             "You find only words that are in the vocabulary as a whole. Either you never split the others, or after the first piece you "
             "never try the complete rest of the word."),
        Twin("whole word or single letters", partial(_split, how="whole or letters"),
             "You use pieces of one letter as soon as the word is not in the vocabulary. The pieces between the two sizes have to be "
             "tried as well."),
        Twin("lower-cased here", partial(_split, how="lower"),
             "You lower-case the word. That belongs to an earlier step, which cased models skip; leave the word as it is."),
    ),
)
