"""Exercise 08a.2: the decoder block. The oracle is PyTorch's own, with the same parameters."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call

from course_utils.models.multihead import MultiHeadAttention
from course_utils.models.sizes import shapes_only

from ..common import Case, ModuleExercise, generator, randn


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_place: str):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.norm_place = norm_place

    def sublayer(self, x: Tensor, norm: nn.LayerNorm, branch: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_place == "pre":
            return x + branch(norm(x))
        return norm(x + branch(x))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None) -> Tensor:
        x = self.sublayer(x, self.norm1, lambda h: self.attention(h, mask=mask))
        x = self.sublayer(x, self.norm2, lambda h: self.cross_attention(h, memory, mask=memory_mask))
        x = self.sublayer(x, self.norm3, lambda h: self.linear2(torch.relu(self.linear1(h))))
        return x


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    heads, pre = init["num_heads"], init["norm_place"] == "pre"
    block = nn.TransformerDecoderLayer(init["d_model"], heads, init["d_ff"], dropout=0.0, batch_first=True, norm_first=pre)
    theirs = {NAMES.get(name, name): value for name, value in parameters.items()}
    mask, real = inputs["mask"], inputs["memory_mask"]
    if mask is not None:  # PyTorch: True hides, and a mask for each sentence is one for each head of it
        mask = ~mask if mask.dim() == 2 else ~mask.repeat_interleave(heads, 0)
    masks = {"tgt_mask": mask, "memory_key_padding_mask": None if real is None else ~real[:, 0]}
    return functional_call(block, theirs, (inputs["x"], inputs["memory"]), masks)


def case(g: torch.Generator, label: str, part: str, place: str, batch=2, n=5, m=7, d=12, heads=3, each=False, alone=False) -> Case:
    init = {"d_model": d, "num_heads": heads, "d_ff": 20, "norm_place": place}
    with shapes_only():
        shapes = {name: value.shape for name, value in DecoderBlock(**init).named_parameters()}
    parameters = {name: 0.4 * randn(g, *shape) + (name in SCALES) for name, shape in shapes.items()}
    masks: dict[str, Tensor | None] = {"mask": None, "memory_mask": None}
    if part in ("masks", "sizes"):
        real = torch.arange(m) < torch.arange(m - batch + 1, m + 1)[:, None]  # each sentence of another length
        masks = {"mask": torch.ones(n, n).tril().bool(), "memory_mask": None if alone else real[:, None]}
    if each:  # a mask for each sentence, and no triangle
        masks["mask"] = (torch.rand(batch, n, n, generator=g) < 0.5) | torch.eye(n, dtype=torch.bool)
    inputs = {"x": randn(g, batch, n, d), "memory": randn(g, batch, m, d), **masks}
    by = ("x", "memory") if part in ("masks", "sizes") else ("x", "memory", *parameters)
    return Case(label, {"init": init, "parameters": parameters, "inputs": inputs}, part, gradients=by, shape="(batch, n, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "norm after the addition: 5 target and 7 source tokens, d_model = 12, 3 heads, d_ff = 20", "post", "post"),
        case(g, "norm inside the branch", "pre", "pre"),
    ]


def fixed() -> list[Case]:
    g = generator(7)
    return [
        case(g, "one target token, one sentence", "post", "post", batch=1, n=1, m=3, d=8, heads=2),
        case(g, "one source token", "pre", "pre", batch=1, n=4, m=1, d=6, heads=1),
        # as many words on both sides: two masks that are exchanged then give wrong numbers, and no error
        case(g, "norm after, with both masks", "masks", "post", m=5),
        case(g, "norm inside, with both masks", "masks", "pre", m=5),
        case(g, "norm inside, both masks, 5 target and 7 source tokens", "sizes", "pre"),
        case(g, "norm inside, both masks, a target mask for each sentence", "sizes", "pre", n=4, each=True),
        case(g, "norm inside, a target mask alone", "masks", "pre", m=5, alone=True),
    ]


PARTS = {"attention.w_qkv": "self_attn.in_proj_", "attention.w_o": "self_attn.out_proj."}
PARTS |= {"cross_attention.w_qkv": "multihead_attn.in_proj_", "cross_attention.w_o": "multihead_attn.out_proj."}
NAMES = {f"{ours}.{kind}": f"{theirs}{kind}" for ours, theirs in PARTS.items() for kind in ("weight", "bias")}
SCALES = ("norm1.weight", "norm2.weight", "norm3.weight")
EXERCISE = ModuleExercise(
    right=DecoderBlock, oracle=oracle, draw=draw, fixed=fixed, forbidden=("torch.nn.TransformerDecoderLayer.forward",)
)
