"""Labelled tasks in the language of the town gazette: opinions, names, answers, and pairs of sentences.

Nothing here is taken from the documents that a body is pre-trained on: the sentences are made anew, with other seeds.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from . import gazette
from .gazette import Sentence

LABELS = {
    "opinions": ("bad", "good"),
    "pairs": ("entails", "contradicts", "neutral"),
    "names": ("O", "B-PERSON", "B-TOWN", "I-TOWN", "B-ANIMAL", "B-THING", "B-JOB"),
}
ANIMALS = ("dog", "bird", "fish", "horse")


class Opinion(NamedTuple):
    """A sentence, and whether it praises: one of ``LABELS["opinions"]``."""

    words: Sentence
    label: str


class Tagged(NamedTuple):
    """A text of two sentences, and a tag for each of its words, one of ``LABELS["names"]``."""

    words: Sentence
    tags: list[str]


class Question(NamedTuple):
    """A question about a passage; the answer is ``passage[first:last + 1]``."""

    question: Sentence
    passage: Sentence
    first: int
    last: int


class Pair(NamedTuple):
    """Two sentences, and whether the second follows from the first, contradicts it, or neither."""

    first: Sentence
    second: Sentence
    label: str


def _noun(draw: Random) -> str:
    return draw.choice(draw.choice(list(gazette.REVIEWED.values())).split())


def _opinion(draw: Random, number: int) -> Opinion:
    good = number % 2
    return Opinion(gazette.judged(draw, _noun(draw), bool(good)).split(), LABELS["opinions"][good])


def _names(draw: Random, number: int) -> Tagged:
    """Two facts about one person, or where something was and a fact: towns and people share eight names."""
    who = gazette.person(draw)
    kinds = draw.sample(("job", "town"), 1) + ["thing"]
    lines = [gazette.fact_sentence(draw, who, kind, who.name, "") for kind in draw.sample(kinds, 2)]
    if number % 3 == 0:
        lines[0] = f"the {_noun(draw)} was in {gazette.town_name(draw)} ."
    words = " ".join(lines).split()
    tags = ["O"] * len(words)
    for k, word in enumerate(words):
        if k and words[k - 1] == "in" or tags[k - 1] == "B-TOWN" and words[k - 1] in ("new", "port"):
            tags[k] = "B-TOWN" if words[k - 1] == "in" else "I-TOWN"
        elif word == who.name:
            tags[k] = "B-PERSON"
        elif word in gazette.PLACE_OF:
            tags[k] = "B-JOB"
        elif word in gazette.KIND_OF:
            tags[k] = "B-ANIMAL" if gazette.KIND_OF[word] in ANIMALS else "B-THING"
    return Tagged(words, tags)


def _facts_with(draw: Random, kind: str) -> list[str]:
    while kind not in (kinds := gazette.some(draw, 3)):
        pass
    return kinds


def _span(asked: gazette.Person, kind: str, lines: list[str], its: str) -> Question:
    """A question about a fact that the line ``its`` tells."""
    fact, at = asked.facts[kind].split(), lines.index(its)
    before = len(" ".join(lines[:at]).split())
    first = before + len(its.split()) - 1 - len(fact)  # every line that tells a fact ends with it and a full stop
    return Question(gazette.question(asked, kind).split(), " ".join(lines).split(), first, first + len(fact) - 1)


def _answer(draw: Random, number: int) -> Question:
    """Three facts about one person, and an opinion between them."""
    kind, who = gazette.TYPES[number % 4], gazette.person(draw)
    kinds = _facts_with(draw, kind)
    lines = gazette.report(draw, who, kinds)
    its = lines[kinds.index(kind)]
    lines.insert(draw.randrange(4), gazette.judged(draw, _noun(draw), draw.random() < 0.5))
    return _span(who, kind, lines, its)


def _answer_of_two(draw: Random, number: int) -> Question:
    """The same two facts about each of two people: whoever overlooks the name is right half of the time."""
    kind, who = ("job", "town", "thing")[number % 3], gazette.person(draw)
    kinds = [kind, draw.choice([k for k in ("job", "town", "thing") if k != kind])]
    both = draw.sample((who, gazette.person(draw, who)), 2)
    lines = [gazette.fact_sentence(draw, someone, k, someone.name, "") for someone in both for k in draw.sample(kinds, 2)]
    its = next(line for line in lines if line.startswith(who.name) and line.endswith(f" {who.facts[kind]} ."))
    return _span(who, kind, lines, its)


def _pair(draw: Random, number: int) -> Pair:
    """The second sentence is drawn first, and says nothing about the label; the first one then makes it true, false or open."""
    label = LABELS["pairs"][number % 3]
    if draw.random() < 0.4:
        good, town, about_town = draw.random() < 0.5, gazette.town_name(draw), draw.random() < 0.5
        second = f"it was in {town} ." if about_town else gazette.verdict(draw, good)
        if label == "contradicts":
            good, town = not good, gazette.town_name(draw, town.split()[-1])
        noun, tells_town = _noun(draw), about_town != (label == "neutral")
        first = f"the {noun} was in {town} ." if tells_town else gazette.judged(draw, noun, good)
        return Pair(first.split(), second.split(), label)
    who, kinds = gazette.person(draw), draw.sample(("job", "town", "thing"), 2)
    fact = gazette.wrong(draw, who, kinds[0]) if label == "contradicts" else gazette.in_other_words(who, kinds[0])
    first = gazette.fact_sentence(draw, who, kinds[label == "neutral"], who.name, "")
    return Pair(first.split(), gazette.recap(who, kinds[0], fact, who.she, "").split(), label)


TASKS: dict[str, Callable[[Random, int], NamedTuple]] = {
    "opinions": _opinion,
    "names": _names,
    "answers": _answer,
    "answers of two": _answer_of_two,
    "pairs": _pair,
}


def text_of(item: NamedTuple) -> str:
    """What is shown, without the label."""
    return " ".join(word for part in item[:2] for word in part if not isinstance(item, Opinion | Tagged) or part is item[0])


def examples(task: str, count: int, seed: int = 0, test: int = 400) -> tuple[list, list]:
    """``count`` labelled examples of a task, and ``test`` others, the same for every seed; no text is in both, or twice in one.

    Labels, and the types of facts that are asked for, take turns. ValueError for an unknown task or counts below 1.
    """
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown; choose one of {', '.join(TASKS)}")
    if min(count, test) < 1:
        raise ValueError(f"count={count} and test={test} must be at least 1")
    used: set[str] = set()

    def made(draw: Random, size: int) -> list:
        found: list = []
        while len(found) < size:
            item = TASKS[task](draw, len(found))
            if text_of(item) not in used:
                used.add(text_of(item))
                found.append(item)
        return found

    unseen = made(Random(f"{task}, test"), test)
    return made(Random(f"{task} {seed}"), count), unseen
