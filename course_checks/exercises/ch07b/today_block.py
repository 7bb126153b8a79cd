"""Exercise 07b.6: a block of today. The oracle: PyTorch's attention and norm, and a gate spelt out, in double precision."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.multihead import MultiHeadAttention

from ..common import Case, ModuleExercise, fused_rms_norm, generator, randn, several_heads, some_keys


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-6) * weight


class TodayBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        width = 2 * d_ff // 3
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.norm1, self.norm2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.gate = nn.Parameter(torch.randn(d_model, width) / d_model**0.5)
        self.up = nn.Parameter(torch.randn(d_model, width) / d_model**0.5)
        self.down = nn.Parameter(torch.randn(width, d_model) / width**0.5)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        read = rms_norm(x, self.norm1)
        x = x + self.attention(read, mask=mask)
        read = rms_norm(x, self.norm2)
        hidden = F.silu(read @ self.gate) * (read @ self.up)
        return x + hidden @ self.down


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    w = {name: value.double() for name, value in parameters.items()}
    x, d = inputs["x"].double(), init["d_model"]
    given = {f"w_{name}.weight": part for name, part in zip("qkv", w["attention.w_qkv.weight"].chunk(3), strict=True)}
    given["w_o.weight"] = w["attention.w_o.weight"]
    read = {"query": fused_rms_norm(x, (d,), w["norm1"], 1e-6), "mask": inputs["mask"]}
    x = x + several_heads({"num_heads": init["num_heads"], "bias": False}, given, read)
    normed = fused_rms_norm(x, (d,), w["norm2"], 1e-6)
    gate = normed @ w["gate"]
    return (x + (gate * torch.sigmoid(gate) * (normed @ w["up"])) @ w["down"]).float()


def case(g: torch.Generator, label: str, part: str, shape: tuple, heads: int, d_ff: int, mask: Tensor | None = None) -> Case:
    d, width = shape[-1], 2 * d_ff // 3
    sizes = {"attention.w_qkv.weight": (3 * d, d), "attention.w_o.weight": (d, d), "gate": (d, width), "up": (d, width), "down": (width, d)}
    parameters = {name: 0.4 * randn(g, *size) for name, size in sizes.items()}
    parameters |= {name: 1 + 0.4 * randn(g, d) for name in ("norm1", "norm2")}
    args = {"init": {"d_model": d, "num_heads": heads, "d_ff": d_ff}, "parameters": parameters}
    return Case(label, args | {"inputs": {"x": 1.5 * randn(g, *shape) + 0.4, "mask": mask}}, part, ("x",), shape="(batch, token, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 texts of 5 tokens, d_model = 12, 3 heads, d_ff = 24", "values", (2, 5, 12), 3, 24),
        case(g, "3 texts of 4 tokens, d_model = 8, 2 heads, d_ff = 20", "values", (3, 4, 8), 2, 20),
        case(g, "a causal mask", "mask", (2, 5, 12), 3, 15, torch.ones(5, 5).tril().bool()),
        case(g, "a mask for each text", "mask", (2, 4, 8), 2, 18, some_keys(g, 2, 4, 4)),
    ]


def fixed() -> list[Case]:
    g = generator(6)
    return [case(g, "one token", "values", (1, 1, 6), 2, 9), case(g, "d_ff = 10, which is no multiple of 3", "values", (2, 3, 6), 3, 10)]


OURS = ("course_utils.models.gpt.GPTBlock.forward", "torch.nn.TransformerEncoderLayer.forward")
EXERCISE = ModuleExercise(
    right=TodayBlock, oracle=oracle, draw=draw, fixed=fixed, helpers=(rms_norm,), forbidden=OURS, rtol=1e-3, atol=1e-4
)
