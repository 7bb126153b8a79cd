"""Chapter 03: answers written from the blank notebook."""

from . import Answer, edit

# ---------------------------------------------------------------- 03.1

SCORES = """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has width {query.shape[-1]}, key has width {key.shape[-1]}")
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
"""

# ---------------------------------------------------------------- 03.2

ATTEND = """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query width {query.shape[-1]}, key width {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask & ~empty, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(empty, 0.0)
    return weights @ value, weights
"""

MASK_STEP = """        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask & ~empty, -torch.inf)
"""
ZERO_STEP = """    if mask is not None:
        weights = weights.masked_fill(empty, 0.0)
"""

# ---------------------------------------------------------------- 03.3

SPREAD = """
prediction_of_spread = {
    "variance of q·k": 64,
    "std of q·k": 8,
    "std of q·k / sqrt(d_k)": 1,
    "std of q·k / d_k": 0.125,
}
"""

# ---------------------------------------------------------------- 03.4

JACOBIAN = """
def softmax_jacobian(p):
    return torch.diag(p) - torch.outer(p, p)
"""

# ---------------------------------------------------------------- 03.5

REPAIRED = """
def self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    return torch.softmax(query @ key.T / math.sqrt(w_q.shape[1]), dim=-1) @ value
"""
LAST = "    return torch.softmax(query @ key.T / math.sqrt(w_q.shape[1]), dim=-1) @ value\n"

# ---------------------------------------------------------------- 03.6

LAYER = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        if mask is not None:
            empty = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(~mask & ~empty, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
        return weights @ value
"""

# ---------------------------------------------------------------- 03.7

ORDER = """
prediction_of_order = {
    "self-attention": "shuffled along",
    "mean of its outputs": "unchanged",
    "fixed query, pairs shuffled": "unchanged",
    "fixed query, only keys shuffled": "changed",
    "causal self-attention": "changed",
}
"""

BANK = (
    # ------------------------------------------------------------ 03.1
    Answer("03.1", "the plain formula", SCORES, right=True),
    Answer("03.1", "einsum, with the widths compared first", """
def attention_scores(query, key):
    d_q, d_k = query.size(-1), key.size(-1)
    if d_q != d_k:
        raise ValueError("cannot compare vectors of width %d with vectors of width %d" % (d_q, d_k))
    return torch.einsum("...nd,...md->...nm", query, key) * d_k ** -0.5
""", right=True),
    Answer("03.1", "all pairs by broadcasting, then a sum over the width", """
def attention_scores(query, key):
    width = key.shape[-1]
    if width == query.shape[-1]:
        every_pair = query[..., :, None, :] * key[..., None, :, :]
        return every_pair.sum(dim=-1).div(width ** 0.5)
    raise ValueError(f"widths differ: {query.shape[-1]} != {width}")
""", right=True),
    Answer("03.1", "one column of the result for each key, both sides scaled by the fourth root", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_q = {query.shape[-1]} and d_k = {key.shape[-1]} must be equal")
    root = query.shape[-1] ** 0.25
    q, k = query / root, key / root
    columns = [(q * k[..., j:j + 1, :]).sum(-1) for j in range(k.shape[-2])]
    return torch.stack(columns, dim=-1)
""", right=True),
    Answer("03.1", "You divide by d_k, not by its square root.", edit(SCORES, "math.sqrt(query.shape[-1])", "query.shape[-1]")),
    Answer("03.1", "You forgot to scale the products.", edit(SCORES, " / math.sqrt(query.shape[-1])", "")),
    Answer("03.1", "The scale is made from the number of tokens, not from the width.",
           edit(SCORES, "math.sqrt(query.shape[-1])", "math.sqrt(query.shape[-2])")),
    Answer("03.1", "The result stands on its side: a row for each key instead of a row for each query.",
           edit(SCORES, "query @ key.transpose(-2, -1)", "key @ query.transpose(-2, -1)")),
    Answer("03.1", "Axes 0 and 1 of the keys are swapped, which is right only for input without a batch.",
           edit(SCORES, "key.transpose(-2, -1)", "key.transpose(0, 1)")),
    Answer("03.1", "Axes 1 and 2 are swapped, which is right only for exactly one batch axis.",
           edit(SCORES, "key.transpose(-2, -1)", "key.transpose(1, 2)")),
    Answer("03.1", "The widths are not compared, so the error is PyTorch's RuntimeError.", """
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
"""),
    Answer("03.1", "einsum stretches an axis of length 1, so a width of 1 against a wider one goes through.", """
def attention_scores(query, key):
    try:
        products = torch.einsum("...nd,...md->...nm", query, key)
    except RuntimeError:
        raise ValueError(f"query has width {query.shape[-1]}, key has width {key.shape[-1]}")
    return products / math.sqrt(query.shape[-1])
"""),
    Answer("03.1", "Width 1 is let through as if it could be stretched.", """
def attention_scores(query, key):
    d_q, d_k = query.shape[-1], key.shape[-1]
    if d_q != d_k and d_q != 1 and d_k != 1:
        raise ValueError(f"widths {d_q} and {d_k} do not fit")
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / math.sqrt(max(d_q, d_k))
"""),
    Answer("03.1", "The message of the ValueError does not say the two numbers.",
           edit(SCORES, 'f"query has width {query.shape[-1]}, key has width {key.shape[-1]}"', '"widths do not match"')),
    Answer("03.1", "The message names only one of the two numbers.",
           edit(SCORES, ', key has width {key.shape[-1]}"', ', which does not fit the key"')),
    Answer("03.1", "An assert raises AssertionError, not ValueError.", """
def attention_scores(query, key):
    assert query.shape[-1] == key.shape[-1], f"{query.shape[-1]} and {key.shape[-1]}"
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
"""),
    Answer("03.1", "Whole shapes are compared, so fewer queries than keys are refused.",
           edit(SCORES, "if query.shape[-1] != key.shape[-1]:", "if query.shape != key.shape:")),
    Answer("03.1", "You return weights: the softmax does not belong to the scores.", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has width {query.shape[-1]}, key has width {key.shape[-1]}")
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
"""),
    Answer("03.1", "Query i meets only key i: this multiplies entry by entry.", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"{query.shape[-1]} != {key.shape[-1]}")
    return (query * key).sum(-1, keepdim=True) / math.sqrt(query.shape[-1])
"""),
    Answer("03.1", "The queries of the caller are divided in place.", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"{query.shape[-1]} != {key.shape[-1]}")
    query /= math.sqrt(query.shape[-1])
    return query @ key.transpose(-2, -1)
