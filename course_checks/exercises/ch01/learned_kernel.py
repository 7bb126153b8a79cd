"""Exercise 01.6: a kernel that learns its width. The oracle goes query by query, in double precision, and leaves points really out."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, randn, sizes


class LearnedKernel(nn.Module):
    def __init__(self, num_features: int):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, exclude_self: bool = False) -> Tensor:
        difference = query[:, None, :] - keys[None, :, :]
        scores = -0.5 * (difference * self.w).pow(2).sum(-1)
        if exclude_self:
            itself = torch.eye(len(keys), dtype=torch.bool)
            scores = scores.masked_fill(itself, -torch.inf)
        return torch.softmax(scores, dim=-1) @ values


def oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return "w 1"
    w, query, keys, values = parameters["w"], inputs["query"], inputs["keys"], inputs["values"]
    rows = []
    for i, q in enumerate(query):
        use = [j for j in range(len(keys)) if not (inputs.get("exclude_self", False) and i == j)]
        exponents = torch.stack([-0.5 * ((w.double() * (q - keys[j])) ** 2).sum() for j in use])
        kernel = torch.exp(exponents - exponents.max())
        rows.append((kernel * values[use]).sum() / kernel.sum())
    return torch.stack(rows).float()


def case(label: str, w: Tensor, inputs: dict, part: str = "exclude_self", **more) -> Case:
    return Case(label, {"init": {"num_features": len(w)}, "parameters": {"w": w}, "inputs": inputs}, part, shape="(query,)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    d, m, n, p = sizes(g, 4)
    inputs = {"query": randn(g, m, d), "keys": randn(g, n, d), "values": randn(g, n), "exclude_self": False}
    same = randn(g, p, d)
    own = {"query": same, "keys": same, "values": randn(g, p)}
    w = 0.5 + torch.rand(d, generator=g)
    return [
        case(f"{m} queries, {n} points, {d} features", w, inputs, "values", gradients=("w",)),
        case(f"{p} points that may see themselves", w, {**own, "exclude_self": False}, gradients=("w",)),
        case("the same, exclude_self left out of the call", w, own),
        case(f"{p} points that must not see themselves", w, {**own, "exclude_self": True}, gradients=("w",)),
    ]


def fixed() -> list[Case]:
    keys, w = torch.tensor([[0.0, 0.0], [1.0, 0.5], [1.0, 0.5], [2.0, 3.0]]), torch.tensor([1.0, 1.1])
    own: dict = {"query": keys, "keys": keys, "values": torch.tensor([0.0, 5.0, 1.0, 4.0]), "exclude_self": True}
    far = {**own, "query": torch.tensor([[0.8, 0.2], [60.0, 70.0], [-90.0, 0.0]]), "exclude_self": False}
    apart = {**own, "query": keys[[0, 1, 3]], "keys": keys[[0, 1, 3]], "values": own["values"][[0, 1, 3]]}
    return [
        Case("how a new module starts", {"init": {"num_features": 2}, "parameters": {}, "inputs": None}),
        case("a negative w", -0.8 * w, {**apart, "exclude_self": False}, "values"),
        case("two of three queries far from every point", w, far, "values"),
        case("two points at the same place", 0.8 * w, own),
        case("points far apart for a large w", 1e5 * w, apart),
    ]


EXERCISE = ModuleExercise(right=LearnedKernel, oracle=oracle, draw=draw, fixed=fixed)
