"""Exercise 07a.5, find the bugs: a stack of blocks. The oracle is PyTorch's encoder, with the same parameters."""

import re
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..common import Case, ModuleExercise, generator, randn
from .block_cases import NAMES, arguments, block_parameters, some_mask, torch_layer, torch_mask
from .encoder_block import EncoderBlock


class Encoder(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, num_layers: int):
        super().__init__()
        self.layers = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


@cache
def torch_encoder(d: int, num_heads: int, d_ff: int, num_layers: int) -> nn.TransformerEncoder:
    """PyTorch's encoder; its own weights are never used, so one of each size will do."""
    return nn.TransformerEncoder(torch_layer(d, num_heads, d_ff, True), num_layers, norm=nn.LayerNorm(d), enable_nested_tensor=False)


def oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return ", ".join([*(f"layers.{number}.norm1.bias 0" for number in range(init["num_layers"])), "norm.bias 0, norm.weight 1"])
    state = {}
    for name, value in parameters.items():
        first, number, inner = [*name.split(".", 2), ""][:3]
        state[name if first == "norm" else f"layers.{number}.{NAMES[inner]}"] = value
    mask = torch_mask(inputs["mask"], inputs["x"], init["num_heads"])
    return functional_call(torch_encoder(*init.values()), state, (inputs["x"], mask))


def case(g: torch.Generator, label: str, shape: tuple[int, int, int], heads: int, layers: int, mask: Tensor | None = None) -> Case:
    d = shape[-1]
    parameters = {f"layers.{i}.{name}": value for i in range(layers) for name, value in block_parameters(g, d, 20).items()}
    parameters |= {"norm.weight": 1 + 0.4 * randn(g, d), "norm.bias": 0.4 * randn(g, d)}
    args = arguments(parameters, randn(g, *shape), heads, 20, mask, num_layers=layers)
    slopes = ("x", "layers.0.linear1.weight", f"layers.{layers - 1}.attention.w_o.weight", "norm.weight")
    return Case(label, args, part="chain" if mask is None else "mask", gradients=slopes, shape="(batch, token, d_model)")


def new(label: str, layers: int, part: str) -> Case:
    """What a new stack holds: each fault of the constructor earns by itself, before the loop can be judged."""
    init = {"d_model": 6, "num_heads": 2, "d_ff": 20, "num_layers": layers}
    return Case(label, {"init": init, "parameters": {}, "inputs": None}, part)


def held(value: Any, case: Case) -> Any:
    """Of what a new stack holds, what its part asks for: the numbers of its blocks, or whether there is a closing norm."""
    if case.args["inputs"] is not None or not isinstance(value, str):
        return value
    if case.part == "blocks":
        return "blocks " + ", ".join(sorted(set(re.findall(r"layers\.(\d+)\.", value))))
    return "a closing norm" if ", norm.bias 0, norm.weight 1" in value else "no closing norm"


def draw(seed: int) -> list[Case]:
    return [case(generator(seed), "3 layers, 2 sequences of 5 tokens, d_model = 12", (2, 5, 12), 4, 3)]


def fixed() -> list[Case]:
    g = generator(6)
    return [
        case(g, "a single layer", (1, 4, 6), 2, 1),
        case(g, "2 layers, a mask for each sequence", (2, 5, 12), 3, 2, some_mask(g, 2, 5, 5)),
        new("a new stack of three: the blocks in it", 3, "blocks"),
        new("a new stack of one: its closing norm", 1, "norm"),
        case(g, "2 layers, no token may look ahead", (1, 3, 6), 2, 2, torch.ones(3, 3).tril().bool()),
    ]


FORBIDDEN = ("torch.nn.TransformerEncoder.forward", "torch.nn.TransformerEncoderLayer.forward")
EXERCISE = ModuleExercise(right=Encoder, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN, effect=held)
