"""Sentences in which "flies" and "like" change their part of speech with their company.

"Time flies like an arrow": flies is a verb, like a preposition. "Fruit flies like a banana": flies is a noun, like a verb.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

TAGS = ("noun", "verb", "preposition", "article")
_PASSING = "time life summer youth money winter childhood evening history sunday".split()
_SWIFT = "arrow bird rocket dream shadow comet leaf sparrow".split()
_PESTS = "fruit house horse sand stable marsh kitchen barn fish cattle".split()
_TASTY = "banana melon apple pear cake carcass stew pudding".split()
HELD_OUT = ("time flies like an arrow", "fruit flies like a banana")


@dataclass(frozen=True)
class Tagged:
    """Sentences as ids ``(sentence, 5)``, tags ``(sentence, 5)`` and words."""

    words: list[list[str]]
    ids: Tensor
    tags: Tensor


def sentences() -> list[tuple[str, tuple[str, ...]]]:
    """Every sentence with the tags of its five words: 80 of either reading."""
    passing, pests = ("noun", "verb", "preposition", "article", "noun"), ("noun", "noun", "verb", "article", "noun")
    found: list[tuple[str, tuple[str, ...]]] = []
    for subjects, objects, tags in ((_PASSING, _SWIFT, passing), (_PESTS, _TASTY, pests)):
        for subject in subjects:
            for thing in objects:
                found.append((f"{subject} flies like {'an' if thing[0] in 'aeiou' else 'a'} {thing}", tags))
    return found


def vocabulary() -> dict[str, int]:
    """Word -> id, in alphabetical order."""
    words = sorted({word for text, _ in sentences() for word in text.split()})
    return {word: i for i, word in enumerate(words)}


def split(every: int = 4) -> tuple[Tagged, Tagged]:
    """Training and test sentences; every ``every``-th pairing and the two famous sentences are never trained on."""
    if every < 2:
        raise ValueError(f"every={every} would leave nothing to train on; it must be at least 2")
    index = vocabulary()
    parts: tuple[list, list] = ([], [])
    for i, item in enumerate(sentences()):
        parts[item[0] in HELD_OUT or (i + i // 8) % every == 1].append(item)

    def pack(items: list[tuple[str, tuple[str, ...]]]) -> Tagged:
        words = [text.split() for text, _ in items]
        ids = torch.tensor([[index[w] for w in sentence] for sentence in words])
        return Tagged(words, ids, torch.tensor([[TAGS.index(t) for t in tags] for _, tags in items]))

    return pack(parts[0]), pack(parts[1])
