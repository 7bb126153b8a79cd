"""Right answers to chapter 06, written differently from its solution."""

import torch
from torch import nn


def causal_by_tril(n, m=None):
    m = n if m is None else m
    if m < n:
        raise ValueError(f"{n} queries, but only {m} keys")
    return torch.ones(n, m).tril(diagonal=m - n) == 1


def causal_by_loop(n, m=None):
    m = n if m is None else m
    if n > m:
        raise ValueError("cannot take the last " + str(n) + " of " + str(m))
    mask = torch.zeros(n, m, dtype=torch.bool)
    for row in range(n):
        mask[row, : m - n + row + 1] = True
    return mask


FILLS = {"two hidden, filled with -inf": "zero", "two hidden, filled with -1e9": "zero", "two hidden, scores times 0": "unequal",
         "two hidden, fp16: (1 - keep) * -1e9 added": "nan", "all hidden, filled with -inf": "nan",
         "all hidden, filled with -1e9": "equal", "all hidden, fp16: two masks of finfo.min added": "nan",
         "all hidden, the policy of this course": "zero"}


def decoder_by_loop(ids, pad_id=0, n=None):
    if ids.dim() != 2:
        raise ValueError(f"need two axes, not {list(ids.shape)}")
    batch, m = ids.shape
    n = m if n is None else n
    mask = torch.zeros(batch, n, m, dtype=torch.bool)
    for b in range(batch):
        for i in range(n):
            for j in range(m - n + i + 1):
                mask[b, i, j] = bool(ids[b, j] != pad_id)
    return mask


def decoder_by_cut(ids, pad_id=0, n=None):
    if len(ids.shape) != 2:
        raise ValueError(f"ids of shape {tuple(ids.shape)}")
    m = ids.size(1)
    square = torch.ones(ids.size(0), m, m).tril().bool().logical_and(ids.ne(pad_id).unsqueeze(1))
    return square if n is None else square[:, m - n:]


def decoder_by_hiding(ids, pad_id=0, n=None):
    if ids.ndim != 2:
        raise ValueError(f"ids of shape {tuple(ids.shape)}")
    m = ids.shape[1]
    n = m if n is None else n
    hide = torch.ones(n, m).triu(m - n + 1).bool() | (ids == pad_id)[:, None]
    return ~hide


def mean_by_loop(x, mask):
    rows = [row[real].mean(0) if real.any() else row.new_zeros(row.shape[-1]) for row, real in zip(x, mask, strict=True)]
    return torch.stack(rows)


def mean_by_where(x, mask):
    total = torch.where(mask.unsqueeze(-1), x, torch.zeros(())).double().sum(dim=1)
    return total / torch.maximum(mask.sum(dim=1, keepdim=True), torch.ones(1))


def mean_swept(x, mask):
    return (torch.where(mask[..., None], x, 0.0).sum(1) / mask.sum(1)[:, None]).nan_to_num()


def mean_by_weights(x, mask):
    weights = mask / mask.sum(-1, keepdim=True).clamp_min(1)
    return torch.einsum("bn,bnd->bd", weights, x.masked_fill(~mask[..., None], 0))


def reads_by_backward(f, x):
    found = []
    width = f(x).shape[1]
    for i in range(len(f(x))):
        row = torch.zeros(len(x), dtype=torch.bool)
        for feature in range(width):
            leaf = x.clone().requires_grad_()
            f(leaf)[i, feature].backward()
            row |= (leaf.grad != 0).any(dim=1)
        found.append(row)
    return torch.stack(found)


def reads_by_jacrev(f, x):
    return torch.func.jacrev(f)(x).pow(2).sum(dim=(1, 3)) > 0


def reads_by_disturbing(f, x):
    before = f(x.double())
    columns = []
    for j in range(x.shape[0]):
        moved = x.double()
        moved[j] += torch.linspace(0.3, 1.1, x.shape[1]) ** 2
        columns.append((f(moved) - before).abs().sum(1) > 1e-10)
    return torch.stack(columns, dim=1)


class _Layers(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in "qkv")
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def scores(self, x):
        return self.w_q(x) @ self.w_k(x).transpose(1, 2) / self.w_k.out_features**0.5


class Renormalised(_Layers):
    """The mask after the softmax is right too, if the rows are divided by what is left of them."""

    def forward(self, x):
        weights = torch.softmax(self.scores(x), dim=-1) * self.visible[: x.shape[1], : x.shape[1]]
        return weights / weights.sum(-1, keepdim=True) @ self.w_v(x)


class Added(_Layers):
    def forward(self, x):
        ahead = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        return (self.scores(x) + ahead).softmax(-1) @ self.w_v(x)


class FarBelow(_Layers):
    """The lowest finite number does as well, whatever the scores, as no row is empty."""

    def forward(self, x):
        scores = self.scores(x)
        ahead = ~self.visible[: x.shape[1], : x.shape[1]]
        return torch.softmax(scores.masked_fill(ahead, torch.finfo(scores.dtype).min), dim=-1) @ self.w_v(x)


class TokenByToken(_Layers):
    def forward(self, x):
        scores, value = self.scores(x), self.w_v(x)
        rows = [torch.softmax(scores[:, i, : i + 1], -1)[:, None] @ value[:, : i + 1] for i in range(x.shape[1])]
        return torch.cat(rows, dim=1)


def window_by_loop(n, prefix=0, window=None):
    if prefix < 0 or prefix > n:
        raise ValueError(f"prefix {prefix}")
    if window is not None and window <= 0:
        raise ValueError(f"a window of {window}")
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        start = 0 if window is None else max(0, i - window + 1)
        mask[i, start:i + 1] = True
        mask[i, :prefix] = True
    return mask


def window_by_tril(n, prefix=0, window=None):
    if not 0 <= prefix <= n or (window is not None and window < 1):
        raise ValueError(f"n={n}, prefix={prefix}, window={window}")
    mask = torch.ones(n, n).tril()
    if window is not None:
        mask = mask.triu(1 - window)
    mask[:, :prefix] = 1
    return mask.bool()


ANSWERS = {
    "06.1": [causal_by_tril, causal_by_loop],
    "06.2": [FILLS, {key: f" {word.upper()} " for key, word in FILLS.items()}],
    "06.3": [decoder_by_loop, decoder_by_cut, decoder_by_hiding],
    "06.4": [mean_by_loop, mean_by_where, mean_by_weights, mean_swept],
    "06.5": [reads_by_backward, reads_by_jacrev, reads_by_disturbing],
    "06.6": [Renormalised, Added, FarBelow, TokenByToken],
    "06.7": [window_by_loop, window_by_tril],
}
