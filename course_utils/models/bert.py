"""BERT: a Transformer encoder that reads in both directions, with a head for each thing one may ask of it.

Tokens are rows, batch first; masks are boolean, True = may attend (or, with two axes, True = a real token).
Source: Devlin et al. 2019, sections 3.1 (pre-training) and 4 (fine-tuning); sizes as in the released models.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .transformer import Encoder, TransformerConfig

IGNORED = -100  # the label of a token that is not asked for: F.cross_entropy skips it


@dataclass(frozen=True, kw_only=True)
class BertConfig(TransformerConfig):
    """Sizes of a BERT; the defaults are those of BERT-base, uncased. ``pooler``: whether [CLS] gets a layer of its own."""

    vocab_size: int = 30_522
    d_model: int = 768
    num_heads: int = 12
    d_ff: int = 3_072
    num_layers: int = 12
    max_len: int = 512
    num_segments: int = 2
    norm_eps: float = 1e-12
    activation: str = "gelu"
    drop_hidden: bool = False
    pooler: bool = True
    init_std: float = 0.02  # right for 768 features; a narrow model learns faster from larger first weights
    # The norm stands behind, norm_place="post"; "pre" trains at larger rates (chapter 07b).

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.vocab_size, self.max_len, self.num_segments) < 1:
            raise ValueError(f"vocab_size={self.vocab_size}, max_len={self.max_len} and num_segments={self.num_segments} must be positive")


BASE, LARGE = BertConfig(), BertConfig(d_model=1024, num_heads=16, d_ff=4096, num_layers=24)


class BertEmbeddings(nn.Module):
    """Token + segment + position, normalised: ids and segments ``(batch, n)`` -> ``(batch, n, d_model)``."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = nn.Embedding(config.max_len, config.d_model)
        self.segment = nn.Embedding(config.num_segments, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        if ids.dim() != 2 or ids.shape[1] > self.position.num_embeddings:
            raise ValueError(f"ids of shape {tuple(ids.shape)}; expected (batch, n) with n up to max_len={self.position.num_embeddings}")
        if segments is not None and segments.shape != ids.shape:
            raise ValueError(f"segments of shape {tuple(segments.shape)} do not fit ids of shape {tuple(ids.shape)}")
        for name, table, found in (("id", self.token, ids), ("segment", self.segment, segments)):
            if found is not None and found.numel() and not 0 <= int(found.min()) <= int(found.max()) < table.num_embeddings:
                raise ValueError(f"{name}s run from {int(found.min())} to {int(found.max())}; there are {table.num_embeddings}")
        segment = self.segment.weight[0] if segments is None else self.segment(segments)
        x = self.token(ids) + segment + self.position.weight[: ids.shape[1]]
        return self.dropout(self.norm(x))


class Bert(nn.Module):
    """Hidden states of every token, ``(batch, n, d_model)``.

    ``forward(ids, segments=None, mask=None)``: ids and segments ``(batch, n)`` (no segments: all 0); mask ``(batch, n)``, True
    for a real token, or any mask of three axes that attention takes. ValueError, with the numbers, for what does not fit.
    """

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config)
        self.pooler = nn.Linear(config.d_model, config.d_model) if config.pooler else None
        initialise(self, config.init_std)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        return self.encoder(self.embeddings(ids, segments), _for_attention(mask, ids))

    def pooled(self, hidden: Tensor) -> Tensor:
        """The first token's hidden state through the pooler (if there is one) and tanh: ``(batch, d_model)``."""
        first = hidden[:, 0]
        return first if self.pooler is None else torch.tanh(self.pooler(first))

    @torch.no_grad()
    def look(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """For pictures: the states ``(batch, n, d_model)`` before the first block and behind every block, and the attention
        weights of every block, ``(batch, num_heads, n, n)``."""
        mask, states, weights = _for_attention(mask, ids), [self.embeddings(ids, segments)], []
        for block in self.encoder.blocks:
            weights.append(block.attention.weights(states[-1], mask=mask))
            states.append(block(states[-1], mask))
        return states, weights


class BertForPretraining(nn.Module):
    """A body with both pre-training heads; the masked-token decoder is the embedding table itself, plus a bias."""

    def __init__(self, config: BertConfig):
        super().__init__()
        d = config.d_model
        self.bert = Bert(config)
        self.transform, self.norm = nn.Linear(d, d), nn.LayerNorm(d, config.norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.next = nn.Linear(d, 2)
        for layer in (self.transform, self.next):
            initialise(layer, config.init_std)

    def tokens(self, hidden: Tensor) -> Tensor:
        """Logits over the vocabulary for hidden states of any shape ``(…, d_model)`` -> ``(…, vocab_size)``."""
        return F.linear(self.norm(F.gelu(self.transform(hidden))), self.bert.embeddings.token.weight, self.bias)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Token logits ``(batch, n, vocab_size)`` and next-sentence logits ``(batch, 2)`` (1: it is the next)."""
        hidden = self.bert(ids, segments, mask)
        return self.tokens(hidden), self.next(self.bert.pooled(hidden))

    def loss(self, ids: Tensor, segments: Tensor, mask: Tensor, labels: Tensor, is_next: Tensor) -> tuple[Tensor, Tensor]:
        """The two losses, to be added. Labels ``(batch, n)`` hold ``IGNORED`` where no token was selected, is_next ``(batch,)``.

        Only selected positions go through the decoder, the most expensive matrix of a small model. Without any the first loss is 0.
        """
        hidden = self.bert(ids, segments, mask)
        chosen = labels != IGNORED
        logits = self.tokens(hidden[chosen])  # (selected, vocab_size)
        masked = F.cross_entropy(logits, labels[chosen]) if len(logits) else logits.sum()
        return masked, F.cross_entropy(self.next(self.bert.pooled(hidden)), is_next)


class SequenceClassifier(nn.Module):
    """One label for a sentence or a pair: ``(batch, num_labels)`` logits. ``pool``: "cls" (the pooler) or "mean" over real tokens."""

    def __init__(self, bert: Bert, num_labels: int, pool: str = "cls"):
        super().__init__()
        if pool not in ("cls", "mean"):
            raise ValueError(f"pool={pool!r} is unknown; choose 'cls' or 'mean'")
        self.bert, self.pool = bert, pool
        self.dropout, self.output = nn.Dropout(bert.config.dropout), output_layer(bert, num_labels)

    def features(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """What the last layer sees, ``(batch, d_model)``."""
        hidden = self.bert(ids, segments, mask)
        return self.bert.pooled(hidden) if self.pool == "cls" else mean_pool(hidden, mask)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        return self.output(self.dropout(self.features(ids, segments, mask)))


class TokenClassifier(nn.Module):
    """One label for every token: ``(batch, n, num_labels)`` logits. Needs no pooler."""

    def __init__(self, bert: Bert, num_labels: int):
        super().__init__()
        self.bert = bert
        self.dropout, self.output = nn.Dropout(bert.config.dropout), output_layer(bert, num_labels)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        return self.output(self.dropout(self.bert(ids, segments, mask)))


class SpanClassifier(nn.Module):
    """Where an answer starts and where it ends: two vectors, so ``(batch, n)`` logits twice; -inf outside ``allowed``."""

    def __init__(self, bert: Bert):
        super().__init__()
        self.bert = bert
        self.output = output_layer(bert, 2)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        scores = self.output(self.bert(ids, segments, mask))  # (batch, n, 2)
        if allowed is not None:
            scores = scores.masked_fill(~allowed[..., None], float("-inf"))
        start, end = scores.unbind(-1)
        return start, end


def best_span(start: Tensor, end: Tensor, longest: int | None = None) -> tuple[int, int, float]:
    """``(i, j, score)`` with the largest ``start[i] + end[j]`` among ``i <= j`` (and ``j < i + longest``), both ``(n,)``.

    ValueError for shapes that differ, longest below 1, or no position with a finite score.
    """
    if start.dim() != 1 or start.shape != end.shape or not len(start):
        raise ValueError(f"start and end have shapes {tuple(start.shape)} and {tuple(end.shape)}; expected (n,) twice")
    if longest is not None and longest < 1:
        raise ValueError(f"longest={longest} must be at least 1")
    n = len(start)
    ahead = torch.arange(n, device=start.device) - torch.arange(n, device=start.device)[:, None]  # (start, end)
    permitted = (ahead >= 0) & (ahead < (n if longest is None else longest))
    scores = (start[:, None] + end).masked_fill(~permitted, float("-inf"))
    best = int(scores.argmax())
    score = scores.flatten()[best].item()
    if score == float("-inf"):
        raise ValueError("no start and end are permitted together")
    return best // n, best % n, score


def mean_pool(hidden: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean of the real tokens: ``(batch, n, d_model)`` and mask ``(batch, n)`` -> ``(batch, d_model)``; 0 for an empty sentence."""
    if mask is None:
        return hidden.mean(1)
    weight = mask.to(hidden.dtype)[..., None]
    return (hidden * weight).sum(1) / weight.sum(1).clamp_min(1)


def freeze(bert: Bert, blocks: int) -> None:
    """Keep the embeddings and the lowest ``blocks`` blocks as they are, train the rest; 0 trains everything."""
    stack = bert.encoder.blocks
    if not 0 <= blocks <= len(stack):
        raise ValueError(f"blocks={blocks} must lie between 0 and num_layers={len(stack)}")
    bert.requires_grad_(True)
    if blocks:
        bert.embeddings.requires_grad_(False)
        for block in stack[:blocks]:
            block.requires_grad_(False)


def initialise(module: nn.Module, std: float = 0.02) -> nn.Module:
    """Draw all weights inside from a normal distribution, biases 0, as BERT starts; returns the module."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
    return module


def output_layer(bert: Bert, num_labels: int) -> nn.Module:
    """The only new weights of a task: ``d_model`` features to ``num_labels`` logits. ValueError for fewer than 2 labels."""
    if num_labels < 2:
        raise ValueError(f"num_labels={num_labels} must be at least 2")
    return initialise(nn.Linear(bert.config.d_model, num_labels), bert.config.init_std)


def _for_attention(mask: Tensor | None, ids: Tensor) -> Tensor | None:
    if mask is None or mask.dim() != 2:
        return mask
    if mask.shape != ids.shape or mask.dtype != torch.bool:
        raise ValueError(f"mask of shape {tuple(mask.shape)} and type {mask.dtype}; expected a boolean one of {tuple(ids.shape)}")
    return mask[:, None]  # the same keys for every query
