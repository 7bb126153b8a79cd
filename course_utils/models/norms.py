"""LayerNorm (Ba et al. 2016), RMSNorm (Zhang and Sennrich 2019, equation 4), DeepNorm's two constants (Wang et al. 2022, figure 2)."""

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Divide each token by the root of its mean square, times a weight: ``(…, d_model)`` -> ``(…, d_model)``.

    No mean is subtracted and there is no bias. The square is taken in 32 bits: in 16 it overflows at 256.
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """RMSNorm as a function, ``(…, d_model)`` -> the same, and what each token was divided by, ``(…, 1)`` in 32 bits."""
    divisor = torch.sqrt(x.float().square().mean(-1, keepdim=True) + eps)
    return (x.float() / divisor).to(x.dtype) * weight, divisor


def make_norm(kind: str, d_model: int, eps: float = 1e-5) -> nn.Module:
    """``"layer"`` -> LayerNorm with weight and bias, ``"rms"`` -> RMSNorm; ValueError for another name."""
    if kind not in ("layer", "rms"):
        raise ValueError(f"norm={kind!r} is unknown; choose 'layer' or 'rms'")
    return nn.LayerNorm(d_model, eps) if kind == "layer" else RMSNorm(d_model, eps)


def deepnorm_factors(encoder_layers: int, decoder_layers: int = 0) -> dict[str, tuple[float, float]]:
    """DeepNorm's ``(alpha, beta)``: alpha scales the residual, beta the initial weights of values, output and feed-forward.

    With one stack the key is ``"stack"``, with two the keys are ``"encoder"`` and ``"decoder"``.
    Raises ValueError for a negative number of layers or none at all.
    """
    n, m = encoder_layers, decoder_layers
    if min(n, m) < 0 or n + m == 0:
        raise ValueError(f"encoder_layers={n} and decoder_layers={m}: at least one layer, none negative")
    if min(n, m) == 0:
        return {"stack": ((2 * (n + m)) ** 0.25, (8 * (n + m)) ** -0.25)}
    mixed = (n**4 * m) ** (1 / 16)
    return {"encoder": (0.81 * mixed, 0.87 / mixed), "decoder": ((3 * m) ** 0.25, (12 * m) ** -0.25)}
