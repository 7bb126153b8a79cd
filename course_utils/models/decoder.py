"""The decoder of today as a GPT-2 with switches: RMSNorm, SwiGLU, rotary positions, shared key heads, experts, no biases.

A ``Decoder`` is a ``gpt.GPT`` with other blocks. ``DecoderConfig()`` turns no switch and computes what GPT-2 computes;
``llama_style(config)`` turns those that LLaMA turned.
Sources: Touvron et al. 2023, section 2.2, and those named in ``grouped``, ``experts``, ``norms`` and ``feedforward``.
"""

from dataclasses import dataclass, replace

from torch import Tensor, nn

from .experts import MixtureOfExperts
from .feedforward import gated_width
from .gpt import GPT, GPTBlock, GPTConfig
from .grouped import GroupedQueryAttention
from .transformer import TransformerConfig, feed_forward


@dataclass(frozen=True, kw_only=True)
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

    def block(self) -> GPTBlock:
        """One new block of this model."""
        body, rope_base = self.body(), self.rope_base if self.rotary else None
        attention = GroupedQueryAttention(self.d_model, self.num_heads, self.num_kv_heads, self.bias, self.dropout, rope_base)
        if self.num_experts == 1:
            return GPTBlock(body, attention, feed_forward(body))
        return GPTBlock(body, attention, MixtureOfExperts(self.d_model, self.num_experts, self.active_experts, lambda: feed_forward(body)))

    def positions(self) -> nn.Embedding | None:
        return None if self.rotary else super().positions()

    def output(self) -> nn.Linear | None:
        return None if self.tied else nn.Linear(self.d_model, self.vocab_size, bias=False)


def llama_style(config: DecoderConfig) -> DecoderConfig:
    """The same sizes with LLaMA's four changes: RMSNorm, SwiGLU, rotary positions, no biases."""
    return replace(config, norm="rms", gated=True, activation="silu", rotary=True, bias=False)


class Decoder(GPT):
    """A ``GPT`` of these blocks: ids ``(batch, n)`` -> next-token logits ``(batch, n, vocab_size)``; caches and ``last`` as there."""

    config: DecoderConfig

    def mixtures(self) -> list[MixtureOfExperts]:
        """The feed-forward networks with experts, one for each block or none."""
        return [block.feed_forward for block in self.blocks if isinstance(block.feed_forward, MixtureOfExperts)]

    def loss(self, ids: Tensor) -> Tensor:
        """As ``GPT.loss``: mean nats of every token but the first; in training plus the balance losses of the experts, weighted."""
        loss, mixtures = super().loss(ids), self.mixtures()
        if not mixtures or not self.training:
            return loss
        return loss + self.config.balance_weight * sum(mixture.balance for mixture in mixtures)
