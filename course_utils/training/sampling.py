"""Choosing the next token. Sources: top-p, Holtzman et al. 2020; repetition penalty, Keskar et al. 2019, section 4.1."""

import torch
from torch import Tensor

from ..models.gpt import GPT
from .loop import evaluating


def next_distribution(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seen: Tensor | None = None,
    repetition: float = 1.0,
) -> Tensor:
    """Probabilities ``(batch, vocab_size)`` from logits of that shape, after the filters, in this order.

    ``repetition`` > 1 divides positive logits of the ids ``seen`` ``(batch, n)`` by it and multiplies negative ones; then the
    division by ``temperature`` (0: all on the largest); ``top_k`` keeps the k largest; ``top_p`` the smallest set of tokens that
    holds at least this probability. ValueError for numbers that make no sense.
    """
    if temperature < 0 or repetition <= 0:
        raise ValueError(f"temperature={temperature} must not be negative, repetition={repetition} must be positive")
    if (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"top_k={top_k} must be at least 1, top_p={top_p} above 0 and at most 1")
    if seen is not None and repetition != 1:
        known = logits.gather(-1, seen)
        logits = logits.scatter(-1, seen, torch.where(known > 0, known / repetition, known * repetition))
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        largest, place = logits.topk(top_k, dim=-1)  # exactly k, also where some are equal
        logits = torch.full_like(logits, float("-inf")).scatter(-1, place, largest)
    probabilities = logits.softmax(-1)
    if top_p is not None and top_p < 1:
        ordered, place = probabilities.sort(-1, descending=True)
        enough = ordered.cumsum(-1) - ordered >= top_p  # those before it are enough; the first always stays
        probabilities = probabilities.masked_fill(torch.zeros_like(enough).scatter(-1, place, enough), 0.0)
        probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return probabilities


def generate(
    model: GPT,
    ids: Tensor,
    steps: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    repetition: float = 1.0,
    end_id: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Tensor:
    """Continue every prompt: ids ``(batch, n)`` -> ``(batch, n + up to steps)``, prompts included.

    When ``max_len`` tokens are seen, the oldest quarter of them is dropped. A row that has written ``end_id`` goes on writing it, and
    generation ends when all have. ``cached`` keeps keys and values; without it every step reads everything again, and the same tokens
    come out. ValueError for an empty prompt or steps below 0.
    """
    if ids.dim() != 2 or not ids.shape[1] or steps < 0:
        raise ValueError(f"ids of shape {tuple(ids.shape)} and steps={steps}; expected (batch, n) with n at least 1, and no negative steps")
    room = model.config.max_len
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    text, end = torch.cat([ids, ids.new_empty(len(ids), steps)], dim=1), ids.shape[1]  # room for everything; end: how much is written
    caches, start, read = None, max(0, end - room), 0  # text[:, start: end] is seen, the caches hold it up to read
    with evaluating(model), torch.inference_mode():
        for _ in range(steps):
            if end - start > room:  # drop a quarter: if it were one token, every step would have to read everything again
                caches, start = None, end - max(1, room - room // 4)
            if caches is None:
                caches, read = model.new_caches() if cached else None, start
            logits = model(text[:, read:end], caches, last=True)[:, -1]
            if temperature == 0 and repetition == 1:
                new = logits.argmax(-1)
            else:
                weights = next_distribution(logits, temperature, top_k, top_p, text[:, :end], repetition)
                new = torch.multinomial(weights, 1, generator=generator)[:, 0]
            if end_id is not None:
                new = new.masked_fill(done, end_id)
                done |= new == end_id
            text[:, end] = new
            read, end = end, end + 1
            if end_id is not None and done.all():
                break
    return text[:, :end]
