"""Exercise 07b.4: RMSNorm with its cast. The oracle is PyTorch's, in double precision."""

import torch
from torch import Tensor

from course_utils.models.norms import rms_norm as reference

from ..common import LAYER_NORMS, OUR_RMS_NORM, RMS_NORMS, Case, FunctionExercise, fused_rms_norm, generator, randn


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    wide = x.float()
    mean_square = wide.pow(2).mean(dim=-1, keepdim=True)
    divisor = torch.sqrt(mean_square + eps)
    normal = wide / divisor
    return normal.to(x.dtype) * weight, divisor


def oracle(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Two results, because the engine refuses half precision as the only one."""
    output = fused_rms_norm(x.double(), x.shape[-1:], weight.double(), eps).to(x.dtype)
    divisor = (torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps) ** 0.5
    return output, divisor.float()


def coarse(t: Tensor) -> Tensor:
    """Three axes, the half precision case: in hundredths, for it is coarse, and with the size of the type."""
    if t.dim() != 3:
        return t
    return torch.cat([t.double().flatten() / 100, torch.tensor([float(t.element_size())], dtype=torch.float64)])


def case(g: torch.Generator, label: str, x: Tensor, part: str = "values", **eps: float) -> Case:
    args = {"x": x, "weight": 1 + 0.5 * randn(g, x.shape[-1]), **eps}
    return Case(label, args, part=part, gradients=("x", "weight"), shape="(…, d_model)")


def half(label: str, x: Tensor, powers: list[float], **eps: float) -> Case:
    args = {"x": x.half(), "weight": torch.tensor(powers).half(), **eps}
    return Case(label, args, part="half precision", shape="(batch, token, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 sequences of 3 × 4 tokens of width 5", randn(g, 2, 3, 4, 5) + 1),
        case(g, "4 tokens of width 6", 2 * randn(g, 4, 6) - 1),
        case(g, "small tokens, eps = 0.01", 0.1 * randn(g, 3, 5), "eps", eps=0.01),
        half("large numbers in half precision", 400 * randn(g, 2, 3, 7), [1.0, 2.0, 0.5, 1.0, 4.0, 0.25, 2.0]),
    ]


def fixed() -> list[Case]:
    g = generator(4)
    x = randn(g, 3, 5)
    x[1] = 0.0
    tiny = torch.randint(1, 8, (2, 3, 5), generator=g) * 2.0**-24
    return [
        half("tiny numbers in half precision", tiny, [1.0, 2.0, 0.5, 1.0, 4.0], eps=1e-20),
        case(g, "features around 300", randn(g, 3, 7) + 300),
        case(g, "one sequence of one token", randn(g, 1, 1, 6) - 1),
        Case("a token of zeros", {"x": x, "weight": 1 + 0.5 * randn(g, 5)}, part="eps", shape="(token, d_model)"),
        Case("a single token, one axis", {"x": randn(g, 6) + 1, "weight": 1 + 0.5 * randn(g, 6)}, shape="(d_model,)"),
    ]


COMPARED = "for input in half precision the output is compared coarsely, but its type too"
OURS = (OUR_RMS_NORM, "course_utils.models.norms.rms_norm")
FORBIDDEN, NAMES = (*RMS_NORMS, *LAYER_NORMS, *OURS), ("output", "divisor")
EXERCISE = FunctionExercise(
    right=rms_norm,
    oracle=oracle,
    reference=reference,
    draw=draw,
    fixed=fixed,
    outputs=NAMES,
    forbidden=FORBIDDEN,
    atol=1e-4,
    raw=coarse,
    compared=COMPARED,
)
