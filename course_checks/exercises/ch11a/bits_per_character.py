"""Exercise 11a.5: bits per character over windows. The oracle scores token by token, from the first window that reaches it."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, Registered, generator, integers
from .callables import VOCAB, causal_logits
from .windows import windows


def bits_per_character(logits_of: Callable, ids: Tensor, size: int, stride: int, characters: int) -> float:
    inputs, targets = windows(ids, size, stride)
    new = targets.clone()
    new[1:, : size - stride] = -100
    logits = logits_of(inputs)
    total = F.cross_entropy(logits.flatten(0, 1), new.flatten(), reduction="sum").item()
    return total / math.log(2) / characters


def oracle(logits_of: Callable, ids: Tensor, size: int, stride: int, characters: int) -> float:
    bits, read = 0.0, {}
    for place in range(1, len(ids)):
        start = stride * max(0, -((size - place) // stride))  # of the first window that reaches this token
        if start not in read:
            read[start] = causal_logits(ids[None, start : start + size])[0].double().softmax(-1).tolist()
        bits -= math.log2(read[start][place - 1 - start][int(ids[place])])
    return bits / characters


def case(g: torch.Generator, n: int, size: int, stride: int, characters: int, part: str) -> Case:
    args = {"logits_of": Registered("causal_logits"), "ids": integers(g, 0, VOCAB, n)}
    args |= {"size": size, "stride": stride, "characters": characters}
    return Case(f"{n} tokens, {characters} characters, windows of {size}, stride {stride}", args, part)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    apart = [case(g, 13, 4, 4, 31, "side by side"), case(g, 16, 6, 6, 47, "a short window")]
    return apart + [case(g, *numbers, "overlapping") for numbers in ((14, 5, 2, 37), (18, 7, 3, 41))]


def fixed() -> list[Case]:
    g = generator(6)
    first = case(g, 16, 7, 5, 30, "overlapping")
    return [first, *(case(g, *numbers, "edges") for numbers in ((4, 9, 3, 10), (2, 5, 5, 3), (9, 4, 1, 25)))]


EXERCISE = FunctionExercise(right=bits_per_character, oracle=oracle, draw=draw, fixed=fixed)
