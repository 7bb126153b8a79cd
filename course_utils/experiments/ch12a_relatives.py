"""Chapter 12a: one small body for all encoders of the family, on hidden letters (results: ``benchmarks/family_encoders.py``)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.bert import Bert, BertConfig
from ..models.zoo.albert import Albert
from ..models.zoo.masked import Deberta, MaskedModel
from ..models.zoo.modern import ModernBert
from ..text.letters import letters
from ..text.pretraining import IGNORED, mask_tokens
from ..training.loop import History, fit
from ..training.schedules import warmup_linear

N = 16  # letters in a window


@dataclass
class Letters:
    """Ids 0 to ``count - 1`` are letters, then come [CLS], [SEP] and [MASK]. Windows are ``(windows, 16)``."""

    alphabet: str
    train: Tensor
    held_out: Tensor

    @property
    def count(self) -> int:
        return len(self.alphabet)

    @property
    def mask_id(self) -> int:
        return self.count + 2


def read() -> Letters:
    """The windows of the manual; held-out pages are apart."""
    alphabet, train, held_out = letters()
    return Letters(alphabet, *(text[: len(text) // N * N].view(-1, N) for text in (train, held_out)))


def body(text: Letters, kind: str = "bert", seed: int = 0, layers: int = 2) -> Bert:
    """A fresh encoder of width 64: "bert", "factorised", "shared", "albert" (both), "deberta", "deberta late", "modern"."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=text.count + 3, d_model=64, num_heads=4, d_ff=256, num_layers=layers, max_len=N, dropout=0.0, pooler=False, init_std=0.12
    )
    kinds: dict[str, Callable[[], Bert]] = {
        "bert": lambda: Bert(config),
        "factorised": lambda: Albert(config, 16, False),
        "shared": lambda: Albert(config, None),
        "albert": lambda: Albert(config, 16),
        "deberta": lambda: Deberta(config, 8),
        "deberta late": lambda: Deberta(config, 8, True),
        "modern": lambda: ModernBert(config, 176, 4, 2),
    }
    if kind not in kinds:
        raise ValueError(f"kind={kind!r} is unknown; choose one of {', '.join(kinds)}")
    return kinds[kind]()


def hide(text: Letters, windows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """BERT's noise on letters, never on [CLS] or [SEP]: inputs and labels, as large as the windows."""
    return mask_tokens(windows, windows < text.count, text.count, text.mask_id, generator, first_id=0)


def masked_loss(model: MaskedModel, inputs: Tensor, labels: Tensor) -> Tensor:
    """Mean nats at the places whose label is not -100; only these go through the head."""
    chosen = labels != IGNORED
    return F.cross_entropy(model.tokens(model.body(inputs)[chosen]), labels[chosen])


def learn(
    model: nn.Module,
    loss: Callable[[Tensor, torch.Generator], Tensor],
    windows: Tensor,
    steps: int = 800,
    seed: int = 0,
    lr: float = 4e-3,
    batch: int = 64,
) -> History:
    """``loss(windows, generator)`` of random batches, epoch by epoch; a short warm-up, then a line to nearly 0."""
    g, waiting = torch.Generator().manual_seed(seed), torch.empty(0, dtype=torch.long)

    def step() -> Tensor:
        nonlocal waiting
        if len(waiting) < batch:
            waiting = torch.cat([waiting, torch.randperm(len(windows), generator=g)])
        rows, waiting = waiting[:batch], waiting[batch:]
        return loss(windows[rows], g)

    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr, weight_decay=0.01)
    model.train()
    history = fit(model, step, steps, lr, "learning", optimizer=optimizer, clip=1.0, schedule=warmup_linear(steps))
    model.eval()
    return history


def train_masked(text: Letters, kind: str = "bert", seed: int = 0, steps: int = 800, layers: int = 2) -> MaskedModel:
    """A fresh encoder and its head, trained on hidden letters that are drawn anew in every batch."""
    model = MaskedModel(body(text, kind, seed, layers))
    learn(model, lambda windows, g: masked_loss(model, *hide(text, windows, g)), text.train, steps, seed)
    return model


class Reads(nn.Module):
    """A body under a mask ``(16, 16)``, True = may attend: the causal one makes a reader from left to right of it."""

    def __init__(self, body: Bert, mask: Tensor):
        super().__init__()
        self.body, self.mask = body, mask

    def forward(self, ids: Tensor) -> Tensor:
        return self.body(ids, None, self.mask[None])


@torch.no_grad()
def held_out_nats(text: Letters, model: MaskedModel, seed: int = 99) -> float:
    """Mean nats of a hidden letter in held-out windows; the same letters are hidden for every model."""
    return masked_loss(model, *hide(text, text.held_out, torch.Generator().manual_seed(seed))).item()
