"""Exercise 08a.5: the loss of a whole target in one pass. The oracle goes prefix by prefix, in double precision."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, integers, randn
from .callables import VOCAB


def translation_loss(model: Callable, source: Tensor, target: Tensor, pad_id: int = 0) -> tuple[Tensor, Tensor]:
    if target.shape[1] < 2:
        raise ValueError(f"a target of {target.shape[1]} token leaves nothing to predict")
    given, wanted = target[:, :-1], target[:, 1:]  # (batch, n-1) each
    scores = model(source, given)  # (batch, n-1, vocab)
    log_p = torch.log_softmax(scores, dim=-1)
    losses = -log_p.gather(-1, wanted[..., None])[..., 0]
    real = wanted != pad_id
    losses = losses * real
    return losses.sum() / real.sum(), losses


def prefix_losses(model: Callable, source: Tensor, target: Tensor, pad_id: int) -> Tensor:
    """The loss (batch, n-1) of each wanted token, one prefix after the other; 0 for pads."""
    losses = []
    for t in range(1, target.shape[1]):
        scores = model(source, target[:, :t])[:, -1].double()
        right = scores.gather(1, target[:, t : t + 1])[:, 0]
        losses.append((torch.logsumexp(scores, 1) - right) * (target[:, t] != pad_id))
    return torch.stack(losses, 1)


def oracle(model: Registered, source: Tensor, target: Tensor, pad_id: int = 0) -> tuple[Tensor, Tensor]:
    losses = prefix_losses(CALLABLES[model.name], source, target, pad_id)
    return (losses.sum() / (target[:, 1:] != pad_id).sum()).float(), losses.float()


def draw_targets(g: torch.Generator, lengths: list[int], pad_id: int) -> Tensor:
    """Begin, words, end, padding behind; 1 and 2 are begin and end."""
    target = torch.full((len(lengths), max(lengths) + 2), pad_id)
    for row, length in zip(target, lengths, strict=True):
        words = integers(g, 3, VOCAB, length)
        row[: length + 2] = torch.cat([torch.tensor([1]), torch.where(words == pad_id, 4, words), torch.tensor([2])])
    return target


def case(label: str, part: str, source: Tensor, target: Tensor, pad_id: int = 0, model: str = "causal_toy", **more) -> Case:
    return Case(label, {"model": Registered(model), "source": source, "target": target, "pad_id": pad_id}, part, **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case("2 sentences of 5 words", "values", integers(g, 3, VOCAB, 2, 6), draw_targets(g, [5, 5], 0), calls={"model": 1}),
        case("3 sentences of 1, 6 and 3 words", "padding", integers(g, 3, VOCAB, 3, 7), draw_targets(g, [1, 6, 3], 0)),
        case("padding has the id 7", "padding", integers(g, 3, 7, 2, 9), draw_targets(g, [2, 6], 7), 7),
    ]


def fixed() -> list[Case]:
    g = generator(4)
    floats, targets = randn(g, 2, 6), draw_targets(g, [2, 5], 0)
    begun, short, one = torch.tensor([[1, 5, 4, 2], [1, 0, 0, 0], [1, 9, 2, 0]]), torch.tensor([[1, 2]]), torch.tensor([[1], [1]])
    left_out = case("padding, and pad_id left out", "padding", integers(g, 3, VOCAB, 2, 5), draw_targets(g, [1, 4], 0))
    del left_out.args["pad_id"]
    return [
        left_out,
        case("a model whose source is floats", "padding", floats, targets, model="listening_toy", gradients=("source",)),
        case("one target is begin and pads", "padding", integers(g, 3, VOCAB, 3, 5), begun),
        case("a target of begin and end alone", "values", integers(g, 3, VOCAB, 1, 3), short),
        case("a target of one token", "refusal", integers(g, 3, VOCAB, 2, 3), one, rejects=ValueError, mentions=("1",)),
    ]


FORBIDDEN = ("course_utils.training.schedules.token_loss",)
EXERCISE = FunctionExercise(right=translation_loss, oracle=oracle, draw=draw, fixed=fixed, outputs=("loss", "losses"), forbidden=FORBIDDEN)