"""),
    Answer("03.1", "The result is printed, not returned.", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"{query.shape[-1]} != {key.shape[-1]}")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    print(scores)
"""),

    # ------------------------------------------------------------ 03.2
    Answer("03.2", "empty rows kept out of the softmax", ATTEND, right=True),
    Answer("03.2", "a softmax by hand: largest score subtracted, an empty sum replaced by 1", """
def scaled_dot_product_attention(query, key, value, mask=None):
    d_q, d_k, m, count = query.shape[-1], key.shape[-1], key.shape[-2], value.shape[-2]
    if d_q != d_k:
        raise ValueError(f"widths {d_q} (query) and {d_k} (key)")
    if m != count:
        raise ValueError(f"there are {m} keys and {count} values")
    scores = torch.einsum("...nd,...md->...nm", query, key) / d_k ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    top = scores.detach().amax(-1, keepdim=True)
    top = top.masked_fill(top == float("-inf"), 0.0)
    powers = torch.exp(scores - top)
    total = powers.sum(-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return torch.einsum("...nm,...mv->...nv", weights, value), weights
""", right=True),
    Answer("03.2", "a loop over the queries", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)} do not fit")
    n, m = query.shape[-2], key.shape[-2]
    rows = []
    for i in range(n):
        s = (query[..., i:i + 1, :] * key).sum(-1) / math.sqrt(key.shape[-1])    # (..., m)
        if mask is None:
            rows.append(F.softmax(s, dim=-1))
            continue
        may = torch.broadcast_to(mask, (*s.shape[:-1], n, m))[..., i, :]
        some = may.any(-1, keepdim=True)
        row = F.softmax(s.masked_fill(~may & some, -math.inf), dim=-1)
        rows.append(torch.where(some, row, torch.zeros_like(row)))
    weights = torch.stack(rows, dim=-2)
    return weights @ value, weights
""", right=True),
    Answer("03.2", "log-space: log_softmax and exp, with an empty row replaced by zeros before", """
