"""Chapter 08a: answers written from the blank notebook."""

from . import Answer, edit

# 08a.1 --------------------------------------------------------------------------------------------------------------

CROSS = """
def attend(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights

def cross_attention(y, memory, source, w_q, w_k, w_v):
    query, key, value = y @ w_q, memory @ w_k, memory @ w_v
    mask = (source != 0)[:, None, :]                         # (batch, 1, m)
    return attend(query, key, value, mask)
"""

CROSS_HAND = """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    query, key, value = y @ w_q, memory @ w_k, memory @ w_v
    real = (source != 0)[:, None]                            # (batch, 1, m)
    scores = query @ key.mT / math.sqrt(w_k.shape[1])        # (batch, n, m)
    scores = scores.masked_fill(~real, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~real, 0.0)                # matters for a source of pads only
    return weights @ value, weights
"""

CROSS_EXP = """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    keep = source.ne(0).unsqueeze(1)
    scores = torch.einsum("bik,bjk->bij", y @ w_q, memory @ w_k) * w_q.shape[-1] ** -0.5
    highest = scores.masked_fill(~keep, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
    exps = torch.where(keep, scores - highest, -torch.inf).exp()
    weights = exps / exps.sum(-1, keepdim=True).clamp(min=1e-9)
    return torch.einsum("bij,bjv->biv", weights, memory @ w_v), weights
"""

CROSS_ROWS = """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    outputs, weights = [], []
    for states, tokens, ids in zip(y, memory, source):
        hidden = ids == 0
        scores = (states @ w_q) @ (tokens @ w_k).T / math.sqrt(w_q.size(1))
        share = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        share = torch.where(hidden, 0.0, share)              # NaN stands in rows of nothing but pads, all of them hidden
        weights.append(share)
        outputs.append(share @ (tokens @ w_v))
    return torch.stack(outputs), torch.stack(weights)
"""

# 08a.2 --------------------------------------------------------------------------------------------------------------

DECODER = """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm_place = norm_place

    def feed(self, x):
        return self.linear2(torch.relu(self.linear1(x)))

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_place == "pre":
            x = x + self.attention(self.norm1(x), mask=mask)
            x = x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)
            x = x + self.feed(self.norm3(x))
        else:
            x = self.norm1(x + self.attention(x, mask=mask))
            x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask))
            x = self.norm3(x + self.feed(x))
        return x
"""

DECODER_STEP = """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.post = norm_place == "post"

    def around(self, x, norm, branch):
        return norm(x + branch(x)) if self.post else x + branch(norm(x))

    def forward(self, x, memory, mask=None, memory_mask=None):
        own = self.around(x, self.norm1, lambda t: self.attention(t, mask=mask))
        asked = self.around(own, self.norm2, lambda t: self.cross_attention(t, memory, mask=memory_mask))
        return self.around(asked, self.norm3, lambda t: self.linear2(F.relu(self.linear1(t))))
"""

STEPS = """
        own = self.around(x, self.norm1, lambda t: self.attention(t, mask=mask))
        asked = self.around(own, self.norm2, lambda t: self.cross_attention(t, memory, mask=memory_mask))
        return self.around(asked, self.norm3, lambda t: self.linear2(F.relu(self.linear1(t))))
"""

DECODER_LOOP = """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        if norm_place not in {"pre", "post"}:
            raise ValueError(f"unknown place for the norm: {norm_place!r}")
        for name in ("attention", "cross_attention"):
            setattr(self, name, MultiHeadAttention(d_model, num_heads))
        for number in (1, 2, 3):
            setattr(self, f"norm{number}", nn.LayerNorm(d_model))
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.place = norm_place

    def forward(self, x, memory, mask=None, memory_mask=None):
        stream = x
        for number in (1, 2, 3):
            norm = getattr(self, f"norm{number}")
            entrance = norm(stream) if self.place == "pre" else stream
            if number == 1:
                said = self.attention(entrance, mask=mask)
            elif number == 2:
                said = self.cross_attention(entrance, memory, mask=memory_mask)
            else:
                said = self.linear2(self.linear1(entrance).clamp_min(0))
            stream = torch.add(stream, said)
            if self.place == "post":
                stream = norm(stream)
        return stream
"""

# 08a.3 --------------------------------------------------------------------------------------------------------------

TIED_BROKEN = """
class TiedEnds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.body = nn.Linear(d_model, d_model)
        self.scale = math.sqrt(vocab_size)

    def forward(self, ids, positions):
        x = (self.embedding(ids) + positions) * self.scale   # (batch, n, d_model)
        return self.body(x) @ self.embedding.weight.T * self.scale
"""

TIED = """
class TiedEnds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.body = nn.Linear(d_model, d_model)
        self.scale = math.sqrt(d_model)

    def forward(self, ids, positions):
        x = self.embedding(ids) * self.scale + positions     # (batch, n, d_model)
        return self.body(x) @ self.embedding.weight.T
"""

TIED_LINEAR = """
class TiedEnds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.body = nn.Linear(d_model, d_model)

    def forward(self, ids, positions):
        rows = self.embedding.weight[ids]
        entrance = rows * rows.shape[-1] ** 0.5 + positions
        return F.linear(self.body(entrance), self.embedding.weight)
"""

TIED_EINSUM = """
class TiedEnds(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding, self.body = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, d_model)

    def look_up(self, ids):
        return self.embedding(ids).mul(math.sqrt(self.embedding.embedding_dim))

    def scores(self, hidden):
        return torch.einsum("bnd,vd->bnv", hidden, self.embedding.weight)

    def forward(self, ids, positions):
        return self.scores(self.body(torch.add(self.look_up(ids), positions)))
"""

# 08a.4 --------------------------------------------------------------------------------------------------------------

