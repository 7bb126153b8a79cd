"""Exercise 06.5: which inputs does each output read? The oracle disturbs the inputs in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin, generator
from . import callables  # noqa: F401  (registers the layers)


def _leaks_oracle(f: Registered, x: Tensor) -> Tensor:
    """Move one input token at a time, several times, and see which outputs move."""
    function, x = CALLABLES[f.name], x.double()
    before, columns = function(x), []
    for j in range(len(x)):
        moved = torch.zeros(len(before), dtype=torch.bool)
        for draw in range(3):
            changed = x.clone()
            changed[j] += torch.randn(x.shape[-1], generator=generator(100 * j + draw)).double()
            moved |= (function(changed) - before).abs().amax(1) > 1e-9
        columns.append(moved)
    return torch.stack(columns, 1)


def _leaks(f, x: Tensor, how: str = "right") -> Tensor:
    jacobian = torch.autograd.functional.jacobian(f, x.detach())  # (query, feature out, token, feature in)
    match how:
        case "outputs summed":
            return jacobian.sum(1).abs().amax(-1) > 1e-6
        case "both summed":
            return jacobian.sum((1, 3)).abs() > 1e-6
        case "signed":
            return jacobian.sum(-1).abs().amax(1) > 1e-6
        case "positive":
            return jacobian.amax((1, 3)) > 0.2
        case "no absolute value":
            return jacobian.amax((1, 3)) > 0
        case "all":
            return (jacobian != 0).all(3).all(1)
        case "all inputs":
            return (jacobian != 0).all(3).any(1)
        case "all outputs":
            return (jacobian != 0).any(3).all(1)
        case "first output":
            return jacobian[:, 0].abs().amax(-1) > 0
        case "first input":
            return jacobian[..., 0].abs().amax(1) > 0
    size = jacobian.abs().amax((1, 3))  # (query, token)
    match how:
        case "transposed":
            return (size > 0).T
        case "accumulated":
            return size.cumsum(0) > 0
        case "coarse":
            return size > 1e-3
        case "very coarse":
            return size > 0.01
        case "numbers":
            return size
        case "ones":
            return (size > 0).float()
        case "future":
            return (size > 0).triu(1)
        case "hidden":
            return size == 0
        case "any query":
            return (size > 0).any(0)
        case "rows alike":
            return (size > 0).any(0).expand(size.shape)
        case "past":
            return (size > 0).tril()
        case "triangle":
            return torch.ones(len(x), len(x), dtype=torch.bool).tril()
    return size > 0


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = int(torch.randint(5, 7, (), generator=g))
    x = torch.randn(n, 4, generator=g)

    return [_case("causal_layer", x, f"attention with a causal mask, {n} tokens")]


def _case(name: str, x: Tensor, words: str, part: str = "values") -> Case:
    return Case(words, {"f": Registered(name), "x": x}, part=part, shape="(outputs, inputs)")


def _fixed() -> list[Case]:
    x = torch.randn(5, 4, generator=generator(12))
    loud = x + torch.tensor([40.0, 0.0, 0.0, 0.0])  # a small push at the next token is lost in the rounding of a number of this size
    return [_case("masked_too_late", x, "a mask after the softmax"),
            _case("shortened", x, "half as many outputs as inputs", "other sizes"),
            _case("balanced_window", x, "a window, and outputs whose features sum to 0", "well hidden"),
            _case("contrasts", x, "a layer that reads differences of features", "well hidden"),
            _case("last_feature", x, "a layer that reads one feature of the token before", "well hidden"),
            _case("against", x, "the token before is subtracted", "well hidden"),
            _case("whisper", x[:4], "a faint look at the next token", "well hidden"),
            _case("whisper", loud[:4], "a faint look at the next token beside large numbers", "well hidden"),
            _case("aside", x[:4], "one output feature reads more than the other", "well hidden"),
            _case("causal_layer", torch.ones(1, 3), "a single token", "other sizes")]


LEAKS = Exercise(
    id="06.5", title="A leak detector", name="reads", kind="function", stars=3, minutes=15,
    signature="reads(f, x) -> (outputs, inputs)", oracle=_leaks_oracle, reference=_leaks, draw=_draw,
    parts={"values": 2, "well hidden": 2, "other sizes": 1},
    fixed=_fixed,
    twins=(
        Twin("output features added up first", partial(_leaks, how="outputs summed"),
             "You differentiate the sum of an output's features. That sum may be constant, as it is after a layer norm, and "
             "then its gradient is 0: look at the features one by one."),
        Twin("input features taken together", partial(_leaks, how="signed"),
             "You added the gradients of a token's features with their signs, or pushed all its features alike. That misses a layer "
             "that reads only differences: ask whether any single gradient is not zero."),
        Twin("only the first output feature", partial(_leaks, how="first output"),
             "You look at one feature of every output. The leak may be in another one."),
        Twin("only the first input feature", partial(_leaks, how="first input"),
             "You look at one feature of every input. The output may read another one."),
        Twin("all features taken together", partial(_leaks, how="both summed"),
             "You added all slopes between two tokens with their signs. They can cancel, over the features of an output as well as of an "
             "input: look at each slope by itself."),
        Twin("only large positive gradients", partial(_leaks, how="positive"),
             "A negative gradient is a dependence too, and so is a small one."),
        Twin("inputs in the rows", partial(_leaks, how="transposed"),
             "Your rows are inputs and your columns outputs. Rows belong to outputs here, as rows of a mask do to queries."),
        Twin("gradients pile up", partial(_leaks, how="accumulated"),
             "The gradients of earlier outputs are still there when you read the next. Every backward pass adds to what is there."),
        Twin("negative slopes lost", partial(_leaks, how="no absolute value"),
             "You ask for the largest slope and whether it is above zero. If every slope is negative, you report nothing: look at sizes "
             "without signs."),
        Twin("all features must depend", partial(_leaks, how="all"),
             "You ask whether every feature of the output depends on every feature of the input. One dependent pair is enough."),
        Twin("all input features must matter", partial(_leaks, how="all inputs"),
             "You report an input only if every one of its features is read. One of them is enough."),
        Twin("all output features must depend", partial(_leaks, how="all outputs"),
             "You report an input only if every feature of the output reads it. One of them is enough."),
        Twin("threshold too coarse", partial(_leaks, how="coarse"),
             "A faint dependence is a dependence: slopes may be as small as a ten-thousandth here. Lower your threshold."),
        Twin("threshold far too coarse", partial(_leaks, how="very coarse"),
             "A faint dependence is a dependence: slopes may be as small as a ten-thousandth here. You miss even slopes a hundred "
             "times as large."),
        Twin("sizes instead of booleans", partial(_leaks, how="numbers"),
             "You return the sizes of the gradients; the question is only whether they differ from zero."),
        Twin("numbers instead of booleans", partial(_leaks, how="ones"), "The pattern is right; the docstring asks for True and False."),
        Twin("only the future reported", partial(_leaks, how="future"),
             "You report only what should not be read. Report everything that is read, also the past and the token itself."),
        Twin("True means independent", partial(_leaks, how="hidden"),
             "Every entry is the opposite: True means that the output reads the input."),
        Twin("all outputs in one", partial(_leaks, how="any query"),
             "You found out which inputs are read by any output. The result has a row for every output."),
        Twin("rows all alike", partial(_leaks, how="rows alike"),
             "All your rows are alike: they say what any of the outputs reads. Ask for each output by itself, with a gradient of its own."),
        Twin("future never reported", partial(_leaks, how="past"),
             "Nothing above the diagonal is ever True, even for a layer that looks ahead. That is where the leaks are."),
        Twin("triangle without looking", partial(_leaks, how="triangle"),
             "You return the triangle of a causal layer, the same for every `f`. To find out what `f` really reads, you have to "
             "call it."),
    ),
)
