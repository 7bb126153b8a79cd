"""Exercise 08a.8: a training step once more, with masks and padding. The oracle is Adam by hand, in double precision."""

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, integers
from .callables import VOCAB
from .translation_loss import draw_targets, prefix_losses

Ids = list[Tensor]


def train_translator(new_model, sources: Ids, targets: Ids, rates: list[float], pad_id: int = 0) -> tuple[list[float], Tensor]:
    model, losses = new_model(), []
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)

    def scores_of(source: Tensor, target: Tensor) -> Tensor:
        given = target[:, :-1]
        mask = torch.ones(given.shape[1], given.shape[1], dtype=torch.bool).tril()
        return model(source, given, (source != pad_id)[:, None], mask)

    for source, target, rate in zip(sources, targets, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        scores = scores_of(source, target)  # (batch, n-1, vocab)
        wanted = target[:, 1:]
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=pad_id)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        return losses, scores_of(sources[-1], targets[-1])


@torch.enable_grad()
def oracle(new_model: Registered, sources: Ids, targets: Ids, rates: list[float], pad_id: int) -> tuple[list[float], Tensor]:
    """Kingma and Ba 2015, algorithm 1, on gradients of a loss that goes prefix by prefix."""
    model = CALLABLES[new_model.name]()
    weights = {name: value.detach().double().requires_grad_() for name, value in model.named_parameters()}
    first, second = ({name: torch.zeros_like(value) for name, value in weights.items()} for _ in range(2))

    def read(source: Tensor, given: Tensor) -> Tensor:
        n = given.shape[1]
        return functional_call(model, weights, (source, given, (source != pad_id)[:, None], torch.ones(n, n, dtype=torch.bool).tril()))

    losses = []
    for step, (source, target, rate) in enumerate(zip(sources, targets, rates, strict=True), start=1):
        loss = prefix_losses(read, source, target, pad_id).sum() / (target[:, 1:] != pad_id).sum()
        losses.append(loss.item())
        for name, slope in zip(list(weights), torch.autograd.grad(loss, list(weights.values())), strict=True):
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.98 * second[name] + 0.02 * slope**2
            high = torch.sqrt(second[name] / (1 - 0.98**step)) + 1e-9
            weights[name] = (weights[name] - rate * first[name] / (1 - 0.9**step) / high).detach().requires_grad_()
    model.eval()
    rows = [read(sources[-1], targets[-1][:, :t])[:, -1] for t in range(1, targets[-1].shape[1])]
    return losses, torch.stack(rows, 1).detach().float()


def draw_batch(g: torch.Generator, lengths: list[int], m: int, pads: list[int], pad_id: int, vocab: int) -> tuple[Tensor, Tensor]:
    source = integers(g, 3, vocab, len(lengths), m)
    source = torch.where(source == pad_id, 4, source)
    for row, count in zip(source, pads, strict=True):
        row[m - count :] = pad_id
    target = draw_targets(g, lengths, pad_id)
    return source, torch.where((target >= vocab) & (target != pad_id), 4, target)


def case(label: str, part: str, model: str, batches: list[tuple[Tensor, Tensor]], rates: list[float], pad_id: int = 0) -> Case:
    args = {"new_model": Registered(model), "sources": [a for a, _ in batches], "targets": [b for _, b in batches]}
    return Case(label, args | {"rates": rates, "pad_id": pad_id}, part, calls={"new_model": 1})


def drawn(g: torch.Generator, label: str, part: str, model: str, vocab: int = VOCAB, pad_id: int = 0, even: bool = False) -> Case:
    count, pads = 3 + int(torch.randint(3, (), generator=g)), [0, 0] if even else [0, 3, 1]
    lengths = [[4, 4] if even else [1 + int(k) for k in torch.randperm(5, generator=g)[:3]] for _ in range(count)]
    batches = [draw_batch(g, lengths[i], 6 + i % 2, pads, pad_id, vocab) for i in range(count)]
    rates = [round(0.02 + 0.06 * torch.rand((), generator=g).item(), 4) for _ in range(count)]
    return case(f"{count} batches of {len(pads)} sentences{label}", part, model, batches, rates, pad_id)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        drawn(g, " of equal length", "values", "eleven_words", even=True),
        drawn(g, " of unequal length", "padding", "nine_words", vocab=9),
        drawn(g, ", padding has the id 7", "padding", "eleven_words", pad_id=7),
        drawn(g, ", a model that differs in training mode", "evaluation", "other_when_training"),
    ]


def fixed() -> list[Case]:
    return [case("one batch, one sentence", "values", "nine_words", [draw_batch(generator(3), [3], 4, [0], 0, 9)], [0.05])]


NAMES, FORBIDDEN = ("losses", "scores"), ("course_utils.training.loop.fit", "course_utils.training.schedules.token_loss")
EXERCISE = FunctionExercise(
    right=train_translator, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, rtol=1e-3, atol=2e-4, forbidden=FORBIDDEN
)
