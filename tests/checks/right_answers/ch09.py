"""Right answers to chapter 09, written differently from its solution."""

import math
import re

import torch
from torch import nn
from torch.nn import functional as F


def split_recursive(word, vocabulary):
    if not word:
        raise ValueError("an empty word has no pieces")

    def rest(text, mark):
        if not text:
            return []
        for length in range(len(text), 0, -1):
            if mark + text[:length] in vocabulary:
                others = rest(text[length:], "##")
                return None if others is None else [mark + text[:length], *others]
        return None

    return rest(word, "") or ["[UNK]"]


def split_regex(word, vocabulary):
    """Alternatives sorted by length: a regular expression takes the first that fits."""
    if word == "":
        raise ValueError("the word is empty")
    ordered = sorted(vocabulary, key=len, reverse=True)
    starts = [re.escape(p) for p in ordered if not p.startswith("##")]
    inside = [re.escape(p[2:]) for p in ordered if p.startswith("##")]
    pieces, place = [], 0
    while place < len(word):
        found = re.compile("|".join((inside if place else starts) or ["(?!)"])).match(word, place)
        if not found or not found.group():
            return ["[UNK]"]
        pieces.append("##" * bool(place) + found.group())
        place = found.end()
    return pieces


def build_by_lengths(first, second, max_len):
    """How many of each text may stay, from two formulas."""
    special = 2 if second is None else 3
    if max_len < special:
        raise ValueError(f"{max_len} places, {special} special tokens")
    room, a, b = max_len - special, len(first), len(second or [])
    if a + b > room:
        half, longer_half = room // 2, room - room // 2
        if b <= half:
            a = room - b
        elif a <= half:
            b = room - a
        else:
            a, b = half, longer_half
    ids = [2, *first[:a], 3]
    if second is None:
        return torch.tensor(ids), torch.zeros(len(ids), dtype=torch.long)
    tail = [*second[:b], 3]
    return torch.tensor(ids + tail), torch.tensor([0] * len(ids) + [1] * len(tail))


def build_by_popping(first, second, max_len):
    texts = [first[:]] if second is None else [first[:], second[:]]
    if max_len <= len(texts):
        raise ValueError(f"max_len is {max_len}, at least {len(texts) + 1} is needed")
    while len(texts) + 1 + sum(len(t) for t in texts) > max_len:
        longest = texts[1] if len(texts) == 2 and len(texts[1]) > len(texts[0]) else texts[0]
        del longest[-1]
    ids = [2]
    for text in texts:
        ids.extend(text)
        ids.append(3)
    return torch.tensor(ids), (torch.arange(len(ids)) > len(texts[0]) + 1).long()


class FunctionalEmbeddings(nn.Module):
    """F.embedding and F.layer_norm on the parameters of the submodules."""

    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, 1e-12)
        self.segment, self.position = nn.Embedding(num_segments, d_model), nn.Embedding(max_len, d_model)
        self.token = nn.Embedding(vocab_size, d_model)

    def forward(self, ids, segments):
        n, limit = ids.size(1), self.position.weight.size(0)
        if n > limit:
            raise ValueError(f"an input of {n} tokens, but only {limit} positions")
        x = F.embedding(ids, self.token.weight) + F.embedding(segments, self.segment.weight) + self.position.weight[None, :n]
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-12)


class OneTable(nn.Module):
    """The three tables below each other, one look-up with shifted numbers, summed."""

    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        self.token, self.position, self.segment = (nn.Embedding(k, d_model) for k in (vocab_size, max_len, num_segments))
        self.norm, self.sizes = nn.LayerNorm(d_model, eps=1e-12), (vocab_size, max_len)

    def forward(self, ids, segments):
        vocab_size, max_len = self.sizes
        if ids.shape[1] > max_len:
            raise ValueError(f"n={ids.shape[1]} is more than max_len={max_len}")
        table = torch.cat([self.token.weight, self.position.weight, self.segment.weight])
        places = torch.arange(ids.shape[1]).expand(ids.shape) + vocab_size
        return self.norm(table[torch.stack([ids, places, segments + vocab_size + max_len])].sum(0))


