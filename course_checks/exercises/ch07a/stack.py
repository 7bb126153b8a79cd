"""Exercise 07a.5, find the bug: a stack of blocks. The oracle is PyTorch's encoder, with the same parameters."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn
from .block import Block
from .block_cases import NAMES, block_parameters, some_mask, torch_layer, torch_mask


@cache
def _torch_encoder(d: int, num_heads: int, d_ff: int, num_layers: int) -> nn.TransformerEncoder:
    """PyTorch's encoder; its own weights are never used, so one of each size will do."""
    return nn.TransformerEncoder(torch_layer(d, num_heads, d_ff, True), num_layers, norm=nn.LayerNorm(d), enable_nested_tensor=False)


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    x, d = inputs["x"], init["d_model"]
    encoder = _torch_encoder(d, init["num_heads"], init["d_ff"], init["num_layers"])
    state = {}
    for name, value in parameters.items():
        first, _, rest = name.partition(".")
        number, _, inner = rest.partition(".")
        state[name if first == "norm" else f"layers.{number}.{NAMES[inner]}"] = value
    return functional_call(encoder, state, (x, torch_mask(inputs["mask"], x, init["num_heads"])))


class _Stack(nn.Module):
    """An encoder with a switch for each usual mistake."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, num_layers: int, how: str):
        super().__init__()
        place = "post" if how == "post" else "pre"
        blocks = [Block(d_model, num_heads, d_ff, place) for _ in range(num_layers)]
        if how in ("handed out", "shared"):
            blocks = blocks[:1] * num_layers
        self.layers = blocks if how == "list" else nn.ModuleList(blocks)
        if how not in ("handed out", "no norm"):
            self.norm = nn.LayerNorm(d_model)
        self.how = how

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        how, start, out, total = self.how, x, x, x
        if mask is not None and how == "inverted":
            mask = ~mask
        layers = {"reverse": list(self.layers)[::-1], "one short": list(self.layers)[:-1] or list(self.layers),
                  "first only": list(self.layers)[:1]}.get(how, self.layers)
        if how == "norm first":
            x = self.norm(x)
        for i, layer in enumerate(layers):
            before = x
            seen = None if how in ("handed out", "mask dropped") or (how == "mask once" and i) else mask
            if how in ("handed out", "reads the input"):
                out = layer(start, seen)
            else:
                out = x = layer(x, seen)
            if how == "norm each":
                out = x = self.norm(x)
            total = x if not i else total + x
            if how == "added around":
                out = x = x + before
            if how == "doubled":
                out = x = x + start
        if how in ("handed out", "no norm", "norm unused", "norm first", "norm each"):
            return out
        out = {"residual around": start + out, "averaged": total / len(self.layers)}.get(how, out)
        return start + self.norm(out) if how == "input added" else self.norm(out)


def _module(how: str) -> type[nn.Module]:
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        _Stack.__init__(self, d_model, num_heads, d_ff, num_layers, how)
    return type("Encoder", (_Stack,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, part: str, shape: tuple[int, int, int], heads: int, layers: int,
          mask: Tensor | None = None) -> Case:
    d = shape[-1]
    parameters = {f"layers.{i}.{name}": value for i in range(layers) for name, value in block_parameters(g, d, 20).items()}
    parameters |= {"norm.weight": 1 + 0.4 * randn(g, d), "norm.bias": 0.4 * randn(g, d)}
    init = {"d_model": d, "num_heads": heads, "d_ff": 20, "num_layers": layers}
    return Case(label, {"init": init, "parameters": parameters, "inputs": {"x": randn(g, *shape), "mask": mask}}, part=part,
                gradients=("x", "layers.0.linear1.weight", f"layers.{layers - 1}.attention.w_o.weight", "norm.weight"),
                shape="(batch, token, d_model)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "3 layers, 2 sequences of 5 tokens, d_model = 12", "values", (2, 5, 12), 4, 3)]


def _fixed() -> list[Case]:
    g = generator(6)
    return [_case(g, "a single layer", "values", (1, 4, 6), 2, 1),
            _case(g, "2 layers, a mask for each sequence", "mask", (2, 5, 12), 3, 2, some_mask(g, 2, 5, 5)),
            _case(g, "2 layers, no token may look ahead", "mask", (1, 3, 6), 2, 2, torch.ones(3, 3).tril().bool())]


STACK = Exercise(
    id="07a.5", formerly="07.7", title="Find the bugs: the encoder", name="Encoder", kind="module", stars=3, minutes=12,
    signature="Encoder(d_model, num_heads, d_ff, num_layers)(x, mask=None) -> (batch, token, d_model)",
    oracle=_oracle, reference=_module("right"), draw=_draw, fixed=_fixed, parts={"values": 3, "mask": 1},
    forbidden=("torch.nn.TransformerEncoder.forward", "torch.nn.TransformerEncoderLayer.forward"),
    twins=(
        Twin("still the handed-out bugs", _module("handed out"),
             "Count the parameters of an encoder with three layers and compare with three times those of one block.", untouched=True),
        Twin("one block in every place", _module("shared"),
             "All places hold one and the same block, with one set of parameters: a list was multiplied, or the block was made once."),
        Twin("blocks in a plain list", _module("list"),
             "Blocks in an ordinary Python list are invisible to PyTorch: no optimizer would ever see their parameters."),
        Twin("closing norm missing", _module("no norm"),
             "After the last block comes one more LayerNorm, called norm: in the pre form nothing else normalises the stream."),
        Twin("final norm made but not used", _module("norm unused"), "The last LayerNorm is constructed but nothing goes through it."),
        Twin("every layer reads the input", _module("reads the input"),
             "Each layer is given the encoder's input, so that only the last one counts. It should get what the layer before returned."),
        Twin("norm after every layer", _module("norm each"), "The extra LayerNorm is used once, after the last block, not after each."),
        Twin("norm before the first layer", _module("norm first"),
             "The extra LayerNorm comes after the last block, not before the first."),
        Twin("mask not handed on", _module("mask dropped"), "The encoder accepts a mask and the blocks never see it."),
        Twin("mask for the first layer only", _module("mask once"), "Every block must obey the mask, not only the first."),
        Twin("mask inverted", _module("inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("layers in reverse order", _module("reverse"), "The first layer of the list must be the first to see the tokens."),
        Twin("last layer left out", _module("one short"), "You make the right number of blocks, but you run one fewer."),
        Twin("only the first layer", _module("first only"), "The loop stops after its first round: check the indentation of the return."),
        Twin("input added after every layer", _module("doubled"),
             "The residuals are inside the blocks already. Add nothing around the blocks."),
        Twin("residual around every block", _module("added around"),
             "You add the tokens once more around every block. A block holds its two residuals already, so its result replaces them."),
        Twin("residual around the stack", _module("residual around"),
             "Before the last norm you add the input once more. The residuals are inside the blocks already."),
        Twin("outputs of all layers averaged", _module("averaged"),
             "Use only what the last block returns. Through the residuals it contains the earlier outputs already."),
        Twin("input added at the end", _module("input added"),
             "Add nothing after the last norm: its result is the output of the encoder."),
        Twin("post form blocks", _module("post"), "The blocks must have their norm inside the branch, which is their default."),
    ),
)
