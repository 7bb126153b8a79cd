"""Exercise 11b.3: drop near-duplicates by the Jaccard similarity of shingles. The oracle compares sorted lists of strings."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import partial

from ...exercise import Case, Exercise, Twin


def _oracle(texts: list[str], n: int, threshold: float) -> list[str]:
    kept: list[tuple[str, list[str]]] = []
    for text in texts:
        words = text.lower().split()
        rows = [" ".join(words[i:i + n]) for i in range(len(words)) if i + n <= len(words)] or [" ".join(words)]
        mine = sorted(set(rows))
        similar = False
        for _, other in kept:
            both = [row for row in mine if row in other]
            either = mine + [row for row in other if row not in mine]
            similar = similar or len(both) / len(either) >= threshold
        if not similar:
            kept.append((text, mine))
    return [text for text, _ in kept]


def _distinct(texts: list[str], n: int, threshold: float, how: str = "right") -> list[str]:
    def shingles(text: str):
        words = text.split() if how == "case" else text.lower().split()
        if how == "signs gone":
            words = "".join(c for c in text.lower() if c.isalnum() or c.isspace()).split()
        if how == "letters":
            words = list(text.lower())
        if how == "single blanks":
            words = text.lower().split(" ")
        if how == "single words":
            return set(words)
        if how == "whole text":
            return {tuple(words)}
        stop = {"one missing": len(words) - n, "short ones kept": len(words) - n + 1, "with the tails": len(words),
                "long ones cut": max(1, len(words) - n)}.get(
            how, max(1, len(words) - n + 1))
        rows = [tuple(words[i:i + n]) for i in range(0, max(0, stop), n if how == "side by side" else 1)]
        if how == "any order":
            rows = [tuple(sorted(row)) for row in rows]
        if how == "run together":
            rows = ["".join(row) for row in rows]
        return Counter(rows) if how == "counted" else set(rows)

    def alike(a, b) -> float | Fraction:
        if how == "counted":
            both, either = (a & b).total(), (a | b).total()
        else:
            both, either = len(a & b), len(a | b)
        match how:
            case "union twice":
                either = len(a) + len(b)
            case "Dice":
                both, either = 2 * both, len(a) + len(b)
            case "smaller":
                either = min(len(a), len(b))
            case "of the new":
                either = len(a)
            case "of the old":
                either = len(b)
            case "larger":
                either = max(len(a), len(b))
        return both / either if either else 0.0

    found, kept = [shingles(text) for text in texts], []
    order = range(len(texts) - 1, -1, -1) if how in ("last kept", "reversed") else range(len(texts))
    for i in order:
        against = {"all": range(i), "neighbour": kept[-1:], "first": kept[:1]}.get(how, kept)
        if how == "both gone":
            against = [j for j in range(len(texts)) if j != i]
        scores = [alike(found[i], found[j]) for j in against]
        if how == "exact":
            drop = any(texts[i] == texts[j] for j in against)
        elif how == "strictly more":
            drop = any(score > threshold for score in scores)
        elif how == "mean":
            drop = bool(scores) and sum(scores) / len(scores) >= threshold
        elif how == "every":
            drop = bool(scores) and all(score >= threshold for score in scores)
        else:
            drop = any(score >= threshold for score in scores)
        if not drop:
            kept.append(i)
    kept = kept[::-1] if how == "last kept" else sorted(kept, key=texts.__getitem__) if how == "sorted" else kept
    if how == "dropped ones":
        kept = [i for i in range(len(texts)) if i not in kept]
    return [texts[i].lower() if how == "small letters" else texts[i] for i in kept]


def _removed_on_the_way(texts: list[str], n: int, threshold: float) -> list[str]:
    for i, text in enumerate(texts):
        if any(len(_distinct([other, text], n, threshold)) == 1 for other in texts[:i]):
            texts.remove(text)
    return texts


def _reference(texts: list[str], n: int, threshold: float) -> list[str]:
    if n < 1 or not 0 < threshold <= 1:
        raise ValueError(f"n={n} must be at least 1 and threshold={threshold} above 0 and at most 1")
    return _distinct(texts, n, threshold)


_WORDS = "the a file is read and closed when it has been written to disk by another process or thread of this program".split()


def _texts(draw: random.Random) -> list[str]:
    texts: list[str] = []
    while len(texts) < 12:
        words = draw.choice(texts).split() if texts and draw.random() < 0.65 else draw.choices(_WORDS, k=draw.randrange(6, 13))
        match draw.randrange(4):
            case 0:
                words[draw.randrange(len(words))] = draw.choice(_WORDS)
            case 1:
                words = words + draw.choices(_WORDS, k=draw.randrange(1, 5))
            case 2:
                words = words[:max(4, len(words) - draw.randrange(1, 5))]  # longer than any n
            case 3:
                words = [words[0].upper(), *words[1:]]
        texts.append(" ".join(words))
    return texts


def _draw(seed: int) -> list[Case]:
    draw, cases = random.Random(seed), []
    for n, threshold, mistake in ((2, 0.5, "strictly more"), (3, 0.4, "larger"), (1, 0.7, "all")):
        texts = _texts(draw)
        while _distinct(texts, n, threshold, mistake) == _distinct(texts, n, threshold):  # it must show in every draw, or in none
            texts = _texts(draw)
        cases.append(Case(f"12 texts, n = {n}, threshold {threshold}", {"texts": texts, "n": n, "threshold": threshold}))
    return cases


def _fixed() -> list[Case]:
    chain = ["a b c d e f", "a b c d e x", "a b c d y x", "a b c z y x"]
    cases = [
        ("similarity equal to the threshold", ["a b c", "a b d"], 2, 1 / 3),
        ("a chain: each like the one before it", chain, 1, 0.6),
        ("the same words in another order", ["one two three four", "four three two one", "two one four three"], 2, 0.5),
        ("a text that contains another", ["a b c d", "a b c d e f g h", "x y"], 2, 0.7),
        ("capital letters", ["The File Is Open Now", "the file is open now", "the file is shut now"], 2, 0.9),
        ("a word said again and again", ["no no no no yes", "no no yes", "yes no"], 2, 0.6),
        ("almost the same, then the same", ["a b c d e f g", "a b c x e f g", "a b c d e f g"], 3, 0.4),
        ("texts shorter than n", ["yes", "no", "Yes", "well yes"], 3, 0.5),
        ("short texts that share no shingle", ["yes", "no", "b c d", "x c d"], 3, 0.3),
        ("only the last shingle differs", ["a b c", "a b d", "a b c d"], 2, 0.6),
        ("duplicates far apart", ["a b c d", "p q r s", "t u v w", "A b c d", "p q r z"], 2, 0.5),
        ("two thirds of the smaller, half of all", ["a b c d e", "a b c x", "a b c d x y"], 1, 0.6),
        ("blanks and line ends between the words", ["a b c d", "a b  c\nd", " a b x y", "p  q r s", "p q r s"], 2, 0.9),
        ("words that run together", ["ab c", "a bc", "abc"], 2, 0.5),
        ("a comma belongs to its word", ["yes, sir", "yes sir", "well, yes, sir"], 1, 0.9),
        ("threshold 1: only the same shingles", ["a b c", "a b d", "A B C", "b c a"], 2, 1.0),
        ("empty texts", ["", "a b", "  "], 2, 0.5),
        ("no text at all", [], 2, 0.5),
        ("shared ends of two short texts", ["x y z a", "p q z a", "r z a"], 3, 0.4)]
    return [*(Case(label, {"texts": texts, "n": n, "threshold": threshold}, part="edges") for label, texts, n, threshold in cases),
            Case("threshold 0", {"texts": ["a b"], "n": 2, "threshold": 0.0}, part="refusal", rejects=ValueError, mentions=("0",)),
            Case("threshold 1.2", {"texts": ["a b"], "n": 2, "threshold": 1.2}, part="refusal", rejects=ValueError, mentions=("1.2",)),
            Case("threshold -0.3", {"texts": ["a b"], "n": 2, "threshold": -0.3}, part="refusal", rejects=ValueError, mentions=("-0.3",)),
            Case("n = -2", {"texts": ["a b"], "n": -2, "threshold": 0.5}, part="refusal", rejects=ValueError, mentions=("-2",)),
            Case("n = 0", {"texts": ["a b"], "n": 0, "threshold": 0.5}, part="refusal", rejects=ValueError, mentions=("0",))]


DUPLICATES = Exercise(
    id="11b.3", title="Drop near-duplicates", name="distinct", kind="function", stars=2, minutes=15,
    signature="distinct(texts, n, threshold) -> list of strings", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 2, "refusal": 1},
    forbidden=("course_utils.text.duplicates.shingles", "course_utils.text.duplicates.similar_pairs"),
    twins=(
        Twin("texts in small letters", partial(_distinct, how="small letters"),
             "The choice is right, but the texts come back in lower case. Use that for comparing only; return each text as it came."),
        Twin("removed from the list walked through", _removed_on_the_way,
             "You remove texts from the list that your loop goes through. The loop then skips the text after each removed one. Build a "
             "new list."),
        Twin("the threshold itself is kept", partial(_distinct, how="strictly more"),
             "A similarity equal to the threshold is enough to drop a text; yours asks for more."),
        Twin("cut at single blanks", partial(_distinct, how="single blanks"),
             "You cut at every single blank. Two blanks then make an empty word, and a line end stays inside a word."),
        Twin("words run together", partial(_distinct, how="run together"),
             "You glue the words of a shingle together without anything between them, so that other words can give the same string."),
        Twin("union counted twice", partial(_distinct, how="union twice"),
             "Adding both sizes counts what they share twice, so that equal texts are only half alike. The union counts it once."),
        Twin("Dice instead of Jaccard", partial(_distinct, how="Dice"),
             "Twice the common part over both sizes is another measure, and a more generous one. Divide by the union."),
        Twin("divided by the smaller set", partial(_distinct, how="smaller"),
             "By that measure a text that contains another is its duplicate, however much more it says. Divide by the union."),
        Twin("divided by the new text's shingles", partial(_distinct, how="of the new"),
             "Your measure says how much of the new text is old. It changes when the two texts are exchanged. Divide by the union."),
        Twin("divided by the old text's shingles", partial(_distinct, how="of the old"),
             "Your measure says how much of the old text comes back. Divide by the union of both."),
        Twin("divided by the larger set", partial(_distinct, how="larger"),
             "The union is larger than the larger of the two, unless one contains the other."),
        Twin("shingles counted as often as they occur", partial(_distinct, how="counted"),
             "You count how often a shingle occurs. What matters is only whether it occurs, as in a set."),
        Twin("single words compared", partial(_distinct, how="single words"),
             "You compare single words. Texts on one subject share many. A shingle is n neighbouring words in their order."),
        Twin("order inside a shingle lost", partial(_distinct, how="any order"),
             "You sort the words of a shingle. Their order is what tells a copy from a text on the same subject."),
        Twin("rows of letters", partial(_distinct, how="letters"), "You cut the text into letters. A shingle is made of words here."),
        Twin("shingles side by side", partial(_distinct, how="side by side"),
             "Your shingles do not overlap, so one inserted word changes all that follow. Start a shingle at every word."),
        Twin("last shingle missing", partial(_distinct, how="one missing"),
             "The last n words of a text are a shingle too: look at where your loop ends."),
        Twin("last shingle of long texts missing", partial(_distinct, how="long ones cut"),
             "Texts shorter than n are right. In the others your loop ends before the last n words. How "
             "many shingles does a text of n + 1 words have?"),
        Twin("ends shorter than n", partial(_distinct, how="with the tails"),
             "You also start shingles near the end, where fewer than n words are left. Only a text with fewer "
             "than n words in all has such a shingle."),
        Twin("short texts without a shingle", partial(_distinct, how="short ones kept"),
             "A text with fewer than n words has one shingle, all its words. Without it, even a copy of the text would not be found."),
        Twin("capital letters matter", partial(_distinct, how="case"),
             "You treat “The” and “the” as two words. Compare words in lower case."),
        Twin("commas taken away", partial(_distinct, how="signs gone"),
             "You remove commas and full stops. Here a word is what `split` gives, with its punctuation."),
        Twin("texts sorted", partial(_distinct, how="sorted"), "The choice is right. Return the texts in the order in which they came."),
        Twin("whole texts compared", partial(_distinct, how="whole text"),
             "Only texts with exactly the same words are dropped. Compare their shingles."),
        Twin("exact copies only", partial(_distinct, how="exact"),
             "Texts that differ in one letter are not dropped by yours. Compare sets of shingles."),
        Twin("compared with dropped texts too", partial(_distinct, how="all"),
             "You compare with dropped texts too. Then a text can be dropped that is like none of the kept ones."),
        Twin("compared with the last kept only", partial(_distinct, how="neighbour"),
             "You compare only with the text kept last. A copy may be further back."),
        Twin("compared with the first only", partial(_distinct, how="first"),
             "You compare with the first text alone, not with all that were kept."),
        Twin("like all of them", partial(_distinct, how="every"), "One similar text among the kept ones is enough; yours asks for all."),
        Twin("similar on average", partial(_distinct, how="mean"), "One similar text is enough. A mean over all kept texts hides it."),
        Twin("both copies dropped", partial(_distinct, how="both gone"), "Of two similar texts the first is kept; yours throws both away."),
        Twin("the last one kept", partial(_distinct, how="last kept"), "Of similar texts the first is kept; yours keeps the last."),
        Twin("order reversed", partial(_distinct, how="reversed"),
             "You go through the texts from the end. The first of them is kept, and the order stays."),
        Twin("the dropped ones returned", partial(_distinct, how="dropped ones"),
             "You return what was thrown away; what is kept is asked for."),
    ),
)
