"""Sentences of several clauses, each with a word that means an animal or something else, as its own clause decides.

"Fruit flies like a ripe banana" speaks of animals, "time flies like a swift arrow" does not. Several clauses are joined by "and", each with
a meaning drawn for itself: so the words of the other clauses say nothing about a word, and whoever listens to all words alike is misled.
"""

import random
from dataclasses import dataclass

import torch
from torch import Tensor

MEANINGS = ("something else", "animal")
# word: the clause, and for both meanings what may stand in its gaps
_CLAUSES = {
    "flies": (
        "{} flies like a {}",
        ("time life summer", "swift arrow,bright dream,lone bird"),
        ("fruit house horse", "ripe banana,sweet melon,fresh apple"),
    ),
    "bat": ("the bat is in the {}", ("stadium dugout locker",), ("cave barn attic",)),
    "mouse": ("the mouse is behind the {}", ("screen keyboard laptop",), ("cheese cat wall",)),
    "seal": ("the seal is on the {}", ("letter parcel envelope",), ("ice beach rock",)),
    "crane": ("the crane is above the {}", ("tower scaffold crate",), ("lake nest reeds",)),
    "bug": ("the bug is in the {}", ("program website code",), ("grass leaves garden",)),
    "jaguar": ("the jaguar is in the {}", ("garage workshop lane",), ("jungle zoo forest",)),
    "mole": ("the mole is under the {}", ("eye chin ear",), ("lawn soil meadow",)),
}  # fmt: skip
HELD_OUT = ("fruit flies like a ripe banana", "time flies like a swift arrow")


@dataclass(frozen=True)
class Sentences:
    """``words``; ``ids`` (sentence, token); ``labels`` (sentence, token): 1 animal, 0 something else, -1 where nothing is asked."""

    words: list[list[str]]
    ids: Tensor
    labels: Tensor


def clauses(word: str, meaning: int) -> list[str]:
    """Every clause of six words in which ``word`` has this meaning (1 animal, 0 something else)."""
    pattern, *gaps = _CLAUSES[word]
    first, *second = gaps[meaning]
    pairs = [(a, *b) for a in first.split() for b in ([(thing,) for thing in second[0].split(",")] if second else [()])]
    return [pattern.format(*pair) for pair in pairs]


def vocabulary() -> dict[str, int]:
    """Word -> id, in alphabetical order."""
    every = [text for word in _CLAUSES for meaning in (0, 1) for text in clauses(word, meaning)]
    return {word: i for i, word in enumerate(sorted({"and", *" ".join(every).split()}))}


def encode(text: str) -> Tensor:
    """The ids of a sentence, ``(1, token)``; ValueError for a word that is not in the vocabulary."""
    index = vocabulary()
    unknown = [word for word in text.split() if word not in index]
    if unknown:
        raise ValueError(f"these words are not in the vocabulary: {', '.join(unknown)}")
    return torch.tensor([[index[word] for word in text.split()]])


def draw(count: int, topics: int, seed: int, held_out: bool = False) -> Sentences:
    """``count`` sentences of ``topics`` clauses about different words, ``7 · topics - 1`` tokens each.

    The two clauses of ``HELD_OUT`` occur only where ``held_out`` is True. ValueError unless 1 <= topics <= 8 and count >= 1.
    """
    if not 1 <= topics <= len(_CLAUSES) or count < 1:
        raise ValueError(f"count={count} must be at least 1 and topics={topics} between 1 and {len(_CLAUSES)}")
    chance, index = random.Random(seed), vocabulary()
    texts, labels = [], []
    for _ in range(count):
        parts, marks = [], []
        for word in chance.sample(list(_CLAUSES), topics):
            meaning = chance.randrange(2)
            choices = [text for text in clauses(word, meaning) if held_out or text not in HELD_OUT]
            parts.append(chance.choice(choices).split())
            marks.append([meaning if token == word else -1 for token in parts[-1]])
        texts.append([word for i, part in enumerate(parts) for word in (["and"] * (i > 0) + part)])
        labels.append([mark for i, part in enumerate(marks) for mark in ([-1] * (i > 0) + part)])
    return Sentences(texts, torch.tensor([[index[word] for word in text] for text in texts]), torch.tensor(labels))
