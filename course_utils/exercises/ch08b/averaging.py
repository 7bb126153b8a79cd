"""Exercise 08b.6: the mean of the last checkpoints. The oracle is numpy in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...checks.exercise import Case, Exercise, Twin, generator


def _oracle(checkpoints: list[Tensor], count: int) -> Tensor:
    import numpy as np

    return torch.as_tensor(np.mean([c.numpy().astype(float) for c in checkpoints[len(checkpoints) - count:]], axis=0)).float()


def _average(checkpoints: list[Tensor], count: int, how: str = "right") -> Tensor:
    last = torch.stack(checkpoints[-count:])
    everything = torch.stack(checkpoints)
    match how:
        case "sum":
            return last.sum(0)
        case "all":
            return everything.mean(0)
        case "first":
            return everything[:count].mean(0)
        case "all in the denominator":
            return last.sum(0) / len(checkpoints)
        case "last":
            return checkpoints[-1]
        case "one of them":
            return last[0]
        case "median":
            return last.median(0).values
        case "number":
            return last.mean()
        case "inside":
            return last.mean(-1)
        case "one more":
            return everything[max(0, len(everything) - count - 1):].mean(0)
        case "one less":
            return everything[-count - 1:-1].mean(0) if count < len(everything) else everything[:-1].mean(0)
        case "last left out":
            return torch.stack(checkpoints[-count:-1]).mean(0)
        case "decaying":
            mean = last[0]
            for item in last[1:]:
                mean = 0.5 * mean + 0.5 * item
            return mean
        case "ends":
            return (last[0] + last[-1]) / 2
        case "rms":
            return last.pow(2).mean(0).sqrt()
        case "every":
            return everything[::max(1, len(everything) // count)].mean(0)
    return last.mean(0)


def _reference(checkpoints: list[Tensor], count: int) -> Tensor:
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
    id="08b.6", title="Average the last checkpoints", name="average_last", kind="function", stars=1, minutes=6,
    signature="average_last(checkpoints, count) -> tensor", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 1, "bad input": 1}, forbidden=("course_utils.training.schedules.average",),
    twins=(
        Twin("sum instead of mean", partial(_average, how="sum"), "The weights are added up but not divided by how many there are."),
        Twin("all checkpoints averaged", partial(_average, how="all"),
             "The first checkpoints come from a model that had hardly learned anything. Only the last ones are asked for."),
        Twin("the first ones averaged", partial(_average, how="first"),
             "The list runs from early to late, and you took its beginning. The last ones stand at its end."),
        Twin("divided by all checkpoints", partial(_average, how="all in the denominator"),
             "You add up the last ones and divide by how many there are in the whole list."),
        Twin("one checkpoint too many", partial(_average, how="one more"),
             "Your window holds one checkpoint more than was asked for. Count how many a slice from the end contains."),
        Twin("only the last one", partial(_average, how="last"), "That is the last checkpoint itself; nothing has been averaged."),
        Twin("one checkpoint picked", partial(_average, how="one of them"),
             "You return a single checkpoint, the first of the last ones. Average it with all that come after it."),
        Twin("median instead of mean", partial(_average, how="median"),
             "The median throws away all but the middle value of each weight. The mean uses every checkpoint."),
        Twin("everything becomes one number", partial(_average, how="number"),
             "Average over the checkpoints only: each weight keeps its place in the tensor."),
        Twin("averaged inside each tensor", partial(_average, how="inside"),
             "You average along an axis of the weights. The axis to average over is that of the checkpoints."),
        Twin("window one too early", partial(_average, how="one less"),
             "The window leaves out the last checkpoint, the best trained of them all."),
        Twin("last one cut off", partial(_average, how="last left out"),
             "A slice stops before its second index, so yours lacks the last checkpoint; with a count of one nothing is left."),
        Twin("decaying average", partial(_average, how="decaying"),
             "That gives late checkpoints more weight than early ones. Here all of the last ones weigh the same."),
        Twin("mean of first and last", partial(_average, how="ends"),
             "The checkpoints between the two ends of the window belong to the mean as well."),
        Twin("quadratic mean", partial(_average, how="rms"), "Squaring loses the sign of every negative weight."),
    ),
)
