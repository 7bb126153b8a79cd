"""Exercise 06.5: which inputs does each output read? The oracle disturbs the inputs in double precision."""

import torch
from torch import Tensor

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator
from . import callables  # noqa: F401  (registers the layers)


def reads(f, x: Tensor) -> Tensor:
    jacobian = torch.autograd.functional.jacobian(f, x)  # (output, its feature, input, its feature)
    depends = (jacobian != 0).any(dim=3).any(dim=1)
    return depends


def oracle(f: Registered, x: Tensor) -> Tensor:
    """Move one input token at a time, several times, and see which outputs move."""
    function, x = CALLABLES[f.name], x.double()
    before, columns = function(x), []
    for j in range(len(x)):
        moved = torch.zeros(len(before), dtype=torch.bool)
        for seed in range(3):
            changed = x.clone()
            changed[j] += torch.randn(x.shape[-1], generator=generator(100 * j + seed)).double()
            moved |= (function(changed) - before).abs().amax(1) > 1e-9
        columns.append(moved)
    return torch.stack(columns, 1)


def case(name: str, x: Tensor, words: str, part: str = "values") -> Case:
    return Case(words, {"f": Registered(name), "x": x}, part=part, shape="(outputs, inputs)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = int(torch.randint(5, 7, (), generator=g))
    return [case("causal_layer", torch.randn(n, 4, generator=g), f"attention with a causal mask, {n} tokens")]


def fixed() -> list[Case]:
    x = torch.randn(5, 4, generator=generator(12))
    loud = x + torch.tensor([40.0, 0.0, 0.0, 0.0])  # a small push at the next token is lost in the rounding of a number of this size
    return [
        case("masked_too_late", x, "a mask after the softmax"),
        case("shortened", x, "half as many outputs as inputs", "other sizes"),
        case("balanced_window", x, "a window, and outputs whose features sum to 0", "well hidden"),
        case("contrasts", x, "a layer that reads differences of features", "well hidden"),
        case("last_feature", x, "a layer that reads one feature of the token before", "well hidden"),
        case("against", x, "the token before is subtracted", "well hidden"),
        case("whisper", x[:4], "a faint look at the next token", "well hidden"),
        case("whisper", loud[:4], "a faint look at the next token beside large numbers", "well hidden"),
        case("aside", x[:4], "one output feature reads more than the other", "well hidden"),
        case("causal_layer", torch.ones(1, 3), "a single token", "other sizes"),
    ]


EXERCISE = FunctionExercise(right=reads, oracle=oracle, draw=draw, fixed=fixed)
