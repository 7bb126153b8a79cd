"""One head for every encoder of the family: a body learns to fill in hidden tokens; and DeBERTa's body.

Sources: Lan et al. 2020, section 3.1 (a head as narrow as the token table); He et al. 2021, sections 3.1 and 3.2.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..bert import Bert, BertConfig, initialise
from .deberta import DisentangledAttention


class MaskedModel(nn.Module):
    """A body and a head that scores every token of the vocabulary with the body's own token table, however narrow that is."""

    def __init__(self, body: Bert):
        super().__init__()
        self.body = body
        count, width = body.embeddings.token.weight.shape
        self.transform, self.norm = nn.Linear(body.config.d_model, width), nn.LayerNorm(width, body.config.norm_eps)
        self.bias = nn.Parameter(torch.zeros(count))
        initialise(self.transform, body.config.init_std)

    def tokens(self, hidden: Tensor) -> Tensor:
        """``(…, d_model)`` -> logits ``(…, vocab_size)``."""
        return F.linear(self.norm(F.gelu(self.transform(hidden))), self.body.embeddings.token.weight, self.bias)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.tokens(self.body(ids, None, mask))


class Deberta(Bert):
    """A ``Bert`` without positions at its input: its blocks attend by content and distance.

    ``late``: add a table of absolute positions before the last block (after it nothing but the head follows), as the enhanced mask
    decoder does. In the paper that decoder is the last block run once more; here it is the last block itself, so that depths stay equal.
    """

    def __init__(self, config: BertConfig, largest: int = 16, late: bool = False):
        super().__init__(config)
        for block in self.encoder.blocks:
            block.attention = DisentangledAttention(config.d_model, config.num_heads, largest)
        initialise(self, config.init_std)
        for block in self.encoder.blocks:
            nn.init.normal_(block.attention.distance, std=config.init_std)
        self.embeddings.position.weight.requires_grad_(False).zero_()
        self.late = nn.Parameter(torch.empty(config.max_len, config.d_model)) if late else None
        if self.late is not None:
            nn.init.normal_(self.late, std=config.init_std)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        x = self.embeddings(ids, segments)
        mask = mask if mask is None or mask.dim() != 2 else mask[:, None]
        for number, block in enumerate(self.encoder.blocks, 1):
            if self.late is not None and number == len(self.encoder.blocks):
                x = x + self.late[: ids.shape[1]]
            x = block(x, mask)
        return self.encoder.norm(x)
