"""Right answers to chapter 07b, written differently from its solution."""

import math

import torch
from torch.nn import functional as F


def rms_norm_linalg(x, weight, eps=1e-6):
    wide = x.to(torch.float32)
    size = torch.linalg.vector_norm(wide, dim=-1, keepdim=True) ** 2 / x.shape[-1]
    return ((wide * torch.rsqrt(size + eps)) * weight.float()).to(x.dtype), torch.sqrt(size + eps)


def rms_norm_double(x, weight, eps=1e-6):
    wide = x.double()
    power = torch.einsum("...d,...d->...", wide, wide)[..., None] / x.size(-1)
    divisor = torch.sqrt(power + eps)
    return [weight * (wide / divisor).type_as(x), divisor.float()]


def swiglu_sigmoid(x, w_gate, w_up, w_down):
    gate = x.matmul(w_gate)
    return (torch.sigmoid(gate) * gate).mul(x.matmul(w_up)).matmul(w_down)


def swiglu_fused(x, w_gate, w_up, w_down):
    gate, up = F.linear(x, torch.cat([w_gate, w_up], dim=1).T).chunk(2, dim=-1)
    return F.linear(F.silu(gate) * up, w_down.T)


SIZES = {"weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases": 2_097_152,
         "width of a SwiGLU layer with as many weights, rounded down": 1365,
         "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256": 11_008,
         "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms": 7_087_872}
SIZES_COMPUTED = dict(zip(SIZES, (8 * 512**2, 2 * 2048 // 3, 256 * math.ceil(8 * 4096 / 3 / 256), 12 * 768**2 + 13 * 768), strict=True))


def sublayer_formulas(x, branch, norm_in, norm_out, place):
    formulas = {"post": lambda: norm_out(branch(x) + x), "pre": lambda: branch(norm_in(x)) + x,
                "sandwich": lambda: norm_out(branch(norm_in(x))) + x, "output": lambda: norm_out(branch(x)) + x}
    if place not in formulas:
        raise ValueError(f"no place of a norm is called {place}")
    return formulas[place]()


def sublayer_steps(x, branch, norm_in, norm_out, place):
    before, behind, after = {"post": (0, 0, 1), "pre": (1, 0, 0), "sandwich": (1, 1, 0), "output": (0, 1, 0)}.get(place, (None,) * 3)
    if before is None:
        raise ValueError(f"{place!r}")
    said = branch(norm_in(x) if before else x)
    total = torch.stack([x, norm_out(said) if behind else said]).sum(0)
    return norm_out(total) if after else total


def qk_norm_fused(query, key, value, query_weight, key_weight, eps=1e-6):
    q, k = (F.rms_norm(t, t.shape[-1:], w, eps) for t, w in ((query, query_weight), (key, key_weight)))
    return F.scaled_dot_product_attention(q, k, value)


def qk_norm_rows(query, key, value, query_weight, key_weight, eps=1e-6):
    wide = query.shape[-1]
    size = lambda t: torch.linalg.vector_norm(t.double(), dim=-1, keepdim=True).square() / wide + eps  # noqa: E731
    scores = (query * query_weight * key_weight).double() @ key.double().transpose(-1, -2)
    scores = scores / (size(query) * size(key).transpose(-1, -2)).sqrt() / math.sqrt(wide)
    return (torch.softmax(scores, -1) @ value.double()).to(query.dtype)


ANSWERS = {
    "07b.1": [rms_norm_linalg, rms_norm_double],
    "07b.2": [swiglu_sigmoid, swiglu_fused],
    "07b.3": [SIZES, SIZES_COMPUTED],
    "07b.4": [sublayer_formulas, sublayer_steps],
    "07b.5": [qk_norm_fused, qk_norm_rows],
}
