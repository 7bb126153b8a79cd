"""Exercise 11a.2: cut a word with learned merges. The oracle works on marked text with regular expressions."""

from __future__ import annotations

import random
import re
from functools import partial

from ...exercise import Case, Exercise, Twin
from .merges import LISTING, corpus, join, oracle_learn


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
    if how == "text in order":
        text = " ".join(word)
        for merge in merges:
            text = text.replace(merge, merge.replace(" ", ""))
        return text.split()
    if how == "looked at once":
        for pair in sorted({p for p in zip(symbols, symbols[1:], strict=False) if p in ranks}, key=ranks.get):
            symbols = join(symbols, pair)
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
            case "leftmost" | "leftmost everywhere":
                pair = present[0]
            case "rightmost":
                pair = present[-1]
            case "biggest":
                pair = max(present, key=lambda p: len(p[0] + p[1]))
            case "learned anew":
                pair = max(present, key=lambda p: (present.count(p), -ranks[p]))
            case "most frequent":
                pair = max(present, key=present.count)
            case "sorted":
                pair = min(present)
            case _:
                pair = min(present, key=ranks.get)
        if how == "each once":
            symbols = join(symbols, pair, "once")
            ranks.pop(pair)
        elif how in ("leftmost", "rightmost"):
            at = next(i for i in (range(len(symbols)) if how == "leftmost" else range(len(symbols) - 2, -1, -1))
                      if tuple(symbols[i:i + 2]) == pair)
            symbols = [*symbols[:at], "".join(pair), *symbols[at + 2:]]
        else:
            symbols = join(symbols, pair, how)
        rounds += 1
    if how == "shortened":
        return symbols[:-1] if len(symbols) > 1 else symbols
    return [f"##{s}" if i else s for i, s in enumerate(symbols)] if how == "marked" else symbols


def _draw_apply(seed: int) -> list[Case]:
    merges, draw = oracle_learn(corpus(seed, size=25), 14), random.Random(seed)
    words = ["".join(draw.choice("abc") for _ in range(n)) for n in (6, 9, 12, 15, 18)]
    return [Case(f"a word of {len(word)} letters, {len(merges)} merges", {"word": word, "merges": merges}) for word in words]


def _fixed_apply() -> list[Case]:
    merges = ["a b", "b c", "ab c", "d d", "c d", "abc dd"]
    english = oracle_learn(LISTING | {"lowest": 2, "slow": 3}, 12)
    cases = [Case(f"{word!r}, merges {', '.join(merges)}", {"word": word, "merges": merges}, part=part) for word, part in (
        ("abcdd", "values"), ("bcabc", "values"), ("cdd", "values"), ("ddd", "edges"), ("ddddabc", "edges"), ("", "edges"), ("z", "edges"),
        ("xyz", "edges"))]
    def more(label: str, word: str, merges: list[str], part: str = "values") -> Case:
        return Case(label, {"word": word, "merges": merges}, part=part)

    cases += [more("'abcdd' once more, with other merges", "abcdd", ["d d", "b c"]),
              more("a long pair further right", "abdabab", ["a b", "d ab", "ab ab"]),
              more("capitals are other letters", "aBab", ["a B", "aB a"], "edges")]
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
        Twin("most frequent pair of the word", partial(_apply, how="most frequent"),
             "You join the pair that occurs most often in this word. Join the known pair that was learned first."),
        Twin("longest piece first", partial(_apply, how="longest"),
             "You cut the longest known piece off the front, as WordPiece does. Here the order of the merges decides."),
        Twin("longest piece from the end", partial(_apply, how="longest behind"),
             "You cut the longest known piece off the end. Here the order of the merges decides, not the length."),
        Twin("latest merge first", partial(_apply, how="last first"),
             "You join the known pair that was learned last. Join the pair that was learned first."),
        Twin("leftmost pair first", partial(_apply, how="leftmost"),
             "You join the first pair you meet. All pairs have to be compared: the earliest learned wins, wherever it stands."),
        Twin("leftmost pair, then everywhere", partial(_apply, how="leftmost everywhere"),
             "You join the first pair you meet, wherever it stands. All pairs have to be compared: the earliest learned goes first."),
        Twin("rightmost pair first", partial(_apply, how="rightmost"),
             "You join the last pair that is known. The earliest learned wins, wherever it stands."),
        Twin("biggest result first", partial(_apply, how="biggest"),
             "The pair that makes the longest symbol is not preferred: only the order of learning counts."),
        Twin("most frequent in this word", partial(_apply, how="learned anew"),
             "Counting was over when the merges were learned. Now only their order matters, not how often a pair occurs in this word."),
        Twin("alphabetical order", partial(_apply, how="sorted"),
             "You join the pair that comes first in the alphabet. Join the pair that was learned first."),
        Twin("only one round", partial(_apply, how="one round"),
             "A merge makes new pairs possible. Go on until no pair of neighbours is in the list."),
        Twin("neighbours looked up once", partial(_apply, how="looked at once"),
             "You look for known pairs only once, among the letters. A merge makes new neighbours: look again after each merge."),
        Twin("each merge only once", partial(_apply, how="each once"),
             "A merge applies to every place in the word where its pair stands, not just to the first."),
        Twin("joined from the right", partial(_apply, how="backwards"),
             "Of three equal letters the two on the left are joined: go through the word from left to right."),
        Twin("joined inside longer symbols", partial(_apply, how="inside"),
             "Replacing text also joins the end of one long symbol with the beginning of the next. Compare whole symbols."),
        Twin("text replaced merge by merge", partial(_apply, how="text in order"),
             "Replacing text does not see where symbols begin and end: it joins the end of one with the beginning of the next."),
        Twin("whole words or letters", partial(_apply, how="whole"),
             "You return either the whole word or single letters. An unknown word can still contain larger known pieces."),
        Twin("nothing joined", partial(_apply, how="letters"), "Your result is the word's letters; none of the merges has been applied."),
        Twin("marks added", partial(_apply, how="marked"), "The pieces are returned as they are, without a mark for continued words."),
        Twin("last piece lost", partial(_apply, how="shortened"), "The pieces put together must give the word; yours lack the last piece."),
    ),
)
