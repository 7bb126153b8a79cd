"""Speculative decoding: a small model drafts a few tokens, the large one checks them all in one call.

What is accepted and what is put in its place together have exactly the large model's distribution. Sources: Leviathan et al. 2023,
Chen et al. 2023.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..models.gpt import GPT
from .sampling import next_distribution


def pick(weights: Tensor, w: Tensor) -> Tensor:
    """Draw from weights ``(n, tokens)``, not necessarily of sum 1, by uniform numbers ``w`` ``(n,)``: the first running sum above w."""
    running = weights.cumsum(-1)
    return (running <= w[:, None] * running[:, -1:]).sum(-1).clamp_max(weights.shape[-1] - 1)


def accept_or_repair(p: Tensor, q: Tensor, token: Tensor, u: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens ``(n,)``, drawn from ``q`` ``(n, tokens)``, become tokens drawn from ``p``: the new ones, and which were accepted.

    A token is accepted with probability min(1, p/q) (``u`` uniform), else one is drawn from the positive part of p - q (``w`` uniform).
    """
    own = token[:, None]
    accepted = u * q.gather(1, own)[:, 0] < p.gather(1, own)[:, 0]
    return torch.where(accepted, token, pick((p - q).clamp_min(0), w)), accepted


Draft = Callable[[list[int]], Tensor]
Accept = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


@torch.inference_mode()
def speculate(
    model: GPT,
    ids: list[int],
    steps: int,
    draft: Draft,
    ahead: int = 4,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
    accept: Accept = accept_or_repair,
) -> tuple[list[int], int]:
    """Write ``steps`` tokens behind ``ids``: all tokens, and how often the model was called (the reading of the prompt included).

    ``draft(tokens)`` gives the small model's probabilities ``(vocab_size,)`` of the next token; ``ahead`` tokens are drafted per call, and
    ``accept`` says what becomes of them.
    ValueError when prompt and steps do not fit into ``max_len``.
    """
    if len(ids) + steps > model.config.max_len or not ids:
        raise ValueError(f"{len(ids)} tokens and {steps} steps; max_len={model.config.max_len}, and the prompt must not be empty")
    text, caches, calls, wanted = list(ids), model.new_caches(), 0, len(ids) + steps
    while len(text) < wanted:
        k, q = min(ahead, wanted - len(text) - 1), []
        guesses: list[int] = []
        for _ in range(k):
            q.append(draft(text + guesses))
            guesses.append(int(torch.multinomial(q[-1], 1, generator=generator)))
        logits = model(torch.tensor([(text + guesses)[len(caches[0]) :]]), caches)[0, -k - 1 :]  # (k + 1, vocab_size)
        p, calls, kept = next_distribution(logits, temperature), calls + 1, 0
        for i, guess in enumerate(guesses):
            u, w = torch.rand(2, 1, generator=generator)
            new, accepted = accept(p[i : i + 1], q[i][None], torch.tensor([guess]), u, w)
            text.append(int(new))
            if not accepted:
                break
            kept += 1
        else:  # all accepted: the last row is a token for nothing
            text.append(int(torch.multinomial(p[-1], 1, generator=generator)))
        for cache in caches:  # forget the guesses that were not accepted, and the token that the model has not read
            cache.keys, cache.values = (x[:, :, : len(text) - 1] for x in cache.both())
    return text, calls