def scaled_dot_product_attention(query, key, value, mask=None):
    def same(a, b, what):
        if a != b:
            raise ValueError(f"{what}: {a} is not {b}")
    same(query.size(-1), key.size(-1), "width of query and key")
    same(key.size(-2), value.size(-2), "number of keys and values")
    scores = torch.matmul(query, key.mT) * key.size(-1) ** -0.5
    if mask is None:
        mask = torch.ones(1, scores.size(-1), dtype=torch.bool, device=scores.device)
    scores = scores.masked_fill(~mask, -torch.inf)
    scores = scores.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    weights = torch.log_softmax(scores, dim=-1).exp() * mask
    return weights @ value, weights
""", right=True),
    Answer("03.2", "The mask is turned round: True is hidden.", edit(ATTEND, MASK_STEP, """        empty = mask.all(dim=-1, keepdim=True)
        scores = scores.masked_fill(mask & ~empty, -torch.inf)
""")),
    Answer("03.2", "An empty row comes out as NaN: minus infinity everywhere.",
           edit(edit(ATTEND, MASK_STEP, "        scores = scores.masked_fill(~mask, -torch.inf)\n"), ZERO_STEP, "")),
    Answer("03.2", "Minus infinity is added and NaN repaired afterwards: the gradients of an empty row are NaN.",
           edit(edit(ATTEND, MASK_STEP, "        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)\n"),
                "weights.masked_fill(empty, 0.0)", "torch.nan_to_num(weights, nan=0.0)")),
    Answer("03.2", "A fill of -1e9 loses against permitted scores that are lower still.",
           edit(ATTEND, "scores.masked_fill(~mask & ~empty, -torch.inf)", "scores.masked_fill(~mask, -1e9)")),
    Answer("03.2", "With a fill of -1e9 and nothing else an empty row shares its weight out evenly.",
           edit(edit(ATTEND, MASK_STEP, "        scores = scores.masked_fill(~mask, -1e9)\n"), ZERO_STEP, "")),
    Answer("03.2", "Forbidden scores are set to 0, and exp(0) is 1.",
           edit(ATTEND, "~mask & ~empty, -torch.inf)", "~mask, 0.0)")),
    Answer("03.2", "The mask is applied after the softmax, so the permitted weights do not sum to 1.", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value, weights
"""),
    Answer("03.2", "Masked after the softmax and divided again: one huge forbidden score leaves 0 for the permitted keys.", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-12)
    return weights @ value, weights
"""),
    Answer("03.2", "The softmax runs over the queries.", edit(ATTEND, "softmax(scores, dim=-1)", "softmax(scores, dim=-2)")),
    Answer("03.2", "You return the output without the weights.",
           edit(ATTEND, "return weights @ value, weights", "return weights @ value")),
    Answer("03.2", "The two results come in the wrong order.",
           edit(ATTEND, "return weights @ value, weights", "return weights, weights @ value")),
    Answer("03.2", "The scores are not scaled.", edit(ATTEND, " / math.sqrt(query.shape[-1])", "")),
    Answer("03.2", "The scale is taken from the width of the values.",
           edit(ATTEND, "math.sqrt(query.shape[-1])", "math.sqrt(value.shape[-1])")),
    Answer("03.2", "The scale 2 is that of the example of width 4.", edit(ATTEND, "math.sqrt(query.shape[-1])", "2.0")),
    Answer("03.2", "The numbers of keys and values are not compared, so the error is PyTorch's.", edit(ATTEND,
           """    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values")
""", "")),
    Answer("03.2", "The widths of query and key are not compared, so the error is PyTorch's.", edit(ATTEND,
           """    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query width {query.shape[-1]}, key width {key.shape[-1]}")
