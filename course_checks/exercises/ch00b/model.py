"""Exercise 00b.4: softmax regression as a module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _regression(how: str = "right") -> type[nn.Module]:
    class SoftmaxRegression(nn.Module):
        def __init__(self, num_features: int, num_classes: int) -> None:
            super().__init__()
            start = torch.randn if how == "random" else torch.ones if how == "ones" else torch.zeros
            shape = (num_features, num_classes) if how == "transposed" else (num_classes, num_features)
            self.weight = nn.Parameter(start(*shape))
            if how != "no bias":
                self.bias = nn.Parameter(torch.zeros(num_features if how == "bias of the features" else num_classes))

        def forward(self, x: Tensor) -> Tensor:
            if how == "bias of the features":
                return (x + self.bias) @ self.weight.T
            scores = x @ (self.weight if how == "transposed" else self.weight.T)
            match how:
                case "no bias" | "bias forgotten":
                    return scores
                case "bias subtracted":
                    return scores - self.bias
                case "probabilities":
                    return torch.softmax(scores + self.bias, -1)
                case "logarithms":
                    return torch.log_softmax(scores + self.bias, -1)
                case "over the batch":
                    return torch.softmax(scores + self.bias, 0)
                case "cut off":
                    return torch.relu(scores + self.bias)
                case "class":
                    return (scores + self.bias).argmax(-1)
                case "shares":
                    return (x / x.sum(-1, keepdim=True)) @ self.weight.T + self.bias
                case "bias times":
                    return scores * self.bias
            return scores + self.bias

    return SoftmaxRegression


def _oracle(init: dict, parameters: dict, inputs: dict | None, **_: object) -> Tensor | str:
    """One dot product at a time."""
    if inputs is None:
        return "bias 0, weight 0"
    x, weight, bias = inputs["x"], parameters["weight"], parameters["bias"]
    rows = [torch.stack([(row * w).sum() + b for w, b in zip(weight, bias, strict=True)]) for row in x]
    return torch.stack(rows)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    n, d, k = sizes(g, 3, 2, 8)

    def case(rows: int) -> Case:
        args = {"init": {"num_features": d, "num_classes": k}, "parameters": {"weight": randn(g, k, d), "bias": randn(g, k)},
                "inputs": {"x": randn(g, rows, d) + 1}}
        return Case(f"{rows} words with {d} features, {k} languages", args, shape="(word, language)", gradients=("weight", "bias"))

    return [case(n), case(n + 8), case(1)]


REGRESSION = Exercise(
    id="00b.4", title="Softmax regression as a module", name="SoftmaxRegression", kind="module", stars=1, minutes=8,
    signature="SoftmaxRegression(num_features, num_classes); forward(x) -> (n, num_classes)",
    oracle=_oracle, reference=_regression(), draw=_draw, parts={"values": 2, "start": 1},
    forbidden=("torch.nn.Linear", "torch.nn.functional.linear", "torch.nn.LazyLinear"),
    fixed=lambda: [Case("a new module", {"init": {"num_features": 5, "num_classes": 3}, "parameters": {}, "inputs": None}, part="start")],
    twins=(
        Twin("starts at random", _regression("random"),
             "The docstring asks for a start at 0, where every language is equally probable. Section 10 explains why that is allowed "
             "here, and not in a network with a hidden layer."),
        Twin("starts at one", _regression("ones"), "Your weights start at 1. The docstring asks for zeros."),
        Twin("weight transposed", _regression("transposed"),
             "The weight needs one row for each language: this row says how much each letter speaks for the language."),
        Twin("no bias", _regression("no bias"), "The parameter `bias` is missing: one number for each language."),
        Twin("bias never added", _regression("bias forgotten"), "You made the bias and did not use it in the forward pass."),
        Twin("bias subtracted", _regression("bias subtracted"), "The bias is added to the scores; you subtract it."),
        Twin("bias as a factor", _regression("bias times"), "You multiply by the bias. It is added to the scores."),
        Twin("bias added to the features", _regression("bias of the features"),
             "You add the bias to the letters. It has to be added to the scores, one number for each language."),
        Twin("probabilities returned", _regression("probabilities"),
             "The module should return logits. The loss takes the softmax itself, so with yours it would be taken twice."),
        Twin("log-probabilities returned", _regression("logarithms"),
             "The module should return logits, as they are after the product and the bias. The loss does the rest."),
        Twin("softmax over the batch", _regression("over the batch"),
             "Your softmax lets the words of the batch compete with each other. No softmax is asked for here: return logits."),
        Twin("negative scores cut off", _regression("cut off"),
             "You replace negative scores by 0. A negative score speaks against a language: return the scores as they are."),
        Twin("classes returned", _regression("class"),
             "You return the best language. No gradient passes through that choice: return the scores."),
        Twin("features made into shares", _regression("shares"),
             "You divide each row by its sum. The module takes the features as they come."),
    ),
)
