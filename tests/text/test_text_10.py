"""The labelled English of chapters 10 and 11b: what is in the files, that no cheap trick gives the labels away, and fair splits."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from course_utils.text.labelled import SENTIMENT, questions, sentiment

READERS = {"sentiment": sentiment, "questions": questions}


def group_of(item: tuple) -> Hashable:
    return getattr(item, "group", item[0])  # the passage of a question


def split(items: Sequence, seed: int = 0, held_out: float = 0.25, key: Callable[..., Hashable] = group_of) -> tuple[list, list]:
    """``(train, test)``, the same for the same seed: equal keys stay on one side, groups with equal labels give equal shares.

    Raises ValueError if ``held_out`` leaves a side without a group.
    """
    labels: dict[Hashable, list[str]] = defaultdict(list)
    for item in items:
        labels[key(item)].append(getattr(item, "label", ""))
    groups = sorted(random.Random(seed).sample(list(labels), len(labels)), key=lambda group: sorted(labels[group]))
    if not 0 < held_out < 1 or not 0 < int(held_out * len(groups) + 0.5) < len(groups):
        raise ValueError(f"held_out={held_out} of {len(groups)} groups: between 0 and 1, and neither side may stay empty")
    # Groups with the same labels are neighbours now, in random order: each step of 1/held_out takes one of them.
    chosen = {g for i, g in enumerate(groups) if int((i + 1) * held_out + 0.5) > int(i * held_out + 0.5)}
    return [item for item in items if key(item) not in chosen], [item for item in items if key(item) in chosen]


def words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def bag_of_words(train: list[tuple[list[str], str]], test: list[tuple[list[str], str]]) -> tuple[int, int]:
    """How many of ``test`` a logistic regression (with weight decay) and a naive Bayes get right."""
    vocabulary = {word: i for i, word in enumerate(sorted({word for bag, _ in train for word in bag}))}
    labels = sorted({label for _, label in train})

    def matrix(items):
        table = torch.zeros(len(items), len(vocabulary))
        for row, (bag, _) in zip(table, items, strict=True):
            row[[vocabulary[word] for word in bag if word in vocabulary]] = 1
        return table, torch.tensor([labels.index(label) for _, label in items])

    (x, y), (unseen, answer) = matrix(train), matrix(test)
    weight, bias = torch.zeros(len(vocabulary), len(labels), requires_grad=True), torch.zeros(len(labels), requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        (cross_entropy(x @ weight + bias, y) + 0.01 * weight.square().sum()).backward()
        optimizer.step()
    counts = torch.stack([x[y == k].sum(0) + 1 for k in range(len(labels))])
    bayes = (counts / counts.sum(1, keepdim=True)).log()
    right = [(score.argmax(1) == answer).sum().item() for score in (unseen @ weight + bias, unseen @ bayes.T)]
    return right[0], right[1]


# ---------------------------------------------------------------- what is in the files


def mean_lengths(items: list, shortest: int) -> dict[str, float]:
    lengths = {label: [len(re.findall(r"[\w'-]+", item.text)) for item in items if item.label == label] for label in SENTIMENT}
    assert all(shortest <= n <= 22 for side in lengths.values() for n in side)
    return {label: sum(side) / len(side) for label, side in lengths.items()}


def test_opinions_are_balanced_and_of_the_stated_length():
    items = sentiment()
    assert Counter(item.label for item in items) == {"positive": 286, "negative": 286}
    assert len({" ".join(words(item.text)) for item in items}) == len({item.group for item in items}) == 572
    mean = mean_lengths(items, 8)
    assert abs(mean["positive"] - mean["negative"]) < 1
    assert 12 < min(mean.values())
    first = Counter(item.label for item in items[:200])
    assert abs(first["positive"] - first["negative"]) <= 20  # mixed, not one side after the other


def test_no_word_belongs_to_one_side():
    found = {label: Counter(w for item in sentiment() if item.label == label for w in set(words(item.text))) for label in SENTIMENT}
    for one, other in (SENTIMENT, SENTIMENT[::-1]):
        for word, count in found[one].items():  # in more than 6 % of one side: function words, at least half as often on the other
            assert count <= 0.06 * 286 or 2 * found[other][word] >= count, (word, one, count, found[other][word])
    openings = Counter(tuple(words(item.text)[:2]) for item in sentiment())
    assert max(openings.values()) <= 6, openings.most_common(3)  # no template
    turns = re.compile(r"\b(not|no|never|nobody|nothing|neither|nor|none|without|but|yet|although|though|barely|hardly)\b")
    share = [sum(bool(turns.search(item.text.lower())) for item in sentiment() if item.label == label) / 286 for label in SENTIMENT]
    assert all(0.1 < part < 0.25 for part in share)
    assert abs(share[0] - share[1]) < 0.05


def test_every_answer_stands_in_its_passage():
    items = questions()
    passages = Counter(item.passage for item in items)
    assert len(items) == 112
    assert len(passages) == 28
    assert set(passages.values()) == {4}
    for item in items:
        assert item.passage[item.start : item.start + len(item.answer)] == item.answer
        assert item.question.endswith("?")
        assert 1 <= len(item.answer.split()) <= 6
    assert all(40 <= len(passage.split()) <= 90 for passage in passages)
    assert len({(item.passage, item.start) for item in items}) == 112  # the four answers stand in four places
    quarters = Counter(4 * item.start // len(item.passage) for item in items)
    assert min(quarters.values()) >= 15
    assert max(quarters.values()) <= 40


# ---------------------------------------------------------------- no cheap trick


@pytest.mark.parametrize("seed", range(3))
def test_a_bag_of_words_has_met_few_of_the_words_that_matter(seed):
    train, test = split(sentiment(), seed, held_out=0.79)
    assert (len(train), len(test)) == (120, 452)
    right = bag_of_words([(words(item.text), item.label) for item in train], [(words(item.text), item.label) for item in test])
    assert all(0.5 < count / 452 <= 0.72 for count in right), right


# ---------------------------------------------------------------- splits


@pytest.mark.parametrize("name", READERS)
def test_a_split_is_disjoint_reproducible_and_keeps_groups_whole(name):
    items = READERS[name]()
    train, test = split(items)
    assert sorted(train + test) == sorted(items)
    assert not set(train) & set(test)
    assert (train, test) == split(items)
    assert split(items, seed=1)[1] != test
    assert len(test) == pytest.approx(len(items) / 4, abs=4)
    assert not {group_of(item) for item in train} & {group_of(item) for item in test}
    if name == "questions":
        assert not {item.passage for item in train} & {item.passage for item in test}


@pytest.mark.parametrize("held_out", [0.1, 0.25, 0.5])
def test_a_split_is_stratified(held_out):
    items = sentiment()
    test = Counter(item.label for item in split(items, seed=3, held_out=held_out)[1])
    for label, count in Counter(item.label for item in items).items():
        assert abs(test[label] - held_out * count) <= 2, (label, test[label], count)


@pytest.mark.parametrize("held_out", [0.0, 1.0, -0.5, 0.0001])
def test_a_split_without_a_side_is_refused(held_out):
    with pytest.raises(ValueError, match=f"held_out={held_out} of 572 groups"):
        split(sentiment(), held_out=held_out)


# ---------------------------------------------------------------- broken files

BROKEN = {
    "no tab": ("sentiment", "positive\tA fine day.\nnegative A bad day.\n", "line 2: 2 fields"),
    "unknown label": ("sentiment", "positive\tA fine day.\nsad\tA bad day.\n", "line 2: 'sad' is none of negative, positive"),
    "twice": ("sentiment", "positive\tA day.\nnegative\tA day.\n", "line 2: says the same as line 1"),
    "answer missing": ("questions", "Snow is cold.\tWhat is cold?\tsnow\n", "line 1: the passage does not contain the answer 'snow'"),
    "answer inside a word": ("questions", "The letting agent sells tin.\tWhat is sold?\ttin\n", "inside a longer word"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named(case, tmp_path: Path):
    name, text, message = BROKEN[case]
    path = tmp_path / "mine.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.tsv, line \d") as error:
        READERS[name](path)
    assert message in str(error.value)