WEIGHTS = """
prediction_of_weights = {
    "one encoder block": 3152384,
    "one decoder block": 4204032,
    "cross-attention of all blocks (without its norms)": 6303744,
    "embeddings and output matrix, nothing shared": 56832000,
    "the same, all three shared": 18944000,
    "the whole model, all three shared": 63082496,
}
"""

WEIGHTS_FORMULAS = """
d, f, V, N = 512, 2048, 37_000, 6
attention, feed, norm = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
encoder = attention + feed + 2 * norm
decoder = 2 * attention + feed + 3 * norm
prediction_of_weights = {
    "one encoder block": encoder,
    "one decoder block": decoder,
    "cross-attention of all blocks (without its norms)": N * attention,
    "embeddings and output matrix, nothing shared": 3 * V * d,
    "the same, all three shared": V * d,
    "the whole model, all three shared": N * (encoder + decoder) + V * d,
}
"""

WEIGHTS_SUMS = """
linear = lambda a, b, bias=True: a * b + b * bias
prediction_of_weights = {}
prediction_of_weights["embeddings and output matrix, nothing shared"] = sum([linear(512, 37_000, False)] * 3)
prediction_of_weights["the same, all three shared"] = 37 * 512_000
prediction_of_weights["cross-attention of all blocks (without its norms)"] = sum(4 * linear(512, 512) for _ in range(6))
prediction_of_weights["one encoder block"] = 4 * linear(512, 512) + linear(512, 2048) + linear(2048, 512) + 4 * 512
prediction_of_weights["one decoder block"] = prediction_of_weights["one encoder block"] + 4 * linear(512, 512) + 1024
prediction_of_weights["the whole model, all three shared"] = (
    6 * prediction_of_weights["one encoder block"] + 6 * prediction_of_weights["one decoder block"] + 18_944_000)
"""

WEIGHTS_FLOATS = """
prediction_of_weights = {
    "one encoder block": 3_152_384.0,
    "one decoder block": 3_152_384.0 + 1_050_624.0 + 1_024.0,
    "cross-attention of all blocks (without its norms)": 24 * 512 * 513,
    "embeddings and output matrix, nothing shared": 56.832e6,
    "the same, all three shared": 56_832_000 // 3,
    "the whole model, all three shared": 6 * 7_356_416 + 37_000 * 512,
}
"""

# 08a.5 --------------------------------------------------------------------------------------------------------------

LOSS = """
def translation_loss(model, source, target, pad_id=0):
    if target.shape[1] < 2:
        raise ValueError(f"target has {target.shape[1]} columns, two are needed")
    inputs, wanted = target[:, :-1], target[:, 1:]
    scores = model(source, inputs)                           # (batch, n-1, vocab)
    losses = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id, reduction="none")
    real = wanted != pad_id
    return losses.sum() / real.sum(), losses
"""

LOSS_GATHER = """
def translation_loss(model, source, target, pad_id=0):
    n = target.size(1)
    if n <= 1:
        raise ValueError("nothing to predict in a target with this number of columns: " + str(n))
    following = target[:, 1:]
    counts = following.ne(pad_id)
    log_p = model(source, target)[:, :-1].log_softmax(-1)    # the row behind the last token is not needed
    safe = following.masked_fill(~counts, 0)
    losses = torch.where(counts, -log_p.gather(-1, safe.unsqueeze(-1)).squeeze(-1), 0.0)
    return losses.sum() / counts.sum(), losses
"""

LOSS_FLAT = """
def translation_loss(model, source, target, pad_id=0):
    if target.shape[-1] < 2:
        raise ValueError(f"need at least 2 columns, not {target.shape[-1]}")
    batch, n = target.shape
    scores = model(source, target[:, :n - 1])
    flat = F.cross_entropy(scores.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id, reduction="none")
    mean = F.cross_entropy(scores.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)
    return mean, flat.reshape(batch, n - 1)
"""

LOSS_ROWS = """
def translation_loss(model, source, target, pad_id=0):
    columns = target.shape[1]
    if columns < 2:
        raise ValueError(f"{columns}")
    scores = model(source, target[:, :-1])
    total, count, table = 0.0, 0, []
    for row, wanted in zip(scores, target[:, 1:]):
        line = []
        for s, word in zip(row, wanted.tolist()):
            if word == pad_id:
                line.append(s.new_zeros(()))
            else:
                line.append(torch.logsumexp(s, dim=0) - s[word])
                total, count = total + line[-1], count + 1
        table.append(torch.stack(line))
    return total / count, torch.stack(table)
"""

# 08a.6 --------------------------------------------------------------------------------------------------------------

SMOOTH = """
def smoothed_loss(scores, target, eps=0.1):
    if not 0 <= eps < 1:
        raise ValueError(f"eps must lie in [0, 1), not {eps}")
    log_p = F.log_softmax(scores, dim=-1)
    right = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -(1 - eps) * right - eps * log_p.mean(dim=-1)
"""

SMOOTH_Q = """
def smoothed_loss(scores, target, eps=0.1):
    if eps < 0 or eps >= 1:
        raise ValueError("a share of " + str(eps) + " is not possible")
    V = scores.shape[-1]
    q = torch.full_like(scores, eps / V).detach()
    q.scatter_add_(-1, target[..., None], torch.full_like(scores[..., :1], 1 - eps).detach())
    return -(q * torch.log_softmax(scores, -1)).sum(-1)
"""

SMOOTH_SHIFT = """
def smoothed_loss(scores, target, eps=0.1):
    if eps not in [0] and not (eps > 0 and eps < 1):
        raise ValueError(f"{eps=}")
    z = scores - scores.amax(-1, keepdim=True)
    log_sum = z.exp().sum(-1).log()                          # one summand is 1, so the logarithm is safe
    of_the_right_one = torch.take_along_dim(z, target[..., None], dim=-1)[..., 0]
    return (1 - eps) * (log_sum - of_the_right_one) + eps * (log_sum - z.mean(-1))
"""

