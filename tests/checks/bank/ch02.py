"""Chapter 02: answers written from the blank notebook."""

from . import Answer, edit

ELMAN = """
class ElmanRNN(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.w = nn.Linear(d_in, width)
        self.u = nn.Linear(width, width, bias=False)

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(x.shape[0], self.u.in_features)
        states = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.w(x[:, t]) + self.u(h))
            states.append(h)
        return torch.stack(states, dim=1)
"""

ADDITIVE = """
def additive_scores(query, key, w_q, w_k, v):
    q = query @ w_q                                          # (batch, n, d_attn)
    k = key @ w_k                                            # (batch, m, d_attn)
    return torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v
"""

ALIGN = """
def align_step(state, annotations, w_s, w_h, v):
    scores = torch.tanh((state @ w_s)[:, None, :] + annotations @ w_h) @ v   # (batch, T)
    weights = torch.softmax(scores, dim=1)
    context = (weights[:, :, None] * annotations).sum(dim=1)                 # (batch, d_h)
    return context, weights
"""

ATTENTION = """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key, value, mask=None):
        hidden = torch.tanh(self.w_q(query)[:, :, None] + self.w_k(key)[:, None])
        scores = self.v(hidden).squeeze(-1)                  # (batch, n, m)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights
"""

FIELD = """
def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
    width = 1
    for k, d in zip(kernels, dilations):
        width += (k - 1) * d
    return width
"""

GROWTH = """
prediction = {
    "recurrent layer: steps that wait for each other": "n",
    "recurrent layer: path, first to last": "n",
    "convolutions, kernel 3: path, first to last": "n",
    "dilations 1, 3, 9, …: path, first to last": "log n",
    "self-attention: path, first to last": "constant",
    "self-attention: scores to compute": "n squared",
}
"""