""", "")),
    Answer("03.2", "The widths of key and value are compared too, but they may differ.", edit(ATTEND,
           "if key.shape[-2] != value.shape[-2]:", "if key.shape != value.shape:")),
    Answer("03.2", "Without a mask it breaks: None has no method any.", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & ~empty, -torch.inf), dim=-1).masked_fill(empty, 0.0)
    return weights @ value, weights
"""),
    Answer("03.2", "Empty rows are kept out of the softmax, but their weights are not set to 0 afterwards.",
           edit(ATTEND, ZERO_STEP, "")),
    Answer("03.2", "The output of an empty row is 0, but its weights are not.",
           edit(edit(ATTEND, ZERO_STEP, ""), "    return weights @ value, weights", """    output = weights @ value
    if mask is not None:
        output = output.masked_fill(empty, 0.0)
    return output, weights""")),
    Answer("03.2", "Only a mask that forbids everything is caught; a single empty row among others stays NaN.", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        if not mask.any():
            weights = torch.zeros_like(scores)
            return weights @ value, weights
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
"""),
    Answer("03.2", "Emptiness is looked for along the queries instead of along the keys.",
           edit(ATTEND, "mask.any(dim=-1, keepdim=True)", "mask.any(dim=-2, keepdim=True)")),
    Answer("03.2", "The scores are detached, so queries and keys never get a gradient.",
           edit(ATTEND, "softmax(scores, dim=-1)", "softmax(scores.detach(), dim=-1)")),
    Answer("03.2", "The keys are mixed, not the values.",
           edit(ATTEND, "return weights @ value, weights", "return weights @ key, weights")),
    Answer("03.2", "The mask is accepted and then ignored.", """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    return weights @ value, weights
"""),

    # ------------------------------------------------------------ 03.3
    Answer("03.3", "the four numbers", SPREAD, right=True),
    Answer("03.3", "expressions of d_k", """
d_k = 64
prediction_of_spread = {
    "variance of q·k": d_k * 1.0,
    "std of q·k": math.sqrt(d_k),
    "std of q·k / sqrt(d_k)": math.sqrt(d_k) / math.sqrt(d_k),
    "std of q·k / d_k": 1 / math.sqrt(d_k),
}
""", right=True),
    Answer("03.3", "fractions", """
from fractions import Fraction

names = ("variance of q·k", "std of q·k", "std of q·k / sqrt(d_k)", "std of q·k / d_k")
prediction_of_spread = dict(zip(names, (Fraction(64), Fraction(8), Fraction(8, 8), Fraction(8, 64))))
""", right=True),
    Answer("03.3", "Variance and standard deviation are exchanged.",
           edit(edit(SPREAD, ": 64,", ": 8,"), '"std of q·k": 8', '"std of q·k": 64')),
    Answer("03.3", "The variance of the sum is taken to be the variance of one term.",
           edit(edit(SPREAD, ": 64,", ": 1,"), '"std of q·k": 8', '"std of q·k": 1')),
    Answer("03.3", "Standard deviations are added, so 64 terms of std 1 give std 64 and variance 64².",
           edit(edit(SPREAD, ": 64,", ": 4096,"), '"std of q·k": 8', '"std of q·k": 64')),
    Answer("03.3", "The two variances of each term were added, not multiplied.", edit(SPREAD, ": 64,", ": 128,")),
    Answer("03.3", "Dividing by √64 is taken to divide by 64.", edit(SPREAD, "sqrt(d_k)\": 1,", "sqrt(d_k)\": 0.125,")),
    Answer("03.3", "Divided by d_k the std is taken to be 1; that is what the root does.", edit(SPREAD, "0.125", "1")),
    Answer("03.3", "The std of the products of size 1 was divided by 64: the 8 is forgotten.", edit(SPREAD, "0.125", "1 / 64")),
    Answer("03.3", "The root of the variance was taken twice.", edit(SPREAD, '"std of q·k": 8', '"std of q·k": math.sqrt(8)')),
    Answer("03.3", "After dividing by the root the answer given is a variance of 64 / 8.",
           edit(SPREAD, "sqrt(d_k)\": 1,", "sqrt(d_k)\": 8,")),
    Answer("03.3", "A mean of 0 is taken for a variance of 0.",
           edit(edit(SPREAD, ": 64,", ": 0,"), '"std of q·k": 8', '"std of q·k": 0')),
    Answer("03.3", "The last two numbers are not filled in.", edit(edit(SPREAD, "0.125", "None"), "sqrt(d_k)\": 1,", "sqrt(d_k)\": None,")),

    # ------------------------------------------------------------ 03.4
    Answer("03.4", "diagonal minus outer product", JACOBIAN, right=True),
    Answer("03.4", "p_i (δ_ij − p_j) by broadcasting", """
def softmax_jacobian(p):
    same = torch.eye(len(p), dtype=p.dtype, device=p.device)
    return p[:, None] * (same - p[None, :])
""", right=True),
    Answer("03.4", "two loops and two cases", """
def softmax_jacobian(p):
    n = p.shape[0]
    jacobian = p.new_zeros(n, n)
    for i in range(n):
        for j in range(n):
            jacobian[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return jacobian
""", right=True),
    Answer("03.4", "scores are recovered by a logarithm and each weight is differentiated by autograd", """
def softmax_jacobian(p):
    with torch.enable_grad():
        scores = p.detach().log().requires_grad_()
        weights = torch.softmax(scores, dim=0)
        rows = [torch.autograd.grad(w, scores, retain_graph=True)[0] for w in weights]
    return torch.stack(rows)
""", right=True),
    Answer("03.4", "The sign is the wrong way round.",
           edit(JACOBIAN, "torch.diag(p) - torch.outer(p, p)", "torch.outer(p, p) - torch.diag(p)")),
    Answer("03.4", "Only the diagonal is there: each weight also depends on the other scores.",
           edit(JACOBIAN, "torch.diag(p) - torch.outer(p, p)", "torch.diag(p * (1 - p))")),
    Answer("03.4", "The diagonal lacks its part p_i: it is −p_i² everywhere.",
           edit(JACOBIAN, "torch.diag(p) - torch.outer(p, p)", "-torch.outer(p, p)")),
    Answer("03.4", "The entries off the diagonal have the wrong sign.", """
def softmax_jacobian(p):
    n = len(p)
    jacobian = torch.outer(p, p)
    for i in range(n):
        jacobian[i, i] = p[i] - p[i] ** 2
    return jacobian
"""),
    Answer("03.4", "p * p multiplies entry by entry: column j gets p_j² where p_i p_j belongs.",
           edit(JACOBIAN, "torch.outer(p, p)", "p * p")),
    Answer("03.4", "p @ p is one number, the sum of the squares, not the matrix of products.",
           edit(JACOBIAN, "torch.outer(p, p)", "p @ p")),
    Answer("03.4", "The identity stands where the diagonal matrix of p belongs.", edit(JACOBIAN, "torch.diag(p)", "torch.eye(len(p))")),
    Answer("03.4", "On the diagonal p_i was kept and p_i² forgotten.", """
def softmax_jacobian(p):
    jacobian = -torch.outer(p, p)
    jacobian.fill_diagonal_(0.0)
    return jacobian + torch.diag(p)
"""),
    Answer("03.4", "p holds weights already; a second softmax makes other weights of them.", """
def softmax_jacobian(p):
    p = torch.softmax(p, dim=0)
    return torch.diag(p) - torch.outer(p, p)
"""),
    Answer("03.4", "You return the diagonal as a vector, not the matrix.",
           edit(JACOBIAN, "torch.diag(p) - torch.outer(p, p)", "p * (1 - p)")),
    Answer("03.4", "The size 4 of the example is built in.",
           edit(JACOBIAN, "torch.diag(p) - torch.outer(p, p)", "p[:, None] * (torch.eye(4) - p)")),
    Answer("03.4", "A slip in the quotient rule: off the diagonal the factor p_i is missing.", """
def softmax_jacobian(p):
    n = len(p)
    jacobian = torch.zeros(n, n, dtype=p.dtype)
    for i in range(n):
        for j in range(n):
            jacobian[i, j] = p[i] * (1 - p[i]) if i == j else -p[j]
    return jacobian
"""),
    Answer("03.4", "torch.autograd.functional.jacobian is out of bounds here.", """
def softmax_jacobian(p):
    return torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=0), p.log())
