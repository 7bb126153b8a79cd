"""Ways to tell attention where a token stands: tables that are added, biases on the scores, rotations.

Tokens are rows, batch first; positions count from 0. A *bias* has shape ``(num_heads, n, m)`` and is added to the scores
before the softmax; entry ``[h, i, j]`` belongs to query i and key j.
"""

import math

import torch
from torch import Tensor, nn


def frequencies(width: int, base: float = 10_000.0) -> Tensor:
    """``(width / 2,)`` angular frequencies ``base^(-2i / width)`` of the pairs i = 0, 1, … (double precision)."""
    if width < 2 or width % 2:
        raise ValueError(f"width={width} must be even and at least 2: every frequency needs a pair of columns")
    if not base > 1:
        raise ValueError(f"base={base} must be greater than 1")
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoidal(n: int, d_model: int, base: float = 10_000.0, start: int = 0) -> Tensor:
    """Sinusoidal table ``(n, d_model)`` of positions ``start … start + n - 1``: sine in even columns, cosine in odd ones.

    Source: Vaswani et al. 2017, section 3.5. Raises ValueError for an odd ``d_model`` or a negative ``n``.
    """
    if n < 0:
        raise ValueError(f"n={n} positions: must not be negative")
    angle = torch.arange(start, start + n, dtype=torch.float64)[:, None] * frequencies(d_model, base)  # (n, d_model / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


def shift_matrix(k: float, d_model: int, base: float = 10_000.0) -> Tensor:
    """``(d_model, d_model)`` matrix M with ``M @ PE[p] == PE[p + k]`` for every p (double precision): one rotation for each pair."""
    angle = k * frequencies(d_model, base)
    blocks = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()], dim=-1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def offsets(n: int, m: int | None = None) -> Tensor:
    """``(n, m)`` integers, key position minus query position; ``m`` defaults to ``n``."""
    return torch.arange(n if m is None else m) - torch.arange(n)[:, None]


def t5_bucket(offset: Tensor, bidirectional: bool = True, num_buckets: int = 32, max_distance: int = 128) -> Tensor:
    """Bucket of every offset (key minus query), same shape: near offsets one bucket each, far ones on a logarithmic scale.

    Bidirectional: half of the buckets for keys behind, half for keys ahead. Otherwise all for keys behind, and every key
    ahead shares bucket 0. Source: Raffel et al. 2020 (arXiv:1910.10683), section 2.1 and the published code.
    """
    buckets, first = num_buckets, torch.zeros_like(offset)
    if bidirectional:
        if num_buckets % 2:
            raise ValueError(f"num_buckets={num_buckets} must be even to serve two directions")
        buckets = num_buckets // 2
        first = (offset > 0) * buckets
        distance = offset.abs()
    else:
        distance = (-offset).clamp_min(0)
    exact = buckets // 2
    if exact < 1 or max_distance <= exact:
        raise ValueError(f"num_buckets={num_buckets} with max_distance={max_distance} leaves no room for far buckets")
    ratio = (distance.clamp_min(1).float() / exact).log() / math.log(max_distance / exact)
    far = (exact + (ratio * (buckets - exact)).long()).clamp_max(buckets - 1)
    return first + torch.where(distance < exact, distance, far)


class T5Bias(nn.Module):
    """One learned number for each head and bucket: ``forward(n, m)`` -> ``(num_heads, n, m)``."""

    def __init__(self, num_heads: int, bidirectional: bool = True, num_buckets: int = 32, max_distance: int = 128):
        super().__init__()
        t5_bucket(torch.zeros(1, dtype=torch.long), bidirectional, num_buckets, max_distance)  # refuse bad numbers early
        self.options = (bidirectional, num_buckets, max_distance)
        self.table = nn.Parameter(torch.zeros(num_heads, num_buckets))

    def forward(self, n: int, m: int | None = None) -> Tensor:
        """Bias ``(num_heads, n, m)``."""
        return self.table[:, t5_bucket(offsets(n, m), *self.options).to(self.table.device)]


def alibi_slopes(num_heads: int) -> Tensor:
    """``(num_heads,)`` slopes: ``2^(-8/h), 2^(-16/h), …`` for h heads, h a power of two.

    Otherwise those of the largest power of two p below h, then every other slope of 2p heads, as in the authors' code.
    Source: Press et al. 2022 (arXiv:2108.12409), section 3.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads={num_heads} must be at least 1")
    power = 1 << (num_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2.0 ** (-8 * i / (2 * power)) for i in range(1, 2 * power + 1, 2)]
    return torch.tensor(slopes + between[: num_heads - power])


def alibi(num_heads: int, n: int, m: int | None = None) -> Tensor:
    """ALiBi's bias ``(num_heads, n, m)``: minus slope times distance, in both directions (a causal mask removes one)."""
    return -alibi_slopes(num_heads)[:, None, None] * offsets(n, m).abs()


def rope(x: Tensor, positions: Tensor | None = None, base: float = 10_000.0, halves: bool = False) -> Tensor:
    """Rotate queries or keys ``(…, n, head_dim)`` by angles that grow with the position; same shape.

    ``positions`` is ``(n,)``, by default 0 … n-1. By default columns 2i and 2i+1 form a pair (Su et al. 2021,
    arXiv:2104.09864, section 3.2.2); ``halves=True`` pairs column i with i + head_dim/2, as GPT-NeoX and LLaMA checkpoints do.
    Scores are the same in both, provided queries and keys use one of them.
    """
    n, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n)
    if positions.shape != (n,):
        raise ValueError(f"{n} tokens, but positions have shape {tuple(positions.shape)}")
    angle = positions.double()[:, None] * frequencies(width, base).to(positions.device)  # (n, head_dim / 2)
    cos, sin = (f(angle).to(x.device, x.dtype) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, dim=-1) if halves else (x[..., 0::2], x[..., 1::2])
    turned = (a * cos - b * sin, a * sin + b * cos)
    return torch.cat(turned, dim=-1) if halves else torch.stack(turned, dim=-1).flatten(-2)