BANK = (
    # 02.1
    Answer("02.1", "a loop over the steps, the states stacked", ELMAN, right=True),
    Answer("02.1", "all inputs projected at once, the states written into a table", """
class ElmanRNN(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.w = nn.Linear(d_in, width)
        self.u = nn.Linear(width, width, bias=False)

    def forward(self, x, h=None):
        inputs = self.w(x)                                   # (batch, T, width)
        before = inputs.new_zeros(inputs.shape[0], inputs.shape[2]) if h is None else h
        out = []
        for now in inputs.unbind(dim=1):
            before = (now + self.u(before)).tanh()
            out.append(before.unsqueeze(1))
        return torch.cat(out, dim=1)
""", right=True),
    Answer("02.1", "a step method, F.linear with the two matrices, and permute at the end", """
class ElmanRNN(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.u = nn.Linear(width, width, bias=False)
        self.w = nn.Linear(d_in, width, bias=True)

    def step(self, x, h):
        drive = F.linear(x, self.w.weight, self.w.bias)
        return torch.tanh(F.linear(h, self.u.weight) + drive)

    def forward(self, x, h=None):
        batch, length, _ = x.shape
        state = h if h is not None else x.new_zeros((batch, self.w.out_features))
        table = [state]
        for t in range(length):
            table.append(self.step(x[:, t, :], table[-1]))
        return torch.stack(table[1:]).permute(1, 0, 2)
""", right=True),
    Answer("02.1", "leaves the product with the state out of the first step when no state is given", """
class ElmanRNN(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.w, self.u = nn.Linear(d_in, width), nn.Linear(width, width, bias=False)

    def forward(self, x, h=None):
        sums = self.w(x)
        first = sums[:, 0] if h is None else sums[:, 0] + self.u(h)
        states = [torch.tanh(first)]
        for t in range(1, x.size(1)):
            states.append(torch.tanh(sums[:, t] + self.u(states[t - 1])))
        return torch.stack(states, 1)
""", right=True),
    Answer("02.1", "returns the last state only", edit(ELMAN, "torch.stack(states, dim=1)", "h")),
    Answer("02.1", "returns states and last state, as nn.RNN does",
           edit(ELMAN, "torch.stack(states, dim=1)", "torch.stack(states, dim=1), h")),
    Answer("02.1", "stacks along the first axis: (T, batch, width)", edit(ELMAN, "dim=1)", "dim=0)")),
    Answer("02.1", "returns a list of states", edit(ELMAN, "torch.stack(states, dim=1)", "states")),
    Answer("02.1", "gives u a bias", edit(ELMAN, "nn.Linear(width, width, bias=False)", "nn.Linear(width, width)")),
    Answer("02.1", "takes the bias from w", edit(ELMAN, "nn.Linear(d_in, width)", "nn.Linear(d_in, width, bias=False)")),
    Answer("02.1", "forgets the tanh", edit(ELMAN, "torch.tanh(self.w(x[:, t]) + self.u(h))", "self.w(x[:, t]) + self.u(h)")),
    Answer("02.1", "a sigmoid instead of the tanh", edit(ELMAN, "torch.tanh", "torch.sigmoid")),
    Answer("02.1", "bends input and state separately", edit(
        ELMAN, "torch.tanh(self.w(x[:, t]) + self.u(h))", "torch.tanh(self.w(x[:, t])) + torch.tanh(self.u(h))")),
    Answer("02.1", "does not carry the state on from step to step", edit(
        edit(ELMAN, "h = torch.tanh", "new = torch.tanh"), "states.append(h)", "states.append(new)")),
    Answer("02.1", "does not use u: adds the old state itself", edit(ELMAN, "self.u(h))", "h)")),
    Answer("02.1", "starts at zeros even when a state is handed in", edit(
        ELMAN, "        if h is None:\n            h = torch.zeros", "        h = torch.zeros")),
    Answer("02.1", "tests the truth of a tensor instead of None", edit(ELMAN, "if h is None", "if not h")),
    Answer("02.1", "starts at random numbers", edit(ELMAN, "torch.zeros(", "torch.randn(")),
    Answer("02.1", "goes on from the last state of the call before", edit(edit(
        ELMAN, "h = torch.zeros(x.shape[0], self.u.in_features)",
        'h = getattr(self, "last", None)\n        if h is None or len(h) != len(x):\n'
        '            h = torch.zeros(len(x), self.u.in_features)'),
        "        return", "        self.last = h.detach()\n        return")),
    Answer("02.1", "puts the state before the first step into the result, T + 1 in all", edit(ELMAN, "states = []", "states = [h]")),
    Answer("02.1", "returns the state before each step, not after it", edit(
        edit(ELMAN, "            states.append(h)\n", ""), "            h = torch.tanh",
        "            states.append(h)\n            h = torch.tanh")),
    Answer("02.1", "cuts the gradient between the steps", edit(ELMAN, "self.u(h))", "self.u(h.detach()))")),
    Answer("02.1", "loops over the batch as if it were the time", edit(
        ELMAN, "for t in range(x.shape[1])", "for t in range(x.shape[0])")),
    Answer("02.1", "writes each state over the last one in the same tensor, the caller's h too", edit(
        ELMAN, "            h = torch.tanh(self.w(x[:, t]) + self.u(h))", "            h[:] = torch.tanh(self.w(x[:, t]) + self.u(h))")),
    Answer("02.1", "squeezes the result, which loses the axes of length 1", edit(
        ELMAN, "torch.stack(states, dim=1)", "torch.stack(states, dim=1).squeeze()")),
    Answer("02.1", "reads the sequence from its end", edit(ELMAN, "range(x.shape[1])", "reversed(range(x.shape[1]))")),
    Answer("02.1", "leaves the last step out", edit(ELMAN, "range(x.shape[1])", "range(x.shape[1] - 1)")),
    Answer("02.1", "other names for the submodules", edit(edit(edit(edit(edit(
        ELMAN, "self.w =", "self.linear_x ="), "self.u =", "self.linear_h ="), "self.w(x", "self.linear_x(x"),
        "self.u(h)", "self.linear_h(h)"), "self.u.in", "self.linear_h.in")),

    # 02.2
    Answer("02.2", "an axis of length 1 in each, then broadcasting", ADDITIVE, right=True),
    Answer("02.2", "one query at a time", """
def additive_scores(query, key, w_q, w_k, v):
    projected = torch.matmul(key, w_k)
    columns = []
    for i in range(query.shape[1]):
        asked = torch.matmul(query[:, i:i + 1], w_q)         # (batch, 1, d_attn)
        columns.append((torch.tanh(asked + projected) * v).sum(dim=-1))
    return torch.stack(columns, dim=1)
""", right=True),
    Answer("02.2", "einsum for each product", """
def additive_scores(query, key, w_q, w_k, v):
    left = torch.einsum("bnd,da->bna", query, w_q)
    right = torch.einsum("bme,ea->bma", key, w_k)
    hidden = (left.unsqueeze(2) + right.unsqueeze(1)).tanh()
    return torch.einsum("bnma,a->bnm", hidden, v)
""", right=True),
    Answer("02.2", "one hidden unit at a time", """
def additive_scores(query, key, w_q, w_k, v):
    total = 0
    for a in range(len(v)):
        q = query @ w_q[:, a]                                # (batch, n)
        k = key @ w_k[:, a]                                  # (batch, m)
        total = total + v[a] * torch.tanh(q.unsqueeze(-1) + k.unsqueeze(-2))
    return total
""", right=True),
    Answer("02.2", "forgets the tanh",
           edit(ADDITIVE, "torch.tanh(q[:, :, None, :] + k[:, None, :, :])", "(q[:, :, None, :] + k[:, None, :, :])")),
    Answer("02.2", "a sigmoid instead of the tanh", edit(ADDITIVE, "torch.tanh", "torch.sigmoid")),
    Answer("02.2", "bends query and key separately", edit(
        ADDITIVE, "torch.tanh(q[:, :, None, :] + k[:, None, :, :])", "(torch.tanh(q)[:, :, None, :] + torch.tanh(k)[:, None, :, :])")),
    Answer("02.2", "the tanh stands outside, after the product with v", edit(
        ADDITIVE, "torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v", "torch.tanh((q[:, :, None, :] + k[:, None, :, :]) @ v)")),
    Answer("02.2", "rows are keys and columns are queries", edit(
        ADDITIVE, "q[:, :, None, :] + k[:, None, :, :]", "q[:, None, :, :] + k[:, :, None, :]")),
    Answer("02.2", "compares query i with key i only", edit(ADDITIVE, "q[:, :, None, :] + k[:, None, :, :]", "q + k")),
    Answer("02.2", "multiplies the projections instead of adding them", edit(
        ADDITIVE, "q[:, :, None, :] + k[:, None, :, :]", "q[:, :, None, :] * k[:, None, :, :]")),
    Answer("02.2", "multiplicative scores: a product of the projections", """
def additive_scores(query, key, w_q, w_k, v):
    return torch.tanh(query @ w_q) @ torch.tanh(key @ w_k).transpose(1, 2)
"""),
    Answer("02.2", "projects the keys with the matrix of the queries", edit(ADDITIVE, "key @ w_k", "key @ w_q")),
    Answer("02.2", "multiplies by v and forgets to sum", edit(ADDITIVE, ") @ v", ") * v")),
    Answer("02.2", "takes the mean over the features instead of the sum", edit(
        ADDITIVE, "torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v",
        "(torch.tanh(q[:, :, None, :] + k[:, None, :, :]) * v).mean(dim=-1)")),
    Answer("02.2", "ignores v and sums the hidden units", edit(ADDITIVE, ") @ v", ").sum(dim=-1)")),
    Answer("02.2", "adds a softmax, though scores were asked for", edit(
        ADDITIVE, "torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v",
        "torch.softmax(torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v, dim=-1)")),
    Answer("02.2", "divides by the root of d_attn", edit(ADDITIVE, ") @ v", ") @ v / len(v) ** 0.5")),
    Answer("02.2", "leaves a last axis of length 1", edit(ADDITIVE, ") @ v", ") @ v[:, None]")),
    Answer("02.2", "squeezes away every axis of length 1",
           edit(ADDITIVE, ") @ v", ") @ v[:, None]).squeeze()").replace("return torch", "return (torch")),
    Answer("02.2", "uses the keys of the first sentence for all", edit(ADDITIVE, "k[:, None, :, :]", "k[0]")),
    Answer("02.2", "repeats both the same way, so query j meets key j again and again", """
def additive_scores(query, key, w_q, w_k, v):
    batch, n, m = len(query), query.shape[1], key.shape[1]
    q = (query @ w_q).repeat(1, m, 1)                        # (batch, n * m, d_attn)
    k = (key @ w_k).repeat(1, n, 1)
    return (torch.tanh(q + k) @ v).view(batch, n, m)
"""),
    Answer("02.2", "works in numpy, and no gradient comes back", """
import numpy as np

def additive_scores(query, key, w_q, w_k, v):
    query, key, w_q, w_k, v = (a.detach().numpy() for a in (query, key, w_q, w_k, v))
    hidden = np.tanh((query @ w_q)[:, :, None] + (key @ w_k)[:, None])
    return torch.from_numpy(hidden @ v)
"""),

    # 02.3
    Answer("02.3", "softmax over the words of the sentence", ALIGN, right=True),
    Answer("02.3", "one sentence at a time", """
def align_step(state, annotations, w_s, w_h, v):
    contexts, shares = [], []
    for s, h in zip(state, annotations):
        e = torch.tanh(s @ w_s + h @ w_h) @ v                # (T,)
        alpha = e.softmax(dim=0)
        shares.append(alpha)
        contexts.append(alpha @ h)
    return torch.stack(contexts), torch.stack(shares)
""", right=True),
    Answer("02.3", "softmax over the last axis, einsum for the context", """
def align_step(state, annotations, w_s, w_h, v):
    asked = torch.einsum("bd,da->ba", state, w_s).unsqueeze(1)
    scores = torch.einsum("bta,a->bt", torch.tanh(asked + annotations @ w_h), v)
    weights = F.softmax(scores, dim=-1)
    return torch.einsum("bt,bth->bh", weights, annotations), weights
""", right=True),
    Answer("02.3", "in log-space, and the context by bmm", """
def align_step(state, annotations, w_s, w_h, v):
    scores = torch.tanh((state @ w_s)[:, None, :] + annotations @ w_h) @ v
    weights = torch.exp(scores - torch.logsumexp(scores, dim=1, keepdim=True))
    context = torch.bmm(weights.unsqueeze(1), annotations).squeeze(1)
    return context, weights
""", right=True),
    Answer("02.3", "left as it was: softmax over the batch", edit(ALIGN, "softmax(scores, dim=1)", "softmax(scores, dim=0)")),
    Answer("02.3", "names the batch axis from behind: -2 is the same as 0",
           edit(ALIGN, "softmax(scores, dim=1)", "softmax(scores, dim=-2)")),
    Answer("02.3", "still a softmax over the batch, its rows then brought to the sum 1", edit(
        ALIGN, "torch.softmax(scores, dim=1)", "torch.softmax(scores, dim=0)\n    weights = weights / weights.sum(dim=1, keepdim=True)")),
    Answer("02.3", "one softmax over all words of all sentences", edit(
        ALIGN, "torch.softmax(scores, dim=1)", "torch.softmax(scores.flatten(), dim=0).view_as(scores)")),
    Answer("02.3", "mends the softmax and sums the context over the batch",
           edit(ALIGN, "annotations).sum(dim=1)", "annotations).sum(dim=0)")),
    Answer("02.3", "mends the softmax and sums the context over the features",
           edit(ALIGN, "annotations).sum(dim=1)", "annotations).sum(dim=2)")),
    Answer("02.3", "takes the mean of the weighted annotations", edit(ALIGN, "annotations).sum(dim=1)", "annotations).mean(dim=1)")),
    Answer("02.3", "keeps the summed axis: the context is (batch, 1, d_h)", edit(
        ALIGN, "annotations).sum(dim=1)", "annotations).sum(dim=1, keepdim=True)")),
    Answer("02.3", "a sigmoid for each word: the weights do not compete",
           edit(ALIGN, "torch.softmax(scores, dim=1)", "torch.sigmoid(scores)")),
    Answer("02.3", "weights and context in the wrong order", edit(ALIGN, "return context, weights", "return weights, context")),
    Answer("02.3", "returns the context only", edit(ALIGN, "return context, weights", "return context")),
    Answer("02.3", "forgets the tanh while mending", edit(
        ALIGN, "torch.tanh((state @ w_s)[:, None, :] + annotations @ w_h)", "((state @ w_s)[:, None, :] + annotations @ w_h)")),
    Answer("02.3", "asks with the state of the first sentence for all",
           edit(ALIGN, "(state @ w_s)[:, None, :]", "(state @ w_s)[:1, None, :]")),
    Answer("02.3", "drops the new axis of the states, so sentences and words are added to each other", edit(
        ALIGN, "(state @ w_s)[:, None, :]", "(state @ w_s)")),
    Answer("02.3", "takes the best word alone", edit(
        ALIGN, "torch.softmax(scores, dim=1)", "F.one_hot(scores.argmax(dim=1), scores.shape[1]).to(scores.dtype)")),
    Answer("02.3", "log_softmax gives negative weights", edit(ALIGN, "torch.softmax(", "torch.log_softmax(")),
    Answer("02.3", "detaches the weights, so the scores learn nothing",
           edit(ALIGN, "torch.softmax(scores, dim=1)", "torch.softmax(scores.detach(), dim=1)")),
    Answer("02.3", "weighs the caller's annotations in place", edit(
        ALIGN, "(weights[:, :, None] * annotations).sum", "annotations.mul_(weights[:, :, None]).sum")),
    Answer("02.3", "right for a single sentence, the old softmax for a batch", edit(
        ALIGN, "dim=1)\n    context", "dim=1 if len(state) == 1 else 0)\n    context")),

    # 02.4
    Answer("02.4", "scores, mask, softmax, values", ATTENTION, right=True),
    Answer("02.4", "torch.where for the mask, exponentials by hand, the largest score subtracted", """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key, value, mask=None):
        asked, offered = self.w_q(query), self.w_k(key)
        scores = self.v(torch.tanh(asked.unsqueeze(2) + offered.unsqueeze(1)))[..., 0]
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
        best = scores.max(dim=2, keepdim=True).values
        kernel = torch.exp(scores - best)
        weights = kernel / kernel.sum(dim=2, keepdim=True)
        return torch.einsum("bnm,bmv->bnv", weights, value), weights
""", right=True),
    Answer("02.4", "a helper with the matrices transposed, one query at a time", """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.v = nn.Linear(d_attn, 1, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.w_q = nn.Linear(d_query, d_attn, bias=False)

    def scores(self, query, key):
        q, k = query @ self.w_q.weight.T, key @ self.w_k.weight.T
        rows = [torch.tanh(q[:, i:i + 1] + k) @ self.v.weight[0] for i in range(q.shape[1])]
        return torch.stack(rows, dim=1)

    def forward(self, query, key, value, mask=None):
        scores = self.scores(query, key)
        if mask is not None:
            forbidden = torch.logical_not(mask).expand_as(scores)
            scores = scores.clone()
            scores[forbidden] = -torch.inf
        weights = F.softmax(scores, dim=2)
        return torch.bmm(weights, value), weights
""", right=True),
    Answer("02.4", "a table of 0 and minus infinity, added", """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.w_q, self.w_k, self.v = linear(d_query, d_attn), linear(d_key, d_attn), linear(d_attn, 1)

    def forward(self, query, key, value, mask=None):
        pairs = self.w_q(query)[:, :, None, :] + self.w_k(key)[:, None, :, :]
        scores = torch.flatten(self.v(pairs.tanh()), start_dim=2)
        if mask is not None:
            wall = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask.logical_not(), -torch.inf)
            scores = scores + wall
        weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
        return torch.matmul(weights, value), weights
""", right=True),
    Answer("02.4", "mask turned round", edit(ATTENTION, "~mask", "mask")),
    Answer("02.4", "ignores the mask", edit(
        ATTENTION, '        if mask is not None:\n            scores = scores.masked_fill(~mask, float("-inf"))\n', "")),
    Answer("02.4", "mask=None is forgotten", edit(
        ATTENTION, '        if mask is not None:\n            scores =', "        scores =")),
    Answer("02.4", "sets forbidden scores to 0, whose exponential is 1", edit(ATTENTION, 'float("-inf")', "0.0")),
    Answer("02.4", "fills -100, which large scores can undercut", edit(ATTENTION, 'float("-inf")', "-100.0")),
    Answer("02.4", "fills -10,000, which large scores can undercut", edit(ATTENTION, 'float("-inf")', "-1e4")),
    Answer("02.4", "subtracts 10,000 from forbidden scores, which does not help against larger ones", edit(
        ATTENTION, 'scores.masked_fill(~mask, float("-inf"))', "scores - 1e4 * (~mask)")),
    Answer("02.4", "multiplies 0 by infinity, which is nan", edit(
        ATTENTION, 'scores.masked_fill(~mask, float("-inf"))', 'scores + (~mask).float() * float("-inf")')),
    Answer("02.4", "masks after the softmax, so the other weights do not sum to 1", """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key, value, mask=None):
        hidden = torch.tanh(self.w_q(query)[:, :, None] + self.w_k(key)[:, None])
        weights = torch.softmax(self.v(hidden).squeeze(-1), dim=-1)
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights
"""),
    Answer("02.4", "masks after the softmax and divides again: 0 by 0 where a forbidden score was very large", """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key, value, mask=None):
        hidden = torch.tanh(self.w_q(query)[:, :, None] + self.w_k(key)[:, None])
        weights = torch.softmax(self.v(hidden).squeeze(-1), dim=-1)
        if mask is not None:
            weights = weights * mask
            weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights @ value, weights
"""),
    Answer("02.4", "takes for granted that a mask has the shape (batch, m)", edit(ATTENTION, "~mask,", "~mask[:, None, :],")),
    Answer("02.4", "uses only the mask's first row, for all queries", edit(ATTENTION, "~mask,", "~mask[..., :1, :],")),
    Answer("02.4", "softmax over the queries", edit(ATTENTION, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=1)")),
    Answer("02.4", "squeezes away every axis of length 1", edit(ATTENTION, ".squeeze(-1)", ".squeeze()")),
    Answer("02.4", "mixes the keys instead of the values", edit(ATTENTION, "weights @ value, weights", "weights @ key, weights")),
    Answer("02.4", "gives the projections a bias", edit(edit(
        ATTENTION, "(d_query, d_attn, bias=False)", "(d_query, d_attn)"), "(d_key, d_attn, bias=False)", "(d_key, d_attn)")),
    Answer("02.4", "gives v a bias", edit(ATTENTION, "(d_attn, 1, bias=False)", "(d_attn, 1)")),
    Answer("02.4", "v is a bare parameter, not a linear layer", edit(edit(
        ATTENTION, "nn.Linear(d_attn, 1, bias=False)", "nn.Parameter(torch.randn(d_attn))"),
        "self.v(hidden).squeeze(-1)", "hidden @ self.v")),
    Answer("02.4", "forgets the tanh", edit(ATTENTION, "torch.tanh(", "(")),
    Answer("02.4", "returns the output only", edit(ATTENTION, "weights @ value, weights", "weights @ value")),
    Answer("02.4", "returns the weights first", edit(ATTENTION, "weights @ value, weights", "weights, weights @ value")),
    Answer("02.4", "returns the scores instead of the weights", edit(ATTENTION, "weights @ value, weights", "weights @ value, scores")),
    Answer("02.4", "turns the caller's mask round in place", edit(ATTENTION, "~mask,", "mask.logical_not_(),")),
    Answer("02.4", "divides the scores by the root of d_attn", edit(
        ATTENTION, "self.v(hidden).squeeze(-1)", "self.v(hidden).squeeze(-1) / hidden.shape[-1] ** 0.5")),
    Answer("02.4", "remembers the mask and uses it when none is given", edit(edit(
        ATTENTION, "        if mask is not None:", '        mask = getattr(self, "mask", None) if mask is None else mask\n'
        '        if mask is not None:'),
        "        weights =", "        self.mask = mask\n        weights =")),
    Answer("02.4", "only for queries and keys of the same width: w_q is used for both", edit(ATTENTION, "self.w_k(key)", "self.w_q(key)")),

    # 02.5
    Answer("02.5", "a gap for each tap after the first", FIELD, right=True),
    Answer("02.5", "one sum", """
def receptive_field(kernels, dilations):
    layers, gaps = len(kernels), len(dilations)
    if layers != gaps:
        raise ValueError(f"each layer needs a kernel and a dilation: got {layers} and {gaps}")
    return 1 + sum(d * (k - 1) for k, d in zip(kernels, dilations))
""", right=True),
    Answer("02.5", "recursion from the top layer downwards", """
def receptive_field(kernels, dilations):
    a, b = len(kernels), len(dilations)
    if a != b:
        raise ValueError("lists of length " + str(a) + " and " + str(b))
    if a == 0:
        return 1
    return receptive_field(kernels[:-1], dilations[:-1]) + kernels[-1] * dilations[-1] - dilations[-1]
""", right=True),
    Answer("02.5", "keeps the first and the last input that is seen", """
def receptive_field(kernels, dilations):
    if len(dilations) != len(kernels):
        raise ValueError("lengths differ: %d, %d" % (len(kernels), len(dilations)))
    first = last = 0
    for layer in reversed(range(len(kernels))):
        first = first - (kernels[layer] - 1) * dilations[layer]
    return last - first + 1
""", right=True),
    Answer("02.5", "counts taps, not the gaps between them", edit(FIELD, "(k - 1) * d", "k * d")),
    Answer("02.5", "ignores the dilations", edit(FIELD, "(k - 1) * d", "k - 1")),
    Answer("02.5", "begins with 0 positions", edit(FIELD, "width = 1", "width = 0")),
    Answer("02.5", "multiplies the kernels", edit(FIELD, "width += (k - 1) * d", "width *= (k - 1) * d + 1")),
    Answer("02.5", "treats every kernel as odd: half of it on each side", edit(FIELD, "(k - 1) * d", "2 * (k // 2) * d")),
    Answer("02.5", "subtracts 1 after the dilation instead of before", edit(FIELD, "(k - 1) * d", "k * d - 1")),
    Answer("02.5", "the missing inputs between the taps instead of the stretch", edit(FIELD, "(k - 1) * d", "(k - 1) * (d - 1)")),
    Answer("02.5", "multiplies the dilations up, as if they were strides", edit(
        edit(FIELD, "    width = 1", "    width, step = 1, 1"), "        width += (k - 1) * d",
        "        step *= d\n        width += (k - 1) * step")),
    Answer("02.5", "hard-codes kernel 3", edit(FIELD, "(k - 1) * d", "2 * d")),
    Answer("02.5", "counts only the last layer", edit(FIELD, "width += (k - 1) * d", "width = 1 + (k - 1) * d")),
    Answer("02.5", "does not compare the lengths: zip cuts the longer list", edit(
        FIELD, """    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
""", "")),
    Answer("02.5", "refuses only when there are more kernels than dilations",
           edit(FIELD, "len(kernels) != len(dilations)", "len(kernels) > len(dilations)")),
    Answer("02.5", "gives no numbers in the message", edit(
        FIELD, 'f"{len(kernels)} kernels, but {len(dilations)} dilations"', '"the lists differ in length"')),
    Answer("02.5", "gives only one of the two numbers in the message", edit(
        FIELD, 'f"{len(kernels)} kernels, but {len(dilations)} dilations"', 'f"expected {len(kernels)} dilations"')),
    Answer("02.5", "an assertion instead of a ValueError", edit(
        FIELD, """    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
""", '    assert len(kernels) == len(dilations), f"{len(kernels)} kernels, but {len(dilations)} dilations"\n')),
    Answer("02.5", "returns a float", edit(FIELD, "return width", "return float(width)")),
    Answer("02.5", "counts the inputs that are hit, not the stretch they span", """
def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
    seen = {0}
    for k, d in zip(kernels, dilations):
        seen = {place + tap * d for place in seen for tap in range(k)}
    return len(seen)
"""),
    Answer("02.5", "starts from the first layer, so no layer at all is an error", """
def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
    width = 1 + (kernels[0] - 1) * dilations[0]
    for k, d in zip(kernels[1:], dilations[1:]):
        width += (k - 1) * d
    return width
"""),
    Answer("02.5", "empties the caller's lists", """
def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels, but {len(dilations)} dilations")
    width = 1
    while kernels:
        width += (kernels.pop() - 1) * dilations.pop()
    return width
"""),

    # 02.6
    Answer("02.6", "the six words", GROWTH, right=True),
    Answer("02.6", "built from keys and words", """
words = "n", "n", "n", "log n", "constant", "n squared"
keys = (
    "recurrent layer: steps that wait for each other",
    "recurrent layer: path, first to last",
    "convolutions, kernel 3: path, first to last",
    "dilations 1, 3, 9, …: path, first to last",
    "self-attention: path, first to last",
    "self-attention: scores to compute",
)
prediction = dict(zip(keys, words))
""", right=True),
    Answer("02.6", "filled in group by group", """
prediction = dict.fromkeys([
    "recurrent layer: steps that wait for each other",
    "recurrent layer: path, first to last",
    "convolutions, kernel 3: path, first to last",
], "n")
prediction["dilations 1, 3, 9, …: path, first to last"] = "log n"
prediction |= {"self-attention: scores to compute": "n squared", "self-attention: path, first to last": "constant"}
""", right=True),
    Answer("02.6", "thinks that a recurrent layer does all steps at once", edit(GROWTH, 'each other": "n"', 'each other": "constant"')),
    Answer("02.6", "thinks that each recurrent step waits for each other one: n squared", edit(
        GROWTH, 'each other": "n"', 'each other": "n squared"')),
    Answer("02.6", "thinks that gates give the recurrent layer a short path", edit(
        GROWTH, 'recurrent layer: path, first to last": "n"', 'recurrent layer: path, first to last": "constant"')),
    Answer("02.6", "thinks that stacked convolutions grow their reach exponentially even without dilation", edit(
        GROWTH, 'kernel 3: path, first to last": "n"', 'kernel 3: path, first to last": "log n"')),
    Answer("02.6", "takes one convolution to see everything", edit(
        GROWTH, 'kernel 3: path, first to last": "n"', 'kernel 3: path, first to last": "constant"')),
    Answer("02.6", "thinks that dilations change nothing in the growth", edit(GROWTH, '"log n"', '"n"')),
    Answer("02.6", "thinks that with dilations the path no longer grows", edit(GROWTH, '"log n"', '"constant"')),
    Answer("02.6", "takes the work of self-attention for its path", edit(GROWTH, '"constant"', '"n squared"')),
    Answer("02.6", "thinks that a message in self-attention still passes every token", edit(GROWTH, '"constant"', '"n"')),
    Answer("02.6", "believes that attention makes the number of operations constant", edit(GROWTH, '"n squared"', '"constant"')),
    Answer("02.6", "counts one score for each token", edit(GROWTH, '"n squared"', '"n"')),
    Answer("02.6", "exchanges path and work of self-attention", """
prediction = {
    "recurrent layer: steps that wait for each other": "n",
    "recurrent layer: path, first to last": "n",
    "convolutions, kernel 3: path, first to last": "n",
    "dilations 1, 3, 9, …: path, first to last": "log n",
    "self-attention: path, first to last": "n squared",
    "self-attention: scores to compute": "constant",
}
"""),
    Answer("02.6", "leaves the last entry empty", edit(GROWTH, '"n squared"', "None")),
)