"""),
    Answer("03.4", "The function is not finished: it returns nothing.", """
def softmax_jacobian(p):
    on_diagonal = p - p ** 2
    off_diagonal = -p[:, None] * p[None, :]
"""),

    # ------------------------------------------------------------ 03.5
    Answer("03.5", "the bracket moved", REPAIRED, right=True),
    Answer("03.5", "in steps, with einsum", """
def self_attention(x, w_q, w_k, w_v):
    q, k, v = (x @ w for w in (w_q, w_k, w_v))
    scores = torch.einsum("id,jd->ij", q, k) * w_k.shape[1] ** -0.5
    weights = F.softmax(scores, dim=1)
    return torch.einsum("ij,jv->iv", weights, v)
""", right=True),
    Answer("03.5", "the function of the course, its output only", """
def self_attention(x, w_q, w_k, w_v):
    output, _ = reference.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)
    return output
""", right=True),
    Answer("03.5", "a loop over tokens, the largest score of each row subtracted by hand", """
def self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    rows = []
    for q in query:
        s = key @ q / math.sqrt(len(q))
        e = torch.exp(s - s.max())
        rows.append((e[:, None] * value).sum(0) / e.sum())
    return torch.stack(rows)
""", right=True),
    Answer("03.5", "Nothing is repaired: the values still stand inside the softmax.", """
