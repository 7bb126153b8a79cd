"""Exercise 11a.1: learn merges. The oracle is the incremental merger, which the tests compare with a library."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

from course_utils.text.merging import Merger

from ...exercise import Case, Exercise, Twin

Words = dict[str, int]


def oracle_learn(words: Words, count: int) -> list[str]:
    """The first ``count`` merges."""
    merger, found = Merger({word: list(word) for word in words}, words), []
    while len(found) < count and (pair := merger.best(1, lambda p: merger.pairs[p])):
        merger.merge(pair, pair[0] + pair[1])
        found.append(" ".join(pair))
    return found


def join(symbols: list[str], pair: tuple[str, str], how: str = "right") -> list[str]:
    """``symbols`` with every occurrence of ``pair`` joined, or wrongly so."""
    if how == "inside":  # looks for "a b" in the written form, also at the seam of longer symbols
        return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" ")
    if how == "backwards":
        out, i = [], len(symbols)
        while i:
            hit = tuple(symbols[max(0, i - 2):i]) == pair
            out, i = (["".join(pair), *out], i - 2) if hit else ([symbols[i - 1], *out], i - 1)
        return out
    out, i, done = [], 0, False
    while i < len(symbols):
        if tuple(symbols[i:i + 2]) == pair and not (how == "once" and done):
            out, i, done = [*out, "".join(pair)], i + 2, True
        else:
            out, i = [*out, symbols[i]], i + 1
    return out


def _pairs(symbols: list[str], how: str) -> list[tuple[str, str]]:
    pairs = list(zip(symbols, symbols[1:], strict=False))
    if how != "no overlap":
        return pairs
    kept: list[tuple[str, str]] = []
    free = 0
    for i, pair in enumerate(pairs):
        if i >= free or pair != pairs[i - 1]:
            kept, free = [*kept, pair], i + 2
    return kept


def _learn(words: Words, count: int, how: str = "right") -> list[str]:
    if how == "across":
        words = {"".join(word * n for word, n in words.items()): 1}
    parts = {word: list(word) for word in words}
    match how:
        case "end mark":
            parts = {word: [*word, "</w>"] for word in words}
        case "end mark glued":
            parts = {word: [*word[:-1], f"{word[-1:]}</w>"] for word in words}
        case "lower":
            parts = {word: list(word.lower()) for word in words}
    found: list[str] = []
    frozen: Counter = Counter()
    for _ in range(count + {"one more": 1, "one less": -1}.get(how, 0)):
        pairs, singles = Counter(), Counter()
        for word, symbols in parts.items():
            weight = 1 if how == "types" else words[word]
            for pair in set(_pairs(symbols, how)) if how == "once a word" else _pairs(symbols, how):
                pairs[pair] += weight
            for symbol in symbols:
                singles[symbol] += weight
        if how == "stale":
            frozen = frozen or Counter(pairs)
            pairs = Counter({p: n for p, n in frozen.items() if " ".join(p) not in found})
        if not pairs:
            break
        match how:
            case "wordpiece":
                pair = min(pairs, key=lambda p: (-pairs[p] / singles[p[0]] / singles[p[1]], p))
            case "rarest":
                pair = min(pairs, key=lambda p: (pairs[p], p))
            case "last tie":
                pair = max(pairs, key=lambda p: (pairs[p], p))
            case "first seen":
                pair = max(pairs, key=pairs.get)
            case "joined tie":
                pair = min(pairs, key=lambda p: (-pairs[p], "".join(p), p))
            case "longest":
                pair = min(pairs, key=lambda p: (-pairs[p], -len(p[0] + p[1]), p))
            case _:
                pair = min(pairs, key=lambda p: (-pairs[p], p))
        if how == "twice at least" and pairs[pair] < 2:
            break
        found.append(" ".join(pair))
        touched = [max(words, key=words.get)] if how == "top word" else list(parts)
        for word in touched:
            parts[word] = join(parts[word], pair, how)
    return ["".join(f.split()) for f in found] if how == "glued" else found[::-1] if how == "reversed" else found


def _learn_reference(words: Words, count: int) -> list[str]:
    if count < 0:
        raise ValueError(f"count={count} must not be negative")
    return _learn(words, count)


def corpus(seed: int, letters: str = "abc", size: int = 9) -> Words:
    """Random words of few letters, with their counts."""
    draw = random.Random(seed)
    words = {"".join(draw.choice(letters) for _ in range(draw.randint(2, 8))): draw.randint(1, 9) for _ in range(size)}
    return words | {letters[0] * 3: 2, letters[1] * 5: 1}


_TIES = {"zy": 2, "xw": 2, "yx": 1}
LISTING = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def _draw_learn(seed: int) -> list[Case]:
    words = next(words for words in (corpus(seed + 1000 * turn) for turn in range(1000)) if all(  # ties decide, whoever breaks them
        _learn(words, 12, how) != _learn(words, 12) for how in ("last tie", "first seen", "joined tie", "longest")))
    return [Case("eleven words of a, b and c, 12 merges", {"words": words, "count": 12}),
            Case("eleven words of e to h, 7 merges", {"words": corpus(seed + 500, "efgh"), "count": 7})]


def _fixed_learn() -> list[Case]:
    def case(label: str, words: Words, count: int, part: str) -> Case:
        return Case(label, {"words": words, "count": count}, part=part)

    return [case("low, lower, newest, widest", LISTING, 10, "values"),
            case("equal counts: the first in alphabetical order", _TIES, 3, "ties and repeats"),
            case("equal counts: a before ab", {"abc": 3, "ab": 4, "az": 3}, 3, "ties and repeats"),
            case("aaa holds the pair a a twice", {"aaa": 3, "bc": 5, "aad": 1}, 3, "ties and repeats"),
            case("b, ab: a pair at the seam of two symbols", {"bab": 4, "aab": 3, "abab": 2, "ba": 1}, 5, "ties and repeats"),
            case("a capital is another letter", {"Abe": 3, "abe": 2, "cdf": 4, "AB": 1}, 4, "ties and repeats"),
            case("fewer pairs than merges", {"ab": 1, "c": 4}, 5, "edges"), case("no merge at all", {"ab": 3}, 0, "edges"),
            case("no words", {}, 3, "edges"),
            Case("count -1", {"words": {"ab": 1}, "count": -1}, part="refusal", rejects=ValueError, mentions=("-1",))]


LEARN = Exercise(
    id="11a.1", title="Learn merges", name="learn_merges", kind="function", stars=2, minutes=15,
    signature="learn_merges(words, count) -> list of strings", oracle=oracle_learn, reference=_learn_reference, draw=_draw_learn,
    fixed=_fixed_learn, parts={"values": 2, "ties and repeats": 2, "edges": 1, "refusal": 1},
    forbidden=("course_utils.text.merging.Merger", "course_utils.text.bpe.ByteBPE.train"),
    twins=(
        Twin("stops at pairs that occur once", partial(_learn, how="twice at least"),
             "You stop when no pair occurs twice. Go on until `count` merges are learned or no pair is left."),
        Twin("each word counted once", partial(_learn, how="types"),
             "A pair counts as often as its word occurs in the text, and the dictionary says how often that is."),
        Twin("ties go to the last", partial(_learn, how="last tie"),
             "If several pairs have the same count, you take the last in alphabetical order. Take the first."),
        Twin("ties go to the first seen", partial(_learn, how="first seen"),
             "With equal counts your choice depends on the order of the dictionary. The alphabet should decide."),
        Twin("ties go to the longest", partial(_learn, how="longest"),
             "With equal counts the alphabet decides, not the length of what would be joined."),
        Twin("ties go by the joined symbol", partial(_learn, how="joined tie"),
             "With equal counts the two parts are compared one after the other, not the string they make together."),
        Twin("a pair counted once a word", partial(_learn, how="once a word"),
             "A pair that occurs twice in a word counts twice, each time that the word occurs in the text."),
        Twin("WordPiece's score", partial(_learn, how="wordpiece"),
             "You divide by the counts of the two parts, as chapter 09 does. Here the plain count of the pair decides."),
        Twin("the rarest pair", partial(_learn, how="rarest"), "Each round joins the pair that occurs most often, not least often."),
        Twin("counted only once", partial(_learn, how="stale"),
             "After a merge there are new symbols and new pairs. Count anew in every round."),
        Twin("pairs across words", partial(_learn, how="across"),
             "You let the end of one word and the beginning of the next form a pair. Words are split on their own."),
        Twin("an end mark added", partial(_learn, how="end mark"),
             "You put a mark behind each word. Some tokenizers do; here a word is its letters and nothing else."),
        Twin("an end mark on the last letter", partial(_learn, how="end mark glued"),
             "You tie a mark to the last letter of each word. Some tokenizers do; here a word is its letters and nothing else."),
        Twin("lower-cased here", partial(_learn, how="lower"),
             "A capital is a letter of its own. Words come in as they are to be split."),
        Twin("overlapping pairs counted once", partial(_learn, how="no overlap"),
             "Every place where two symbols are neighbours counts: three equal letters hold their pair twice, though only one can be "
             "joined."),
        Twin("first occurrence only", partial(_learn, how="once"),
             "A merge joins every occurrence in a word, not just the first one."),
        Twin("joined from the right", partial(_learn, how="backwards"),
             "Of three equal letters the two on the left are joined: go through the word from left to right."),
        Twin("joined inside longer symbols", partial(_learn, how="inside"),
             "Replacing text in the written form also hits the end of one symbol and the beginning of the next. Compare whole symbols."),
        Twin("joined in one word only", partial(_learn, how="top word"),
             "The merge has to be applied to all words, not just to the most frequent one."),
        Twin("one merge too many", partial(_learn, how="one more"), "You learn one merge more than was asked for: check your loop's end."),
        Twin("one merge too few", partial(_learn, how="one less"), "You learn one merge less than was asked for: check your loop's end."),
        Twin("no space between the two", partial(_learn, how="glued"),
             "Write both parts of each pair with a space between them. The joined symbol alone does not show which two parts were "
             "joined."),
        Twin("latest merge first", partial(_learn, how="reversed"),
             "The merges are listed in the order in which they were learned: the position is the rank."),
    ),
)