SMOOTH_LOOP = """
def smoothed_loss(scores, target, eps=0.1):
    if not (eps >= 0 and eps < 1):
        raise ValueError("eps = %s" % eps)
    words = scores.shape[-1]
    losses = []
    for row, y in zip(scores.reshape(-1, words), target.reshape(-1).tolist()):
        log_p = row.log_softmax(0)
        losses.append(-((1 - eps) * log_p[y] + eps / words * log_p.sum()))
    return torch.stack(losses).reshape(target.shape)
"""

# 08a.7 --------------------------------------------------------------------------------------------------------------

RATE = """
def noam_rate(step, d_model, warmup):
    if (step < 1).any():
        raise ValueError(f"step {step.min().item()} is below 1")
    s = step.double()
    return d_model ** -0.5 * torch.minimum(s ** -0.5, s * warmup ** -1.5)
"""

RATE_WHERE = """
def noam_rate(step, d_model, warmup):
    early = step[step < 1]
    if len(early) > 0:
        raise ValueError("steps are counted from 1, but there is a step " + str(early[0].item()))
    s = step.to(torch.float64)
    rise = s / (warmup * math.sqrt(warmup))
    fall = 1 / s.sqrt()
    return torch.where(step < warmup, rise, fall) / math.sqrt(d_model)
"""

RATE_LIST = """
def noam_rate(step, d_model, warmup):
    rates = []
    for s in step.tolist():
        if s < 1:
            raise ValueError(f"there is no step {s}")
        rates.append(min(1 / math.sqrt(s), s / warmup ** 1.5) / math.sqrt(d_model))
    return torch.tensor(rates, dtype=torch.float32)
"""

RATE_PEAK = """
def noam_rate(step, d_model, warmup):
    for number in step:
        if number < 1:
            raise ValueError(f"bad step: {int(number)}")
    part = step.float() / warmup                             # 1 at the peak
    peak = (d_model * warmup) ** -0.5
    return peak * torch.stack([part, part.rsqrt()]).amin(dim=0)
"""

TRAINED = """
def train_translator(new_model, sources, targets, rates, pad_id=0):
    model = new_model()
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for k in range(len(sources)):
        source, given, wanted = sources[k], targets[k][:, :-1], targets[k][:, 1:]
        n = given.size(1)
        source_mask = (source != pad_id).unsqueeze(1)
        mask = torch.tril(torch.ones(n, n)).bool()
        adam.param_groups[0]["lr"] = rates[k]
        scores = model(source, given, source_mask, mask)
        loss = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        scores = model(source, given, source_mask, mask)
    return losses, scores
"""

