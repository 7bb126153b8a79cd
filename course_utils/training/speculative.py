"""Speculative decoding: a small model guesses a few tokens, the large one checks them all in one call.

What is accepted and what is put in its place together have exactly the large model's distribution; the loop stands in chapter 13a.
Sources: Leviathan et al. 2023, Chen et al. 2023.
"""

import torch
from torch import Tensor


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
