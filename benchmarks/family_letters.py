"""More models that family_encoders.py trains: ELECTRA, ELMo's mix of layers, readers of next letters.

Sources: ELECTRA, Clark et al. 2020, section 2 and appendix A (the weight 50); the mix, Peters et al. 2018, section 3.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.experiments.ch12a_relatives import Letters, N, body, learn
from course_utils.models.bert import Bert, BertConfig, BertForPretraining, initialise
from course_utils.models.zoo.masked import MaskedModel


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
        replaced = (spoiled != ids).float()
        return generator, F.binary_cross_entropy_with_logits(self(spoiled, mask)[mask], replaced[mask])


class ScalarMix(nn.Module):
    """ELMo's features: ``gamma · Σ s_j h_j`` with weights s that are a softmax, one number for each layer; the only part a task trains."""

    def __init__(self, count: int):
        super().__init__()
        self.scores, self.gamma = nn.Parameter(torch.zeros(count)), nn.Parameter(torch.ones(()))

    def forward(self, layers: list[Tensor]) -> Tensor:
        if len(layers) != len(self.scores):
            raise ValueError(f"{len(layers)} layers for {len(self.scores)} weights")
        return self.gamma * sum(s * h for s, h in zip(self.scores.softmax(0), layers, strict=True))


def next_loss(model: MaskedModel, windows: Tensor, fronts: Tensor) -> Tensor:
    """Mean nats of every next letter behind the front of its window, whose length is in ``fronts`` ``(windows,)``.

    The front is read in both directions, the rest from left to right. All fronts 1: GPT's question; random ones: a prefix model.
    """
    place = torch.arange(windows.shape[1])
    seen = (place <= place[:, None]) | (place < fronts[:, None, None])  # (window, query, key)
    asked = (place[1:] >= fronts[:, None]).flatten()
    logits = model.tokens(model.body(windows, None, seen)[:, :-1].flatten(0, 1)[asked])
    return F.cross_entropy(logits, windows[:, 1:].flatten()[asked])


def train_next(text: Letters, seed: int = 0, steps: int = 800, prefix: bool = False) -> MaskedModel:
    """A fresh "bert" and its head, trained on next letters; with ``prefix`` behind fronts of 1 to 15 letters."""
    model = MaskedModel(body(text, "bert", seed))

    def loss(windows: Tensor, g: torch.Generator) -> Tensor:
        fronts = torch.randint(1, N, (len(windows),), generator=g) if prefix else torch.ones(len(windows), dtype=torch.long)
        return next_loss(model, windows, fronts)

    learn(model, loss, text.train, steps, seed)
    return model
