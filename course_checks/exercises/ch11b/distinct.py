"""Exercise 11b.6: drop near-duplicates by the Jaccard similarity of shingles. The oracle compares sorted lists of strings."""

import random

from ..common import Case, FunctionExercise, refusal


def distinct(texts: list[str], n: int, threshold: float) -> list[str]:
    if n < 1 or not 0 < threshold <= 1:
        raise ValueError(f"n={n} must be at least 1 and threshold={threshold} above 0 and at most 1")
    kept: list[str] = []
    sets: list[set] = []
    for text in texts:
        found = shingles(text, n)
        scores = [similarity(found, other) for other in sets]
        drop = any(score >= threshold for score in scores)
        if not drop:
            kept.append(text)
            sets.append(found)
    return kept


def shingles(text: str, n: int) -> set[tuple[str, ...]]:
    words = text.lower().split()
    stop = max(1, len(words) - n + 1)
    return {tuple(words[i : i + n]) for i in range(stop)}


def similarity(a: set, b: set) -> float:
    both = len(a & b)
    either = len(a | b)
    return both / either if either else 0.0


def oracle(texts: list[str], n: int, threshold: float) -> list[str]:
    kept: list[tuple[str, list[str]]] = []
    for text in texts:
        words = text.lower().split()
        mine = sorted({" ".join(words[i : i + n]) for i in range(len(words)) if i + n <= len(words)} or {" ".join(words)})
        shared = [sum(row in other for row in mine) for _, other in kept]
        if all(both / (len(mine) + len(other) - both) < threshold for both, (_, other) in zip(shared, kept, strict=True)):
            kept.append((text, mine))
    return [text for text, _ in kept]


def _texts(dice: random.Random) -> list[str]:
    texts: list[str] = []
    known = "the a file is read and closed when it has been written to disk by another process or thread of this program".split()
    while len(texts) < 12:
        words = dice.choice(texts).split() if texts and dice.random() < 0.65 else dice.choices(known, k=dice.randrange(6, 13))
        match dice.randrange(4):
            case 0:
                words[dice.randrange(len(words))] = dice.choice(known)
            case 1:
                words = words + dice.choices(known, k=dice.randrange(1, 5))
            case 2:
                words = words[: max(4, len(words) - dice.randrange(1, 5))]  # longer than any n
            case 3:
                words = [words[0].upper(), *words[1:]]
        texts.append(" ".join(words))
    return texts


def draw(seed: int) -> list[Case]:
    """Texts in which the misconception of each name shows: it must in every draw, or in none."""
    dice, wrong, cases = random.Random(seed), {entry.name: entry for entry in EXERCISE.misconceptions}, []
    for name, (n, threshold) in SHOWS.items():
        texts = _texts(dice)
        while wrong[name].answer(texts, n, threshold) == distinct(texts, n, threshold):
            texts = _texts(dice)
        cases.append(Case(f"12 texts, n = {n}, threshold {threshold}", {"texts": texts, "n": n, "threshold": threshold}))
    return cases


def fixed() -> list[Case]:
    cases: list[tuple[str, list[str], int, float]] = [
        ("similarity equal to the threshold", ["a b c", "a b d"], 2, 1 / 3),
        ("a chain: each like the one before it", ["a b c d e f", "a b c d e x", "a b c d y x", "a b c z y x"], 1, 0.6),
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
        ("shared ends of two short texts", ["x y z a", "p q z a", "r z a"], 3, 0.4),
    ]
    thresholds = [(f"threshold {value:g}", 2, value, f"{value:g}") for value in (0.0, 1.2, -0.3)]
    bad = [*thresholds, ("n = -2", -2, 0.5, "-2"), ("n = 0", 0, 0.5, "0")]
    return [
        *(Case(label, {"texts": texts, "n": n, "threshold": threshold}, part="edges") for label, texts, n, threshold in cases),
        *(refusal(label, {"texts": ["a b"], "n": n, "threshold": t}, said, part="refusal") for label, n, t, said in bad),
    ]


SHOWS = {"a text at the threshold is kept": (2, 0.5), "divided by the larger set": (3, 0.4), "compared with dropped texts too": (1, 0.7)}
OURS = ("course_utils.text.duplicates.shingles", "course_utils.text.duplicates.similar_pairs")
EXERCISE = FunctionExercise(right=distinct, helpers=(shingles, similarity), oracle=oracle, draw=draw, fixed=fixed, forbidden=OURS)
