"""ModernBERT, an encoder of 2024 made of parts that this course has taught: norm first, rotary positions, GeGLU, windows, no biases.

Source: Warner et al. 2024, section 2.1 (arXiv:2412.13663), and the released code. Every third layer sees the whole text, with a larger
base for its rotations; the others see a window. The first layer has no first norm: the embeddings have just been normalised.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..bert import Bert, BertConfig, initialise
from ..feedforward import GatedFeedForward
from ..masks import sliding_window_mask
from ..multihead import merge_heads, split_heads
from ..positions import rope


class ModernBlock(nn.Module):
    """``(batch, n, d_model)`` -> the same. ``reach``: keys up to so many places away are seen; None: all of them."""

    def __init__(self, d_model: int, num_heads: int, width: int, reach: int | None = None, base: float = 10_000.0):
        super().__init__()
        self.num_heads, self.reach, self.base = num_heads, reach, base
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model, bias=False), nn.LayerNorm(d_model, bias=False)
        self.w_qkv, self.w_o = nn.Linear(d_model, 3 * d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.feed_forward = GatedFeedForward(d_model, width, "gelu")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        n = x.shape[1]
        seen = torch.ones(n, n, dtype=torch.bool) if self.reach is None else sliding_window_mask(n, self.reach + 1, causal=False)
        seen = seen if mask is None else seen & mask
        q, k, v = (split_heads(part, self.num_heads) for part in self.w_qkv(self.norm_1(x)).chunk(3, -1))
        q, k = rope(q, base=self.base, halves=True), rope(k, base=self.base, halves=True)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen if seen.dim() == 2 else seen[:, None])
        x = x + self.w_o(merge_heads(mixed))
        return x + self.feed_forward(self.norm_2(x))


class ModernBert(Bert):
    """A ``Bert`` of modern blocks, without a table of positions; ``every``: each so many-th block sees all, the first one included."""

    def __init__(self, config: BertConfig, width: int, reach: int, every: int = 3, bases: tuple[float, float] = (10_000.0, 160_000.0)):
        super().__init__(config)
        self.embeddings.position.weight = nn.Parameter(torch.zeros_like(self.embeddings.position.weight), requires_grad=False)
        self.encoder.blocks = nn.ModuleList(
            ModernBlock(config.d_model, config.num_heads, width, reach if number % every else None, bases[number % every == 0])
            for number in range(config.num_layers)
        )
        self.encoder.norm = nn.LayerNorm(config.d_model, bias=False)
        initialise(self.encoder, config.init_std)
        self.encoder.blocks[0].norm_1 = nn.Identity()
