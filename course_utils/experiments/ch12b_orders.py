"""Chapter 12b trains BERT and XLNet on hidden pairs of words, and XLNet on letters in random orders.

Stored results: ``python benchmarks/xlnet_orders.py``.
Both models are asked for the same things by the same rule: a random order is drawn, and the last ``k`` tokens of it are predicted,
by BERT all at once from what is left, by XLNet one after the other.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.bert import BertConfig, BertForPretraining
from ..models.xlnet import XLNet, XLNetConfig, random_orders
from ..text.cities import FIRST, IDS, SECOND, WORDS, travel
from ..training.loop import History, fit
from ..training.schedules import warmup_linear

Model = BertForPretraining | Callable[[Tensor, Tensor], Tensor]  # the second: an XLNet, ids and orders (batch, n) -> scores of all words


def make(kind: str, vocab_size: int, n: int, width: int, seed: int = 0) -> XLNet | BertForPretraining:
    """A fresh "bert" or "xlnet" of two blocks, for sentences of n tokens. ValueError for another kind."""
    if kind not in ("bert", "xlnet"):
        raise ValueError(f"kind={kind!r} is unknown; choose 'bert' or 'xlnet'")
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"vocab_size": vocab_size, "d_model": width, "num_heads": 4, "num_layers": 2, "max_len": n}
    if kind == "xlnet":
        return XLNet(XLNetConfig(**sizes, dropout=0.0))
    return BertForPretraining(BertConfig(**sizes, d_ff=4 * width, dropout=0.0, init_std=0.02 * (768 / width) ** 0.5))


def masked_loss(model: BertForPretraining, ids: Tensor, orders: Tensor, k: int) -> Tensor:
    """BERT's loss: the last k tokens of every order become ``[MASK]`` together, ids ``(batch, n)`` -> mean nats of the hidden ones."""
    hidden = orders[:, -k:]  # (batch, k)
    states = model.bert(ids.scatter(1, hidden, IDS["[MASK]"]))
    rows = torch.arange(len(ids))[:, None]
    return F.cross_entropy(model.tokens(states[rows, hidden]).flatten(0, 1), ids[rows, hidden].flatten())


def learn(
    model: XLNet | BertForPretraining, sentences: Callable[[torch.Generator], Tensor], k: int, steps: int, lr: float, seed: int = 0
) -> History:
    """Train either model on batches from ``sentences(generator)``, the last k of a fresh random order each time."""
    g = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        ids = sentences(g)
        orders = random_orders(len(ids), ids.shape[1], g)
        return model.loss(ids, orders, k) if isinstance(model, XLNet) else masked_loss(model, ids, orders, k)

    history = fit(model, loss, steps, lr, "learning", clip=1.0, schedule=warmup_linear(steps))
    model.eval()
    return history


@torch.no_grad()
def word_table(model: Model, ids: Tensor, place: int, other: int) -> Tensor:
    """``(batch, words)``: what stands at ``place``. XLNet sees all but ``place`` and, if ``[MASK]`` stands there, ``other``."""
    if isinstance(model, BertForPretraining):
        return model.tokens(model.bert(ids)[:, place]).softmax(-1)
    last = [place, other] if (ids[:, other] == IDS["[MASK]"]).all() else [other, place]
    order = torch.tensor([i for i in range(ids.shape[1]) if i not in last] + last)
    return model(ids, order.expand(len(ids), -1))[:, place].softmax(-1)


def at_once(model: Model, ids: Tensor) -> Tensor:
    """Both words of the city from one look at ``[MASK] [MASK]``: the product of two tables, ``(batch, first word, second word)``."""
    return word_table(model, ids, FIRST, SECOND)[:, :, None] * word_table(model, ids, SECOND, FIRST)[:, None, :]


def in_turn(model: Model, ids: Tensor, first: int = FIRST) -> Tensor:
    """One word, then the other one given each possible answer: ``(batch, first word, second word)`` whichever was asked first."""
    second = SECOND if first == FIRST else FIRST
    begin = word_table(model, ids, first, second)  # (batch, words)
    filled = ids.repeat_interleave(len(WORDS), 0)  # every sentence once with each word
    filled[:, first] = torch.arange(len(WORDS)).repeat(len(ids))
    end = word_table(model, filled, second, first).view(len(ids), len(WORDS), len(WORDS))
    joint = begin[..., None] * end  # (batch, asked first, asked second)
    return joint if first == FIRST else joint.mT


def measure(joint: Tensor, truth: Tensor) -> dict[str, float]:
    """Of tables ``(sentences, words, words)``: how much falls on pairs that are no city, and the mean log-probability of real pairs."""
    logs = torch.where(truth > 0, joint.clamp_min(1e-12).log() * truth, 0.0)
    return {"no city": 1 - (joint * (truth > 0)).sum((1, 2)).mean().item(), "log-likelihood": logs.sum((1, 2)).mean().item()}


def sentences_of(batch: int) -> Callable[[torch.Generator], Tensor]:
    """Random sentences of the travellers' language, ``(batch, 7)``."""
    return lambda g: travel(batch, g)


def windows_of(stream: Tensor, batch: int, n: int) -> Callable[[torch.Generator], Tensor]:
    """Random stretches of a text, ``(batch, n)``."""
    return lambda g: stream[torch.randint(len(stream) - n + 1, (batch, 1), generator=g) + torch.arange(n)]


@torch.no_grad()
def nats_by_turn(model: XLNet, ids: Tensor, orders: Tensor) -> Tensor:
    """``(sentences, n)``: minus the log-probability of the token whose turn it is, in the sequence of the order."""
    found = [
        -model(i, o).log_softmax(-1).gather(-1, i[..., None])[..., 0].gather(1, o)
        for i, o in zip(ids.split(64), orders.split(64), strict=True)
    ]
    return torch.cat(found)
