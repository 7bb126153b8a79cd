"""ELECTRA: a small generator fills blanks, a discriminator says of every token whether it is the original.

Source: Clark et al. 2020, section 2 and appendix A (the weight 50).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..bert import Bert, BertConfig, BertForPretraining, initialise


class Electra(nn.Module):
    """Both networks, with one token table if they are equally wide. After training the generator is thrown away.

    ``forward(ids, mask=None)``: ids and mask ``(batch, n)`` -> logits ``(batch, n)`` that a token was replaced.
    """

    def __init__(self, generator: BertConfig, discriminator: BertConfig):
        super().__init__()
        if (generator.vocab_size, generator.max_len) != (discriminator.vocab_size, discriminator.max_len):
            raise ValueError(
                f"generator and discriminator must share vocab_size and max_len, got {generator.vocab_size}, "
                f"{generator.max_len} and {discriminator.vocab_size}, {discriminator.max_len}"
            )
        self.generator, self.body = BertForPretraining(generator), Bert(discriminator)
        if generator.d_model == discriminator.d_model:
            self.body.embeddings.token = self.generator.bert.embeddings.token
        self.output = initialise(nn.Linear(discriminator.d_model, 1), discriminator.init_std)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.output(self.body(ids, None, mask)).squeeze(-1)

    def spoil(self, ids: Tensor, chosen: Tensor, mask: Tensor | None, mask_id: int) -> tuple[Tensor, Tensor]:
        """Ids whose ``chosen`` places ``(batch, n)`` the generator has filled by sampling, and its loss there.

        The sample passes no gradient: the generator learns from its own loss alone, not to deceive.
        """
        hidden = self.generator.bert(ids.masked_fill(chosen, mask_id), None, mask)
        logits = self.generator.tokens(hidden[chosen])  # (chosen, vocab_size)
        sampled = torch.multinomial(logits.detach().softmax(-1), 1)[:, 0] if len(logits) else ids[chosen]
        loss = F.cross_entropy(logits, ids[chosen]) if len(logits) else logits.sum()
        return ids.masked_scatter(chosen, sampled), loss

    def losses(self, ids: Tensor, chosen: Tensor, mask: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
        """Generator's loss at the chosen places, discriminator's at *every* real token; train on their sum with the second times 50.

        A place that the generator happened to fill with the original counts as original.
        """
        spoiled, generator = self.spoil(ids, chosen, mask, mask_id)
        replaced = (spoiled != ids).to(self.output.weight.dtype)
        return generator, F.binary_cross_entropy_with_logits(self(spoiled, mask)[mask], replaced[mask])
