"""Exercise 10.4: labels for first pieces. The oracle goes from word to word."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, refusal


def piece_labels(words: list[int | None], labels: list[int], length: int) -> Tensor:
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into length={length}")
    out = torch.full((length,), -100)
    for place, word in enumerate(words):
        first = place == 0 or word != words[place - 1]
        if word is not None and first:
            if word >= len(labels):
                raise ValueError(f"word {word} of {len(labels)} has no label")
            out[place] = labels[word]
    return out


def oracle(words: list[int | None], labels: list[int], length: int) -> Tensor:
    out = [-100] * length
    for word, label in enumerate(labels):
        if word in words:
            out[words.index(word)] = label
    return torch.tensor(out)


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, part: str, count: int, spare: int) -> Case:
        sizes = [1, 3, 2, *integers(g, 1, 4, count - 3).tolist()]  # words of one to three pieces, at least one of each
        order = torch.randperm(count, generator=g).tolist()
        words = [None, *[word for word, k in enumerate(order) for _ in range(sizes[k])], None]
        labels = [1 + 2 * k for k in integers(g, 0, 3, count).tolist()]
        for i in range(1, count, 2):
            labels[i] = labels[i - 1] + 1
        if count > 5:
            labels[4:6] = [5, 0]
        return Case(label, {"words": words, "labels": labels, "length": len(words) + spare}, part, shape="(length,)")

    return [case("4 words", "values", 4, 0), case("7 words, padded", "padding", 7, 4)]


def fixed() -> list[Case]:
    def args(words: list[int | None], labels: list[int], length: int) -> dict:
        return {"words": words, "labels": labels, "length": length}

    return [
        Case("one word of one piece", args([None, 0, None], [3], 3), shape="(length,)"),
        Case("no [CLS]: the first piece begins a word", args([0, 0, 1, 2, 2, None], [5, 1, 3], 7), shape="(length,)"),
        Case("one word of two pieces, nothing else", args([0, 0], [5], 3), shape="(length,)"),
        Case("the same label twice, and O in the middle", args([None, 0, 1, 1, 2, 3, None], [3, 0, 3, 3], 7), shape="(length,)"),
        Case("the last words were cut off", args([None, 0, 0, 1, None], [1, 2, 0, 5], 5), shape="(length,)"),
        Case("a word without any piece", args([None, 0, 2, 2, 3, None], [3, 5, 1, 2], 6), shape="(length,)"),
        refusal("more pieces than length", args([None, 0, 1, 1, None], [1, 0], 4), "5", "4", part="refusal"),
        refusal("a word without a label", args([None, 0, 1, 2, None], [1, 0], 6), "2", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=piece_labels, oracle=oracle, draw=draw, fixed=fixed)