def mask_where(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & special.logical_not()
    replaced = torch.where(fate < 0.8, torch.full_like(ids, mask_id), torch.where(fate < 0.9, anything, ids))
    return torch.where(selected, replaced, ids), torch.where(selected, ids, torch.full_like(ids, -100))


def mask_indices(ids, special, chance, fate, anything, mask_id):
    inputs, labels = ids.clone(), torch.zeros_like(ids) - 100
    for b, t in ((chance < 0.15) & ~special).nonzero().tolist():
        labels[b, t] = ids[b, t]
        if fate[b, t] < 0.9:
            inputs[b, t] = mask_id if fate[b, t] < 0.8 else anything[b, t]
    return inputs, labels


def loss_ignore(hidden, labels, head):
    wanted = labels[labels != -100]
    logits = head(hidden[labels != -100])
    return F.cross_entropy(logits, wanted, reduction="sum") / max(wanted.numel(), 1), logits


def loss_rows(hidden, labels, head):
    where = (labels.reshape(-1) != -100).nonzero()[:, 0]
    logits = head(hidden.reshape(-1, hidden.shape[-1]).index_select(0, where))
    if not len(where):
        return torch.tensor(0.0), logits
    p = torch.exp(logits - torch.logsumexp(logits, -1, keepdim=True))
    return -p.gather(-1, labels.reshape(-1)[where][:, None]).log().mean(), logits


class HeadChained(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding, self.transform = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, d_model)
        self.norm, self.bias = nn.LayerNorm(d_model, eps=1e-12), nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden):
        return F.linear(self.norm(F.gelu(self.transform(hidden))), self.embedding.weight, self.bias)


class HeadWritten(nn.Module):
    """GELU and norm by hand."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(vocab_size))
        self.norm, self.transform = nn.LayerNorm(d_model), nn.Linear(d_model, d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, hidden):
        x = self.transform(hidden)
        x = x * (1 + torch.erf(x / math.sqrt(2.0))) / 2
        x = F.layer_norm(x, (x.shape[-1],), self.norm.weight, self.norm.bias, eps=1e-12)
        return torch.einsum("...d,vd->...v", x, self.embedding.weight) + self.bias


LEAKS = {
    "1 layer, own key hidden": "yes", "1 layer, own key hidden, no residual": "yes",
    "1 layer, own key hidden, no residual, query from the position": "no", "2 layers of that kind": "yes",
    "2 layers, the key hidden from everybody, no residual, query from the position": "no",
    "2 ordinary layers, [MASK] put in its place": "no"}

def pair_mask_by_outer(segments, real, kind):
    """A matrix for each input, from products of its two texts."""
    if kind not in ("everything", "own text", "own text, [CLS] all"):
        raise ValueError(f"there is no kind called {kind}")
    masks = []
    for row, tokens in zip(segments, real, strict=True):
        texts = [tokens & (row == text) for text in (0, 1)]
        mask = torch.outer(tokens, tokens) if kind == "everything" else sum(torch.outer(t, t) for t in texts) > 0
        if kind.endswith("all") and tokens[0]:
            mask[0] = tokens
        masks.append(mask)
    return torch.stack(masks)


def pair_mask_by_labels(segments, real, kind):
    """Pads get a text of their own, and then lose it."""
    if kind not in ("everything", "own text", "own text, [CLS] all"):
        raise ValueError(kind)
    text = torch.where(real, 0 * segments if kind == "everything" else segments, -1)
    mask = torch.einsum("bi,bj->bij", text + 2.0, 1 / (text + 2.0)).sub(1).abs() < 1e-3
    if kind == "own text, [CLS] all":
        mask[:, 0] = True
    return mask.masked_fill(~real[:, None], False).masked_fill(~real[..., None], False)


ANSWERS = {
    "09.1": [split_recursive, split_regex],
    "09.2": [build_by_lengths, build_by_popping],
    "09.3": [FunctionalEmbeddings, OneTable],
    "09.4": [mask_where, mask_indices],
    "09.5": [loss_ignore, loss_rows],
    "09.6": [HeadChained, HeadWritten],
    "09.7": [LEAKS, dict(reversed(LEAKS.items()))],
    "09.8": [pair_mask_by_outer, pair_mask_by_labels],
}
