"""Right answers to chapter 05, written differently from its solution."""

import math

import numpy as np
import torch
from torch import nn


def table_loop(n, d_model, base=10_000.0):
    if d_model % 2 == 1:
        raise ValueError(f"d_model={d_model} is odd")
    table = torch.empty(n, d_model)
    for p in range(n):
        for c in range(d_model):
            phase = 0.0 if c % 2 == 0 else math.pi / 2          # a cosine is a sine a quarter turn ahead
            table[p, c] = math.sin(p / base ** ((c - c % 2) / d_model) + phase)
    return table


def table_numpy(n, d_model, base=10_000.0):
    if d_model % 2:
        raise ValueError(f"cannot pair {d_model} columns")
    angle = np.outer(np.arange(n), np.exp(-np.log(base) * np.arange(0, d_model, 2) / d_model))
    table = np.zeros((n, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return torch.from_numpy(table).float()


def shift_kron(k, d_model, base=10_000.0):
    matrix = torch.zeros(d_model, d_model)
    for pair in range(d_model // 2):
        angle = k * base ** (-2 * pair / d_model)
        here = torch.eye(d_model // 2)[pair]
        block = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        matrix += torch.kron(torch.outer(here, here), block)
    return matrix


def shift_exponential(k, d_model, base=10_000.0):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for c in range(0, d_model, 2):
        generator[c, c + 1], generator[c + 1, c] = base ** (-c / d_model), -(base ** (-c / d_model))
    return torch.linalg.matrix_exp(k * generator)


LENGTHS = dict(zip(("row of nn.Embedding(1000, 512)", "row with entries of std 1/√512", "that row times √512",
                    "sinusoidal row, d_model = 512", "nn.Embedding row times √512, in sinusoidal rows"),
                   (22.6, 1, 22.6, 16, 32), strict=True))


class SlicedEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.position = nn.Embedding(max_len, d_model)
        self.token = nn.Embedding(vocab_size, d_model)

    def forward(self, ids, first=0):
        last, room = first + ids.size(1), len(self.position.weight)
        if last > room:
            raise ValueError(f"needs {last} of {room} positions")
        return self.norm(self.token(ids) + self.position(torch.arange(first, last)))


class FunctionalEmbeddings(SlicedEmbeddings):
    def forward(self, ids, first=0):
        if first + ids.size(1) > self.position.num_embeddings:
            raise ValueError(f"{first + ids.size(1)} > {self.position.num_embeddings}")
        rows = [self.position.weight[first + t] + self.token.weight[ids[:, t]] for t in range(ids.size(1))]
        x = torch.stack(rows, dim=1)
        centred = x - x.mean(-1, keepdim=True)
        return centred / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt() * self.norm.weight + self.norm.bias


BIASES = {"i": "nothing", "j": "keys", "j - i": "keys", "-|i - j|": "offset", "-|i - j|, causal mask": "keys",
          "number by offset, causal mask": "offset"}


def rotate_matrix(x, positions, base=10_000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"odd width {x.shape[-1]}")
    turns = torch.stack([shift_exponential(-int(p), x.shape[-1], base) for p in positions]).to(x.dtype)
    # turning (a, b) forward is shifting the pair (sine, cosine) = (a, b) back
    return torch.einsum("...nd,ned->...ne", x, turns)


def rotate_half_free(x, positions, base=10_000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"odd width {x.shape[-1]}")
    omega = torch.exp(torch.arange(0, x.shape[-1], 2) * (-math.log(base) / x.shape[-1])).repeat_interleave(2)
    angle = positions.unsqueeze(-1) * omega
    partner = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angle.cos() + partner * angle.sin()


def halves_by_index(weight, num_heads):
    rows = len(weight)
    width = rows // num_heads
    if width * num_heads != rows or width % 2 == 1:
        raise ValueError(f"cannot cut {rows} rows into {num_heads} heads of even width")
    order = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    return weight[(torch.arange(num_heads)[:, None] * width + order).flatten()]


def halves_by_slices(weight, num_heads):
    if weight.size(0) % (2 * num_heads) != 0:
        raise ValueError(f"{weight.size(0)} rows, {num_heads} heads: no even width")
    return torch.cat([part for head in weight.chunk(num_heads) for part in (head[0::2], head[1::2])])


ANSWERS = {
    "05.1": [table_loop, table_numpy],
    "05.2": [lambda n, d_model: table_loop(n, d_model), lambda n, d_model: table_numpy(n, d_model)],
    "05.3": [shift_kron, shift_exponential],
    "05.4": [LENGTHS, {key: torch.tensor(float(value) * 1.01) for key, value in LENGTHS.items()}],
    "05.5": [SlicedEmbeddings, FunctionalEmbeddings],
    "05.6": [BIASES, {key: word.upper() for key, word in BIASES.items()}],
    "05.7": [rotate_matrix, rotate_half_free],
    "05.8": [halves_by_index, halves_by_slices],
}
