"""The Transformer that translates: an encoder, a decoder that looks at it, embeddings and an output layer.

Ids are ``(batch, tokens)`` with 0 for padding; masks are boolean, True = may attend.
Source: Vaswani et al. 2017, sections 3.1 to 3.4; shared embeddings, Press and Wolf 2017.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from .masks import causal_mask, padding_mask
from .multihead import KeyValueCache, MultiHeadAttention
from .positions import sinusoidal
from .transformer import Block, Encoder, TransformerConfig, config_of, feed_forward, final_norm, load_torch, norm, norm_after

Caches = tuple[KeyValueCache, KeyValueCache]  # of the two attentions of a block


class DecoderBlock(Block):
    """Masked self-attention, cross-attention, feed-forward, each with a way around it and a norm: ``(batch, n, d_model)`` kept.

    ``memory`` is the encoder's output ``(batch, m, d_model)``; ``mask`` fits ``(batch, n, n)``, ``memory_mask`` ``(batch, n, m)``.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        self.attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.cross_attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.feed_forward = feed_forward(config)
        self.norm_1, self.norm_2, self.norm_3 = (norm(config) for _ in range(3))
        self.after_1, self.after_2, self.after_3 = (norm_after(config) for _ in range(3))

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None, caches: Caches | None = None
    ) -> Tensor:
        own, cross = caches or (None, None)
        x = self.around(x, lambda y: self.attention(y, mask=mask, cache=own), self.norm_1, self.after_1)
        x = self.around(x, lambda y: self.cross_attention(y, memory, mask=memory_mask, cache=cross), self.norm_2, self.after_2)
        return self.around(x, self.feed_forward, self.norm_3, self.after_3)

    @classmethod
    def from_torch(cls, other: nn.TransformerDecoderLayer) -> DecoderBlock:
        """A copy of PyTorch's layer (batch first). ValueError for what this class lacks."""
        return load_torch(cls(config_of(other)), other)


class CrossDecoder(nn.Module):
    """A stack of decoder blocks, and a final norm unless each block already ends with one."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.blocks: Any = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_layers))
        self.norm = final_norm(config)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None, caches: list[Caches] | None = None
    ) -> Tensor:
        """``(batch, n, d_model)`` -> the same shape; masks as in ``DecoderBlock``, a pair of caches for each block."""
        for index, block in enumerate(self.blocks):
            x = block(x, memory, mask, memory_mask, caches[index] if caches else None)
        return self.norm(x)

    @classmethod
    def from_torch(cls, other: nn.TransformerDecoder) -> CrossDecoder:
        """A copy of PyTorch's stack, with its final norm if it has one."""
        stack = cls(replace(config_of(other.layers[0]), num_layers=len(other.layers)))
        stack.norm = deepcopy(other.norm) or nn.Identity()
        return load_torch(stack, other)


@dataclass(frozen=True, kw_only=True)
class TranslatorConfig(TransformerConfig):
    """A whole Transformer. ``tie``: "none", "output" (target embedding = output matrix) or "all" (source embedding too).

    ``scale_embeddings`` multiplies embeddings by √d_model, as the paper does; the output matrix is never scaled.
    """

    source_vocab: int = 37_000
    target_vocab: int = 37_000
    max_len: int = 512
    tie: str = "all"
    scale_embeddings: bool = True
    pad_id: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.source_vocab, self.target_vocab, self.max_len) < 1:
            sizes = f"source_vocab={self.source_vocab}, target_vocab={self.target_vocab}, max_len={self.max_len}"
            raise ValueError(f"{sizes} must be at least 1")
        if self.tie not in ("none", "output", "all"):
            raise ValueError(f"tie={self.tie!r} is unknown; choose 'none', 'output' or 'all'")
        if self.tie == "all" and self.source_vocab != self.target_vocab:
            raise ValueError(f"tie='all' needs one vocabulary, got source_vocab={self.source_vocab} and target_vocab={self.target_vocab}")


