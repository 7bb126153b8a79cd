"""GPT-1's task heads: a task as a row of tokens, read where it ends. Source: Radford et al. 2018, sections 3.2 and 3.3, figure 1."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.gpt import GPT

Ids = Sequence[int]
IGNORED = -100


class TaskHead(nn.Module):
    """A copy of a GPT with three new tokens (start, delimiter, extract) and one new linear layer, ``d_model`` -> ``outputs``.

    Texts are lists of ids. ``loss`` is the paper's ``L3 = L2 + weight · L1``: the task's, and the language model's on the same rows.
    """

    def __init__(self, gpt: GPT, outputs: int):
        super().__init__()
        if outputs < 1:
            raise ValueError(f"outputs={outputs} must be at least 1")
        self.gpt = copy.deepcopy(gpt)
        old = gpt.token.weight.detach()
        self.start, self.delimiter, self.extract = range(len(old), len(old) + 3)
        self.gpt.token = nn.Embedding.from_pretrained(torch.cat([old, 0.02 * torch.randn(3, old.shape[1])]), freeze=False)
        self.linear = nn.Linear(old.shape[1], outputs)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def row(self, *parts: Ids) -> list[int]:
        """start, part, delimiter, part, …, extract."""
        middle = [i for part in parts for i in (*part, self.delimiter)][:-1]
        return [self.start, *middle, self.extract]

    def vectors(self, rows: Sequence[Ids]) -> Tensor:
        """``(rows, d_model)``: the last block's output at *extract*. Pads stand behind it, where it cannot see them."""
        ids, ends = _padded(rows, 0), torch.tensor([len(row) - 1 for row in rows])
        return self.gpt.hidden(ids)[torch.arange(len(rows)), ends]

    def classify(self, texts: Sequence[Ids]) -> Tensor:
        """One text: ``(batch, outputs)``."""
        return self.linear(self.vectors([self.row(text) for text in texts]))

    def entail(self, premises: Sequence[Ids], hypotheses: Sequence[Ids]) -> Tensor:
        """Two texts whose order matters: ``(batch, outputs)``."""
        return self.linear(self.vectors([self.row(*pair) for pair in zip(premises, hypotheses, strict=True)]))

    def similar(self, ones: Sequence[Ids], others: Sequence[Ids]) -> Tensor:
        """Two texts whose order must not matter: both orders are read and their vectors added, ``(batch, outputs)``."""
        there = self.vectors([self.row(a, b) for a, b in zip(ones, others, strict=True)])
        back = self.vectors([self.row(b, a) for a, b in zip(ones, others, strict=True)])
        return self.linear(there + back)

    def choose(self, contexts: Sequence[Ids], answers: Sequence[Sequence[Ids]]) -> Tensor:
        """As many answers for each context: scores ``(batch, answers)``; ``outputs`` must be 1."""
        rows = [self.row(c, a) for c, several in zip(contexts, answers, strict=True) for a in several]
        return self.linear(self.vectors(rows)).view(len(contexts), -1)

    def loss(self, scores: Tensor, labels: Tensor, rows: Sequence[Ids], weight: float = 0.5) -> Tensor:
        """Cross-entropy of ``(batch, classes)`` and ids ``(batch,)``, plus ``weight`` times that of the next tokens of ``rows``."""
        task = F.cross_entropy(scores, labels)
        if weight == 0:
            return task
        logits = self.gpt(_padded(rows, 0)[:, :-1])
        return task + weight * F.cross_entropy(logits.flatten(0, 1), _padded(rows, IGNORED)[:, 1:].flatten(), ignore_index=IGNORED)


def _padded(rows: Sequence[Ids], value: int) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)
