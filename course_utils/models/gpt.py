"""GPT: a stack of causal self-attention blocks that predicts the next token at every position.

Tokens are rows, batch first. Sources: GPT-1, Radford et al. 2018; GPT-2, Radford et al. 2019 (section 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .multihead import KeyValueCache, MultiHeadAttention
from .transformer import Block, TransformerConfig, feed_forward, final_norm, norm, norm_after


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """Sizes of a GPT; the defaults are those of the smallest GPT-2. ``norm_place="post"`` makes it a GPT-1."""

    vocab_size: int = 50_257
    d_model: int = 768
    num_heads: int = 12
    num_layers: int = 12
    max_len: int = 1_024
    dropout: float = 0.1
    norm_place: str = "pre"
    activation: str = "gelu_tanh"
    norm_eps: float = 1e-5
    d_ff: int | None = None  # 4 · d_model unless given

    def __post_init__(self) -> None:
        if min(self.vocab_size, self.max_len) < 1:
            raise ValueError(f"vocab_size={self.vocab_size} and max_len={self.max_len} must be at least 1")
        self.body()  # finds impossible sizes

    def body(self) -> TransformerConfig:
        """The stack inside."""
        return TransformerConfig(
            d_model=self.d_model,
            num_heads=self.num_heads,
            d_ff=self.d_ff or 4 * self.d_model,
            num_layers=self.num_layers,
            dropout=self.dropout,
            activation=self.activation,
            norm_place=self.norm_place,
            norm_eps=self.norm_eps,
            drop_hidden=False,
        )

    def block(self) -> GPTBlock:
        """One new block of this model."""
        return GPTBlock(self.body())

    def positions(self) -> nn.Embedding | None:
        """A new table of positions; None for a model that adds none."""
        return nn.Embedding(self.max_len, self.d_model)

    def output(self) -> nn.Linear | None:
        """A new output layer; None where the token embedding serves as its matrix."""
        return None


GPT1 = GPTConfig(vocab_size=40_478, max_len=512, norm_place="post")
GPT2 = {
    "small": GPTConfig(),
    "medium": GPTConfig(d_model=1024, num_heads=16, num_layers=24),
    "large": GPTConfig(d_model=1280, num_heads=20, num_layers=36),
    "xl": GPTConfig(d_model=1600, num_heads=25, num_layers=48),
}


class GPTBlock(Block):
    """Causal self-attention, then feed-forward, ``(batch, n, d_model)`` kept; ``attention`` and ``network`` replace GPT-2's parts."""

    def __init__(self, config: TransformerConfig, attention: nn.Module | None = None, network: nn.Module | None = None):
        super().__init__(config)
        self.attention = attention or MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.feed_forward = network or feed_forward(config)
        self.norm_1, self.norm_2 = norm(config), norm(config)
        self.after_1, self.after_2 = norm_after(config), norm_after(config)

    def forward(self, x: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        x = self.around(x, lambda y: self.attend(y, cache), self.norm_1, self.after_1)
        return self.around(x, self.feed_forward, self.norm_2, self.after_2)

    def attend(self, x: Tensor, cache: KeyValueCache | None) -> Tensor:
        """Every token looks at itself and those before it."""
        return self.attention(x, causal=True, cache=cache)


class GPT(nn.Module):
    """Next-token logits for every position: ids ``(batch, n)`` -> ``(batch, n, vocab_size)``.

    The output matrix is the token embedding. With ``caches`` (see :meth:`new_caches`) ids are the tokens that follow those seen.
    ``last=True`` gives the logits of the last position alone, ``(batch, 1, vocab_size)``. ValueError for ids that do not fit.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = config.positions()
        self.blocks: Any = nn.ModuleList(config.block() for _ in range(config.num_layers))
        self.norm = final_norm(config.body())
        self.output = config.output()
        self.dropout = nn.Dropout(config.dropout)
        initialise_gpt(self)

    def forward(self, ids: Tensor, caches: list[KeyValueCache] | None = None, last: bool = False) -> Tensor:
        hidden = self.hidden(ids, caches)
        table = self.token if self.output is None else self.output
        return F.linear(hidden[:, -1:] if last else hidden, table.weight)

    def hidden(self, ids: Tensor, caches: list[KeyValueCache] | None = None) -> Tensor:
        """What the output matrix sees, ``(batch, n, d_model)``."""
        seen = len(caches[0]) if caches else 0
        if ids.dim() != 2 or not 0 < ids.shape[1] <= self.config.max_len - seen:
            raise ValueError(
                f"ids of shape {tuple(ids.shape)} after {seen} tokens; expected (batch, n) with n from 1 to "
                f"{self.config.max_len - seen}: max_len={self.config.max_len}"
            )
        x = self.token(ids)
        if self.position is not None:
            x = x + self.position.weight[seen : seen + ids.shape[1]]
        x = self.dropout(x)
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number] if caches else None)
        return self.norm(x)

    def loss(self, ids: Tensor) -> Tensor:
        """Mean cross-entropy in nats of every token but the first, given those before it: ids ``(batch, n + 1)`` -> a number."""
        logits = self(ids[:, :-1])  # (batch, n, vocab_size)
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    def new_caches(self) -> list[KeyValueCache]:
        """Empty caches, one for each block."""
        return [KeyValueCache() for _ in self.blocks]


@torch.no_grad()
def initialise_gpt(model: GPT) -> None:
    """GPT-2's start: deviation .02; layers that write into the residual stream smaller by the root of their number.

    A model narrower than 768 gets larger first weights, so that a layer's output is as large as it would be there.
    """
    std = 0.02 * (768 / model.config.d_model) ** 0.5
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=std if isinstance(module, nn.Linear) else 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for name, weight in model.named_parameters():
        if name.endswith(("attention.w_o.weight", ".w_2.weight")):
            nn.init.normal_(weight, std=std / (2 * model.config.num_layers) ** 0.5)


def parameter_count(vocab_size: int, d_model: int, num_layers: int, max_len: int, final: bool = True) -> int:
    """Parameters of a GPT with tied output and ``d_ff = 4 · d_model``: embeddings, blocks, and a ``final`` norm (GPT-1 has none)."""
    return (vocab_size + max_len) * d_model + num_layers * (12 * d_model**2 + 13 * d_model) + 2 * d_model * final
