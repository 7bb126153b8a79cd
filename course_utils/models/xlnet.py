"""XLNet: tokens are predicted in a random order, by a second stream that knows a place but not what stands there.

Tokens are rows, batch first; masks are boolean, True = may attend. Source: Yang et al. 2019, section 2.3 and appendix A.
Simpler than the paper: positions are a learned table, not relative, and there is no memory of earlier segments.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .bert import initialise
from .gpt import GPTConfig
from .transformer import EncoderBlock


@dataclass(frozen=True, kw_only=True)
class XLNetConfig(GPTConfig):
    """Sizes of an XLNet, those of its base model by default; the blocks are post-norm, as BERT's."""

    vocab_size: int = 32_000
    max_len: int = 512
    norm_place: str = "post"
    activation: str = "gelu"
    norm_eps: float = 1e-12


def permutation_masks(orders: Tensor) -> tuple[Tensor, Tensor]:
    """Content and query mask, each ``(…, n, n)``, of orders ``(…, n)`` that name positions from 0, the first to be predicted first.

    A position sees those that come before it in its order; in the content mask itself too. ValueError for what is no permutation.
    """
    n = orders.shape[-1]
    if not torch.equal(orders.sort(-1).values, torch.arange(n, device=orders.device).expand(orders.shape)):
        raise ValueError(f"an order of {n} positions must name each of 0 to {n - 1} once, got {orders.flatten(0, -2)[:2].tolist()}")
    rank = orders.argsort(-1)  # rank[i]: when position i has its turn
    earlier = rank[..., None, :] < rank[..., :, None]
    return earlier | torch.eye(n, dtype=torch.bool, device=orders.device), earlier


class TwoStreamBlock(EncoderBlock):
    """An encoder block that carries two streams with the same weights; keys and values of both are the content stream."""

    def streams(self, h: Tensor, g: Tensor, content: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        """Content h and query stream g, ``(batch, n, d_model)``, with their masks -> both, one block later."""
        g = self.norm_1(g + self.dropout(self.attention(g, h, mask=query)))
        g = self.norm_2(g + self.dropout(self.feed_forward(g)))
        return self(h, content), g


class XLNet(nn.Module):
    """``forward(ids, orders)``: ids and orders ``(batch, n)`` -> logits ``(batch, n, vocab_size)``; row i is the prediction of token i
    from the tokens that come before it in the order. The output matrix is the token embedding."""

    def __init__(self, config: XLNetConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = nn.Embedding(config.max_len, config.d_model)
        self.start = nn.Parameter(torch.zeros(config.d_model))  # the paper's w: what every query stream begins with
        self.blocks: Any = nn.ModuleList(TwoStreamBlock(config.body()) for _ in range(config.num_layers))
        self.norm = nn.LayerNorm(config.d_model, config.norm_eps)  # of the sum of embeddings, as in BERT
        self.dropout = nn.Dropout(config.dropout)
        std = 0.02 * (768 / config.d_model) ** 0.5  # larger for narrow models
        initialise(self, std)
        nn.init.normal_(self.start, std=std)

    def forward(self, ids: Tensor, orders: Tensor) -> Tensor:
        if orders.shape != ids.shape:
            raise ValueError(f"orders of shape {tuple(orders.shape)} do not fit ids of shape {tuple(ids.shape)}")
        return F.linear(self.look(ids, *permutation_masks(orders))[1], self.token.weight)

    def look(self, ids: Tensor, content: Tensor, query: Tensor, chosen: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Both streams behind the last block, ``(batch, n, d_model)`` each, for any pair of masks ``(…, n, n)``.

        With ``chosen`` ``(batch, k)`` the query stream has the k rows of these positions alone (and masks need their batch axis).
        """
        h = self.embed(ids, self.token(ids))
        g = self.embed(ids, self.start.expand_as(h))
        if chosen is not None:  # nothing reads a query state but its own row, so the others need not be computed
            rows = torch.arange(len(ids), device=ids.device)[:, None]
            g, query = g[rows, chosen], query[rows, chosen]
        for block in self.blocks:
            h, g = block.streams(h, g, content, query)
        return h, g

    def encode(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """For fine-tuning: the content stream alone, every token seeing all (or what the mask allows): ``(batch, n, d_model)``."""
        h = self.embed(ids, self.token(ids))
        for block in self.blocks:
            h = block(h, mask)
        return h

    def embed(self, ids: Tensor, content: Tensor) -> Tensor:
        """Content ``(batch, n, d_model)`` plus positions, normalised."""
        if ids.dim() != 2 or not 0 < ids.shape[1] <= self.config.max_len:
            raise ValueError(f"ids of shape {tuple(ids.shape)}; expected (batch, n) with n from 1 to max_len={self.config.max_len}")
        return self.dropout(self.norm(content + self.position.weight[: ids.shape[1]]))

    def loss(self, ids: Tensor, orders: Tensor, predict: int | None = None) -> Tensor:
        """Mean nats of the tokens at the last ``predict`` places of every order (None: of all n)."""
        n = ids.shape[1]
        if predict is not None and not 0 < predict <= n:
            raise ValueError(f"predict={predict} of n={n} tokens: need at least 1 and at most n")
        if orders.shape != ids.shape:
            raise ValueError(f"orders of shape {tuple(orders.shape)} do not fit ids of shape {tuple(ids.shape)}")
        chosen = orders[:, n - predict if predict else 0 :]  # (batch, predict)
        g = self.look(ids, *permutation_masks(orders), chosen)[1]
        return F.cross_entropy(F.linear(g, self.token.weight).flatten(0, 1), ids.gather(1, chosen).flatten())


def random_orders(batch: int, n: int, generator: torch.Generator | None = None) -> Tensor:
    """One random order of n positions for each of ``batch`` sentences, ``(batch, n)``."""
    return torch.rand(batch, n, generator=generator).argsort(-1)
