"""Exercise 11c.5: a block of today's decoder from its parts. The oracle goes head by head and turns pairs as complex numbers."""

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.positions import rope

from ..common import Case, FunctionExercise, arguments, fused, fused_rms_norm, generator, randn, rotated


def decoder_block(x: Tensor, weights: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> Tensor:
    def normed(t: Tensor, weight: Tensor) -> Tensor:
        return weight * t * torch.rsqrt(t.square().mean(-1, keepdim=True) + 1e-6)

    def heads(t: Tensor, count: int) -> Tensor:
        return t.unflatten(-1, (count, -1)).transpose(1, 2)

    h = normed(x, weights["norm_1"])
    q = heads(h @ weights["w_q"], num_heads)
    k = heads(h @ weights["w_k"], num_kv_heads)
    v = heads(h @ weights["w_v"], num_kv_heads)
    q, k = normed(q, weights["norm_q"]), normed(k, weights["norm_k"])
    q, k = rope(q), rope(k)
    group = num_heads // num_kv_heads
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    mixed = fused(q, k, v, is_causal=True)
    said = mixed.transpose(1, 2).flatten(2)
    x = x + said @ weights["w_o"]
    h = normed(x, weights["norm_2"])
    gate, up = h @ weights["w_gate"], h @ weights["w_up"]
    hidden = F.silu(gate) * up
    return x + hidden @ weights["w_down"]


def neighbours(t: Tensor) -> Tensor:
    """Columns 2i and 2i + 1 turned as one complex number."""
    first, second = rotated(torch.cat([t[..., 0::2], t[..., 1::2]], -1)).chunk(2, -1)
    return torch.stack([first, second], -1).flatten(-2)


def oracle(x: Tensor, weights: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> Tensor:
    w = {name: value.double() for name, value in weights.items()}
    x, d, said = x.double(), x.shape[-1] // num_heads, []
    h = fused_rms_norm(x, x.shape[-1:], w["norm_1"], 1e-6)
    for head in range(num_heads):
        kv = head // (num_heads // num_kv_heads)
        q = fused_rms_norm(h @ w["w_q"][:, head * d : head * d + d], (d,), w["norm_q"], 1e-6)
        k, v = (h @ w[name][:, kv * d : kv * d + d] for name in ("w_k", "w_v"))
        k = fused_rms_norm(k, (d,), w["norm_k"], 1e-6)
        scores = torch.exp(torch.einsum("bid,bjd->bij", neighbours(q), neighbours(k)) / d**0.5).tril()
        said.append(scores @ v / scores.sum(-1, keepdim=True))
    x = x + torch.cat(said, -1) @ w["w_o"]
    h = fused_rms_norm(x, x.shape[-1:], w["norm_2"], 1e-6)
    gate = h @ w["w_gate"]
    return (x + (gate / (1 + torch.exp(-gate)) * (h @ w["w_up"])) @ w["w_down"]).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, batch: int, n: int, heads: int, kv: int, d: int, d_ff: int, part: str) -> Case:
        width = heads * d
        sizes = {"w_q": (width, width), "w_k": (width, kv * d), "w_v": (width, kv * d), "w_o": (width, width)}
        sizes |= {"w_gate": (width, d_ff), "w_up": (width, d_ff), "w_down": (d_ff, width)}
        weights = {name: randn(g, *shape) / shape[0] ** 0.5 * 1.3 for name, shape in sizes.items()}
        weights |= {name: 0.6 + 0.8 * torch.rand(width, generator=g) for name in ("norm_1", "norm_2")}
        weights |= {name: 0.5 + 1.5 * torch.rand(d, generator=g) for name in ("norm_q", "norm_k")}
        args = arguments(decoder_block, 1.5 * randn(g, batch, n, width) + 0.4, weights, heads, kv)
        return Case(label, args, part, gradients=("x",), shape="(batch, n, d_model)")

    return [
        case("2 texts of 5 tokens, 2 heads, as many key heads", 2, 5, 2, 2, 4, 9, "as many"),
        case("3 texts of 7 tokens, 4 heads on 2 key heads", 3, 7, 4, 2, 6, 10, "shared"),
        case("2 texts of 4 tokens, 6 heads on 3 key heads", 2, 4, 6, 3, 4, 7, "shared"),
        case("1 text of 6 tokens, 3 heads on one", 1, 6, 3, 1, 4, 11, "shared"),
        case("a single token", 2, 1, 2, 1, 4, 5, "shared"),
    ]


OURS = ("course_utils.models.grouped.GroupedQueryAttention.forward", "course_utils.models.gpt.GPTBlock.forward")
EXERCISE = FunctionExercise(right=decoder_block, oracle=oracle, draw=draw, forbidden=OURS, rtol=1e-3, atol=1e-4)
