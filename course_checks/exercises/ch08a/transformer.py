"""Exercise 08a.3: the whole Transformer of 2017. The oracle is PyTorch's own, with the same parameters."""

import math
from dataclasses import replace
from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from course_utils.models.masks import causal_mask
from course_utils.models.positions import sinusoidal
from course_utils.models.sizes import shapes_only

from ..common import Case, ModuleExercise, generator, integers, randn
from .decoder_block import NAMES, DecoderBlock


def encoder(*sizes: int) -> nn.Module:
    """The stack of 07a.5, which comes with the first use: importing a chapter's exercises imports no other's."""
    from ..ch07a.encoder import Encoder

    return Encoder(*sizes)


class Transformer(nn.Module):
    def __init__(
        self,
        source_words: int,
        target_words: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 256,
        num_layers: int = 2,
        max_len: int = 24,
    ):
        super().__init__()
        self.source = nn.Embedding(source_words, d_model)
        self.target = nn.Embedding(target_words, d_model)
        for table in (self.source, self.target):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.places: Tensor
        self.register_buffer("places", sinusoidal(max_len, d_model), persistent=False)
        self.encoder = encoder(d_model, num_heads, d_ff, num_layers)
        self.decoder = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff, "pre") for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_words)

    def embed(self, ids: Tensor, table: nn.Embedding) -> Tensor:
        return table(ids) * math.sqrt(table.embedding_dim) + self.places[: ids.shape[1]]

    def encode(self, source: Tensor) -> Tensor:
        real = (source != 0)[:, None]  # (batch, 1, m)
        return self.encoder(self.embed(source, self.source), real)

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        real = (source != 0)[:, None]  # (batch, 1, m)
        x, mask = self.embed(target, self.target), causal_mask(target.shape[1])
        for block in self.decoder:
            x = block(x, memory, mask, real)
        return self.output(self.norm(x))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), source)


@cache
def theirs(d: int, heads: int, d_ff: int, layers: int) -> nn.Transformer:
    """PyTorch's two stacks; their own weights are never used, so one of each size will do."""
    stack = nn.TransformerEncoderLayer(d, heads, d_ff, 0.0, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(stack, layers, norm=nn.LayerNorm(d), enable_nested_tensor=False)
    return nn.Transformer(d, heads, layers, layers, d_ff, 0.0, custom_encoder=encoder, batch_first=True, norm_first=True)


def their_name(name: str) -> str:
    """``decoder.0.attention.w_o.bias`` is ``decoder.layers.0.self_attn.out_proj.bias`` there, and our last norm their decoder's."""
    stack, _, inner = name.partition(".")
    if stack == "norm":
        return f"decoder.{name}"
    if inner.startswith("norm."):
        return name
    number, inner = inner.removeprefix("layers.").split(".", 1)
    return f"{stack}.layers.{number}.{NAMES.get(inner, inner)}"


def oracle(init: dict, parameters: dict, inputs: dict, method: str = "forward") -> Tensor:
    d, source, target = init["d_model"], inputs["source"], inputs["target"]
    place = torch.arange(30.0)[:, None] / 10_000 ** (torch.arange(d) // 2 * 2 / d)  # (place, d)
    places = torch.where(torch.arange(d) % 2 == 0, place.sin(), place.cos())
    x, y = (parameters[f"{name}.weight"][ids] * d**0.5 + places[: ids.shape[1]] for name, ids in (("source", source), ("target", target)))
    ends = ("source.", "target.", "output.")
    state = {their_name(name): value for name, value in parameters.items() if not name.startswith(ends)}
    hidden = ~torch.ones(y.shape[1], y.shape[1]).tril().bool()
    masks = {"tgt_mask": hidden, "memory_key_padding_mask": source == 0}
    model = theirs(d, init["num_heads"], init["d_ff"], init.get("num_layers", 2))
    if method == "decode":
        state = {name.removeprefix("decoder."): value for name, value in state.items() if name.startswith("decoder.")}
        stream = functional_call(model.decoder, state, (y, inputs["memory"]), masks)
    else:
        stream = functional_call(model, state, (x, y), {**masks, "src_key_padding_mask": source == 0})
    return nn.functional.linear(stream, parameters["output.weight"], parameters["output.bias"])


def case(g: torch.Generator, label: str, part: str, lengths: list[int], n: int = 5, layers: int = 2, slopes: bool = False) -> Case:
    init = {"source_words": 11, "target_words": 9, "d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": layers, "max_len": 10}
    with shapes_only():
        shapes = {name: value.shape for name, value in Transformer(**init).named_parameters()}
    one = lambda name: float("norm" in name and name.endswith("weight"))  # noqa: E731
    parameters = {name: 0.4 * randn(g, *shape) + one(name) for name, shape in shapes.items()}
    source, target = integers(g, 3, 11, len(lengths), max(lengths)), integers(g, 3, 9, len(lengths), n)
    target[:, 0] = 1
    for row, length in zip(source, lengths, strict=True):
        row[length:] = 0
    by = tuple(name for name in parameters if name.endswith("weight")) if slopes else ()
    return Case(label, {"init": init, "parameters": parameters, "inputs": {"source": source, "target": target}}, part, by, shape=SHAPE)


def decoding(made: Case, g: torch.Generator) -> Case:
    """The same, but ``decode`` is called, and its memory has nothing to do with the source."""
    inputs = made.args["inputs"]
    memory = randn(g, *inputs["source"].shape, made.args["init"]["d_model"])
    return replace(made, args={**made.args, "inputs": {**inputs, "memory": memory}, "method": "decode"}, gradients=("memory",))


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 sources of 7 words, targets of 5, one layer", "values", [7, 7], layers=1, slopes=True),  # small: each weight is changed
        case(g, "sources of 2, 6 and 4 words, two layers", "padding", [2, 6, 4]),
        decoding(case(g, "decode, with a memory that is not made of the source", "memory", [6, 3]), g),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    left_out = case(g, "one sentence, the number of layers left out", "values", [4], 6)
    del left_out.args["init"]["num_layers"]
    return [
        left_out,
        case(g, "a single word on each side", "values", [1], 1),
        case(g, "three layers, sources of 8 and 3 words", "padding", [8, 3], 2, layers=3),
    ]


SHAPE = "(batch, n, target_words)"
FORBIDDEN = tuple(f"torch.nn.{name}.forward" for name in ("Transformer", "TransformerEncoder", "TransformerDecoder"))
EXERCISE = ModuleExercise(right=Transformer, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
