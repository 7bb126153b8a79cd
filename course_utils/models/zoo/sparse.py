"""Sparse attention patterns for long texts: a window, a few global tokens, a few random ones, cell by cell or in blocks.

Masks are boolean, True = may attend. Sources: Longformer, Beltagy et al. 2020, section 3.1; BigBird, Zaheer et al. 2020, section 2.
"""

import torch
from torch import Tensor


def window_mask(n: int, reach: int) -> Tensor:
    """``(n, n)``: every token sees itself and ``reach`` neighbours on each side. ValueError for n below 1 or a negative reach."""
    if n < 1 or reach < 0:
        raise ValueError(f"n={n} must be at least 1 and reach={reach} at least 0")
    place = torch.arange(n)
    return (place[:, None] - place).abs() <= reach


def global_mask(n: int, chosen: list[int]) -> Tensor:
    """``(n, n)``: the chosen tokens see all and are seen by all. ValueError for a place outside the text."""
    if any(not 0 <= place < n for place in chosen):
        raise ValueError(f"global places {chosen} must lie in 0 to {n - 1}")
    marked = torch.zeros(n, dtype=torch.bool)
    marked[chosen] = True
    return marked[:, None] | marked


def in_blocks(mask: Tensor, size: int) -> Tensor:
    """A mask of blocks ``(m, m)`` as a mask of tokens ``(m · size, m · size)``."""
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    return mask.repeat_interleave(size, 0).repeat_interleave(size, 1)


def bigbird_mask(n: int, block: int, window: int = 1, ends: int = 1, random: int = 3, generator: torch.Generator | None = None) -> Tensor:
    """``(n, n)``: BigBird's pattern of blocks: the own one and ``window`` on each side, the first and last ``ends`` global ones, and
    ``random`` others. ValueError when n is no multiple of ``block``."""
    if n < 1 or block < 1 or n % block:
        raise ValueError(f"n={n} is not a multiple of block={block}")
    m = n // block
    chosen = sorted({*range(min(ends, m)), *range(max(0, m - ends), m)})
    kept = window_mask(m, window) | global_mask(m, chosen)
    free = torch.rand(m, m, generator=generator).masked_fill(kept, -1.0)  # random blocks are others than those already seen
    best = free.topk(min(random, m), dim=-1)
    return in_blocks(kept | torch.zeros_like(kept).scatter(-1, best.indices, best.values >= 0), block)
