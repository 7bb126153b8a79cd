"""Exercises 11a.1 and 11a.2: learn merges, apply merges. The oracle of the first is the incremental merger, which the tests compare
with a library; that of the second cuts words by regular expressions."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import partial

from ...text.merging import Merger
from ..exercise import Case, Exercise, Twin

Words = dict[str, int]


def _oracle_learn(words: Words, count: int) -> list[str]:
    merger, found = Merger({word: list(word) for word in words}, words), []
    while len(found) < count and (pair := merger.best(1, lambda p: merger.pairs[p])):
        merger.merge(pair, pair[0] + pair[1])
        found.append(" ".join(pair))
    return found


def _join(symbols: list[str], pair: tuple[str, str], how: str = "right") -> list[str]:
    """``symbols`` with every occurrence of ``pair`` joined, or wrongly so."""
    if how == "inside":  # looks for "a b" in the written form, also at the seam of longer symbols
        return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" ")
    if how == "backwards":
        turned = _join(symbols[::-1], pair[::-1])
        return [s if len(s) == 1 or s in symbols else "".join(pair) for s in turned[::-1]]
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
    if how == "spaces":
        words = {word + "_": n for word, n in words.items()}
    parts = {word: list(word) for word in words}
    found: list[str] = []
    frozen: Counter = Counter()
    for _ in range(count + {"one more": 1, "one less": -1}.get(how, 0)):
        pairs, singles = Counter(), Counter()
        for word, symbols in parts.items():
            weight = 1 if how == "types" else words[word]
            for pair in _pairs(symbols, how):
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
            case "longest":
                pair = min(pairs, key=lambda p: (-pairs[p], -len(p[0] + p[1]), p))
            case _:
                pair = min(pairs, key=lambda p: (-pairs[p], p))
        found.append(" ".join(pair))
        touched = [max(words, key=words.get)] if how == "top word" else list(parts)
        for word in touched:
            parts[word] = _join(parts[word], pair, how)
    return ["".join(f.split()) for f in found] if how == "glued" else found[::-1] if how == "reversed" else found


def _learn_reference(words: Words, count: int) -> list[str]:
    if count < 0:
        raise ValueError(f"count={count} must not be negative")
    return _learn(words, count)


def _corpus(seed: int, letters: str = "abc", size: int = 9) -> Words:
    draw = random.Random(seed)
    words = {"".join(draw.choice(letters) for _ in range(draw.randint(2, 8))): draw.randint(1, 9) for _ in range(size)}
    return words | {letters[0] * 3: 2, letters[1] * 5: 1}


_TIES = {"zy": 2, "xw": 2, "yx": 1}
_LISTING = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def _draw_learn(seed: int) -> list[Case]:
    return [Case("eleven words of a, b and c, 12 merges", {"words": _corpus(seed), "count": 12}),
            Case("eleven words of e to h, 7 merges", {"words": _corpus(seed + 500, "efgh"), "count": 7})]


def _fixed_learn() -> list[Case]:
    def case(label: str, words: Words, count: int, part: str) -> Case:
        return Case(label, {"words": words, "count": count}, part=part)

    return [case("low, lower, newest, widest", _LISTING, 10, "values"),
            case("equal counts: the first in alphabetical order", _TIES, 3, "ties and repeats"),
            case("aaa holds the pair a a twice", {"aaa": 3, "bc": 5, "aad": 1}, 3, "ties and repeats"),
            case("b, ab: a pair at the seam of two symbols", {"bab": 4, "aab": 3, "abab": 2, "ba": 1}, 5, "ties and repeats"),
            case("fewer pairs than merges", {"ab": 1, "c": 4}, 5, "edges"), case("no merge at all", {"ab": 3}, 0, "edges"),
            Case("count -1", {"words": {"ab": 1}, "count": -1}, part="refusal", rejects=ValueError, mentions=("-1",))]


LEARN = Exercise(
    id="11a.1", title="Learn merges", name="learn_merges", kind="function", stars=2, minutes=15,
    signature="learn_merges(words, count) -> list of strings", oracle=_oracle_learn, reference=_learn_reference, draw=_draw_learn,
    fixed=_fixed_learn, parts={"values": 2, "ties and repeats": 2, "edges": 1, "refusal": 1},
    forbidden=("course_utils.text.merging.Merger", "course_utils.text.bpe.ByteBPE.train"),
    twins=(
        Twin("each word counted once", partial(_learn, how="types"),
             "A pair counts as often as its word occurs in the text, and the dictionary says how often that is."),
        Twin("ties go to the last", partial(_learn, how="last tie"),
             "Of several pairs with the same count yours takes the last in alphabetical order; the first is asked for."),
        Twin("ties go to the first seen", partial(_learn, how="first seen"),
             "With equal counts your choice depends on the order of the dictionary. The alphabet should decide."),
        Twin("ties go to the longest", partial(_learn, how="longest"),
             "With equal counts the alphabet decides, not the length of what would be joined."),
        Twin("WordPiece's score", partial(_learn, how="wordpiece"),
             "You divide by the counts of the two parts, as chapter 09 does. Here the plain count of the pair decides."),
        Twin("the rarest pair", partial(_learn, how="rarest"), "Each round joins the pair that occurs most often, not least often."),
        Twin("counted only once", partial(_learn, how="stale"),
             "After a merge there are new symbols and new pairs. Count anew in every round."),
        Twin("pairs across words", partial(_learn, how="across"),
             "You let the end of one word and the beginning of the next form a pair. Words are split on their own."),
        Twin("an end mark added", partial(_learn, how="spaces"),
             "You put a mark behind each word. Some tokenizers do; here a word is its letters and nothing else."),
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
             "The result lists both parts of each pair with a space between; from the joined symbol alone nobody can tell what was "
             "joined."),
        Twin("latest merge first", partial(_learn, how="reversed"),
             "The merges are listed in the order in which they were learned: the position is the rank."),
    ),
)


def _oracle_apply(word: str, merges: list[str]) -> list[str]:
    """Symbols between marks; a regular expression that starts and ends at marks replaces a pair. Lowest rank present first."""
    text = "|" + "".join(f"{letter}|" for letter in word)
    while word:
        present = [m for m in merges if f"|{m.replace(' ', '|')}|" in text]
        if not present:
            break
        left, right = map(re.escape, present[0].split(" "))
        text = re.sub(rf"(?<=\|){left}\|{right}(?=\|)", present[0].replace(" ", ""), text)
    return [part for part in text.split("|") if part]


def _apply(word: str, merges: list[str], how: str = "right") -> list[str]:
    ranks = {tuple(m.split(" ")): i for i, m in enumerate(merges)}
    tokens, symbols = {*word, *("".join(pair) for pair in ranks)}, list(word)
    if how in ("longest", "longest behind"):
        out, rest = [], word
        while rest:
            pieces = [rest[:k] if how == "longest" else rest[-k:] for k in range(len(rest), 0, -1)]
            piece = next(p for p in pieces if p in tokens)
            out, rest = (out + [piece], rest[len(piece):]) if how == "longest" else ([piece, *out], rest[:-len(piece)])
        return out
    if how == "whole":
        return [word] if word in tokens and word else symbols
    if how == "letters":
        return symbols
    rounds = 0
    while len(symbols) > 1:
        present = [p for p in zip(symbols, symbols[1:], strict=False) if p in ranks]
        if how == "learned anew":
            present = [p for p in zip(symbols, symbols[1:], strict=False) if p in ranks and "".join(p) in tokens]
        if not present or (how == "one round" and rounds):
            break
        match how:
            case "last first":
                pair = max(present, key=ranks.get)
            case "leftmost":
                pair = present[0]
            case "rightmost":
                pair = present[-1]
            case "biggest":
                pair = max(present, key=lambda p: (len(p[0] + p[1]), -ranks[p]))
            case "learned anew":
                pair = max(present, key=lambda p: (present.count(p), -ranks[p]))
            case "sorted":
                pair = min(present)
            case _:
                pair = min(present, key=ranks.get)
        if how == "each once":
            symbols = _join(symbols, pair, "once")
            ranks.pop(pair)
        elif how in ("leftmost", "rightmost"):
            at = next(i for i in (range(len(symbols)) if how == "leftmost" else range(len(symbols) - 2, -1, -1))
                      if tuple(symbols[i:i + 2]) == pair)
            symbols = [*symbols[:at], "".join(pair), *symbols[at + 2:]]
        else:
            symbols = _join(symbols, pair, how)
        rounds += 1
    if how == "shortened":
        return symbols[:-1] if len(symbols) > 1 else symbols
    return [f"##{s}" if i else s for i, s in enumerate(symbols)] if how == "marked" else symbols


def _draw_apply(seed: int) -> list[Case]:
    merges, draw = _oracle_learn(_corpus(seed, size=25), 14), random.Random(seed)
    words = ["".join(draw.choice("abc") for _ in range(n)) for n in (6, 9, 12, 15, 18)]
    return [Case(f"a word of {len(word)} letters, {len(merges)} merges", {"word": word, "merges": merges}) for word in words]


def _fixed_apply() -> list[Case]:
    merges = ["a b", "b c", "ab c", "d d", "c d", "abc dd"]
    english = _oracle_learn(_LISTING | {"lowest": 2, "slow": 3}, 12)
    cases = [Case(f"{word!r}, merges {', '.join(merges)}", {"word": word, "merges": merges}, part=part) for word, part in (
        ("abcdd", "values"), ("bcabc", "values"), ("cdd", "values"), ("ddd", "edges"), ("ddddabc", "edges"), ("", "edges"), ("z", "edges"),
        ("xyz", "edges"))]
    return [*cases, Case("'slowest' with merges learned from low, lower, newest …", {"word": "slowest", "merges": english}),
            Case("no merges", {"word": "abc", "merges": []}, part="edges"),
            Case("a symbol that ends like another one begins", {"word": "babab", "merges": ["b a", "ba b"]}, part="edges"),
            Case("b a at the seam of two longer symbols", {"word": "abab", "merges": ["a b", "b a", "ab ab"]}, part="edges"),
            Case("c d at the seam, too late", {"word": "abcdab", "merges": ["b c", "d a", "c d", "bc da"]}, part="edges")]


APPLY = Exercise(
    id="11a.2", title="Cut a word with learned merges", name="apply_merges", kind="function", stars=2, minutes=12,
    signature="apply_merges(word, merges) -> list of strings", oracle=_oracle_apply, reference=_apply, draw=_draw_apply, fixed=_fixed_apply,
    parts={"values": 3, "edges": 2}, forbidden=("course_utils.text.bpe.ByteBPE.encode", "course_utils.text.bpe.ByteBPE._word"),
    twins=(
        Twin("longest piece first", partial(_apply, how="longest"),
             "You cut the longest known piece off the front, as WordPiece does. Here the order of the merges decides."),
        Twin("longest piece from the end", partial(_apply, how="longest behind"),
             "You cut the longest known piece off the end. Here the order of the merges decides, not the length."),
        Twin("latest merge first", partial(_apply, how="last first"),
             "Of the pairs present the one that was learned first is joined. Yours takes the one learned last."),
        Twin("leftmost pair first", partial(_apply, how="leftmost"),
             "You join the first pair you meet. All pairs have to be compared: the earliest learned wins, wherever it stands."),
        Twin("rightmost pair first", partial(_apply, how="rightmost"),
             "You join the last pair that is known. The earliest learned wins, wherever it stands."),
        Twin("biggest result first", partial(_apply, how="biggest"),
             "The pair that makes the longest symbol is not preferred: only the order of learning counts."),
        Twin("most frequent in this word", partial(_apply, how="learned anew"),
             "Counting was over when the merges were learned. Now only their order matters, not how often a pair occurs in this word."),
        Twin("alphabetical order", partial(_apply, how="sorted"),
             "The pair that comes first in the alphabet is joined in yours; it should be the one that was learned first."),
        Twin("only one round", partial(_apply, how="one round"),
             "A merge makes new pairs possible. Go on until no pair of neighbours is in the list."),
        Twin("each merge only once", partial(_apply, how="each once"),
             "A merge applies to every place in the word where its pair stands, not just to the first."),
        Twin("joined from the right", partial(_apply, how="backwards"),
             "Of three equal letters the two on the left are joined: go through the word from left to right."),
        Twin("joined inside longer symbols", partial(_apply, how="inside"),
             "Replacing text in the written form also hits the seam between two longer symbols. Compare whole symbols."),
        Twin("whole words or letters", partial(_apply, how="whole"),
             "A word that is not known as a whole is still made of larger known pieces."),
        Twin("nothing joined", partial(_apply, how="letters"), "Your result is the word's letters; none of the merges has been applied."),
        Twin("marks added", partial(_apply, how="marked"), "The pieces are returned as they are, without a mark for continued words."),
        Twin("last piece lost", partial(_apply, how="shortened"), "The pieces put together must give the word; yours lack the last piece."),
    ),
)
