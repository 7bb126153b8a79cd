"""Exercise 12b.4: attention with two streams. The oracle is PyTorch's own multi-head attention, asked twice with the same weights."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from ..common import FORBIDDEN_MHA, Case, ModuleExercise, generator, randn, refusal, several_heads, some_keys


class TwoStreamAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def attend(self, stream: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        q = self.heads(self.w_q(stream))
        k = self.heads(self.w_k(keys))
        v = self.heads(self.w_v(values))
        mask = mask[..., None, :, :]
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask, -1e30).softmax(-1) * mask
        mixed = (weights @ v).transpose(1, 2).flatten(2)
        return self.w_o(mixed)

    def forward(self, h: Tensor, g: Tensor, content: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        new_h = self.attend(h, h, h, content)
        new_g = self.attend(g, h, h, query)
        return new_h, new_g


def oracle(init: dict, parameters: dict, inputs: dict) -> tuple[Tensor, Tensor]:
    h, unbiased = inputs["h"], init | {"bias": False}
    asked = ((h, inputs["content"]), (inputs["g"], inputs["query"]))
    new_h, new_g = (several_heads(unbiased, parameters, {"query": x, "key": h, "mask": mask}) for x, mask in asked)
    return new_h, new_g


def _case(g: torch.Generator, label: str, shape: tuple[int, ...], heads: int, rank=None, masks: tuple[Tensor, ...] = ()) -> Case:
    """``rank`` says when each position has its turn, an order for each sentence if it is None; ``masks`` go before it."""
    if rank is None:
        rank = torch.stack([torch.randperm(shape[1], generator=g) for _ in range(shape[0])]).argsort(-1)
    content, query = masks or (rank[..., None, :] <= rank[..., :, None], rank[..., None, :] < rank[..., :, None])
    d = shape[-1]
    parameters = {f"w_{name}.weight": 0.35 * randn(g, d, d) for name in "qkvo"}
    inputs = {"h": randn(g, *shape), "g": randn(g, *shape), "content": content, "query": query}
    args = {"init": {"d_model": d, "num_heads": heads}, "parameters": parameters, "inputs": inputs}
    part = "any masks" if masks else "orders"
    return Case(label, args, part=part, gradients=("h", "g", *parameters), shape="(batch, n, d_model)")


def _alike(g: torch.Generator) -> Case:
    """Points for attention that is right: where both streams and both masks are the same, it does not matter who reads what."""
    case = _case(g, "both streams the same, and both masks", (2, 5, 12), 3, masks=(some_keys(g, 5, 5),) * 2)
    case.args["inputs"]["g"] = case.args["inputs"]["h"]
    return replace(case, part="one stream", gradients=())


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        _case(g, "2 sentences of 5 tokens, an order each, d_model = 12, 3 heads", (2, 5, 12), 3),
        _case(g, "3 sentences of 6 tokens, one order for all, 2 heads", (3, 6, 8), 2, torch.randperm(6, generator=g).argsort()),
        _case(g, "any two masks, 4 tokens", (2, 4, 6), 3, masks=(some_keys(g, 2, 4, 4), some_keys(g, 2, 4, 4))),
    ]


def fixed() -> list[Case]:
    g = generator(6)
    h, mask = torch.ones(1, 2, 30), torch.ones(2, 2).bool()
    bad = {"init": {"d_model": 30, "num_heads": 4}, "parameters": {}, "inputs": {"h": h, "g": h, "content": mask, "query": mask}}
    return [
        _case(g, "sentences of two tokens, the second first", (3, 2, 6), 3, torch.tensor([1, 0])),
        _alike(g),
        refusal("the constructor with d_model = 30, num_heads = 4", bad, "30", "4"),
    ]


OURS = ("course_utils.models.xlnet.TwoStreamBlock.streams", "course_utils.models.multihead.MultiHeadAttention.forward")
EXERCISE = ModuleExercise(
    right=TwoStreamAttention, oracle=oracle, draw=draw, fixed=fixed, outputs=("h", "g"), forbidden=(*FORBIDDEN_MHA, *OURS)
)
