"""Right answers to chapter 07a, written differently from its solution."""

import torch
from torch import nn
from torch.nn import functional as F

from course_utils.models.multihead import MultiHeadAttention


def layer_norm_var_mean(x, weight, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), weight)


def layer_norm_rows(x, weight, bias, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]).double():
        mean = row.sum() / len(row)
        rows.append((row - mean) / ((row * row).mean() - mean**2 + eps).sqrt())
    return torch.stack(rows).reshape(x.shape).to(x.dtype) * weight + bias


def normalise_moments(x, kind, groups=2, eps=1e-5):
    batch, tokens, features = x.shape
    if kind == "group" and (groups < 1 or features % groups):
        raise ValueError(f"{groups} groups of {features} features")
    equation = {"batch": "btf->f", "layer": "btf->bt", "instance": "btf->bf", "group": "btgf->bg"}.get(kind)
    if equation is None:
        raise ValueError(f"unknown kind {kind}")
    y = (x.reshape(batch, tokens, groups, -1) if kind == "group" else x).double()
    view = {"batch": (1, 1, -1), "layer": (batch, tokens, 1), "instance": (batch, 1, -1), "group": (batch, 1, groups, 1)}[kind]
    first = torch.einsum(equation, y).reshape(view)
    count = y.numel() / first.numel()
    centred = y - first / count
    second = torch.einsum(equation, centred**2).reshape(view) / count
    return (centred / (second + eps) ** 0.5).reshape(x.shape).to(x.dtype)


def normalise_permuted(x, kind, groups=2, eps=1e-5):
    batch, tokens, features = x.shape
    if kind not in {"batch", "layer", "instance", "group"}:
        raise ValueError(f"no norm is called {kind}")
    if kind == "group" and (groups <= 0 or features % groups != 0):
        raise ValueError(f"cannot cut {features} features into {groups} groups")

    def flat(rows):
        return (rows - rows.mean(1, keepdim=True)) / torch.sqrt(rows.var(1, keepdim=True, unbiased=False) + eps)

    if kind == "layer":
        return flat(x.reshape(-1, features)).reshape(x.shape)
    if kind == "batch":
        return flat(x.permute(2, 0, 1).reshape(features, -1)).reshape(features, batch, tokens).permute(1, 2, 0)
    pieces = features if kind == "instance" else groups
    rows = x.permute(0, 2, 1).reshape(batch * pieces, -1)
    return flat(rows).reshape(batch, features, tokens).permute(0, 2, 1)


SLOPES = {"length of the output": 8.0, "length of the output, input times 3": 8.0, "rank of the matrix of slopes": 62.0,
          "sum of the gradient over the features": 0.0, "gradient's size, input times 3": 0.3333}
SLOPES_COMPUTED = dict(zip(SLOPES, (64**0.5, 64**0.5, 64 - 2, 0, 1 / 3), strict=True))


class NestedBlock(nn.Module):
    """One function for both placements."""

    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.linear2, self.linear1 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.place, self.p = norm_place, dropout

    def add(self, x, norm, sublayer):
        if self.place == "pre":
            return x + F.dropout(sublayer(norm(x)), self.p, self.training)
        return norm(x + F.dropout(sublayer(x), self.p, self.training))

    def forward(self, x, mask=None):
        x = self.add(x, self.norm1, lambda y: self.attention(y, y, y, mask))
        return self.add(x, self.norm2, lambda y: self.linear2(self.linear1(y).clamp(min=0)))


class LongBlock(nn.Module):
    """Every step on its own line, with the feed-forward part token by token."""

    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)
        self.post = norm_place == "post"

    def feed(self, x):
        return torch.stack([self.linear2(F.relu(self.linear1(x[:, t]))) for t in range(x.shape[1])], dim=1)

    def forward(self, x, mask=None):
        if self.post:
            x = self.norm1(x + self.drop1(self.attention(x, mask=mask)))
            return self.norm2(x + self.drop2(self.feed(x)))
        y = self.norm1(x)
        x = x + self.drop1(self.attention(y, mask=mask))
        return x + self.drop2(self.feed(self.norm2(x)))


class OwnDropBlock(nn.Module):
    """Dropout by hand, so that other random numbers are drawn, in another order."""

    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.pre, self.p = norm_place == "pre", dropout

    def thin(self, said):
        if not self.training:
            return said
        return said * (torch.rand(said.mT.shape).mT >= self.p) / (1 - self.p)

    def forward(self, x, mask=None):
        feed = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)
        if self.pre:
            between = self.thin(self.attention(self.norm1(x), mask=mask)) + x
            return self.thin(feed(self.norm2(between))) + between
        between = self.norm1(self.thin(self.attention(x, mask=mask)) + x)
        return self.norm2(self.thin(feed(between)) + between)


class LoopEncoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.layers = nn.ModuleList()
        while len(self.layers) < num_layers:
            self.layers.append(NestedBlock(d_model, num_heads, d_ff))

    def forward(self, x, mask=None):
        for number in range(len(self.layers)):
            x = self.layers[number](x, mask)
        return self.norm(x)


class RecursiveEncoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.layers = nn.ModuleList([LongBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def up_to(self, depth, x, mask):
        return x if depth == 0 else self.layers[depth - 1](self.up_to(depth - 1, x, mask), mask)

    def forward(self, x, mask=None):
        return self.norm(self.up_to(len(self.layers), x, mask))


ANSWERS = {
    "07a.1": [layer_norm_var_mean, layer_norm_rows],
    "07a.2": [SLOPES, SLOPES_COMPUTED],
    "07a.3": [normalise_moments, normalise_permuted],
    "07a.4": [NestedBlock, LongBlock, OwnDropBlock],
    "07a.5": [LoopEncoder, RecursiveEncoder],
}
