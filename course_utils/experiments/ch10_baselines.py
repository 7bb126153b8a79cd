"""Chapter 10: what a result has to beat, a linear model of which words occur."""

from collections.abc import Sequence

import torch
from torch.nn import functional as F

from ..text.wordpiece import basic_words


def bag_of_words(train: Sequence[tuple[str, str]], test: Sequence[tuple[str, str]], decay: float = 0.01, steps: int = 100) -> float:
    """Share of ``test``, pairs of text and label, that a logistic regression on the words' presence gets right.

    Words not seen in training are dropped; ``decay`` is the weight of the squared norm. ValueError for fewer than two labels.
    """
    labels = sorted({label for _, label in train})
    if len(labels) < 2:
        raise ValueError(f"{len(labels)} label in {len(train)} texts: nothing to tell apart")
    numbers = {word: i for i, word in enumerate(sorted({word for text, _ in train for word in basic_words(text)}))}

    def present(texts: Sequence[tuple[str, str]]) -> torch.Tensor:
        table = torch.zeros(len(texts), len(numbers))  # (text, word)
        for row, (text, _) in zip(table, texts, strict=True):
            row[[numbers[word] for word in basic_words(text) if word in numbers]] = 1
        return table

    x, y = present(train), torch.tensor([labels.index(label) for _, label in train])
    weight, bias = torch.zeros(len(numbers), len(labels), requires_grad=True), torch.zeros(len(labels), requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        (F.cross_entropy(x @ weight + bias, y) + decay * weight.square().sum()).backward()
        optimizer.step()
    guesses = (present(test) @ weight + bias).argmax(1).tolist()
    return sum(labels[guess] == label for guess, (_, label) in zip(guesses, test, strict=True)) / len(test)
