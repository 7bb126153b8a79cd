"""The decoder of today as a GPT-2 with switches: RMSNorm, SwiGLU, rotary positions, shared key heads, experts, no biases.

``DecoderConfig()`` is GPT-2 and computes what ``gpt.GPT`` computes; ``llama_style(config)`` turns the switches that LLaMA turned.
Sources: Touvron et al. 2023, section 2.2, and those named in ``grouped``, ``experts``, ``norms`` and ``feedforward``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor, nn
from torch.nn import functional as F

from .dropout import dropout
from .experts import MixtureOfExperts
from .feedforward import gated_width
from .gpt import GPTConfig, cross_entropy, initialise
from .grouped import GroupedQueryAttention
from .multihead import KeyValueCache
from .transformer import AddNorm, TransformerConfig, feed_forward, final_norm


@dataclass(frozen=True)
class DecoderConfig(GPTConfig):
    """GPT-2's sizes and one switch for each thing that changed since; the defaults change nothing.

    ``rotary``: rotate queries and keys (base ``rope_base``) instead of adding a table of positions. ``num_kv_heads``: key and value
    heads (None: as many as query heads). ``num_experts``: feed-forward networks to choose from (1: the one that all use), of which
    each token uses ``active_experts``; training adds ``balance_weight`` times the balance loss. ``gated``: ``w_2(f(gate) · value)``,
    two thirds as wide, so that three matrices hold what two did. ``tied``: the output matrix is the token embedding.
    """

    norm: str = "layer"
    gated: bool = False
    bias: bool = True
    rotary: bool = False
    rope_base: float = 10_000.0
    num_kv_heads: int | None = None
    num_experts: int = 1
    active_experts: int = 1
    balance_weight: float = 0.01
    tied: bool = True

    def body(self) -> TransformerConfig:
        """The stack inside."""
        width = self.d_ff or (gated_width(4 * self.d_model, 8) if self.gated else 4 * self.d_model)
        return replace(super().body(), d_ff=width, norm=self.norm, gated=self.gated, bias=self.bias)


def llama_style(config: DecoderConfig) -> DecoderConfig:
    """The same sizes with LLaMA's four changes: RMSNorm, SwiGLU, rotary positions, no biases."""
    return replace(config, norm="rms", gated=True, activation="silu", rotary=True, bias=False)


class DecoderBlock(nn.Module):
    """Causal attention and a feed-forward network (or a mixture of them), each in an ``AddNorm``: ``(batch, n, d_model)`` kept."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        body, d = config.body(), config.d_model
        self.attention = GroupedQueryAttention(d, config.num_heads, config.num_kv_heads, config.bias, config.dropout,
                                               config.rope_base if config.rotary else None)
        self.feed_forward = (feed_forward(body) if config.num_experts == 1 else
                             MixtureOfExperts(d, config.num_experts, config.active_experts, lambda: feed_forward(body)))
        self.around_attention, self.around_feed_forward = AddNorm(body), AddNorm(body)

    def forward(self, x: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        x = self.around_attention(x, lambda h: self.attention(h, cache))
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """Next-token logits of every position: ids ``(batch, n)`` -> ``(batch, n, vocab_size)``; caches and ``last`` as in ``gpt.GPT``."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = None if config.rotary else nn.Embedding(config.max_len, config.d_model)
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_layers))
        self.norm = final_norm(config.body())
        self.output = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
        initialise(self)

    def forward(self, ids: Tensor, caches: list[KeyValueCache] | None = None, last: bool = False) -> Tensor:
        hidden = self.hidden(ids, caches)
        return F.linear(hidden[:, -1:] if last else hidden, (self.token if self.output is None else self.output).weight)

    def hidden(self, ids: Tensor, caches: list[KeyValueCache] | None = None) -> Tensor:
        """What the output matrix sees, ``(batch, n, d_model)``."""
        seen, room = len(caches[0]) if caches else 0, self.config.max_len
        if ids.dim() != 2 or not 0 < ids.shape[1] <= room - seen:
            raise ValueError(f"ids of shape {tuple(ids.shape)} after {seen} tokens; expected (batch, n) with n from 1 to {room - seen}: "
                             f"max_len={room}")
        x = self.token(ids)
        if self.position is not None:
            x = x + self.position.weight[seen: seen + ids.shape[1]]
        x = dropout(x, self.config.dropout, self.training)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks), strict=True):
            x = block(x, cache)
        return self.norm(x)

    def loss(self, ids: Tensor) -> Tensor:
        """As ``GPT.loss``: mean nats of every token but the first; in training plus the balance losses of the experts, weighted."""
        loss = cross_entropy(self(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        balances = [block.feed_forward.balance for block in self.blocks if isinstance(block.feed_forward, MixtureOfExperts)]
        return loss + self.config.balance_weight * sum(balances) if balances and self.training else loss

    def new_caches(self) -> list[KeyValueCache]:
        """Empty caches, one a block."""
        return [KeyValueCache() for _ in self.blocks]

    def parameters_used(self) -> int:
        """Parameters that one token meets: all, less the experts it does not use."""
        idle = (self.config.num_experts - self.config.active_experts) / self.config.num_experts
        unused = sum(p.numel() for block in self.blocks if isinstance(block.feed_forward, MixtureOfExperts)
                     for p in block.feed_forward.experts.parameters())
        return sum(p.numel() for p in self.parameters()) - round(idle * unused)
