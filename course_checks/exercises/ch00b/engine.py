"""Exercise 00b.5: an engine for gradients. The oracle is PyTorch's, in double precision, on the same functions."""

import math
from collections.abc import Callable

import torch

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator
from .callables import TRIED


class Value:
    def __init__(self, data: float, made_of=()):
        self.data, self.grad, self.made_of = data, 0.0, made_of

    def __add__(self, other):
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        result = self.data * other.data
        return Value(result, [(self, other.data), (other, self.data)])

    def exp(self):
        result = math.exp(self.data)
        return Value(result, [(self, result)])

    def log(self):
        result = math.log(self.data)
        return Value(result, [(self, 1 / self.data)])

    def backward(self, arriving: float = 1.0) -> None:
        self.grad += arriving
        for part, slope in self.made_of:
            part.backward(slope * arriving)


def slopes(function: Callable, numbers: list[float]) -> tuple[float, list[float]]:
    values = [Value(number) for number in numbers]
    end = function(*values)
    end.backward()
    return end.data, [value.grad for value in values]


def oracle(function: Registered, numbers: list[float]) -> tuple[float, list[float]]:
    parts = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in numbers]
    end = CALLABLES[function.name](*parts)
    return end.item(), [slope.item() for slope in torch.autograd.grad(end, parts)]


def draw(seed: int) -> list[Case]:
    g, counts = generator(seed), {name: function.__code__.co_argcount for name, (function, _) in TRIED.items()}
    numbers = {name: (0.6 + 1.5 * torch.rand(count, generator=g)).tolist() for name, count in counts.items()}
    return [Case(name, {"function": Registered(name), "numbers": numbers[name]}, part) for name, (_, part) in TRIED.items()]


EXERCISE = FunctionExercise(right=slopes, helpers=(Value,), oracle=oracle, draw=draw, outputs=("value", "slopes"))
