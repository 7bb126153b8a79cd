"""Attention in blocks: the scores are never stored, and the backward pass computes them again from one number for each row.

Tokens are rows. ``causal`` hides later keys, the n queries being the last of the m keys. A row that sees nothing gives 0 and the
log-sum-exp -inf. Source: Dao et al. 2022, algorithms 1 and 4.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .attention import check_widths
from .online import finish, merge_states, part

Span = tuple[slice, slice, Tensor | None]


def blocks(n: int, m: int, size: int, causal: bool) -> Iterator[list[Span]]:
    """For each block of queries its blocks of keys: rows, columns, and what may be seen (None: everything).

    Blocks that lie wholly in the future are left out. ValueError for a size below 1, and for ``causal`` with more queries than keys.
    """
    if size < 1:
        raise ValueError(f"a block needs at least one row, got size={size}")
    if causal and n > m:
        raise ValueError(f"n={n} queries cannot be the last of m={m} keys")
    for top in range(0, n, size):
        rows, spans = slice(top, min(top + size, n)), []
        for left in range(0, m, size):
            columns = slice(left, min(left + size, m))
            first, last = top + m - n, rows.stop - 1 + m - n  # the last key that the first row sees, and the last row
            if causal and left > last:
                break
            see = None
            if causal and columns.stop - 1 > first:
                see = torch.arange(left, columns.stop) <= torch.arange(first, last + 1)[:, None]  # (rows, columns)
            spans.append((rows, columns, see))
        yield spans


def _scores(rows: Tensor, keys: Tensor, see: Tensor | None) -> Tensor:
    scores = rows @ keys.mT
    return scores if see is None else scores.masked_fill_(~see.to(scores.device), -torch.inf)


def forward_in_blocks(query: Tensor, key: Tensor, value: Tensor, causal: bool = False, size: int = 256) -> tuple[Tensor, Tensor]:
    """Output ``(…, n, d_v)`` and log-sum-exp of the scores ``(…, n)``, from ``(…, n, d), (…, m, d), (…, m, d_v)``."""
    check_widths(query, key, value)
    n, m = query.shape[-2], key.shape[-2]
    scaled = query / math.sqrt(query.shape[-1])
    output = query.new_zeros(*query.shape[:-1], value.shape[-1])
    lse = query.new_full(query.shape[:-1], -torch.inf)
    for spans in blocks(n, m, size, causal):
        state = None
        for rows, columns, see in spans:
            piece = part(_scores(scaled[..., rows, :], key[..., columns, :], see), value[..., columns, :])
            state = piece if state is None else merge_states(state, piece)
        if state is not None:
            output[..., rows, :], lse[..., rows] = finish(state)
    return output, lse


def backward_in_blocks(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad: Tensor, causal: bool = False, size: int = 256
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and value from that of the output; the weights come from the scores and ``lse`` again."""
    scale = 1 / math.sqrt(query.shape[-1])
    share = (grad * output).sum(-1, keepdim=True)  # (…, n, 1): the sum over keys of weight times its gradient
    lse = lse.masked_fill(lse == -torch.inf, 0.0)[..., None]
    dq, dk, dv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for spans in blocks(query.shape[-2], key.shape[-2], size, causal):
        for rows, columns, see in spans:
            q, k, v, g = query[..., rows, :] * scale, key[..., columns, :], value[..., columns, :], grad[..., rows, :]
            p = (_scores(q, k, see) - lse[..., rows, :]).exp_()  # (…, rows, columns), the weights themselves
            ds = p * (g @ v.mT - share[..., rows, :])
            dv[..., columns, :] += p.mT @ g
            dq[..., rows, :] += scale * (ds @ k)
            dk[..., columns, :] += ds.mT @ q  # q carries the scale
    return dq, dk, dv


class BlockAttention(torch.autograd.Function):
    """Saves query, key, value, output and one number a row; never a weight. Use :func:`block_attention`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, causal: bool, size: int) -> Tensor:
        output, lse = forward_in_blocks(query, key, value, causal, size)
        ctx.save_for_backward(query, key, value, output, lse)
        ctx.causal, ctx.size = causal, size
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, output, lse = ctx.saved_tensors
        return *backward_in_blocks(query, key, value, output, lse, grad, ctx.causal, ctx.size), None, None


def block_attention(query: Tensor, key: Tensor, value: Tensor, causal: bool = False, size: int = 256) -> Tensor:
    """Attention in blocks of ``size`` queries and keys, with gradients: ``(…, n, d), (…, m, d), (…, m, d_v)`` -> ``(…, n, d_v)``.

    The leading axes of the three must be equal. ValueError, with the numbers, for sizes that do not fit.
    """
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"leading axes differ: {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    return BlockAttention.apply(query, key, value, causal, size)
