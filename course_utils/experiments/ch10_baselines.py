"""Chapter 10: what a result has to beat: a linear model of which words occur, and one of the company that words keep."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..text import gazette
from ..text.wordpiece import basic_words
from ..training.gazette_bert import WORDS
from .ch10_heads import Data


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


def company_vectors(documents: Sequence[gazette.Document], width: int = 48) -> Tensor:
    """Vectors ``(word, width)`` from counting which words share a document.

    A pair of words that meets more often than chance gets the logarithm of how many times more often (positive pointwise mutual
    information, as in Levy and Goldberg 2014); a singular value decomposition keeps the ``width`` strongest directions of that table.
    """
    together = torch.zeros(len(documents), len(WORDS))  # (document, word): 1 where the word occurs
    for row, document in zip(together, documents, strict=True):
        row[[WORDS.ids[word] for sentence in document for word in sentence]] = 1
    both = together.T @ together  # (word, word): documents that have both
    by_chance = both.sum(1, keepdim=True) * both.sum(0) / both.sum()
    surprise = (both / by_chance.clamp_min(1e-9)).clamp_min(1).log()
    directions, sizes, _ = torch.linalg.svd(surprise)
    return directions[:, :width] * sizes[:width]


def learn_from_company(company: Tensor, train: Data, test_ids: Tensor, seed: int, steps: int = 200) -> Tensor:
    """Labels ``(text,)`` that a linear layer on the mean vector of a text's words gives the test, learned from ``train``."""

    def mean_vectors(ids: Tensor) -> Tensor:
        real = (ids > WORDS.mask_id)[..., None]
        return (company[ids] * real).sum(1) / real.sum(1)  # (text, width)

    torch.manual_seed(seed)
    layer = nn.Linear(company.shape[1], 2)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(layer(mean_vectors(train.ids)), train.labels).backward()
        optimizer.step()
    return layer(mean_vectors(test_ids)).argmax(-1)