BANK = (
    # 08a.1
    Answer("08a.1", "with a function of its own", CROSS, right=True),
    Answer("08a.1", "finite fill, then zeros", CROSS_HAND, right=True),
    Answer("08a.1", "the softmax written out", CROSS_EXP, right=True),
    Answer("08a.1", "sentence by sentence", CROSS_ROWS, right=True),
    Answer("08a.1", "queries come from the memory and keys from the decoder",
           edit(CROSS, "y @ w_q, memory @ w_k, memory @ w_v", "memory @ w_q, y @ w_k, y @ w_v")),
    Answer("08a.1", "the values are made of the decoder's states",
           edit(CROSS_HAND, "y @ w_q, memory @ w_k, memory @ w_v", "y @ w_q, memory @ w_k, y @ w_v")),
    Answer("08a.1", "pads of the source are not hidden", edit(CROSS, "query, key, value, mask)", "query, key, value)")),
    Answer("08a.1", "the mask is turned round: only the pads are read", edit(CROSS, "(source != 0)", "(source == 0)")),
    Answer("08a.1", "the scores are not divided by the root of d_k", edit(CROSS_HAND, " / math.sqrt(w_k.shape[1])", "")),
    Answer("08a.1", "divides by the root of d, not of d_k", edit(CROSS_HAND, "w_k.shape[1]", "w_k.shape[0]")),
    Answer("08a.1", "a source of pads gives NaN: minus infinity in the whole row", """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    scores = (y @ w_q) @ (memory @ w_k).mT / math.sqrt(w_q.shape[1])
    scores = scores.masked_fill((source == 0)[:, None], -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ (memory @ w_v), weights
"""),
    Answer("08a.1", "a source of pads gets equal weights: -1e9 everywhere", """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    scores = (y @ w_q) @ (memory @ w_k).mT / math.sqrt(w_q.shape[1])
    scores = scores.masked_fill((source == 0)[:, None], -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ (memory @ w_v), weights
"""),
    Answer("08a.1", "replaces NaN after an added minus infinity: the weights are 0, but the gradients are NaN", """
def cross_attention(y, memory, source, w_q, w_k, w_v):
    scores = (y @ w_q) @ (memory @ w_k).mT / math.sqrt(w_q.shape[1])
    bias = torch.zeros(source.shape).masked_fill(source == 0, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores + bias[:, None], dim=-1))
    return weights @ (memory @ w_v), weights
"""),
    Answer("08a.1", "returns the output without the weights",
           edit(CROSS_HAND, "return weights @ value, weights", "return weights @ value")),
    Answer("08a.1", "returns the weights first", edit(CROSS_HAND, "return weights @ value, weights", "return weights, weights @ value")),
    Answer("08a.1", "counts the real tokens and takes the first ones, as if pads stood behind only",
           edit(CROSS, "(source != 0)[:, None, :]",
                "(torch.arange(source.shape[1]) < (source != 0).sum(1, keepdim=True))[:, None, :]")),
    Answer("08a.1", "adds a causal mask, although the whole source is known",
           edit(CROSS, "(source != 0)[:, None, :]",
                "(source != 0)[:, None, :] & torch.ones(y.shape[1], source.shape[1]).tril().bool()")),
    Answer("08a.1", "the softmax runs over the target", edit(CROSS_HAND, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=1)")),
    Answer("08a.1", "sets the pads to 0 after the softmax, so the other weights do not sum to 1",
           edit(CROSS_HAND, "    scores = scores.masked_fill(~real, torch.finfo(scores.dtype).min)\n", "")),
    # 08a.2
    Answer("08a.2", "three lines for each form", DECODER, right=True),
    Answer("08a.2", "one helper used three times", DECODER_STEP, right=True),
    Answer("08a.2", "a loop over the sub-layers", DECODER_LOOP, right=True),
    Answer("08a.2", "the memory is normed as well in the pre form",
           edit(DECODER, "self.cross_attention(self.norm2(x), memory, mask=memory_mask)",
                "self.cross_attention(self.norm2(x), self.norm2(memory), mask=memory_mask)")),
    Answer("08a.2", "the two masks are exchanged", """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place):
        super().__init__()
        self.attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.post = norm_place == "post"

    def around(self, x, norm, branch):
        return norm(x + branch(x)) if self.post else x + branch(norm(x))

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.around(x, self.norm1, lambda t: self.attention(t, mask=memory_mask))
        x = self.around(x, self.norm2, lambda t: self.cross_attention(t, memory, mask=mask))
        return self.around(x, self.norm3, lambda t: self.linear2(F.relu(self.linear1(t))))
"""),
    Answer("08a.2", "the padding mask of the source is not used",
           edit(DECODER_STEP, "self.cross_attention(t, memory, mask=memory_mask)", "self.cross_attention(t, memory)")),
    Answer("08a.2", "the first attention has no mask in the pre form", edit(DECODER, "self.attention(self.norm1(x), mask=mask)",
                                                                          "self.attention(self.norm1(x))")),
    Answer("08a.2", "cross-attention is asked with the block's input, not with the state after self-attention",
           edit(DECODER_STEP, "lambda t: self.cross_attention(t, memory, mask=memory_mask)",
                "lambda t: self.cross_attention(x, memory, mask=memory_mask)")),
    Answer("08a.2", "cross-attention comes before self-attention", edit(DECODER_STEP, STEPS, """
        asked = self.around(x, self.norm2, lambda t: self.cross_attention(t, memory, mask=memory_mask))
        own = self.around(asked, self.norm1, lambda t: self.attention(t, mask=mask))
        return self.around(own, self.norm3, lambda t: self.linear2(F.relu(self.linear1(t))))
""")),
    Answer("08a.2", "cross-attention is the last of the three sub-layers", edit(DECODER_STEP, STEPS, """
        own = self.around(x, self.norm1, lambda t: self.attention(t, mask=mask))
        fed = self.around(own, self.norm3, lambda t: self.linear2(F.relu(self.linear1(t))))
        return self.around(fed, self.norm2, lambda t: self.cross_attention(t, memory, mask=memory_mask))
""")),
    Answer("08a.2", "the pre form adds to the normed stream", edit(DECODER, """            x = x + self.attention(self.norm1(x), mask=mask)
            x = x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)
            x = x + self.feed(self.norm3(x))
""", """            x = self.norm1(x)
            x = x + self.attention(x, mask=mask)
            x = self.norm2(x)
            x = x + self.cross_attention(x, memory, mask=memory_mask)
            x = self.norm3(x)
            x = x + self.feed(x)
""")),
    Answer("08a.2", "norm_place is ignored: always post", edit(DECODER, "self.norm_place = norm_place", 'self.norm_place = "post"')),
    Answer("08a.2", "the memory asks and the decoder answers",
           edit(DECODER_STEP, "self.cross_attention(t, memory, mask=memory_mask)", "self.cross_attention(memory, t, mask=memory_mask)")),
    Answer("08a.2", "one attention module serves for both",
           edit(DECODER, "self.cross_attention = MultiHeadAttention(d_model, num_heads)", "self.cross_attention = self.attention")),
    Answer("08a.2", "norm2 and norm3 have changed places in the post form",
           edit(edit(DECODER, "self.norm2(x + self.cross", "self.norm3(x + self.cross"),
                "self.norm3(x + self.feed", "self.norm2(x + self.feed")),
    Answer("08a.2", "there is no ReLU between the linear layers", edit(DECODER, "torch.relu(self.linear1(x))", "self.linear1(x)")),
    Answer("08a.2", "adds in place, so the x that came in is changed",
           edit(DECODER, "x = x + self.attention(self.norm1(x), mask=mask)", "x += self.attention(self.norm1(x), mask=mask)")),
    Answer("08a.2", "the feed-forward layer is missing", edit(edit(DECODER, "            x = x + self.feed(self.norm3(x))\n", ""),
                                                            "            x = self.norm3(x + self.feed(x))\n", "")),
    Answer("08a.2", "cross-attention has no residual",
           edit(edit(DECODER, "x = x + self.cross_attention(self.norm2(x)", "x = self.cross_attention(self.norm2(x)"),
                "self.norm2(x + self.cross_attention(x", "self.norm2(self.cross_attention(x")),
    Answer("08a.2", "the post form norms the branch before it is added",
           edit(DECODER_STEP, "norm(x + branch(x)) if self.post", "x + norm(branch(x)) if self.post")),
    # 08a.3
    Answer("08a.3", "three repairs", TIED, right=True),
    Answer("08a.3", "F.linear with the same matrix", TIED_LINEAR, right=True),
    Answer("08a.3", "two methods and einsum", TIED_EINSUM, right=True),
    Answer("08a.3", "nothing was changed", TIED_BROKEN),
    Answer("08a.3", "the root of the vocabulary size is still there", edit(TIED, "math.sqrt(d_model)", "math.sqrt(vocab_size)")),
    Answer("08a.3", "the positions are still multiplied",
           edit(TIED, "self.embedding(ids) * self.scale + positions ", "(self.embedding(ids) + positions) * self.scale ")),
    Answer("08a.3", "the scores are still multiplied", edit(TIED, "self.embedding.weight.T", "self.embedding.weight.T * self.scale")),
    Answer("08a.3", "the scores are divided by the factor", edit(TIED, "self.embedding.weight.T", "self.embedding.weight.T / self.scale")),
    Answer("08a.3", "multiplies by d_model, not by its root", edit(TIED, "math.sqrt(d_model)", "d_model")),
    Answer("08a.3", "the output has a matrix of its own, so nothing is shared",
           edit(edit(TIED, "        self.scale =",
                     "        self.output = nn.Linear(d_model, vocab_size, bias=False)\n        self.scale ="),
                "self.body(x) @ self.embedding.weight.T", "self.output(self.body(x))")),
    Answer("08a.3", "the output matrix is a copy from the start, which does not learn with the embedding",
           edit(edit(TIED, "        self.scale =", "        self.table = self.embedding.weight.detach().clone()\n        self.scale ="),
                "self.embedding.weight.T", "self.table.T")),
    Answer("08a.3", "the shared matrix gets no gradient from the scores",
           edit(TIED, "self.embedding.weight.T", "self.embedding.weight.detach().T")),
    Answer("08a.3", "the output has a bias, a parameter that the task excludes",
           edit(edit(TIED, "        self.scale =", "        self.bias = nn.Parameter(torch.zeros(vocab_size))\n        self.scale ="),
                "self.embedding.weight.T", "self.embedding.weight.T + self.bias")),
    Answer("08a.3", "the matrix itself is made larger at the start, so the scores grow too",
           edit(edit(TIED, "        self.scale = math.sqrt(d_model)\n",
                     "        with torch.no_grad():\n            self.embedding.weight *= math.sqrt(d_model)\n"),
                "self.embedding(ids) * self.scale + positions", "self.embedding(ids) + positions")),
    Answer("08a.3", "the positions got lost in the repair", edit(TIED, " * self.scale + positions ", " * self.scale ")),
    Answer("08a.3", "the positions are added behind the body",
           edit(edit(TIED, " * self.scale + positions ", " * self.scale "), "self.body(x) @", "(self.body(x) + positions) @")),
    Answer("08a.3", "returns probabilities instead of scores",
           edit(TIED, "self.body(x) @ self.embedding.weight.T", "torch.softmax(self.body(x) @ self.embedding.weight.T, dim=-1)")),
    # 08a.4
    Answer("08a.4", "six whole numbers", WEIGHTS, right=True),
    Answer("08a.4", "formulas", WEIGHTS_FORMULAS, right=True),
    Answer("08a.4", "sums of linear layers", WEIGHTS_SUMS, right=True),
    Answer("08a.4", "floats that are whole", WEIGHTS_FLOATS, right=True),
    Answer("08a.4", "the encoder block without biases of the linear layers", edit(WEIGHTS, "3152384", "12 * 512**2 + 4 * 512")),
    Answer("08a.4", "the encoder block with one norm only", edit(WEIGHTS, "3152384", "3152384 - 1024")),
    Answer("08a.4", "the encoder block with three matrices for attention: the output projection is missing",
           edit(WEIGHTS, "3152384", "3152384 - 512 * 513")),
    Answer("08a.4", "multiplies the attention of the encoder block by the number of heads",
           edit(WEIGHTS, "3152384", "3152384 + 7 * 1050624")),
    Answer("08a.4", "the decoder block without its third norm", edit(WEIGHTS, "4204032", "4204032 - 1024")),
    Answer("08a.4", "the decoder block without cross-attention", edit(WEIGHTS, "4204032", "3152384")),
    Answer("08a.4", "the cross-attention of one block, not of all", edit(WEIGHTS, "6303744", "1050624")),
    Answer("08a.4", "gives the encoder blocks a cross-attention, too", edit(WEIGHTS, "6303744", "12 * 1050624")),
    Answer("08a.4", "cross-attention without biases", edit(WEIGHTS, "6303744", "6 * 4 * 512**2")),
    Answer("08a.4", "only two matrices of the size V times d", edit(WEIGHTS, "56832000", "2 * 37000 * 512")),
    Answer("08a.4", "gives the output layer a bias", edit(WEIGHTS, "56832000", "56832000 + 37000")),
    Answer("08a.4", "shares only two of the three matrices", edit(WEIGHTS, "18944000", "37888000")),
    Answer("08a.4", "the whole model with three separate matrices", edit(WEIGHTS, "63082496", "100970496")),
    Answer("08a.4", "writes down the rounded number of the paper", edit(WEIGHTS, "63082496", "65_000_000")),
    Answer("08a.4", "the whole model with one stack only", edit(WEIGHTS, "63082496", "6 * 3152384 + 18944000")),
    Answer("08a.4", "gives the numbers in millions", """
prediction_of_weights = {
    "one encoder block": 3.15,
    "one decoder block": 4.2,
    "cross-attention of all blocks (without its norms)": 6.3,
    "embeddings and output matrix, nothing shared": 56.8,
    "the same, all three shared": 18.9,
    "the whole model, all three shared": 63.1,
}
"""),
    # 08a.5
    Answer("08a.5", "cross_entropy with ignore_index", LOSS, right=True),
    Answer("08a.5", "hands over the last token too and gathers", LOSS_GATHER, right=True),
    Answer("08a.5", "flattened, the mean by cross_entropy", LOSS_FLAT, right=True),
    Answer("08a.5", "token by token", LOSS_ROWS, right=True),
    Answer("08a.5", "no shift: each position has to name the token that it reads",
           edit(LOSS, "target[:, :-1], target[:, 1:]", "target[:, :-1], target[:, :-1]")),
    Answer("08a.5", "shifts the wrong way: reads the next token and has to name the one before",
           edit(LOSS, "target[:, :-1], target[:, 1:]", "target[:, 1:], target[:, :-1]")),
    Answer("08a.5", "divides by the number of all positions, pads included", edit(LOSS, "losses.sum() / real.sum()", "losses.mean()")),
    Answer("08a.5", "averages the means of the sentences, so tokens of short sentences count more",
           edit(LOSS, "losses.sum() / real.sum()", "(losses.sum(1) / real.sum(1)).mean()")),
    Answer("08a.5", "a position counts if the token it reads is real, so a pad behind <eos> is to be predicted", """
def translation_loss(model, source, target, pad_id=0):
    if target.shape[1] < 2:
        raise ValueError(f"target has {target.shape[1]} columns")
    scores = model(source, target[:, :-1])
    real = target[:, :-1] != pad_id
    losses = F.cross_entropy(scores.transpose(1, 2), target[:, 1:], reduction="none") * real
    return losses.sum() / real.sum(), losses
"""),
    Answer("08a.5", "divides by the number of real tokens of the target, <bos> included",
           edit(LOSS, "real = wanted != pad_id", "real = target != pad_id")),
    Answer("08a.5", "takes 0 for the pad whatever pad_id says",
           edit(edit(LOSS, "ignore_index=pad_id", "ignore_index=0"), "wanted != pad_id", "wanted != 0")),
    Answer("08a.5", "returns only the mean", edit(LOSS, "real.sum(), losses", "real.sum()")),
    Answer("08a.5", "the losses at pads are not set to 0", """
def translation_loss(model, source, target, pad_id=0):
    if target.shape[1] < 2:
        raise ValueError(f"target has {target.shape[1]} columns")
    scores, wanted = model(source, target[:, :-1]), target[:, 1:]
    losses = F.cross_entropy(scores.transpose(1, 2), wanted, reduction="none")
    return losses[wanted != pad_id].mean(), losses
"""),
    Answer("08a.5", "the mean is a Python number and cannot be differentiated",
           edit(LOSS, "return losses.sum() / real.sum(), losses", "return (losses.sum() / real.sum()).item(), losses")),
    Answer("08a.5", "the losses are detached from the model", edit(LOSS, "real.sum(), losses", "real.sum(), losses.detach()")),
    Answer("08a.5", "returns the sum of the losses instead of their mean",
           edit(LOSS, "losses.sum() / real.sum()", "losses.sum()")),
    Answer("08a.5", "asks the model once for each prefix instead of once", """
def translation_loss(model, source, target, pad_id=0):
    if target.shape[1] < 2:
        raise ValueError(f"target has {target.shape[1]} columns")
    columns = []
    for t in range(1, target.shape[1]):
        scores = model(source, target[:, :t])[:, -1]
        columns.append(F.cross_entropy(scores, target[:, t], ignore_index=pad_id, reduction="none"))
    losses = torch.stack(columns, dim=1)
    return losses.sum() / (target[:, 1:] != pad_id).sum(), losses
"""),
    Answer("08a.5", "brings the words forward by view instead of transpose, which mixes words and positions",
           edit(LOSS, "scores.transpose(1, 2)", "scores.reshape(scores.shape[0], -1, scores.shape[1])")),
    Answer("08a.5", "a target of one column gives NaN instead of an error", edit(LOSS, """    if target.shape[1] < 2:
        raise ValueError(f"target has {target.shape[1]} columns, two are needed")
""", "")),
    Answer("08a.5", "refuses only a target without any column, and one column gives NaN",
           edit(LOSS, "target.shape[1] < 2", "target.shape[1] < 1")),
    Answer("08a.5", "measures in bits instead of nats",
           edit(LOSS, "    real = wanted", "    losses = losses / math.log(2)\n    real = wanted")),
    Answer("08a.5", "the end token is not predicted: the last column is cut off",
           edit(LOSS, "target[:, :-1], target[:, 1:]", "target[:, :-2], target[:, 1:-1]")),
    # 08a.6
    Answer("08a.6", "right word and mean", SMOOTH, right=True),
    Answer("08a.6", "builds the smoothed target", SMOOTH_Q, right=True),
    Answer("08a.6", "shifted scores, logarithm of the sum", SMOOTH_SHIFT, right=True),
    Answer("08a.6", "token by token", SMOOTH_LOOP, right=True),
    Answer("08a.6", "spreads eps over the other words only", """
def smoothed_loss(scores, target, eps=0.1):
    if not 0 <= eps < 1:
        raise ValueError(f"eps must lie in [0, 1), not {eps}")
    log_p = F.log_softmax(scores, dim=-1)
    right = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -(1 - eps) * right - eps * (log_p.sum(dim=-1) - right) / (scores.shape[-1] - 1)
"""),
    Answer("08a.6", "the right word does not get its part of the even share", """
def smoothed_loss(scores, target, eps=0.1):
    if not 0 <= eps < 1:
        raise ValueError(f"eps must lie in [0, 1), not {eps}")
    q = torch.full_like(scores, eps / scores.shape[-1])
    q.scatter_(-1, target.unsqueeze(-1), 1 - eps)
    return -(q * F.log_softmax(scores, dim=-1)).sum(-1)
"""),
    Answer("08a.6", "sums the log-probabilities of all words instead of averaging them", edit(SMOOTH, "log_p.mean(", "log_p.sum(")),
    Answer("08a.6", "the logarithm of a softmax is minus infinity for large scores",
           edit(SMOOTH, "F.log_softmax(scores, dim=-1)", "torch.log(torch.softmax(scores, dim=-1))")),
    Answer("08a.6", "returns one number for all tokens", edit(SMOOTH, "return -(1 - eps) * right - eps * log_p.mean(dim=-1)",
                                                             "return (-(1 - eps) * right - eps * log_p.mean(dim=-1)).mean()")),
    Answer("08a.6", "no error for an impossible eps", edit(SMOOTH, """    if not 0 <= eps < 1:
        raise ValueError(f"eps must lie in [0, 1), not {eps}")
""", "")),
    Answer("08a.6", "eps = 1 is let through", edit(SMOOTH, "0 <= eps < 1", "0 <= eps <= 1")),
    Answer("08a.6", "eps = 0 is refused, although it is plain cross-entropy", edit(SMOOTH, "0 <= eps < 1", "0 < eps < 1")),
    Answer("08a.6", "ignores eps and smooths by 0.1", edit(SMOOTH, "return -(1 - eps) * right - eps *", "return -0.9 * right - 0.1 *")),
    Answer("08a.6", "the softmax runs over axis 1, which is the words only for two axes",
           edit(SMOOTH, "F.log_softmax(scores, dim=-1)", "F.log_softmax(scores, dim=1)")),
    Answer("08a.6", "the sign is missing", edit(SMOOTH, "-(1 - eps) * right - eps *", "(1 - eps) * right + eps *")),
    Answer("08a.6", "picks the right words in a way that works for two axes only",
           edit(SMOOTH, "log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)", "log_p[torch.arange(len(target)), target]")),
    Answer("08a.6", "the two shares are exchanged", edit(SMOOTH, "-(1 - eps) * right - eps * log_p", "-eps * right - (1 - eps) * log_p")),
    Answer("08a.6", "adds the even share without taking it from the right word", edit(SMOOTH, "-(1 - eps) * right", "-right")),
    Answer("08a.6", "averages the scores instead of the log-probabilities", edit(SMOOTH, "log_p.mean(dim=-1)", "scores.mean(dim=-1)")),
    Answer("08a.6", "measures in bits", edit(SMOOTH, "F.log_softmax(scores, dim=-1)", "F.log_softmax(scores, dim=-1) / math.log(2)")),
    Answer("08a.6", "entropy plus divergence, with a plain logarithm of the target",
           edit(SMOOTH_Q, "return -(q * torch.log_softmax(scores, -1)).sum(-1)",
           "return -(q * q.log()).sum(-1) + (q * (q.log() - torch.log_softmax(scores, -1))).sum(-1)")),
    Answer("08a.6", "takes the scores for probabilities that are normalised",
           edit(SMOOTH, "F.log_softmax(scores, dim=-1)", "torch.log(scores)")),
    # 08a.7
    Answer("08a.7", "the lower of two curves", RATE, right=True),
    Answer("08a.7", "one curve before and one behind the warm-up", RATE_WHERE, right=True),
    Answer("08a.7", "step by step", RATE_LIST, right=True),
    Answer("08a.7", "from the peak", RATE_PEAK, right=True),
    Answer("08a.7", "takes the higher of the two curves", edit(RATE, "torch.minimum", "torch.maximum")),
    Answer("08a.7", "there is no warm-up", edit(RATE, "torch.minimum(s ** -0.5, s * warmup ** -1.5)", "s ** -0.5")),
    Answer("08a.7", "wider models get larger steps: the root of d_model in the numerator", edit(RATE, "d_model ** -0.5", "d_model ** 0.5")),
    Answer("08a.7", "the exponent of the warm-up is wrong, so the two curves do not meet at the warm-up",
           edit(RATE, "warmup ** -1.5", "warmup ** -0.5")),
    Answer("08a.7", "no error for step 0 or below", edit(RATE, """    if (step < 1).any():
        raise ValueError(f"step {step.min().item()} is below 1")
""", "")),
    Answer("08a.7", "lets step 0 through", edit(RATE, "(step < 1).any()", "(step < 0).any()")),
    Answer("08a.7", "counts steps from 0, so every step gets the rate of the next one",
           edit(RATE, "s = step.double()", "s = step.double() + 1")),
    Answer("08a.7", "returns a list instead of a tensor", edit(RATE_LIST, "torch.tensor(rates, dtype=torch.float32)", "rates")),
    Answer("08a.7", "returns the rate of the first step only", edit(RATE, "s * warmup ** -1.5)", "s * warmup ** -1.5)[0].item()")),
    Answer("08a.7", "the warm-up is always 4000", edit(RATE, "warmup ** -1.5", "4000 ** -1.5")),
    Answer("08a.7", "the width is always 512", edit(RATE, "d_model ** -0.5", "512 ** -0.5")),
    Answer("08a.7", "asks whether the tensor is below 1, which works for one step only",
           edit(RATE, "if (step < 1).any():", "if step < 1:")),
    Answer("08a.7", "looks only at the first step", edit(RATE, "if (step < 1).any():", "if step[0] < 1:")),
    Answer("08a.7", "the rates are written into whole numbers and are all 0",
           edit(RATE_LIST, "torch.tensor(rates, dtype=torch.float32)", "torch.tensor(rates).to(step.dtype)")),
    Answer("08a.7", "raises steps below 1 to 1 instead of refusing them", """
def noam_rate(step, d_model, warmup):
    s = step.clamp(min=1).double()
    return d_model ** -0.5 * torch.minimum(s ** -0.5, s * warmup ** -1.5)
"""),
    Answer("08a.7", "falls with the step, not with its root",
           edit(RATE, "s ** -0.5, s * warmup ** -1.5", "warmup ** 0.5 / s, s * warmup ** -1.5")),
    Answer("08a.7", "the width is left out", edit(RATE, "d_model ** -0.5 * torch", "torch")),
    # 08a.8 ----------------------------------------------------------------------------------------------------------
    Answer("08a.8", "a right answer", TRAINED, right=True),
    Answer("08a.8", "a right answer that picks the real tokens", edit(
        TRAINED, "F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id)",
        "F.cross_entropy(scores[wanted != pad_id], wanted[wanted != pad_id])"), right=True),
    Answer("08a.8", "a right answer with a schedule of PyTorch", """
def train_translator(new_model, sources, targets, rates, pad_id=0):
    model = new_model()
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: rates[min(step, len(rates) - 1)])
    losses = []
    for x, y in zip(sources, targets):
        look = x.ne(pad_id)[:, None, :]
        k = y.shape[1] - 1
        causal = torch.arange(k)[:, None] >= torch.arange(k)
        scores = model(x, y[:, :k], look, causal)
        each = -scores.log_softmax(-1).gather(-1, y[:, 1:, None])[..., 0]
        real = y[:, 1:] != pad_id
        loss = each[real].mean()
        loss.backward()
        adam.step()
        adam.zero_grad()
        rate.step()
        losses.append(float(loss))
    with torch.no_grad():
        return losses, model.eval()(x, y[:, :k], look, causal)
""", right=True),
    Answer("08a.8", "never clears the gradients", edit(TRAINED, "        adam.zero_grad()\n", "")),
    Answer("08a.8", "clears the gradients after backward, so nothing is learned", edit(
        TRAINED, "        adam.zero_grad()\n        loss.backward()\n", "        loss.backward()\n        adam.zero_grad()\n")),
    Answer("08a.8", "the decoder is given the tokens it has to name", edit(
        TRAINED, "targets[k][:, :-1], targets[k][:, 1:]", "targets[k][:, 1:], targets[k][:, 1:]")),
    Answer("08a.8", "every position names the token it is given", edit(
        TRAINED, "targets[k][:, :-1], targets[k][:, 1:]", "targets[k][:, :-1], targets[k][:, :-1]")),
    Answer("08a.8", "pads count in the loss", edit(TRAINED, ", ignore_index=pad_id)", ")")),
    Answer("08a.8", "the pad is always 0", edit(
        TRAINED, "wanted, ignore_index=pad_id", "wanted, ignore_index=0")),
    Answer("08a.8", "the mask of the source is turned round", edit(TRAINED, "(source != pad_id)", "(source == pad_id)")),
    Answer("08a.8", "the source has no mask", edit(
        TRAINED, "(source != pad_id).unsqueeze(1)", "torch.ones_like(source).bool().unsqueeze(1)")),
    Answer("08a.8", "the decoder looks ahead", edit(TRAINED, "torch.tril(torch.ones(n, n)).bool()", "torch.ones(n, n).bool()")),
    Answer("08a.8", "the pads of the target are hidden, too", edit(
        TRAINED, "torch.tril(torch.ones(n, n)).bool()", "torch.tril(torch.ones(n, n)).bool() & (given != pad_id)[:, None]")),
    Answer("08a.8", "the triangle lies on the wrong side", edit(TRAINED, "torch.tril(", "torch.triu(")),
    Answer("08a.8", "a position may not read itself", edit(
        TRAINED, "torch.tril(torch.ones(n, n)).bool()", "torch.tril(torch.ones(n, n), -1).bool()")),
    Answer("08a.8", "always the first rate", edit(TRAINED, "= rates[k]", "= rates[0]")),
    Answer("08a.8", "each rate comes one step late", edit(
        TRAINED, "        adam.param_groups[0][\"lr\"] = rates[k]\n", "        adam.param_groups[0][\"lr\"] = rates[max(k - 1, 0)]\n")),
    Answer("08a.8", "a new Adam for every batch forgets its averages", edit(edit(
        TRAINED, "    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)\n", ""),
        "        adam.param_groups[0]", """        adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
        adam.param_groups[0]""")),
    Answer("08a.8", "Adam with its default betas", edit(TRAINED, ", betas=(0.9, 0.98), eps=1e-9", "")),
    Answer("08a.8", "plain gradient descent", edit(
        TRAINED, "torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)",
        "torch.optim.SGD(model.parameters(), lr=1.0)")),
    Answer("08a.8", "the scores at the end are made in training mode", edit(TRAINED, "    model.eval()\n", "")),
    Answer("08a.8", "returns the scores of the last batch before its update", edit(TRAINED, """    model.eval()
    with torch.no_grad():
        scores = model(source, given, source_mask, mask)
    return losses, scores""", "    return losses, scores.detach()")),
    Answer("08a.8", "a right answer whose scores could still be differentiated", edit(TRAINED, """    with torch.no_grad():
        scores = model(source, given, source_mask, mask)
""", """    scores = model(source, given, source_mask, mask)
"""), right=True),
    Answer("08a.8", "a right answer that keeps the losses as tensors", edit(TRAINED, "loss.item()", "loss.detach()"), right=True),
    Answer("08a.8", "the loss is a sum, not a mean", edit(TRAINED, "ignore_index=pad_id)", "ignore_index=pad_id, reduction=\"sum\")")),
    Answer("08a.8", "trains in evaluation mode, without dropout", edit(TRAINED, "model = new_model()", "model = new_model().eval()")),
    Answer("08a.8", "the mean over sentences of the mean over their tokens", edit(
        TRAINED, "loss = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id)",
        """each = F.cross_entropy(scores.transpose(1, 2), wanted, ignore_index=pad_id, reduction="none")
        loss = (each.sum(1) / (wanted != pad_id).sum(1)).mean()""")),
)
