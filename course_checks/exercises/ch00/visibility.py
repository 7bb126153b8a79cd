"""Exercise 00.4: a mask from a rule about two positions. The oracle cuts its masks out of triangles."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, Registered
from . import callables  # noqa: F401  (registers the rules)


def visibility(n: int, rule) -> Tensor:
    rows = [[rule(i, j) for j in range(n)] for i in range(n)]
    return torch.tensor(rows, dtype=torch.bool)


def oracle(n: int, rule: Registered) -> Tensor:
    ones = torch.ones(n, n)
    both = ones.tril()
    both[:, :2] = 1
    masks = {"everyone": ones, "no_looking_ahead": ones.tril(), "only_the_token_before": ones.tril(-1).triu(-1)}
    return {**masks, "the_first_two_or_what_came_before": both}[rule.name].bool()


def draw(seed: int) -> list[Case]:
    tokens = {"no_looking_ahead": 4 + seed % 3, "only_the_token_before": 5 + seed % 2}
    tokens |= {"everyone": 3 + seed % 4, "the_first_two_or_what_came_before": 6 + seed % 3}
    return [Case(f"the rule {rule}, {n} tokens", {"n": n, "rule": Registered(rule)}, shape="(query, key)") for rule, n in tokens.items()]


def fixed() -> list[Case]:
    return [Case("a single token", {"n": 1, "rule": Registered("no_looking_ahead")}, shape="(query, key)")]


EXERCISE = FunctionExercise(right=visibility, oracle=oracle, draw=draw, fixed=fixed)
