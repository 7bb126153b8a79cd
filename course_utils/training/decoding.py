"""Greedy decoding and beam search (length penalty: Wu et al. 2016, section 7; as in Vaswani et al. 2017, section 6.1)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.encoder_decoder import Translator
from .loop import evaluating


@torch.no_grad()
def greedy(model: Translator, source: Tensor, bos: int, eos: int, max_new: int = 50, cached: bool = True) -> Tensor:
    """The most probable tokens, ``(batch, m)`` -> ``(batch, at most max_new)``, padding after ``eos``; in evaluation mode, put back."""
    _check(model, max_new)
    with evaluating(model):
        memory, memory_mask = model.encode(source), model.memory_mask(source)
        caches = model.new_caches() if cached else None
        output = source.new_full((len(source), 1), bos)
        done = torch.zeros(len(source), dtype=torch.bool, device=source.device)
        for _ in range(max_new):
            scores = model.decode(output[:, -1:] if cached else output, memory, memory_mask, caches)[:, -1]
            token = scores.argmax(-1).masked_fill(done, model.config.pad_id)
            output = torch.cat([output, token[:, None]], dim=1)
            done |= token == eos
            if done.all():
                break
    return output[:, 1:]


@dataclass(frozen=True)
class Hypothesis:
    """A sentence of a beam search: ids without ``bos``, the sum of its log-probabilities, and that sum after the penalty."""

    ids: list[int]
    log_probability: float
    score: float


def length_penalty(length: int, alpha: float) -> float:
    """``((5 + length) / 6) ** alpha``: log-probabilities are divided by it. alpha = 0 does nothing."""
    return ((5 + length) / 6) ** alpha


def beam_search(
    step: Callable[[Tensor, Tensor], Tensor], bos: int, eos: int, beam: int = 4, max_new: int = 50, alpha: float = 0.6
) -> list[Hypothesis]:
    """Keep the ``beam`` best beginnings; returns finished sentences, best first.

    ``step(tokens, rows)`` gets the beginnings ``(k, t)`` with ``bos`` in front and, for each, which row of the last call it
    continues, and returns log-probabilities ``(k, vocab)`` of the next token. A sentence that has not ended after ``max_new``
    tokens is only returned when none has. The search ends when no beginning can overtake the finished ones.
    """
    if beam < 1 or max_new < 1 or alpha < 0:
        raise ValueError(f"beam={beam} and max_new={max_new} must be at least 1 and alpha={alpha} not negative")
    tokens, rows, sums = torch.tensor([[bos]]), torch.tensor([0]), torch.zeros(1)
    finished: list[Hypothesis] = []
    for length in range(1, max_new + 1):
        steps = step(tokens, rows).cpu()
        totals = sums[:, None] + steps  # (k, vocab)
        ended = totals[:, eos]
        finished += [
            Hypothesis(ids[1:] + [eos], total, total / length_penalty(length, alpha))
            for ids, total in zip(tokens.tolist(), ended.tolist(), strict=True)
            if total > -torch.inf
        ]
        finished = sorted(finished, key=lambda h: -h.score)[:beam]
        totals[:, eos] = -torch.inf
        sums, flat = totals.flatten().topk(min(beam, totals.numel()))
        possible = sums > -torch.inf
        sums, flat = sums[possible], flat[possible]
        rows = flat // totals.shape[1]
        tokens = torch.cat([tokens[rows], (flat % totals.shape[1])[:, None]], dim=1)
        if not len(sums):
            break
        reach = sums.max().item() / length_penalty(max_new, alpha)  # log-probabilities only fall, so this is out of reach
        if len(finished) == beam and finished[-1].score >= reach:
            break
    if finished:
        return finished
    return [
        Hypothesis(ids[1:], total, total / length_penalty(len(ids) - 1, alpha))
        for ids, total in zip(tokens.tolist(), sums.tolist(), strict=True)
    ]


def _check(model: Translator, max_new: int) -> None:
    if not 1 <= max_new <= model.config.max_len:
        raise ValueError(f"max_new={max_new} must lie between 1 and max_len={model.config.max_len}")
