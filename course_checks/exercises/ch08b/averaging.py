"""Exercise 08b.6: the mean of the last checkpoints. The oracle is numpy in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(checkpoints: list[Tensor], count: int) -> tuple[Tensor, Tensor]:
    import numpy as np

    last = np.stack([c.numpy().astype(float).ravel() for c in checkpoints[len(checkpoints) - count:]])
    spread = np.sqrt(np.mean([np.linalg.norm(row - last.mean(0)) ** 2 for row in last]))
    return torch.as_tensor(last.mean(0).reshape(checkpoints[0].shape)).float(), torch.tensor(spread).float()


def _average(checkpoints: list[Tensor], count: int, how: str = "right") -> tuple[Tensor, Tensor]:
    everything = torch.stack(checkpoints)
    match how:
        case "all":
            last = everything
        case "first":
            last = everything[:count]
        case "one more":
            last = everything[max(0, len(everything) - count - 1):]
        case "one less":
            last = everything[-count - 1:-1] if count < len(everything) else everything[:-1]
        case "last left out":
            last = torch.stack(checkpoints[-count:-1])
        case "every":
            last = everything[::max(1, len(everything) // count)]
        case _:
            last = everything[-count:]
    mean = centre = last.mean(0)
    match how:
        case "sum":
            mean = centre = last.sum(0)
        case "all in the denominator":
            mean = centre = last.sum(0) / len(checkpoints)
        case "last":
            mean = centre = checkpoints[-1]
        case "one of them":
            mean = centre = last[0]
        case "median":
            mean = centre = last.median(0).values
        case "number":
            mean = centre = last.mean()
        case "inside":
            mean = last.mean(-1)
        case "decaying":
            mean = last[0]
            for item in last[1:]:
                mean = 0.5 * mean + 0.5 * item
            centre = mean
        case "ends":
            mean = centre = (last[0] + last[-1]) / 2
        case "rms":
            mean = centre = last.pow(2).mean(0).sqrt()
        case "from the last":
            centre = last[-1]
    far = (last - centre).pow(2).reshape(len(last), -1)  # (checkpoint, weight)
    squares = far.sum(1)
    match how:
        case "a weight":
            return mean, far.mean().sqrt()
        case "no root":
            return mean, squares.mean()
        case "mean of lengths":
            return mean, squares.sqrt().mean()
        case "unbiased":
            return mean, (squares.sum() / max(1, len(last) - 1)).sqrt()
        case "total":
            return mean, squares.sum().sqrt()
        case "largest":
            return mean, squares.max().sqrt()
        case "each weight":
            return mean, (last - centre).pow(2).mean(0).sqrt()
        case "exchanged":
            return squares.mean().sqrt(), mean
    return mean, squares.mean().sqrt()


def _reference(checkpoints: list[Tensor], count: int) -> tuple[Tensor, Tensor]:
    if not 1 <= count <= len(checkpoints):
        raise ValueError(f"count={count} must lie between 1 and the {len(checkpoints)} checkpoints there are")
    return _average(checkpoints, count)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    six = [torch.randn(3, 4, generator=g) for _ in range(6)]
    return [Case("the last 4 of 6", {"checkpoints": six, "count": 4}, shape="(rows, columns)"),
            Case("the last 5 of 7", {"checkpoints": [torch.randn(2, 4, 3, generator=g) for _ in range(7)], "count": 5},
                 shape="as one checkpoint")]


def _fixed() -> list[Case]:
    two = [torch.tensor([1.0, 5.0, -3.0]), torch.tensor([3.0, 1.0, 0.0])]
    return [Case("count = 1: the last one itself", {"checkpoints": two, "count": 1}, part="edges", shape="(3,)"),
            Case("all there are", {"checkpoints": two, "count": 2}, part="edges", shape="(3,)"),
            Case("a single checkpoint with a single number", {"checkpoints": [torch.tensor(-2.5)], "count": 1}, part="edges", shape="()"),
            Case("count = -3, 2 checkpoints", {"checkpoints": two, "count": -3}, part="bad input", rejects=ValueError,
                 mentions=("-3", "2")),
            Case("count = 3, 2 checkpoints", {"checkpoints": two, "count": 3}, part="bad input", rejects=ValueError, mentions=("3", "2")),
            Case("count = 0, 2 checkpoints", {"checkpoints": two, "count": 0}, part="bad input", rejects=ValueError, mentions=("0",))]


AVERAGING = Exercise(
    id="08b.6", title="Average the last checkpoints", name="average_last", kind="function", stars=2, minutes=6,
    signature="average_last(checkpoints, count) -> mean, spread ()", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 1, "bad input": 1}, outputs=("mean", "spread"),
    forbidden=("course_utils.training.schedules.average",),
    twins=(
        Twin("sum instead of mean", partial(_average, how="sum"), "The weights are added up but not divided by how many there are."),
        Twin("all checkpoints averaged", partial(_average, how="all"),
             "The first checkpoints come from a model that had hardly learned anything. Only the last ones are asked for."),
        Twin("the first ones averaged", partial(_average, how="first"),
             "The list runs from early to late, and you took its beginning. The last ones are at its end."),
        Twin("divided by all checkpoints", partial(_average, how="all in the denominator"),
             "You add up the last ones but divide by the length of the whole list."),
        Twin("one checkpoint too many", partial(_average, how="one more"),
             "Your window holds one checkpoint more than was asked for. Count how many a slice from the end contains."),
        Twin("only the last one", partial(_average, how="last"), "That is the last checkpoint itself; nothing has been averaged."),
        Twin("one checkpoint picked", partial(_average, how="one of them"),
             "You return the first checkpoint of the window. Average it with all that come after it."),
        Twin("median instead of mean", partial(_average, how="median"),
             "The median throws away all but the middle value of each weight. The mean uses every checkpoint."),
        Twin("everything becomes one number", partial(_average, how="number"),
             "Average over the checkpoints only: each weight keeps its place in the tensor."),
        Twin("averaged inside each tensor", partial(_average, how="inside"),
             "You average along an axis of the weights. Average along the axis of the checkpoints instead."),
        Twin("window one too early", partial(_average, how="one less"),
             "Your window leaves out the last checkpoint, which was trained longest."),
        Twin("last one cut off", partial(_average, how="last left out"),
             "A slice stops before its second index, so yours lacks the last checkpoint; with a count of one nothing is left."),
        Twin("decaying average", partial(_average, how="decaying"),
             "That gives late checkpoints more weight than early ones. Here all of the last ones weigh the same."),
        Twin("mean of first and last", partial(_average, how="ends"),
             "The checkpoints between the two ends of the window belong to the mean as well."),
        Twin("quadratic mean", partial(_average, how="rms"), "You square the weights, which loses every minus sign."),
        Twin("distance of a single weight", partial(_average, how="a weight"),
             "You average the squares over the weights as well. The distance of a checkpoint adds up over all its weights."),
        Twin("root forgotten", partial(_average, how="no root"), "That is the mean of the squared distances, before the root."),
        Twin("mean of the distances", partial(_average, how="mean of lengths"),
             "You average the distances themselves. Here their squares are averaged, and the root is taken last."),
        Twin("one checkpoint less in the divisor", partial(_average, how="unbiased"),
             "You divide by one less than the number of checkpoints, as when a variance is estimated. Take the plain mean of the squares."),
        Twin("squares summed over the checkpoints", partial(_average, how="total"),
             "The squared distances are added up over the checkpoints. Their mean is asked for."),
        Twin("largest distance", partial(_average, how="largest"), "You return the largest of the distances. All of them count alike."),
        Twin("a spread for each weight", partial(_average, how="each weight"),
             "You return one number for each weight. The spread is a single number, made from the distances of whole checkpoints."),
        Twin("distance from the last one", partial(_average, how="from the last"),
             "You measure the distances from the last checkpoint. Measure them from the mean."),
    ),
)