def self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    return torch.softmax((query @ key.T / math.sqrt(w_q.shape[1])) @ value, dim=-1)
"""),
    Answer("03.5", "The values still stand inside the softmax; only its axis has changed.",
           edit(REPAIRED, "math.sqrt(w_q.shape[1]), dim=-1) @ value", "math.sqrt(w_q.shape[1]) @ value, dim=0)")),
    Answer("03.5", "The softmax runs over the queries.", edit(REPAIRED, "dim=-1", "dim=0")),
    Answer("03.5", "Now the scale stands outside the softmax.",
           edit(REPAIRED, "query @ key.T / math.sqrt(w_q.shape[1]), dim=-1)", "query @ key.T, dim=-1) / math.sqrt(w_q.shape[1])")),
    Answer("03.5", "The scale was lost in the repair.", edit(REPAIRED, " / math.sqrt(w_q.shape[1])", "")),
    Answer("03.5", "The scale is the root of d_model, not of d_k.", edit(REPAIRED, "w_q.shape[1]", "w_q.shape[0]")),
    Answer("03.5", "The scale is the root of d_v, not of d_k.", edit(REPAIRED, "w_q.shape[1]", "w_v.shape[1]")),
    Answer("03.5", "exp without subtracting the largest score overflows for large scores.", edit(REPAIRED, LAST, """
    e = torch.exp(query @ key.T / math.sqrt(w_q.shape[1]))
    return e / e.sum(dim=-1, keepdim=True) @ value
""")),
    Answer("03.5", "The largest of all scores is subtracted, not that of each row: rows far below it become 0/0.", edit(REPAIRED, LAST, """
    scores = query @ key.T / math.sqrt(w_q.shape[1])
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True) @ value
""")),
    Answer("03.5", "Clamping large scores changes the weights.", edit(REPAIRED, LAST, """
    scores = (query @ key.T / math.sqrt(w_q.shape[1])).clamp(-10, 10)
    return torch.softmax(scores, dim=-1) @ value
""")),
    Answer("03.5", "You return the weights; the values are not used.", edit(REPAIRED, "dim=-1) @ value", "dim=-1)")),
    Answer("03.5", "Weights come with the output, where the output alone is asked for.", edit(REPAIRED, LAST, """
    weights = torch.softmax(query @ key.T / math.sqrt(w_q.shape[1]), dim=-1)
    return weights @ value, weights
""")),
    Answer("03.5", "The weights are transposed before they meet the values.", edit(REPAIRED, "dim=-1) @ value", "dim=-1).T @ value")),
    Answer("03.5", "Queries and keys have changed places, so every pair is read backwards.",
           edit(REPAIRED, "query @ key.T", "key @ query.T")),
    Answer("03.5", "PyTorch's fused function is out of bounds in this exercise.", edit(REPAIRED, LAST, """
    return F.scaled_dot_product_attention(query[None], key[None], value[None])[0]
""")),
    Answer("03.5", "Without the softmax nothing is an average any more.",
           edit(REPAIRED, "torch.softmax(query @ key.T / math.sqrt(w_q.shape[1]), dim=-1) @ value",
                "query @ key.T / math.sqrt(w_q.shape[1]) @ value")),

    # ------------------------------------------------------------ 03.6
    Answer("03.6", "three layers and the formula", LAYER, right=True),
    Answer("03.6", "PyTorch's fused function, empty rows opened for it and zeroed afterwards", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        for name, width in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
            setattr(self, name, nn.Linear(d_model, width, bias=False))

    def forward(self, x, mask=None):
        q, k, v = (layer(x) for layer in (self.w_q, self.w_k, self.w_v))
        if mask is None:
            return F.scaled_dot_product_attention(q, k, v)
        batch, n, _ = x.shape
        mask = mask.expand(batch, n, n)
        nobody = ~mask.any(-1, keepdim=True)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask | nobody).masked_fill(nobody, 0.0)
""", right=True),
    Answer("03.6", "the function of the course, first of its two results", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        nn.Module.__init__(self)
        self.w_v = nn.Linear(d_model, d_v, False)
        self.w_k = nn.Linear(d_model, d_k, False)
        self.w_q = nn.Linear(d_model, d_k, False)

    def forward(self, x, mask=None):
        output, weights = reference.scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)
        return output
