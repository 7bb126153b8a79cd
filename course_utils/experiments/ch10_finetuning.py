"""Chapter 10 fine-tunes small BERTs: padded batches, and a short loop (results: ``python benchmarks/gazette.py``)."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ..text.vocabulary import pad
from ..text.wordpiece import Encoded
from ..training.loop import History, fit


def collate(encoded: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, segments and mask, each ``(batch, n)``, padded with 0 to the longest; the mask is True for real tokens."""
    ids, segments = pad([e.ids for e in encoded]), pad([e.segments for e in encoded])
    return ids, segments, torch.arange(ids.shape[1]) < torch.tensor([len(e.ids) for e in encoded])[:, None]


def finetune(
    model: nn.Module, loss: Callable[[list[int]], Tensor], count: int, epochs: int, lr: float, batch: int = 16, seed: int = 0
) -> History:
    """Show ``count`` examples ``epochs`` times in random order; ``loss(rows)`` is that of the examples with these numbers.

    AdamW on what is not frozen, 10 % warm-up, then a line down to 0 (Devlin et al. 2019, appendix A.3). The model is trained
    in training mode and left in evaluation mode.
    """
    if min(count, epochs, batch) < 1:
        raise ValueError(f"count={count}, epochs={epochs} and batch={batch} must be at least 1")
    generator = torch.Generator().manual_seed(seed)
    order = [rows.tolist() for _ in range(epochs) for rows in torch.randperm(count, generator=generator).split(batch)]
    waiting, steps = iter(order), len(order)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr, weight_decay=0.01)

    def schedule(step: int) -> float:
        return min(step / (0.1 * steps), 1.0) * (1 - (step - 1) / steps)

    model.train()
    history = fit(model, lambda: loss(next(waiting)), steps, lr, "fine-tuning", optimizer=optimizer, clip=1.0, schedule=schedule)
    model.eval()
    return history
