"""Exercise 10.2: a classifier with three faults. The oracle multiplies with einsum and drops nothing, everything or half."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, randn


class Classifier(nn.Module):
    def __init__(self, d_model: int, num_labels: int, dropout: float):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)
        self.dropout = dropout

    def forward(self, hidden: Tensor) -> Tensor:
        first = hidden[:, 0]
        x = torch.tanh(self.pooler(first))
        x = F.dropout(x, self.dropout, self.training)
        return self.output(x)


def oracle(init: dict, parameters: dict, inputs: dict, mode: str = "train") -> Tensor:
    p, hidden = parameters, inputs["hidden"]
    rate = init["dropout"] if mode == "train" else 0.0
    kept = torch.tensor(0.0 if rate > 0.9 else 1.0)  # the cases drop nothing or everything ...
    if rate == 0.5:  # ... or half: rows of one number, which is there, doubled, or not
        kept = 2.0 * (torch.arange(len(hidden)) % 2)[:, None]
    first = torch.einsum("bd,ed->be", hidden.select(1, 0), p["pooler.weight"]) + p["pooler.bias"]
    return torch.einsum("bd,ed->be", kept * torch.tanh(first), p["output.weight"]) + p["output.bias"]


def case(g: torch.Generator, label: str, part: str, dropout: float, sizes: tuple = (4, 6, 5, 3), **mode: str) -> Case:
    batch, n, d, labels = sizes
    pooler = {"pooler.weight": 0.5 * randn(g, d, d), "pooler.bias": 0.5 * randn(g, d)}
    parameters = pooler | {"output.weight": 0.7 * randn(g, labels, d), "output.bias": 0.5 * randn(g, labels)}
    init = {"d_model": d, "num_labels": labels, "dropout": dropout}
    args = {"init": init, "parameters": parameters, "inputs": {"hidden": randn(g, batch, n, d)}, **mode}
    return Case(label, args, part, gradients=("hidden", *parameters) if dropout == 0 else (), shape="(batch, num_labels)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "no dropout: 4 sentences of 6 tokens, d_model = 5, 3 labels", "values", 0.0),
        case(g, "evaluation mode, where dropout = 1 drops nothing", "evaluation", 1.0, (3, 7, 4, 2), mode="eval"),
        case(g, "training mode, a dropout of 0.9999999 drops everything", "dropout", 0.9999999, (2, 3, 6, 4)),
    ]


def fixed() -> list[Case]:
    half = case(generator(4), "training mode, a dropout of 0.5, 64 times the same sentence, one feature", "dropout", 0.5, (1, 3, 1, 1))
    half.args["parameters"]["output.weight"] += 1
    half.args["inputs"]["hidden"] = (0.5 + half.args["inputs"]["hidden"].abs()).repeat(64, 1, 1)
    return [half, case(generator(5), "one sentence", "values", 0.0, (1, 6, 5, 3))]


def span(scores: Tensor) -> Tensor:
    """The smallest and the largest score of the 64 rows that chance has changed; other scores as they are."""
    return torch.cat([scores.amin(0), scores.amax(0)]) if scores.shape == (64, 1) else scores


COMPARED = "where numbers are dropped by chance, the smallest and the largest score are compared"
EXERCISE = ModuleExercise(right=Classifier, oracle=oracle, draw=draw, fixed=fixed, raw=span, compared=COMPARED)
