"""Right answers to chapter 08a, written differently from its solution."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from course_utils.models.multihead import MultiHeadAttention


def cross_einsum(y, memory, source, w_q, w_k, w_v):
    scores = torch.einsum("bnd,dk,bme,ek->bnm", y, w_q, memory, w_k) / w_q.shape[1] ** 0.5
    pads = (source == 0)[:, None, :]
    power = torch.exp(scores - scores.detach().amax(-1, keepdim=True)) * ~pads
    weights = power / power.sum(-1, keepdim=True).clamp_min(1e-30)
    return torch.einsum("bnm,bmd,dv->bnv", weights, memory, w_v), weights


def cross_loop(y, memory, source, w_q, w_k, w_v):
    outputs, tables = [], []
    for one, mem, ids in zip(y, memory, source, strict=True):
        keep = ids.ne(0)
        weights = torch.zeros(len(one), len(mem))
        if keep.any():
            scores = (one @ w_q) @ (mem[keep] @ w_k).T / math.sqrt(w_k.size(-1))
            weights[:, keep] = scores.softmax(1)
        tables.append(weights)
        outputs.append(weights @ mem @ w_v)
    return torch.stack(outputs), torch.stack(tables)


class LoopedBlock(nn.Module):
    """One list of three steps for both placements."""

    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.post = norm_place == "post"
        self.linear2, self.linear1 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)
        self.norm3, self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, x, memory, mask=None, memory_mask=None):
        steps = ((self.norm1, lambda h: self.attention(h, h, h, mask)),
                 (self.norm2, lambda h: self.cross_attention(h, memory, memory, memory_mask)),
                 (self.norm3, lambda h: self.linear2(F.relu(self.linear1(h)))))
        for norm, branch in steps:
            x = norm(branch(x) + x) if self.post else branch(norm(x)) + x
        return x


class UnrolledBlock(nn.Module):
    """Norms and the feed-forward layer written out; masks widened before use."""

    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in "12")
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", nn.LayerNorm(d_model))
        self.linear1, self.linear2, self.place = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), norm_place

    def forward(self, x, memory, mask=None, memory_mask=None):
        shape = (x.shape[0], x.shape[1])
        mask = torch.ones(*shape, x.shape[1], dtype=torch.bool) if mask is None else mask.expand(*shape, x.shape[1])
        memory_mask = None if memory_mask is None else memory_mask.expand(*shape, memory.shape[1])
        before = (lambda norm, t: norm(t)) if self.place == "pre" else (lambda norm, t: t)
        after = (lambda norm, t: t) if self.place == "pre" else (lambda norm, t: norm(t))
        own = after(self.norm1, x + self.attention(before(self.norm1, x), mask=mask))
        seen = after(self.norm2, own + self.cross_attention(before(self.norm2, own), memory, mask=memory_mask))
        hidden = self.linear1(before(self.norm3, seen)).clamp_min(0)
        return after(self.norm3, seen + self.linear2(hidden))


class EndsOneLine(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.body = nn.Linear(d_model, d_model)

    def forward(self, ids, positions):
        return F.linear(self.body(positions + self.d_model**0.5 * self.embedding(ids)), self.embedding.weight)


class EndsShared(nn.Module):
    """An output layer whose weight is the embedding's parameter."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding, self.body = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, ids, positions):
        return self.output(self.body(self.embedding(ids).mul(math.sqrt(self.embedding.embedding_dim)).add(positions)))


COUNTS = {"one encoder block": 12 * 512**2 + 13 * 512, "one decoder block": 16 * 512**2 + 19 * 512,
          "cross-attention of all blocks (without its norms)": 6 * (4 * 512**2 + 4 * 512),
          "embeddings and output matrix, nothing shared": 3 * 37_000 * 512,
          "the same, all three shared": 37_000 * 512,
          "the whole model, all three shared": 6 * (28 * 512**2 + 32 * 512) + 37_000 * 512}


def loss_flat(model, source, target, pad_id=0):
    if target.size(1) <= 1:
        raise ValueError(f"target has {target.size(1)} tokens; two are needed")
    scores = model(source, target[:, :-1])
    wanted = target[:, 1:]
    losses = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id, reduction="none")
    return F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=pad_id), losses


