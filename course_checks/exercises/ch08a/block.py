"""Exercise 08a.2: the decoder block. The oracle is PyTorch's own, with the same parameters."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from course_utils.models.multihead import MultiHeadAttention

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn

_PARTS = {"attention.w_qkv": "self_attn.in_proj_", "attention.w_o": "self_attn.out_proj.",
          "cross_attention.w_qkv": "multihead_attn.in_proj_",
          "cross_attention.w_o": "multihead_attn.out_proj."}
NAMES = {f"{ours}.{kind}": f"{theirs}{kind}" for ours, theirs in _PARTS.items() for kind in ("weight", "bias")}


@cache
def _torch_layer(d_model: int, num_heads: int, d_ff: int, pre: bool) -> nn.TransformerDecoderLayer:
    """PyTorch's block; its own weights are never used, so one of each size will do."""
    return nn.TransformerDecoderLayer(d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=pre)


def _oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    layer = _torch_layer(init["d_model"], init["num_heads"], init["d_ff"], init["norm_place"] == "pre")
    mask, real = inputs["mask"], inputs["memory_mask"]
    if mask is not None:  # PyTorch: True hides, and a mask for each sentence is one for each head of it
        mask = ~mask if mask.dim() == 2 else ~mask.repeat_interleave(init["num_heads"], 0)
    return functional_call(layer, {NAMES.get(name, name): value for name, value in parameters.items()}, (inputs["x"], inputs["memory"]),
                           {"tgt_mask": mask, "memory_key_padding_mask": None if real is None else ~real[:, 0]})


