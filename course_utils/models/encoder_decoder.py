"""The Transformer that translates: an encoder, a decoder that looks at it, embeddings and an output layer.

Ids are ``(batch, tokens)`` with 0 for padding; masks are boolean, True = may attend.
Source: Vaswani et al. 2017, sections 3.1 to 3.4; shared embeddings, Press and Wolf 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from torch import Tensor, nn
from torch.nn import functional as F

from .dropout import Dropout, dropout
from .masks import causal_mask, padding_mask
from .multihead import KeyValueCache, MultiHeadAttention
from .positions import sinusoidal
from .transformer import Encoder, TransformerConfig, config_of, copied_norm, copy_into, feed_forward, final_norm, norm, norm_after


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention, feed-forward, each with a way around it and a norm: ``(batch, n, d_model)`` kept.

    ``memory`` is the encoder's output ``(batch, m, d_model)``; ``mask`` fits ``(batch, n, n)``, ``memory_mask`` ``(batch, n, m)``.
    ``caches`` is a pair, one for each attention.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_place = config.norm_place
        self.attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.cross_attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.feed_forward = feed_forward(config)
        self.norm_1, self.norm_2, self.norm_3 = (norm(config) for _ in range(3))
        self.after_1, self.after_2, self.after_3 = (norm_after(config) for _ in range(3))
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        caches: tuple[KeyValueCache | None, KeyValueCache | None] = (None, None),
    ) -> Tensor:
        own, cross = caches
        if self.norm_place == "post":
            x = self.norm_1(x + self.dropout(self.attention(x, mask=mask, cache=own)))
            x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, mask=memory_mask, cache=cross)))
            return self.norm_3(x + self.dropout(self.feed_forward(x)))
        x = x + self.after_1(self.dropout(self.attention(self.norm_1(x), mask=mask, cache=own)))
        x = x + self.after_2(self.dropout(self.cross_attention(self.norm_2(x), memory, mask=memory_mask, cache=cross)))
        return x + self.after_3(self.dropout(self.feed_forward(self.norm_3(x))))

    @classmethod
    def from_torch(cls, other: nn.TransformerDecoderLayer) -> DecoderBlock:
        """A copy of PyTorch's layer (batch first). ValueError for what this class lacks."""
        block = cls(config_of(other))
        block.attention = MultiHeadAttention.from_torch(other.self_attn)
        block.cross_attention = MultiHeadAttention.from_torch(other.multihead_attn)
        for ours, theirs in (
            (block.feed_forward.w_1, other.linear1),
            (block.feed_forward.w_2, other.linear2),
            (block.norm_1, other.norm1),
            (block.norm_2, other.norm2),
            (block.norm_3, other.norm3),
        ):
            copy_into(ours, theirs)
        return block.to(other.linear1.weight).train(other.training)


class CrossDecoder(nn.Module):
    """A stack of decoder blocks, and a final norm unless each block already ends with one."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_layers))
        self.norm = final_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        caches: list[tuple[KeyValueCache, KeyValueCache]] | None = None,
    ) -> Tensor:
        """``(batch, n, d_model)`` -> the same shape; masks as in ``DecoderBlock``, a pair of caches for each block."""
        for index, block in enumerate(self.blocks):
            x = block(x, memory, mask, memory_mask, caches[index] if caches else (None, None))
        return self.norm(x)

    @classmethod
    def from_torch(cls, other: nn.TransformerDecoder) -> CrossDecoder:
        """A copy of PyTorch's stack, with its final norm if it has one."""
        stack = cls(replace(config_of(other.layers[0]), num_layers=len(other.layers)))
        stack.blocks = nn.ModuleList(DecoderBlock.from_torch(layer) for layer in other.layers)
        stack.norm = copied_norm(other.norm)
        return stack.train(other.training)


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
            raise ValueError(
                f"source_vocab={self.source_vocab}, target_vocab={self.target_vocab}, max_len={self.max_len} must be at least 1"
            )
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
        self.register_buffer("table", sinusoidal(config.max_len, config.d_model), persistent=False)
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

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        caches: list[tuple[KeyValueCache, KeyValueCache]] | None = None,
    ) -> Tensor:
        """Scores ``(batch, n, target_vocab)``. With caches ``target`` holds only the tokens that are not in them yet.

        Padding may only follow the real tokens of a target: the causal mask then hides it from all of them.
        """
        old = len(caches[0][0]) if caches else 0
        new = target.shape[1]
        mask = None if new == 1 else causal_mask(new, old + new, device=target.device)
        x = self.embed(target, self.target_embedding, old)
        return self.output(self.decoder(x, memory, mask, memory_mask, caches))

    def new_caches(self) -> list[tuple[KeyValueCache, KeyValueCache]]:
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
        return dropout(x + self.table[start : start + ids.shape[1]], self.config.dropout, self.training)


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


Decoder, parameter_count = CrossDecoder, translator_parameters  # as notebooks of the first edition call them
