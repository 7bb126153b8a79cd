"""Numbers of few bits: whole numbers, and one scale for a tensor, a row, a column, or a group of a row.

A symmetric grid: with b bits the whole numbers run from -(2^(b-1) - 1) to 2^(b-1) - 1. Sources: one scale a row or column, as in
LLM.int8(), Dettmers et al. 2022; groups, as in GPTQ's and AWQ's tables, Frantar et al. 2023, Lin et al. 2024.
"""

from typing import NamedTuple

import torch
from torch import Tensor

KINDS = ("tensor", "row", "column", "group")


class Quantised(NamedTuple):
    """``codes`` (the matrix's shape, whole numbers), ``scale`` (one for each part), ``bits`` of a code, the ``shape`` of the matrix."""

    codes: Tensor
    scale: Tensor
    bits: int
    shape: torch.Size

    def restore(self) -> Tensor:
        """Codes times scales, in the shape of the matrix."""
        return (self.codes * self.scale).view(self.shape)

    def bits_used(self) -> float:
        """Bits a number, with 16 for every scale."""
        return self.bits + 16 * self.scale.numel() / self.codes.numel()


def quantise(x: Tensor, bits: int, kind: str = "row", group: int = 30) -> Quantised:
    """Round a matrix ``(rows, columns)`` to ``bits`` bits, with a scale for each part, so that its largest number just fits.

    ``kind``: "tensor", "row", "column", or "group": ``group`` neighbours of a row. A part of zeros stays zeros. ValueError, with the
    numbers, for fewer than 2 bits, another kind, groups that do not divide a row.
    """
    if bits < 2 or kind not in KINDS or x.dim() != 2:
        raise ValueError(f"bits={bits} must be at least 2, kind={kind!r} one of {KINDS}, x a matrix and not {tuple(x.shape)}")
    if kind == "group" and x.shape[1] % group:
        raise ValueError(f"rows of {x.shape[1]} numbers cannot be cut into groups of {group}")
    parts = x.reshape(len(x), -1, group) if kind == "group" else x
    axes = {"tensor": (0, 1), "row": (1,), "column": (0,), "group": (2,)}[kind]
    most = 2 ** (bits - 1) - 1
    scale = parts.abs().amax(axes, keepdim=True) / most
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    return Quantised((parts / scale).round().clamp(-most, most), scale, bits, x.shape)
