"""Exercise 02.1: a recurrent layer. The oracle is PyTorch's own, whose second bias is 0 here."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, randn, sizes


class ElmanRNN(nn.Module):
    def __init__(self, d_in: int, width: int):
        super().__init__()
        self.w = nn.Linear(d_in, width)
        self.u = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, h: Tensor | None = None) -> Tensor:
        if h is None:
            h = torch.zeros(x.shape[0], self.u.in_features)
        states = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.w(x[:, t]) + self.u(h))
            states.append(h)
        return torch.stack(states, dim=1)


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    x, h, b = inputs["x"], inputs.get("h"), parameters["w.bias"]
    layer = nn.RNN(init["d_in"], init["width"], batch_first=True)
    weights = {"weight_ih_l0": parameters["w.weight"], "weight_hh_l0": parameters["u.weight"]}
    biases = {"bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)}
    return torch.func.functional_call(layer, weights | biases, (x, h if h is None else h[None]))[0]


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, steps, d_in, width = sizes(g, 4)
    shapes = {"w.weight": (width, d_in), "w.bias": (width,), "u.weight": (width, width)}
    parameters = {name: 0.6 * randn(g, *shape) for name, shape in shapes.items()}
    x = randn(g, batch, steps, d_in)
    every = ("x", *shapes)

    def case(label: str, inputs: dict, **more) -> Case:
        args = {"init": {"d_in": d_in, "width": width}, "parameters": parameters, "inputs": inputs}
        return Case(label, args, shape="(batch, step, width)", **more)

    given = {"x": x, "h": randn(g, batch, width)}
    return [
        case(f"{batch} sequences of {steps} steps, d_in = {d_in}, width = {width}", {"x": x, "h": None}, gradients=every),
        case("the same with a state to start from", given, part="given start", gradients=(*every, "h")),
        case("one sequence of a single step, h left out", {"x": randn(g, 1, 1, d_in)}),
    ]


FORBIDDEN = ("torch.nn.RNN", "torch.nn.RNNCell", "torch.rnn_tanh", "torch.rnn_tanh_cell")
EXERCISE = ModuleExercise(right=ElmanRNN, oracle=oracle, draw=draw, forbidden=FORBIDDEN)