class Translator(nn.Module):
    """The complete encoder–decoder: ``forward(source, target)`` gives scores of the next target token at every position.

    ``source`` ``(batch, m)``, ``target`` ``(batch, n)`` (the shifted-right input) -> ``(batch, n, target_vocab)``.
    ValueError for empty or over-long sentences and for ids outside the vocabulary.
    """

    def __init__(self, config: TranslatorConfig):
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocab, config.d_model)
        self.target_embedding = self.source_embedding if config.tie == "all" else nn.Embedding(config.target_vocab, config.d_model)
        self.encoder, self.decoder = Encoder(config), CrossDecoder(config)
        self.output = nn.Linear(config.d_model, config.target_vocab, bias=False)
        self.table: Tensor
        self.register_buffer("table", sinusoidal(config.max_len, config.d_model), persistent=False)
        self.dropout = nn.Dropout(config.dropout)
        scale = config.d_model**-0.5 if config.scale_embeddings or config.tie != "none" else 1.0
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=scale)
        if config.tie != "none":
            self.output.weight = self.target_embedding.weight

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), self.memory_mask(source))

    def encode(self, source: Tensor) -> Tensor:
        """Memory ``(batch, m, d_model)`` of source ids ``(batch, m)``."""
        return self.encoder(self.embed(source, self.source_embedding), self.memory_mask(source))

    def memory_mask(self, source: Tensor) -> Tensor:
        """Which source tokens are real, ``(batch, 1, m)``."""
        return padding_mask(source, self.config.pad_id)

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor | None = None, caches: list[Caches] | None = None) -> Tensor:
        """Scores ``(batch, n, target_vocab)``. With caches ``target`` holds only the tokens that are not in them yet.

        Padding may only follow the real tokens of a target: the causal mask then hides it from all of them.
        """
        old = len(caches[0][0]) if caches else 0
        new = target.shape[1]
        mask = None if new == 1 else causal_mask(new, old + new, device=target.device)
        x = self.embed(target, self.target_embedding, old)
        return self.output(self.decoder(x, memory, mask, memory_mask, caches))

    def new_caches(self) -> list[Caches]:
        """Empty caches for ``decode``, two for each decoder block."""
        return [(KeyValueCache(), KeyValueCache()) for _ in self.decoder.blocks]

    def embed(self, ids: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        """Embeddings plus positions ``start, start + 1, …``: ids ``(batch, n)`` -> ``(batch, n, d_model)``."""
        if ids.dim() != 2 or not ids.numel():
            raise ValueError(f"ids have shape {tuple(ids.shape)}; expected (batch, tokens), neither of them 0")
        if start + ids.shape[1] > self.config.max_len:
            raise ValueError(f"{start + ids.shape[1]} tokens, but max_len={self.config.max_len}")
        if not ids.is_cuda:  # on a GPU the check would have to wait for all work before it
            low, high = ids.aminmax()
            if low < 0 or high >= embedding.num_embeddings:
                raise ValueError(f"id {low if low < 0 else high} does not exist; ids go from 0 to {embedding.num_embeddings - 1}")
        x = F.embedding(ids, embedding.weight)
        if self.config.scale_embeddings:
            x = x * math.sqrt(self.config.d_model)
        return self.dropout(x + self.table[start : start + ids.shape[1]])


def translator_parameters(config: TranslatorConfig) -> int:
    """How many numbers a ``Translator`` learns, by formula; shared matrices count once."""
    d, hidden, bias = config.d_model, config.d_ff, int(config.bias)
    attention = 4 * d * d + 4 * d * bias
    feed = (3 if config.gated else 2) * d * hidden + bias * ((2 if config.gated else 1) * hidden + d)
    norm = d * (2 if config.norm == "layer" else 1)
    per_place = norm * (2 if config.norm_place == "sandwich" else 1)
    encoder = attention + feed + 2 * per_place
    decoder = 2 * attention + feed + 3 * per_place
    closing = 0 if config.norm_place == "post" else 2 * norm
    tables = {
        "none": config.source_vocab + 2 * config.target_vocab,
        "output": config.source_vocab + config.target_vocab,
        "all": config.target_vocab,
    }[config.tie]
    return tables * d + config.num_layers * (encoder + decoder) + closing
