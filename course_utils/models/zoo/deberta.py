"""DeBERTa's attention: content and distance are two vectors, and three of their four products are added up.

Tokens are rows, batch first; masks are boolean, True = may attend. Source: He et al. 2021, section 3.1, equations 2 to 4 and
algorithm 1.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..attention import masked_softmax
from ..multihead import merge_heads, split_heads


def distance_index(n: int, largest: int) -> Tensor:
    """``(n, n)``: the row of the distance table for query i and key j, ``i - j`` clipped to ``[-largest, largest)``, counted from 0."""
    if n < 1 or largest < 1:
        raise ValueError(f"n={n} and largest={largest} must be at least 1")
    place = torch.arange(n)
    return (place[:, None] - place + largest).clamp(0, 2 * largest - 1)


class DisentangledAttention(nn.Module):
    """``forward(x, mask=None)``: ``(batch, n, d_model)`` -> the same shape.

    Score of query i and key j: content to content + content of i to the distance of j + content of j to the distance of i, divided by
    the root of ``3 · head_dim``. ``largest``: distances beyond it count as this one. This is the paper's formula; the released code
    takes the distance of the third term the other way round. ``head_scores(query, key, far_query, far_key, largest)`` computes the
    scores of one head, ``(batch, n, n)``, in place of ours.
    """

    head_scores: Callable[..., Tensor] | None = None

    def __init__(self, d_model: int, num_heads: int, largest: int):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads, self.largest = num_heads, largest
        self.w_qkv, self.w_o = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.distance = nn.Parameter(torch.empty(2 * largest, d_model))
        nn.init.normal_(self.distance, std=0.02)
        self.w_distance = nn.Linear(d_model, 2 * d_model, bias=False)  # rows: queries, then keys of the distances

    def scores(self, x: Tensor) -> Tensor:
        """Before the softmax, ``(batch, num_heads, n, n)``."""
        return self._scores(*self._project(x)[:2])

    def _scores(self, q: Tensor, k: Tensor) -> Tensor:
        index = distance_index(q.shape[-2], self.largest).to(q.device)
        tables = self.w_distance(self.distance).chunk(2, -1)
        query_of, key_of = (split_heads(table, self.num_heads) for table in tables)  # (heads, 2 · largest, head_dim)
        if self.head_scores:
            heads = zip(q.unbind(1), k.unbind(1), query_of, key_of, strict=True)
            return torch.stack([self.head_scores(*head, self.largest) for head in heads], 1)
        shape = q.shape[:2] + index.shape
        content_to_place = (q @ key_of.mT).gather(-1, index.expand(shape))  # entry i, j: row i - j
        place_to_content = (k @ query_of.mT).gather(-1, index.expand(shape)).mT  # computed at j, i: row j - i
        return (q @ k.mT + content_to_place + place_to_content) / math.sqrt(3 * q.shape[-1])

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self._project(x)
        weights = masked_softmax(self._scores(q, k), mask if mask is None or mask.dim() == 4 else mask[..., None, :, :])
        return self.w_o(merge_heads(weights @ v))

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (split_heads(part, self.num_heads) for part in self.w_qkv(x).chunk(3, -1))
        return q, k, v
