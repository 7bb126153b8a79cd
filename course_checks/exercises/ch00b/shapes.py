"""Exercise 00b.1: a loss in which two shapes are stretched by mistake."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _one_by_one(guess: Tensor, target: Tensor) -> Tensor:
    """Each guess with its own target, a pair at a time."""
    pairs = [(guess[i, 0].double() - target[i].double()) ** 2 for i in range(len(target))]
    return (sum(pairs) / len(pairs)).float()


def _squared(guess: Tensor, target: Tensor, how: str = "right") -> Tensor:
    match how:
        case "stretched":
            return (guess - target).pow(2).mean()
        case "each against all":
            return (guess - target).pow(2).mean(dim=1)
        case "sorted":
            return (guess[:, 0].sort().values - target.sort().values).pow(2).mean()
        case "first guess":
            return (guess[0] - target).pow(2).mean()
        case "mean guess":
            return (guess.mean() - target).pow(2).mean()
    error = guess[:, 0] - target
    match how:
        case "absolute":
            return error.abs().mean()
        case "root":
            return error.pow(2).mean().sqrt()
        case "sum":
            return error.pow(2).sum()
        case "not averaged":
            return error.pow(2)
        case "square of the mean":
            return error.mean().pow(2)
        case "not squared":
            return error.mean()
        case "n - 1":
            return error.pow(2).sum() / max(len(error) - 1, 1)
    return error.pow(2).mean()


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    (n,) = sizes(g, 1, 3, 9)
    return [Case(f"{n} guesses", {"guess": 4 + randn(g, n, 1), "target": 4 + 2 * randn(g, n)}, gradients=("guess",))]


SQUARED = Exercise(
    id="00b.1", title="Find the bug: an error that never gets small", name="squared_error", kind="function", stars=1, minutes=5,
    signature="squared_error(guess, target) -> ()",
    oracle=_one_by_one, reference=_squared, draw=_draw, parts={"values": 2},
    fixed=lambda: [Case("perfect guesses", {"guess": torch.tensor([[3.0], [5.0], [9.0]]), "target": torch.tensor([3.0, 5.0, 9.0])}),
                   Case("a single guess", {"guess": torch.tensor([[2.0]]), "target": torch.tensor([5.0])})],
    twins=(
        Twin("still the handed-out bug", partial(_squared, how="stretched"),
             "Hand it three perfect guesses: the error should be 0. Print the shape of the difference before the square.", untouched=True),
        Twin("each guess against all targets", partial(_squared, how="each against all"),
             "You still compare every guess with every target, and then average along one axis. Each guess has only one target."),
        Twin("both sorted first", partial(_squared, how="sorted"),
             "Sorting pairs the smallest guess with the smallest target. A guess belongs to the word in its own row."),
        Twin("one guess for all targets", partial(_squared, how="first guess"),
             "You compare the first guess with every target. Each guess has a target of its own."),
        Twin("the guesses averaged first", partial(_squared, how="mean guess"),
             "You average the guesses before you compare. Compare each one with its own target, and average afterwards."),
        Twin("absolute error", partial(_squared, how="absolute"), "You average the sizes of the errors. The task asks for their squares."),
        Twin("root taken at the end", partial(_squared, how="root"), "You return the root of the mean squared error. Leave the root out."),
        Twin("summed instead of averaged", partial(_squared, how="sum"),
             "You add the squares up. With twice as many words the loss would be twice as large: take the mean."),
        Twin("one error for each word", partial(_squared, how="not averaged"),
             "That is the squared error of each word. A loss is one number: their mean."),
        Twin("square of the mean error", partial(_squared, how="square of the mean"),
             "You average first and square afterwards, so positive and negative errors cancel. Square each error by itself."),
        Twin("errors not squared", partial(_squared, how="not squared"),
             "Without the square, positive and negative errors cancel: the mean can be 0 although every guess is wrong."),
        Twin("divided by n - 1", partial(_squared, how="n - 1"),
             "You divide by one less than the number of words, as a variance does. A plain mean is asked for here."),
    ),
)
