"""Right answers to chapter 04, written differently from its solution."""

import math

import torch
from torch import nn
from torch.nn import functional as F

SHAPES = {"W_Q of one head": (12, 4), "W_V of one head": (12, 6), "weights of one head": (5, 7), "output of one head": (5, 6),
          "all heads side by side": (5, 18), "W_O": (18, 12), "output": (5, 12)}


def _refuse(d_model, num_heads):
    if d_model % num_heads != 0:
        raise ValueError("cannot cut " + str(d_model) + " features into " + str(num_heads) + " equal heads")


def split_by_chunks(x, num_heads):
    _refuse(x.shape[-1], num_heads)
    return torch.stack(torch.chunk(x, num_heads, dim=2)).transpose(0, 1)


def split_transposed(x, num_heads):
    _refuse(x.size(2), num_heads)
    return x.mT.reshape(x.size(0), num_heads, -1, x.size(1)).mT


def split_einsum(x, num_heads):
    _refuse(x.shape[2], num_heads)
    return torch.einsum("bnhk->bhnk", x.double().unflatten(2, (num_heads, -1)))


def merge_by_cat(x):
    return torch.cat(x.unbind(1), dim=2)


def merge_permuted(x):
    b, h, n, d = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(b, n, h * d)


def merge_transposed(x):
    return x.mT.reshape(x.shape[0], -1, x.shape[2]).mT


def _weights(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    weights = scores.double().masked_fill(~mask, -1e30).softmax(-1) * mask
    return weights.to(scores.dtype)


class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        _refuse(d_model, num_heads)
        self.h = num_heads
        for name in ("w_o", "w_v", "w_k", "w_q"):
            setattr(self, name, nn.Linear(d_model, d_model, bias))


class LoopOverHeads(_Layers):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        size = query.shape[-1] // self.h
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        heads = []
        for i in range(self.h):
            part = slice(i * size, (i + 1) * size)
            heads.append(_weights(q[..., part] @ k[..., part].mT / size**0.5, mask) @ v[..., part])
        return self.w_o(torch.cat(heads, dim=-1))


class EinsumHeads(_Layers):
    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        q, k, v = (layer(t).unflatten(-1, (self.h, -1)) for layer, t in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        scores = torch.einsum("bihk,bjhk->bhij", q / math.sqrt(q.shape[-1]), k)
        if mask is not None:
            mask = mask.expand(query.shape[0], query.shape[1], key.shape[1])[:, None]
        return self.w_o(torch.einsum("bhij,bjhk->bihk", _weights(scores, mask), v).flatten(2))


class HeadsInTheBatch(_Layers):
    """Heads moved into the batch, as in PyTorch's own code, and the fused kernel."""

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        b, n, d = query.shape
        q, k, v = (layer(t).reshape(b, -1, self.h, d // self.h).transpose(1, 2).reshape(b * self.h, -1, d // self.h)
                   for layer, t in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        empty = None
        if mask is not None:
            mask = mask.broadcast_to(b, n, key.shape[1]).repeat_interleave(self.h, 0)
            empty = ~mask.any(-1, keepdim=True)
            mask = mask | empty
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        if empty is not None:
            out = out.masked_fill(empty, 0)
        return self.w_o(out.reshape(b, self.h, n, -1).transpose(1, 2).reshape(b, n, d))


def mask_by_stack(mask, num_heads):
    return torch.stack([mask.logical_not()] * num_heads, dim=1).flatten(0, 1)


def mask_by_list(mask, num_heads):
    return torch.cat([sentence[None] ^ True for sentence in mask for _ in range(num_heads)])


def contributions_by_loop(x, w_q, w_k, w_v, w_o, mask=None):
    d_v, out = w_v.shape[2], []
    for i in range(len(w_q)):
        scores = (x @ w_q[i]) @ (x @ w_k[i]).T / math.sqrt(w_k.shape[2])
        out.append(_weights(scores, mask) @ x @ (w_v[i] @ w_o[i * d_v:(i + 1) * d_v]))
    return torch.stack(out)


def contributions_by_einsum(x, w_q, w_k, w_v, w_o, mask=None):
    h, _, d_v = w_v.shape
    scores = torch.einsum("id,hdk,hek,je->hij", x, w_q, w_k, x) * w_q.shape[-1] ** -0.5
    return torch.einsum("hij,jd,hdv,hvo->hio", _weights(scores, mask), x, w_v, w_o.view(h, d_v, -1))


FOREVER, DIFFERENT = "identical for ever", "different"
TWINS = {"heads equal, blocks of W_O equal": FOREVER, "heads equal, blocks of W_O random": DIFFERENT,
         "heads equal, W_O all zero": FOREVER, "heads random, blocks of W_O equal": DIFFERENT,
         "all equal, dropout on the weights": DIFFERENT}

ANSWERS = {
    "04.1": [SHAPES, {name: list(shape) for name, shape in SHAPES.items()}],
    "04.2": [split_by_chunks, split_transposed, split_einsum],
    "04.3": [merge_by_cat, merge_permuted, merge_transposed],
    "04.4": [LoopOverHeads, EinsumHeads, HeadsInTheBatch],
    "04.5": [mask_by_stack, mask_by_list],
    "04.6": [contributions_by_loop, contributions_by_einsum],
    "04.7": [TWINS, {name: f" {word.capitalize()}" for name, word in TWINS.items()}],
}
