"""Exercise 11b.4: a few-shot prompt and its lessons. The oracle notes of each token in the row whether it counts."""

import random

import torch
from torch import Tensor

from ..common import IGNORED, Case, FunctionExercise, arguments


def few_shot(examples: list[list[list[int]]], arrow: int, end: int, last_only: bool = False) -> tuple[Tensor, Tensor]:
    ids, counted = [], []
    for k, (question, answer) in enumerate(examples):
        last = k == len(examples) - 1
        counts = last or not last_only
        ids += [*question, arrow]
        counted += [False] * (len(question) + 1)
        ids += [*answer, end]
        counted += [counts] * (len(answer) + 1)
    row = torch.tensor(ids)
    targets = torch.where(torch.tensor(counted), row, IGNORED)
    return row[:-1], targets[1:]


def oracle(examples: list[list[list[int]]], arrow: int, end: int, last_only: bool = False) -> tuple[Tensor, Tensor]:
    row: list[tuple[int, bool]] = []
    for k, (question, answer) in enumerate(examples):
        counts = k == len(examples) - 1 or not last_only
        row += [(token, False) for token in question + [arrow]] + [(token, counts) for token in answer + [end]]
    targets = [token if counts else IGNORED for token, counts in row[1:]]
    return torch.tensor([token for token, _ in row[:-1]]), torch.tensor(targets)


def case(label: str, part: str, *values) -> Case:
    return Case(label, arguments(few_shot, *values), part, shape="(n - 1,)")


def _drawn(dice: random.Random, label: str, lengths: list[tuple[int, int]], last: bool) -> Case:
    ids = iter(dice.sample(range(5, 90), sum(map(sum, lengths)) + 2))
    examples = [[[next(ids) for _ in range(n)], [next(ids) for _ in range(m)]] for n, m in lengths]
    return case(label, "last answer" if last else "all answers", examples, next(ids), next(ids), last)


def draw(seed: int) -> list[Case]:
    dice = random.Random(seed)
    return [
        _drawn(dice, "three examples, all answers count", [(3, 2), (1, 4), (2, 3)], False),
        _drawn(dice, "two examples, all answers count", [(4, 1), (2, 2)], False),
        _drawn(dice, "three examples, the last answer counts", [(2, 3), (3, 1), (1, 4)], True),
    ]


def fixed() -> list[Case]:
    again, before = [[[7, 3, 7], [4, 7]], [[3], [7, 3, 3]], [[4, 8], [3]]], [[[7, 8], [9]], [[5], [6, 9]], [[7, 8], [9]]]
    return [
        _drawn(random.Random(5), "a question without examples", [(2, 3)], True),
        case("ids that occur again, also the two separators", "all answers", again, 3, 4),
        case("ids that occur again, the last answer counts", "last answer", [[[7, 7], [8, 7]], [[7, 7], [8, 3, 7]]], 3, 4, True),
        case("the last example stood there before, the last answer counts", "last answer", before, 3, 4, True),
    ]


EXERCISE = FunctionExercise(right=few_shot, oracle=oracle, draw=draw, fixed=fixed, outputs=("inputs", "targets"))
