"""Chapter 11a: language models that count. Interpolated Kneser–Ney of any order, over characters or over tokens.

Source: Chen & Goodman, "An empirical study of smoothing techniques for language modeling", 1999, section 3.
"""

import torch
from torch import Tensor


class KneserNey:
    """Interpolated Kneser–Ney: every order takes a little from what it has seen and hands it to the next shorter context.

    ids: (tokens,) training text, integers below ``vocab_size``. ``order`` is the longest run that is counted: its last token is
    what is predicted. Runs seen once, twice and more often have discounts of their own.
    The longest runs count how often they occur, shorter ones before how many different tokens they occur.
    """

    def __init__(self, ids: Tensor, order: int, vocab_size: int) -> None:
        if order < 1 or len(ids) < order or not 0 <= int(ids.min()) <= int(ids.max()) < vocab_size:
            raise ValueError(f"{len(ids)} ids with vocab_size={vocab_size} do not allow runs of {order}")
        self.order, self.vocab_size = order, vocab_size
        self.runs: list[Tensor] = []  # of each length: context · vocab_size + last token, sorted
        at, numbered = torch.zeros(len(ids) + 1, dtype=torch.long), []
        for _ in range(order):
            keys = at[:-1] * vocab_size + ids[len(ids) + 1 - len(at) :]
            found, number = keys.unique(return_inverse=True)
            self.runs.append(found)
            numbered.append(number)
            at = number  # each run is the context of the token behind it
        self.levels = []
        for length, found in enumerate(self.runs):
            counts = torch.bincount(numbered[length], minlength=len(found))
            if length + 1 < order:  # how many different tokens stand before it
                longer = torch.zeros(len(self.runs[length + 1]), dtype=torch.long)
                longer[numbered[length + 1]] = numbered[length][1:]
                counts = torch.bincount(longer, minlength=len(found))
            self.levels.append(self._level(found // vocab_size, counts, len(self.runs[length - 1]) if length else 1))

    @staticmethod
    def _level(context: Tensor, counts: Tensor, contexts: int) -> tuple[Tensor, Tensor, Tensor]:
        """Discounted counts of every run; what every context has seen in all; what its discounts left over."""
        n = [int((counts == k).sum()) for k in range(1, 5)]
        y = n[0] / max(n[0] + 2 * n[1], 1)
        discounts = [k - (k + 1) * y * n[k] / max(n[k - 1], 1) for k in (1, 2, 3)]
        taken = torch.tensor([0.0, *(max(d, 0.0) for d in discounts)], dtype=torch.float64)[counts.clamp(max=3)]
        taken = torch.minimum(taken, counts)
        total = torch.zeros(contexts, dtype=torch.float64).index_add_(0, context, counts.double())
        left = torch.zeros(contexts, dtype=torch.float64).index_add_(0, context, taken)
        return counts - taken, total, left

    def _mixed(self, contexts: list[Tensor], tokens: Tensor) -> Tensor:
        """p of the tokens (places, k) behind the contexts of every length, each (places,), -1 where the training text lacks it."""
        p = torch.full(tokens.shape, 1 / self.vocab_size, dtype=torch.float64)
        for context, runs, (counts, total, left) in zip(contexts, self.runs, self.levels, strict=True):
            keys = context[:, None] * self.vocab_size + tokens
            at = torch.searchsorted(runs, keys).clamp(max=len(runs) - 1)
            seen = torch.where(runs[at] == keys, counts[at], 0.0)
            known = ((context >= 0) & (total[context.clamp(min=0)] > 0))[:, None]
            safe = context.clamp(min=0)[:, None]
            p = torch.where(known, (seen + left[safe] * p) / total[safe].clamp(min=1), p)
        return p

    def contexts(self, ids: Tensor) -> list[Tensor]:
        """For every place 0 … tokens, the number of the run of each length that ends before it, or -1."""
        every = [torch.zeros(len(ids) + 1, dtype=torch.long)]
        for runs in self.runs[:-1]:
            before = every[-1][:-1]
            keys = before * self.vocab_size + ids
            at = torch.searchsorted(runs, keys).clamp(max=len(runs) - 1)
            every.append(torch.cat([torch.tensor([-1]), torch.where((runs[at] == keys) & (before >= 0), at, -1)]))
        return every

    def probabilities(self, ids: Tensor, given: int = 0) -> Tensor:
        """p of every token behind the first ``given``, each with what stands before it: ids (tokens,) -> (tokens - given,)."""
        contexts = self.contexts(ids)
        return self._mixed([context[given:-1] for context in contexts], ids[given:, None])[:, 0]

    def next(self, ids: Tensor) -> Tensor:
        """Probabilities of every token behind ids (tokens,): (vocab_size,), sum 1."""
        return self._mixed([context[-1:] for context in self.contexts(ids)], torch.arange(self.vocab_size)[None])[0]


def longest_known(ids: Tensor, text: Tensor, most: int) -> Tensor:
    """How many tokens before each token of ``text``, that follows ``ids``, stand in a row in ``ids``: < ``most``, (tokens - 1,)."""
    before = torch.cat([ids[-most:], text])
    contexts = torch.stack(KneserNey(ids, most, int(before.max()) + 1).contexts(before))  # (most, places)
    return contexts[1:, most + 1 : -1].ge(0).sum(0)
