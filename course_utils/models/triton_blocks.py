"""The forward pass in blocks as one Triton kernel, for a card with CUDA. Importing this module needs the package triton.

With the environment variable TRITON_INTERPRET=1, set before the import, the same code runs slowly on the CPU. Tokens are rows, no mask.
Source: the loop of Dao et al. 2022; the language, Tillet et al. 2019.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _forward(query, key, value, output, lse, n, m, scale, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    head, rows = tl.program_id(1), tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, WIDTH)
    here = (head * n + rows[:, None]) * WIDTH + at
    q = tl.load(query + here, mask=rows[:, None] < n, other=0.0)
    top = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    for left in range(0, m, COLUMNS):
        columns = left + tl.arange(0, COLUMNS)
        there = (head * m + columns[:, None]) * WIDTH + at
        k = tl.load(key + there, mask=columns[:, None] < m, other=0.0)
        v = tl.load(value + there, mask=columns[:, None] < m, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(columns[None, :] < m, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        p, shrink = tl.exp(scores - higher[:, None]), tl.exp(top - higher)
        total = shrink * total + tl.sum(p, 1)
        mixed = shrink[:, None] * mixed + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        top = higher
    tl.store(output + here, (mixed / total[:, None]).to(q.dtype), mask=rows[:, None] < n)
    tl.store(lse + head * n + rows, top + tl.log(total), mask=rows < n)


def triton_attention(query: Tensor, key: Tensor, value: Tensor, size: int = 64) -> tuple[Tensor, Tensor]:
    """Output ``(heads, n, d)`` and log-sum-exp ``(heads, n)``, from ``(heads, n, d), (heads, m, d), (heads, m, d)``, without gradients.

    ``size`` and d must be powers of 2 and at least 16; ValueError, with the numbers, if they are not or if shapes do not fit.
    """
    (heads, n, d), m = query.shape, key.shape[-2]
    if min(size, d) < 16 or size & (size - 1) or d & (d - 1):
        raise ValueError(f"size={size} and width {d} must be powers of 2 and at least 16")
    if key.shape != (heads, m, d) or value.shape != key.shape or not m:
        raise ValueError(f"shapes {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)} do not fit")
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    output, lse = torch.empty_like(query), query.new_empty(heads, n, dtype=torch.float32)
    _forward[(triton.cdiv(n, size), heads)](query, key, value, output, lse, n, m, 1 / math.sqrt(d), WIDTH=d, ROWS=size, COLUMNS=size)
    return output, lse