class Block(nn.Module):
    """A decoder block with a switch for each usual mistake."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_place: str, how: str = "right"):
        super().__init__()
        self.attention, self.cross_attention = MultiHeadAttention(d_model, num_heads), MultiHeadAttention(d_model, num_heads)
        if how == "one head":
            self.cross_attention = MultiHeadAttention(d_model, 1)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.how = how
        self.pre = {"always pre": True, "always post": False}.get(how, (norm_place == "pre") != (how == "places swapped"))

    def _feed(self, x: Tensor) -> Tensor:
        hidden = self.linear1(x)
        if self.how == "late activation":
            return torch.relu(self.linear2(hidden))
        hidden = hidden if self.how == "no activation" else F.gelu(hidden) if self.how == "gelu" else torch.relu(hidden)
        return self.linear2(hidden)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None) -> Tensor:
        how, start = self.how, x
        own, cross = self.attention, self.cross_attention
        if how == "attentions swapped":
            own, cross = cross, own
        if how == "one attention":
            cross = own
        if how == "memory normed" and self.pre:
            memory = self.norm2(memory)
        mask = None if how == "mask ignored" else mask
        memory_mask = None if how == "padding ignored" else mask if how == "one mask" else memory_mask
        if how == "own triangle":
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        if how == "inverted":
            mask = mask if mask is None else ~mask
        if how == "padding inverted":
            memory_mask = memory_mask if memory_mask is None else ~memory_mask

        def look(t: Tensor) -> Tensor:
            if how == "memory asks":
                return cross(memory, t, mask=memory_mask)
            return cross(t, t, mask=mask) if how == "source unread" else cross(t, memory, mask=memory_mask)

        steps = [(lambda t: own(t, mask=mask), self.norm1), (look, self.norm2), (self._feed, self.norm3)]
        if how == "cross first":
            steps = [(steps[1][0], self.norm1), (steps[0][0], self.norm2), steps[2]]
        if how == "cross first, own norms":
            steps = [steps[1], steps[0], steps[2]]
        if how == "first norm everywhere":
            steps = [(branch, self.norm1) for branch, _ in steps]
        if how == "feed second":
            steps = [steps[0], (steps[2][0], self.norm2), (steps[1][0], self.norm3)]
        if how == "cross last":
            steps = [steps[0], steps[2], steps[1]]
        if how == "norms swapped":
            steps = [steps[0], (look, self.norm3), (self._feed, self.norm2)]
        if how == "first norm twice":
            steps[1] = (look, self.norm1)
        if how == "no feed":
            steps = steps[:2]
        for i, (branch, norm) in enumerate(steps):
            source = start if how == "queries from below" and i == 1 else x
            said = branch(norm(source) if self.pre and how != "branch normed" else source)
            said = norm(said) if self.pre and how == "branch normed" else said
            kept = start if how == "residual from the start" and i == 1 else x
            if how == ("no residual 0", "no residual 1", "no residual 2")[i]:
                kept = torch.zeros_like(x)
            if how == "residual normalised" and self.pre:
                kept = norm(x)
            x = kept + said if self.pre else kept + norm(said) if how == "branch normed, post" else norm(kept + said)
        return self.norm3(x) if how == "extra norm" and self.pre else x


def _module(how: str) -> type[nn.Module]:
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        Block.__init__(self, d_model, num_heads, d_ff, norm_place, how)
    return type("DecoderBlock", (Block,), {"__init__": __init__})


def _parameters(g: torch.Generator, d: int, d_ff: int) -> dict[str, Tensor]:
    sizes = {name: ((3 if name.endswith("qkv") else 1) * d, d) for name in _PARTS} | {"linear1": (d_ff, d), "linear2": (d, d_ff)}
    found = {}
    for name, size in sizes.items():
        found |= {f"{name}.weight": 0.4 * randn(g, *size), f"{name}.bias": 0.4 * randn(g, size[0])}
    for name in ("norm1", "norm2", "norm3"):
        found |= {f"{name}.weight": 1 + 0.4 * randn(g, d), f"{name}.bias": 0.4 * randn(g, d)}
    return found


def _case(g: torch.Generator, label: str, part: str, place: str, batch: int = 2, n: int = 5, m: int = 7, d: int = 12, heads: int = 3,
          masks: bool = False, free: bool = False) -> Case:
    parameters = _parameters(g, d, 20)
    real = torch.arange(m) < torch.arange(m - batch + 1, m + 1)[:, None]  # each sentence of another length
    mask = torch.ones(n, n).tril().bool() if masks else None
    if free:  # a mask for each sentence, and no triangle
        mask = (torch.rand(batch, n, n, generator=g) < 0.5) | torch.eye(n, dtype=torch.bool)
    return Case(label, {"init": {"d_model": d, "num_heads": heads, "d_ff": 20, "norm_place": place}, "parameters": parameters, "inputs": {
        "x": randn(g, batch, n, d), "memory": randn(g, batch, m, d), "mask": mask, "memory_mask": real[:, None] if masks else None}},
        part=part, gradients=("x", "memory") if masks else ("x", "memory", *parameters), shape="(batch, n, d_model)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "norm after the addition: 5 target and 7 source tokens, d_model = 12, 3 heads, d_ff = 20", "post", "post"),
            _case(g, "norm inside the branch", "pre", "pre")]


def _fixed() -> list[Case]:
    g = generator(7)
    return [_case(g, "one target token, one sentence", "post", "post", batch=1, n=1, m=3, d=8, heads=2),
            _case(g, "one source token", "pre", "pre", batch=1, n=4, m=1, d=6, heads=1),
            _case(g, "norm after, with both masks", "masks", "post", masks=True),
            _case(g, "norm inside, with both masks", "masks", "pre", masks=True),
            _case(g, "norm inside, both masks, a target mask for each sentence", "masks", "pre", n=4, masks=True, free=True)]


BLOCK = Exercise(
    id="08a.2", title="The decoder block", name="DecoderBlock", kind="module", stars=3, minutes=25,
    signature="DecoderBlock(d_model, num_heads, d_ff, norm_place)(x, memory, mask=None, memory_mask=None) -> (batch, n, d_model)",
    oracle=_oracle, reference=_module("right"), draw=_draw, fixed=_fixed, parts={"post": 2, "pre": 2, "masks": 2},
    forbidden=("torch.nn.TransformerDecoderLayer.forward",),
    twins=(
        Twin("always norm inside", _module("always pre"),
             "The argument that places the norm has no effect: it always sits inside the branch."),
        Twin("always norm after", _module("always post"),
             "The argument that places the norm has no effect: it always follows the addition."),
        Twin("placements swapped", _module("places swapped"),
             "You have exchanged the two forms. In “pre” the norm is inside the branch, before its sub-layer."),
        Twin("source before own words", _module("cross first"),
             "You read the source first. Self-attention comes first, because its result decides what to ask the source."),
        Twin("the source is asked first", _module("cross first, own norms"),
             "You read the source first. Cross-attention is the second sub-layer, after self-attention."),
        Twin("first norm for every sub-layer", _module("first norm everywhere"),
             "Each of the three sub-layers has a norm of its own; yours all use the first."),
        Twin("activation after the second layer", _module("late activation"),
             "ReLU belongs between the two linear layers, not after them."),
        Twin("one head for the source", _module("one head"),
             "Your cross-attention has a single head. Both attentions need the number of heads that the block is given."),
        Twin("a triangle of your own", _module("own triangle"),
             "Your self-attention hides the future even when no mask says so. Only the mask decides which keys are hidden."),
        Twin("feed-forward before the source", _module("feed second"),
             "Both attentions come before the feed-forward layer. Cross-attention is the second of the three sub-layers."),
        Twin("the source comes last", _module("cross last"),
             "Cross-attention is inserted between the two sub-layers of the encoder block, not placed after them."),
        Twin("post form norms the branch", _module("branch normed, post"),
             "In the post form you normalise what the branch returns and then add it. The norm should act on the sum."),
        Twin("norm behind the branch", _module("branch normed"),
             "In the pre form the norm comes before the sub-layer: the branch reads normalised tokens, and its result is added "
             "unchanged."),
        Twin("the memory asks", _module("memory asks"),
             "The second attention gives one row for each source token, because its queries come from the memory. They must come "
             "from the target."),
        Twin("queries from the block's input", _module("queries from below"),
             "The queries to the source are made from the block's input. They should come from the stream after the "
             "self-attention of this block."),
        Twin("the source is never read", _module("source unread"),
             "The second attention reads the target once more. Its keys and values come from the memory."),
        Twin("one attention used twice", _module("one attention"),
             "Both attentions use the same weights. The block has two modules, one for its own words and one for the source."),
        Twin("the two attentions swapped", _module("attentions swapped"),
             "The module called cross_attention reads the target and the other one the source: exchange them."),
        Twin("memory normalised in the block", _module("memory normed"),
             "In the pre form only the stream goes through the norm of a branch. The memory arrives normalised by the encoder."),
        Twin("first norm used twice", _module("first norm twice"), "Cross-attention has a norm of its own, the second one."),
        Twin("second and third norm swapped", _module("norms swapped"),
             "The second norm goes with cross-attention, the third with the feed-forward layer."),
        Twin("residual of the block's input", _module("residual from the start"),
             "The result of cross-attention is added to the stream after the first sub-layer, not to the input of the block."),
        Twin("residual from the normalised tokens", _module("residual normalised"),
             "In the pre form the branch is added to the tokens as they were; the stream itself is never normalised."),
        Twin("no residual around self-attention", _module("no residual 0"),
             "Self-attention replaces the tokens instead of adding to them."),
        Twin("no residual around the source", _module("no residual 1"),
             "What was found in the source replaces the tokens instead of adding to them."),
        Twin("no residual around feed-forward", _module("no residual 2"),
             "The feed-forward layer replaces the tokens instead of adding to them."),
        Twin("no feed-forward layer", _module("no feed"),
             "Only two sub-layers are there; the feed-forward layer with its norm is missing."),
        Twin("one more norm at the end", _module("extra norm"),
             "Your block normalises once more at its end. In the pre form the closing norm belongs to the stack."),
        Twin("no activation", _module("no activation"), "Two linear layers with nothing between them are only one."),
        Twin("GELU instead of ReLU", _module("gelu"), "This block uses the activation of the original paper, ReLU."),
        Twin("future not hidden", _module("mask ignored"),
             "The mask of the target is accepted and then not used: hand it to self-attention."),
        Twin("pads of the source not hidden", _module("padding ignored"),
             "The mask of the memory is accepted and then not used: hand it to the attention that reads the source."),
        Twin("the target's mask for both", _module("one mask"),
             "The triangle fits pairs of target words. The attention that reads the source gets the mask of the memory."),
        Twin("target mask inverted", _module("inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("memory mask inverted", _module("padding inverted"), "In the mask of the memory, too, True marks what may be read."),
    ),
)
