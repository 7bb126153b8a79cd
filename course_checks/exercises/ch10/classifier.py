"""Exercise 10.2: a body and one layer on [CLS]. The oracle adds up products in double precision."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from ..common import CALLABLES, Case, ModuleExercise, Registered, generator, integers, randn
from . import callables  # noqa: F401  (registers the bodies)


class Classifier(nn.Module):
    def __init__(self, body, d_model: int, num_labels: int):
        super().__init__()
        self.body = body
        self.output = nn.Linear(d_model, num_labels)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        hidden = self.body(ids, segments, mask)  # (batch, n, d_model)
        return self.output(hidden[:, 0])


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    hidden = CALLABLES[init["body"].name](**inputs).double()
    weight, bias = parameters["output.weight"].double(), parameters["output.bias"].double()
    return torch.stack([(weight * row[0]).sum(1) + bias for row in hidden]).float()


def case(g: torch.Generator, body: str, width: int, labels: int, batch: int, n: int, label: str, part: str, pads: int = 0) -> Case:
    mask = torch.arange(n) < n - pads * (torch.arange(batch) % 2)[:, None]
    inputs = {"ids": integers(g, 3, 11, batch, n) * mask, "segments": (torch.arange(n) > n // 2).long() * mask, "mask": mask}
    parameters = {"output.weight": randn(g, labels, width), "output.bias": randn(g, labels)}
    args = {"init": {"body": Registered(body), "d_model": width, "num_labels": labels}, "parameters": parameters, "inputs": inputs}
    return Case(label, args, part, gradients=("output.weight", "output.bias"), shape="(batch, num_labels)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = 7 + int(integers(g, 0, 3))
    return [
        case(g, "body_of_six", 6, 2, 4, n, f"4 texts of {n} tokens, 2 labels", "values"),
        case(g, "body_of_five", 5, 3, 4, n, f"4 texts, two of them with pads, {n} places, 3 labels", "padding", pads=3),
    ]


def fixed() -> list[Case]:
    label = "segments between 0 and 1, so that gradients can be followed through the body"
    through = case(generator(6), "body_of_five", 5, 2, 3, 6, label, "values")
    through.args["inputs"]["segments"] = torch.rand(3, 6, generator=generator(7))
    single = case(generator(5), "body_of_six", 6, 4, 1, 5, "a single text, 4 labels", "values")
    return [single, replace(through, gradients=("output.weight", "segments"))]


EXERCISE = ModuleExercise(right=Classifier, oracle=oracle, draw=draw, fixed=fixed)