""", right=True),
    Answer("03.6", "einsum, helper method, softmax by hand", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q, self.w_k = (nn.Linear(d_model, d_k, bias=False) for _ in range(2))
        self.w_v = nn.Linear(d_model, d_v, bias=False)
        self.scale = d_k ** -0.5

    def weigh(self, x, mask):
        scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x)) * self.scale
        if mask is None:
            return scores.softmax(2)
        scores = scores.masked_fill(~mask, -torch.inf)
        top = scores.detach().amax(2, keepdim=True)
        powers = (scores - top.masked_fill(top == -torch.inf, 0.0)).exp()
        total = powers.sum(2, keepdim=True)
        return powers / torch.where(total > 0, total, torch.ones_like(total))

    def forward(self, x, mask=None):
        return torch.einsum("bij,bjv->biv", self.weigh(x, mask), self.w_v(x))
""", right=True),
    Answer("03.6", "The three layers have a bias.", LAYER.replace(", bias=False", "")),
    Answer("03.6", "One of the three layers, w_v, has a bias.",
           edit(LAYER, "nn.Linear(d_model, d_v, bias=False)", "nn.Linear(d_model, d_v)")),
    Answer("03.6", "w_v maps to d_k; that is right only when d_k = d_v.",
           edit(LAYER, "nn.Linear(d_model, d_v, bias=False)", "nn.Linear(d_model, d_k, bias=False)")),
    Answer("03.6", "The layers have other names, so a checkpoint does not find them.",
           LAYER.replace("self.w_q", "self.query").replace("self.w_k", "self.key").replace("self.w_v", "self.value")),
    Answer("03.6", "Plain tensors are no parameters: nothing is trained or saved.", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = torch.randn(d_model, d_k) / math.sqrt(d_model)
        self.w_k = torch.randn(d_model, d_k) / math.sqrt(d_model)
        self.w_v = torch.randn(d_model, d_v) / math.sqrt(d_model)

    def forward(self, x, mask=None):
        return reference.scaled_dot_product_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)[0]
"""),
    Answer("03.6", "New layers are made in every call, so nothing can be learned.", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.d_model, self.d_k, self.d_v = d_model, d_k, d_v

    def forward(self, x, mask=None):
        w_q = nn.Linear(self.d_model, self.d_k, bias=False)
        w_k = nn.Linear(self.d_model, self.d_k, bias=False)
        w_v = nn.Linear(self.d_model, self.d_v, bias=False)
        return reference.scaled_dot_product_attention(w_q(x), w_k(x), w_v(x), mask)[0]
"""),
    Answer("03.6", "Weights come along with the output.", edit(LAYER, "return weights @ value", "return weights @ value, weights")),
    Answer("03.6", "squeeze takes the batch axis away when there is one sentence.",
           edit(LAYER, "return weights @ value", "return (weights @ value).squeeze(0)")),
    Answer("03.6", "The mask is not used.", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        return F.scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x))
"""),
    Answer("03.6", "A token that may attend to nothing gets NaN.", edit(edit(edit(LAYER, """
            empty = ~mask.any(dim=-1, keepdim=True)""", ""), "~mask & ~empty", "~mask"), """        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
""", "")),
    Answer("03.6", "A token that may attend to nothing gets the mean of all values.", edit(LAYER, """        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
