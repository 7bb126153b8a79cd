"""Exercise 10.8: the score of whole names. The oracle walks from tag to tag."""

import torch

from ..common import Case, FunctionExercise, generator, integers


def names(sentences: list[list[str]]) -> set[tuple]:
    """Every name as the number of its sentence, its kind, its first and its last word."""
    found: list[list] = []
    for number, tags in enumerate(sentences):
        for i, tag in enumerate(tags):
            before = tags[i - 1] if i else "O"
            if tag[0] == "B" or tag[0] == "I" and before[1:] != tag[1:]:
                found.append([number, tag[2:], i, i])
            elif tag != "O":
                found[-1][-1] = i
    return {tuple(name) for name in found}


def ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


def scores(right: int, guessed: int, wanted: int) -> tuple[float, float, float]:
    precision, recall = ratio(right, guessed), ratio(right, wanted)
    f1 = ratio(2 * precision * recall, precision + recall)
    return precision, recall, f1


def name_scores(wanted: list[list[str]], guessed: list[list[str]]) -> tuple[float, float, float]:
    truth, guess = names(wanted), names(guessed)
    return scores(len(truth & guess), len(guess), len(truth))


def oracle(wanted: list[list[str]], guessed: list[list[str]]) -> tuple[float, float, float]:
    def spans(sentence: list[str]) -> set[tuple[str, int, int]]:
        closed, kind, begin = set(), "", 0
        for i, tag in enumerate([*sentence, "O"]):
            if kind and (tag[0] != "I" or tag[2:] != kind):
                closed.add((kind, begin, i))
                kind = ""
            if tag != "O" and not kind:
                kind, begin = tag[2:], i
        return closed

    pairs = [(spans(truth), spans(guess)) for truth, guess in zip(wanted, guessed, strict=True)]
    right, total, said = (sum(map(len, sets)) for sets in zip(*((a & b, a, b) for a, b in pairs), strict=True))
    return right / said if said else 0.0, right / total if total else 0.0, 2 * right / (said + total) if said + total else 0.0


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def sentence(words: int) -> list[str]:
        tags: list[str] = []
        while len(tags) < words:
            length, kind = int(integers(g, 0, 3)), KINDS[integers(g, 0, 3)]
            tags += ["B-" + kind, "I-" + kind][:length] or ["O"]
        return tags[:words]

    def disturbed(tags: list[str]) -> list[str]:
        out = list(tags)
        for i in torch.randperm(len(out), generator=g)[: max(1, len(out) // 4)].tolist():
            # an I- at the start has a case of its own
            out[i] = ("O", "B-PER", "I-PER" if i else "O", "I-LOC" if i else "B-PER")[integers(g, 0, 4)]
        return out

    cases = []
    for lengths in ((7, 11, 5), (4, 9, 3, 12, 6, 8)):
        wanted = [sentence(n) for n in lengths]
        cases.append(Case(f"{len(lengths)} sentences", {"wanted": wanted, "guessed": [disturbed(tags) for tags in wanted]}))
    return cases


def fixed() -> list[Case]:
    def case(label: str, part: str, wanted: str, guessed: str) -> Case:
        return Case(label, {"wanted": [s.split() for s in wanted.split(",")], "guessed": [s.split() for s in guessed.split(",")]}, part)

    cut = "O B-PER I-PER O B-LOC, B-ORG O B-LOC O O, O B-PER"
    letters, letter = "kinds with the same first letter", "the kind changes to one with the same first letter"
    crossing = "a name at the end, the next sentence begins with an I-"
    return [
        case("an end cut short, a wrong kind, a missed name", "values", cut, "O B-PER O O B-LOC, B-ORG O B-PER O O, O O"),
        case("two names of one kind, side by side", "borders", "B-PER B-PER O B-LOC, O B-ORG O", "B-PER I-PER O B-LOC, O B-ORG O"),
        case(crossing, "borders", "O B-PER, B-PER O B-LOC", "O B-PER, I-PER O B-LOC"),
        case("the kind changes inside", "borders", "B-PER B-LOC I-LOC O, B-ORG I-ORG O O", "B-PER I-LOC I-LOC O, B-ORG I-PER O O"),
        case(letters, "borders", "B-LOC O B-PER I-PER, O B-ORG", "B-LAW O B-PERCENT I-PERCENT, O B-ORG"),
        case(letter, "borders", "B-LOC B-LAW I-LAW O, B-LOC I-LOC", "B-LOC I-LAW I-LAW O, B-LOC I-LOC"),
        case("names of one word", "values", "B-PER O B-LOC O B-ORG, B-LOC", "B-PER O O B-LOC B-ORG, B-LOC"),
        case("an empty sentence among others", "nothing", ", O B-PER,", ", O B-PER,"),
        case("no name is guessed, and one of two sentences has none", "nothing", "O B-PER, O O O", "O O, O O O"),
        case("a guess one word too long", "borders", "B-PER I-PER O, O B-LOC O O", "B-PER I-PER I-PER, O B-LOC O O"),
        case("no name is guessed", "nothing", "O B-PER O", "O O O"),
        case("there is no name", "nothing", "O O", "B-LOC O"),
        case("no name anywhere", "nothing", "O O O", "O O O"),
    ]


KINDS, RESULTS = ("PER", "ORG", "LOC"), ("precision", "recall", "F1")
OURS = ("course_utils.text.spans.span_scores",)
EXERCISE = FunctionExercise(
    right=name_scores, helpers=(names, ratio, scores), oracle=oracle, draw=draw, fixed=fixed, outputs=RESULTS, forbidden=OURS
)
