"""Recurrent sequence-to-sequence models and additive attention.

Batch first; widths are the sizes of hidden states. Masks are boolean, True = may attend.
Sources: Cho et al. 2014 (context at every step); Bahdanau et al. 2015, section 3 and appendix A.
"""

import torch
from torch import Tensor, nn

from .attention import masked_softmax

KINDS = ("fixed", "context", "attention")


class AdditiveAttention(nn.Module):
    """Weights softmax(v·tanh(W_q q + W_k k)) over the keys, and the values mixed by them (Bahdanau et al. 2015).

    ``forward(query, key, value, mask=None)``: ``(…, n, d_query), (…, m, d_key), (…, m, d_v)`` -> output ``(…, n, d_v)``
    and weights ``(…, n, m)``; ``mask`` broadcasts to ``(…, n, m)``, a row without any permitted key gives zeros.
    """

    def __init__(self, d_query: int, d_key: int, d_attn: int):
        super().__init__()
        if min(d_query, d_key, d_attn) < 1:
            raise ValueError(f"d_query={d_query}, d_key={d_key} and d_attn={d_attn} must be at least 1")
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def scores(self, query: Tensor, projected_key: Tensor) -> Tensor:
        """Scores ``(…, n, m)``; the keys come projected, since a decoder asks the same keys at every step."""
        pairs = self.w_q(query)[..., :, None, :] + projected_key[..., None, :, :]  # (…, n, m, d_attn)
        return self.v(torch.tanh(pairs)).squeeze(-1)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, projected_key: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Output and weights; hand over ``projected_key``, that is ``w_k(key)``, if you have it already."""
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values; every key needs one value")
        for name, tensor, layer in (("query", query, self.w_q), ("key", key, self.w_k)):
            if tensor.shape[-1] != layer.in_features:
                raise ValueError(f"{name} has width {tensor.shape[-1]}, this module was made for {layer.in_features}")
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}")
        weights = masked_softmax(self.scores(query, self.w_k(key) if projected_key is None else projected_key), mask)
        return weights @ value, weights


class Seq2Seq(nn.Module):
    """GRU encoder of both directions and GRU decoder, joined in one of three ways.

    ``kind="fixed"``: the encoder's two last states, half of ``width`` each, start the decoder.
    ``"context"``: they are also fed at every step.
    ``"attention"``: at every step additive attention, asked by the previous decoder state, mixes all encoder states.
    ``forward(source, target)`` maps ids ``(batch, T)``, ``(batch, S)`` to scores ``(batch, S, vocab_size)`` with the
    right previous symbol as input (teacher forcing); id ``vocab_size`` is the start symbol.
    """

    def __init__(self, vocab_size: int, width: int, kind: str):
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is not one of {KINDS}")
        if vocab_size < 1 or width < 2 or width % 2:
            raise ValueError(f"vocab_size={vocab_size} must be at least 1 and width={width} even and at least 2")
        self.kind, self.vocab_size = kind, vocab_size
        self.embed = nn.Embedding(vocab_size + 1, width)
        self.encoder = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
        if kind == "attention":
            self.attend = AdditiveAttention(width, width, width)
            self.cell = nn.GRUCell(2 * width, width)
        else:
            self.decoder = nn.GRU(width if kind == "fixed" else 2 * width, width, batch_first=True)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Scores of every target symbol, given those before it."""
        return self.head(self.states(source, target)[0])

    def states(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Decoder states ``(batch, S, width)`` and, with attention, the weights ``(batch, S, T)``."""
        start = target.new_full((len(target), 1), self.vocab_size)
        inputs = self.embed(torch.cat([start, target[:, :-1]], dim=1))
        annotations, last = self.encoder(self.embed(source))
        last = torch.cat([last[0], last[1]], dim=-1)[None]  # both directions at their ends: (1, batch, width)
        if self.kind != "attention":
            if self.kind == "context":
                inputs = torch.cat([inputs, last[0][:, None].expand(-1, inputs.shape[1], -1)], dim=-1)
            return self.decoder(inputs, last)[0], None
        projected, state, states, weights = self.attend.w_k(annotations), last[0], [], []
        for word in inputs.unbind(1):  # step by step: the next question depends on this state
            context, share = self.attend(state[:, None], annotations, annotations, projected_key=projected)
            state = self.cell(torch.cat([word, context[:, 0]], dim=-1), state)
            states.append(state)
            weights.append(share[:, 0])
        return torch.stack(states, dim=1), torch.stack(weights, dim=1)