""", "")),
    Answer("03.6", "The mask is turned round.",
           edit(edit(LAYER, "empty = ~mask.any(dim=-1, keepdim=True)", "empty = mask.all(dim=-1, keepdim=True)"),
                "~mask & ~empty", "mask & ~empty")),
    Answer("03.6", "The scale is the root of d_model.", edit(LAYER, "math.sqrt(query.shape[-1])", "math.sqrt(x.shape[-1])")),
    Answer("03.6", "Keys are made with the matrix of the queries.", edit(LAYER, "self.w_q(x), self.w_k(x)", "self.w_q(x), self.w_q(x)")),
    Answer("03.6", "w_k is the same layer as w_q, so both always have the same weights.",
           edit(LAYER, "self.w_k = nn.Linear(d_model, d_k, bias=False)", "self.w_k = self.w_q")),
    Answer("03.6", "The softmax runs over the queries.", edit(LAYER, "dim=-1)\n        if mask", "dim=1)\n        if mask")),
    Answer("03.6", "A mask given once is kept for later calls without a mask.",
           edit(LAYER, """        query, key, value =""", """        if mask is not None:
            self.last_mask = mask
        mask = getattr(self, "last_mask", None)
        query, key, value =""")),
    Answer("03.6", "An output projection is added that nobody asked for.", edit(edit(LAYER, """
    def forward""", """        self.w_o = nn.Linear(d_v, d_model, bias=False)

    def forward"""), "return weights @ value", "return self.w_o(weights @ value)")),
    Answer("03.6", "Dropout on the weights is always on, in evaluation too.",
           edit(LAYER, "return weights @ value", "return F.dropout(weights, 0.1) @ value")),
    Answer("03.6", "Batches and tokens are mixed up: only a batch of one sentence works.",
           edit(edit(LAYER, "self.w_q(x), self.w_k(x), self.w_v(x)", "self.w_q(x[0]), self.w_k(x[0]), self.w_v(x[0])"),
                "key.transpose(1, 2)", "key.T").replace("return weights @ value", "return (weights @ value).view(1, x.shape[1], -1)")),

    # ------------------------------------------------------------ 03.7
    Answer("03.7", "the five words", ORDER, right=True),
    Answer("03.7", "filled in from two lists", """
rows = ["causal self-attention", "fixed query, only keys shuffled", "fixed query, pairs shuffled",
        "mean of its outputs", "self-attention"]
prediction_of_order = dict(zip(rows, ["changed"] * 2 + ["unchanged"] * 2 + ["shuffled along"]))
""", right=True),
    Answer("03.7", "built entry by entry, with names for the three words", """
SAME, ALONG, OTHER = "unchanged", "shuffled along", "changed"
prediction_of_order = {}
prediction_of_order["self-attention"] = ALONG          # equivariant
for pooled in ("mean of its outputs", "fixed query, pairs shuffled"):
    prediction_of_order[pooled] = SAME                 # a sum does not mind the order of its terms
for tied in ("fixed query, only keys shuffled", "causal self-attention"):
    prediction_of_order[tied] = OTHER                  # something stays attached to the old places
""", right=True),
    Answer("03.7", "Self-attention is taken to be invariant, a bag of words.",
           edit(ORDER, '"self-attention": "shuffled along"', '"self-attention": "unchanged"')),
    Answer("03.7", "Self-attention is taken to see the order.",
           edit(ORDER, '"self-attention": "shuffled along"', '"self-attention": "changed"')),
    Answer("03.7", "The mean has no rows that could be shuffled along.",
           edit(ORDER, 'outputs": "unchanged"', 'outputs": "shuffled along"')),
    Answer("03.7", "The mean is the same sum in another order; it does not change.",
           edit(ORDER, 'outputs": "unchanged"', 'outputs": "changed"')),
    Answer("03.7", "Keys and values move together, so the one output of the fixed query stays.",
           edit(ORDER, 'pairs shuffled": "unchanged"', 'pairs shuffled": "changed"')),
    Answer("03.7", "There is one query and so one output: nothing to be shuffled along.",
           edit(ORDER, 'pairs shuffled": "unchanged"', 'pairs shuffled": "shuffled along"')),
    Answer("03.7", "When only the keys move, every value gets another key's weight.",
           edit(ORDER, 'only keys shuffled": "changed"', 'only keys shuffled": "unchanged"')),
    Answer("03.7", "The mask belongs to places, so causal attention is not equivariant.",
           edit(ORDER, 'causal self-attention": "changed"', 'causal self-attention": "shuffled along"')),
    Answer("03.7", "Causal self-attention is taken to be invariant.",
           edit(ORDER, 'causal self-attention": "changed"', 'causal self-attention": "unchanged"')),
    Answer("03.7", "The two cases of the fixed query are exchanged.",
           edit(edit(ORDER, 'pairs shuffled": "unchanged"', 'pairs shuffled": "changed"'),
                'only keys shuffled": "changed"', 'only keys shuffled": "unchanged"')),
    Answer("03.7", "The last two rows are not filled in.",
           edit(edit(ORDER, 'only keys shuffled": "changed"', 'only keys shuffled": None'),
                'causal self-attention": "changed"', 'causal self-attention": None')),
)