def loss_columns(model, source, target, pad_id=0):
    n = target.shape[1]
    if n < 2:
        raise ValueError(f"{n} token")
    scores = model(source, target)  # the last row scores what nobody asks for
    columns = []
    for t in range(1, n):
        p = scores[:, t - 1].double().softmax(-1)
        columns.append(torch.where(target[:, t] == pad_id, 0.0, -p[torch.arange(len(p)), target[:, t]].log()))
    losses = torch.stack(columns, 1)
    return losses.sum() / (target[:, 1:] != pad_id).sum(), losses


def smooth_mixture(scores, target, eps=0.1):
    if eps < 0 or eps >= 1:
        raise ValueError(f"eps is {eps}")
    wanted = (1 - eps) * F.one_hot(target, scores.shape[-1]) + eps / scores.shape[-1]
    return -(wanted * F.log_softmax(scores, dim=-1)).sum(-1)


def smooth_logsumexp(scores, target, eps=0.1):
    if not 0 <= eps < 1:
        raise ValueError(f"{eps} is no share")
    wide = scores.double()
    mixed = (1 - eps) * torch.take_along_dim(wide, target.unsqueeze(-1), -1).squeeze(-1) + eps * wide.mean(-1)
    return wide.logsumexp(-1) - mixed


def noam_where(step, d_model, warmup):
    if step.min() < 1:
        raise ValueError(f"the smallest step is {step.min().item()}; steps start at 1")
    step = step.double()
    return torch.where(step < warmup, step / warmup, (warmup / step).sqrt()) / math.sqrt(d_model * warmup)


def noam_loop(step, d_model, warmup):
    rates = []
    for s in step.tolist():
        if s < 1:
            raise ValueError(f"step {s}")
        rates.append(1 / math.sqrt(d_model) * min(1 / math.sqrt(s), s / warmup**1.5))
    return torch.tensor(rates)


def train_with_ignored_pads(new_model, sources, targets, rates, pad_id=0):
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for source, target, rate in zip(sources, targets, rates, strict=True):
        n = target.size(1) - 1
        triangle = torch.arange(n)[:, None] >= torch.arange(n)
        scores = model(source, target[:, :-1], source.ne(pad_id).unsqueeze(1), triangle)
        loss = F.cross_entropy(scores.mT, target[:, 1:], ignore_index=pad_id)
        optimizer.zero_grad()
        loss.backward()
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        losses.append(float(loss))
    with torch.inference_mode():
        return losses, model.eval()(source, target[:, :-1], source.ne(pad_id).unsqueeze(1), triangle).clone()


def train_by_a_schedule(new_model, sources, targets, rates, pad_id=0):
    """The rate as a schedule of PyTorch, the mean over chosen tokens, a mask for each sentence."""
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rates[min(step, len(rates) - 1)])

    def scores_of(source, target):
        n = target.shape[1] - 1
        mask = torch.ones(len(target), n, n).tril().bool()
        return model(source, target[:, :n], (source != pad_id)[:, None, :], mask)

    losses = [0.0] * len(rates)
    for step, (source, target) in enumerate(zip(sources, targets, strict=True)):
        wanted = target[:, 1:]
        real = wanted != pad_id
        loss = nn.CrossEntropyLoss()(scores_of(source, target)[real], wanted[real])
        loss.backward()
        optimizer.step()
        schedule.step()
        model.zero_grad()
        losses[step] = loss.item()
    model.train(False)
    return losses, scores_of(sources[-1], targets[-1]).detach()


ANSWERS = {
    "08a.1": [cross_einsum, cross_loop],
    "08a.2": [LoopedBlock, UnrolledBlock],
    "08a.3": [EndsOneLine, EndsShared],
    "08a.4": [COUNTS, {key: float(value) for key, value in COUNTS.items()}],
    "08a.5": [loss_flat, loss_columns],
    "08a.6": [smooth_mixture, smooth_logsumexp],
    "08a.7": [noam_where, noam_loop],
    "08a.8": [train_with_ignored_pads, train_by_a_schedule],
}
