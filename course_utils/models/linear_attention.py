"""Attention whose past is one matrix: linear attention in three forms, and rules for writing into the matrix.

Tokens are rows. Queries and keys here are *features*: whatever was to be done to them (``positive``, ``features.fourier``) has been done.
Source: Katharopoulos et al. 2020 (arXiv:2006.16236); delta rule: Schlag et al. 2021 (arXiv:2102.11174).
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def positive(x: Tensor) -> Tensor:
    """``elu(x) + 1``: positive features, each from one number."""
    return F.elu(x) + 1


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Every query reads every key: ``(…, n, r), (…, m, r), (…, m, d_v) -> (…, n, d_v)``, with sums of shape ``(r, d_v)`` and ``(r,)``."""
    written, counted = key.mT @ value, key.sum(-2)  # (…, r, d_v), (…, r)
    return (query @ written) / (query @ counted[..., None])


def causal_as_matrix(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal linear attention with its n times n weights written out."""
    weights = (query @ key.mT).tril()  # (…, n, n)
    return (weights @ value) / weights.sum(-1, keepdim=True)


def step(state: tuple[Tensor, Tensor], query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """One token: ``state`` is ``(r, d_v)`` and ``(r,)``; query and key ``(r,)``, value ``(d_v,)``. Writes, then reads."""
    written, counted = state[0] + key[:, None] * value, state[1] + key
    return query @ written / (query @ counted), (written, counted)


def causal_recurrent(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal linear attention one token after the other: ``(n, r), (n, r), (n, d_v) -> (n, d_v)``."""
    state = (value.new_zeros(key.shape[-1], value.shape[-1]), key.new_zeros(key.shape[-1]))
    outputs = []
    for q, k, v in zip(query, key, value, strict=True):
        output, state = step(state, q, k, v)
        outputs.append(output)
    return torch.stack(outputs)


def remember(key: Tensor, value: Tensor, rule: str = "add", strength: float = 1.0, decay: float = 1.0) -> Tensor:
    """Write pairs one after the other into a matrix of zeros: ``(…, n, d), (…, n, d_v) -> (…, d, d_v)``; reading is ``query @ matrix``.

    "add": ``S ← decay · S + k vᵀ``. "delta": ``S ← S + strength · k (v − kᵀ S)ᵀ``, which for a unit key and strength 1 makes the matrix
    answer ``v`` when it is asked for ``k``. ValueError for another rule.
    """
    if rule not in ("add", "delta"):
        raise ValueError(f"rule={rule!r} is unknown; choose 'add' or 'delta'")
    matrix = value.new_zeros(*value.shape[:-2], key.shape[-1], value.shape[-1])
    for t in range(key.shape[-2]):
        k, v = key[..., t, :], value[..., t, :]
        if rule == "delta":
            known = (k[..., None, :] @ matrix)[..., 0, :]
            matrix = matrix + strength * k[..., :, None] * (v - known)[..., None, :]
        else:
            matrix = decay * matrix + k[..., :, None] * v[..., None, :]
    return matrix
