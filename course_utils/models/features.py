"""Features of a kernel: vectors whose dot product is the kernel, or an estimate of it.

Points are rows, ``(n, d)`` -> features ``(n, r)``. Sources: Rahimi and Recht 2007 (Fourier features); Choromanski et al. 2021,
arXiv:2009.14794 (positive features).
"""

import torch
from torch import Tensor


def fourier(x: Tensor, frequencies: Tensor) -> Tensor:
    """``(n, d)``, ``(m, d)`` -> ``(n, 2 m)``, cosines and sines: a dot product is the mean of ``cos(w · (x − y))`` over frequencies w."""
    angle = x @ frequencies.mT  # (n, m)
    return torch.cat([angle.cos(), angle.sin()], -1) / len(frequencies) ** 0.5


def random_frequencies(m: int, d: int, bandwidth: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
    """``(m, d)`` draws from the normal distribution with deviation ``1 / bandwidth``: those of a Gaussian kernel."""
    return torch.randn(m, d, generator=generator, dtype=torch.float64) / bandwidth


def even_frequencies(m: int, bandwidth: float = 1.0) -> Tensor:
    """``(m, 1)`` frequencies, one in the middle of each of m equally probable parts of the same normal distribution."""
    parts = (torch.arange(m, dtype=torch.float64) + 0.5) / m
    return (torch.special.ndtri(parts) / bandwidth)[:, None]


def positive_exponential(x: Tensor, frequencies: Tensor) -> Tensor:
    """``(n, d)`` and ``(m, d)`` -> ``(n, m)``, all positive: for standard normal frequencies the mean dot product is ``exp(x · y)``."""
    return (x @ frequencies.mT - x.pow(2).sum(-1, keepdim=True) / 2).exp() / len(frequencies) ** 0.5


def fourier_exponential(x: Tensor, frequencies: Tensor) -> Tensor:
    """``(n, d)`` and ``(m, d)`` -> ``(n, 2 m)``: Fourier features of ``exp(x · y)``, the Gaussian times the two lengths."""
    return fourier(x, frequencies) * (x.pow(2).sum(-1, keepdim=True) / 2).exp()
