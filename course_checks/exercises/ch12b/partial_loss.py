"""Exercise 12b.5: the loss of partial prediction, handed out with three faults. The oracle asks PyTorch's cross-entropy, row by row."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, cross_entropy, generator, integers, randn


def partial_loss(logits: Tensor, ids: Tensor, orders: Tensor, k: int) -> Tensor:
    n = ids.shape[1]
    log_p = logits.log_softmax(-1)
    chosen = orders[:, n - k :]
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    return losses.gather(1, chosen).mean()


def oracle(logits: Tensor, ids: Tensor, orders: Tensor, k: int) -> Tensor:
    rows = zip(logits.double(), ids, orders.flip(1)[:, :k], strict=True)
    return torch.stack([cross_entropy(row[last], tokens[last]) for row, tokens, last in rows]).mean().float()


def _case(label: str, part: str, **args) -> Case:
    return Case(label, args, part=part, gradients=("logits",), shape="()")


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, batch: int, n: int, vocab: int, k: int) -> Case:
        orders = torch.stack([torch.randperm(n, generator=g) for _ in range(batch)])
        logits, ids = 1.5 * randn(g, batch, n, vocab), integers(g, 0, vocab, batch, n)
        return _case(f"{batch} sentences of {n} tokens, the last {k} of each order", part, logits=logits, ids=ids, orders=orders, k=k)

    return [case("values", 3, 7, 9, 2), case("values", 4, 6, 11, 3), case("values", 2, 8, 5, 3), case("edges", 3, 5, 8, 5)]


def fixed() -> list[Case]:
    large = torch.tensor([[[120.0, -90.0, 0.0], [10.0, -200.0, 150.0], [0.0, 40.0, -130.0]]])
    small = torch.tensor([[[0.5, 2.0, -1.0], [1.0, 0.0, 3.0]]])
    ids, orders = torch.tensor([[1, 0, 2]]), torch.tensor([[2, 0, 1]])
    return [
        _case("logits in the hundreds", "edges", logits=large, ids=ids, orders=orders, k=2),
        _case("one sentence, one target", "edges", logits=small, ids=torch.tensor([[1, 2]]), orders=torch.tensor([[1, 0]]), k=1),
    ]


EXERCISE = FunctionExercise(right=partial_loss, oracle=oracle, draw=draw, fixed=fixed)
