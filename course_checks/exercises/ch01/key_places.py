"""Exercise 01.5: three keys put down by hand, so that three scores choose three winners. Judged is who wins: many places are right."""

from typing import Any

import torch
from torch import Tensor

from ..common import Case, FunctionExercise

QUERY = torch.tensor([1.0, 0.5])
START = torch.tensor([[1.6, 1.2], [-0.8, 1.4], [0.5, -0.9]])  # where the piece puts the keys at first
MOVED = "whether a key was moved"


def key_places() -> dict:
    a = (1.1, 0.2)
    b = (2.0, 2.0)
    c = (0.4, 0.2)
    return {"a": a, "b": b, "c": c}


def oracle() -> dict:
    return {"a": (1.0, 0.6), "b": (2.4, 0.3), "c": (0.2, 0.1)}


def effect(made: Any, case: Case) -> Tensor:
    """Who wins by the score of the case: 1 for the one that does, else 0; keys that tie share the 1."""
    try:
        keys = torch.tensor([[float(part) for part in made[name]] for name in "abc"])
    except (TypeError, ValueError, KeyError):
        raise ValueError("Return a dictionary with the places of the keys a, b and c, each a pair of numbers.") from None
    if keys.shape != (3, 2) or not keys.isfinite().all() or keys.abs().max() > 2.41:
        raise ValueError("A place is a pair of numbers between -2.4 and 2.4, as the piece shows it.")
    if case.label == MOVED:
        return (keys - START).abs().amax().gt(1e-6).float().reshape(1)
    by = {"product": keys @ QUERY, "distance": -(keys - QUERY).norm(dim=1), "direction": keys @ QUERY / (keys.norm(dim=1) + 1e-9)}
    scores = by[case.part]
    return (scores > scores.max() - 1e-4).float() / (scores > scores.max() - 1e-4).sum()


def fixed() -> list[Case]:
    wins = [Case(f"who wins {words} (a, b, c)", {}, words.split()[-1]) for words in ("by distance", "by dot product", "by direction")]
    return [*wins, Case(MOVED, {}, "direction")]


EXERCISE = FunctionExercise(right=key_places, oracle=oracle, draw=lambda seed: [], fixed=fixed, effect=effect)
