"""Exercise 08b.3: four ways through a small tree of chances, by hand. The oracle lists every sentence and follows each rule."""

from ..common import Case, Prediction

FIRST = {"the": 0.40, "a": 0.32, "page": 0.28}
SECOND = {"the": {"dog": 0.4, "cat": 0.3, "boat": 0.3}, "a": {"cat": 0.6, "dog": 0.4}, "page": {"missing": 1.0}}
SENTENCES = {f"{a} {b}": FIRST[a] * p for a in FIRST for b, p in SECOND[a].items()}
CHOICES = tuple(sorted(SENTENCES))


def oracle() -> dict[str, str]:
    def beam(k: int) -> str:
        going = sorted(FIRST, key=FIRST.__getitem__)[-k:]
        return max((sentence for sentence in SENTENCES if sentence.split()[0] in going), key=SENTENCES.__getitem__)

    def agreement(sentence: str) -> float:
        """Words that it has in common with a sentence that is drawn, on average."""
        return sum(p for other, p in SENTENCES.items() for x, y in zip(sentence.split(), other.split(), strict=True) if x == y)

    return {
        "greedy": beam(1),
        "a beam of 2": beam(2),
        "a beam of 3": beam(3),
        "the most probable sentence": max(SENTENCES, key=SENTENCES.__getitem__),
        "the sentence with most words in common with the others": max(SENTENCES, key=agreement),
    }


EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your five sentences", {}, "sentences")], choices=CHOICES)
