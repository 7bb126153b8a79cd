"""Chapter 13a: answers written from the blank notebook."""

from . import Answer, edit

MERGE = """
def merge(a, b):
    m_a, s_a, o_a = a
    m_b, s_b, o_b = b
    m = torch.maximum(m_a, m_b)
    base = torch.where(m == -torch.inf, torch.zeros_like(m), m)
    f_a, f_b = (m_a - base).exp(), (m_b - base).exp()
    s = f_a * s_a + f_b * s_b
    o = f_a[:, None] * o_a + f_b[:, None] * o_b
    return m, s, o
"""

BLOCKS = """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    n, d = query.shape
    top = torch.full((n,), -torch.inf)
    total = torch.zeros(n)
    out = torch.zeros(n, value.shape[1])
    for start in range(0, len(key), size):
        x = query @ key[start:start + size].T / math.sqrt(d)
        new = torch.maximum(top, x.amax(1))
        old = (top - new).exp()
        e = (x - new[:, None]).exp()
        total = total * old + e.sum(1)
        out = out * old[:, None] + e @ value[start:start + size]
        top = new
    return out / total[:, None], top + total.log()
"""

GRADIENTS = """
def block_gradients(q, k, v, grad, output, lse):
    scale = q.shape[-1] ** -0.5
    p = (scale * q @ k.T - lse[:, None]).exp()
    dv = p.T @ grad
    dp = grad @ v.T
    share = (grad * output).sum(-1, keepdim=True)
    ds = p * (dp - share)
    return scale * ds @ k, scale * ds.T @ q, dv
"""

GROWTH = """
prediction_of_growth = {
    "n doubles: weights kept by plain attention": "quadruples",
    "n doubles: bytes kept by blocks": "doubles",
    "n doubles: arithmetic of blocks": "quadruples",
    "n doubles: bytes moved by blocks, same block size": "quadruples",
    "n doubles: bytes moved by blocks, block of twice the rows": "doubles",
    "n doubles: key/value cache": "doubles",
    "batch doubles: key/value caches together": "doubles",
    "batch doubles: parameters read for one step of writing": "stays",
    "batch doubles: arithmetic of one step of writing": "doubles",
}
"""

BITS = """
def to_few_bits(x, bits, group=None):
    rows, columns = x.shape
    group = columns if group is None else group
    if columns % group:
        raise ValueError(f"groups of {group} do not divide {columns} columns")
    top = 2 ** (bits - 1) - 1
    parts = x.reshape(rows, columns // group, group)
    scale = parts.abs().amax(-1) / top
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    codes = (parts / scale[..., None]).round()
    return codes.reshape(rows, columns), scale
"""

REPAIR = """
def accept_or_repair(p, q, token, u, w):
    rows = torch.arange(len(token))
    ratio = p[rows, token] / q[rows, token]
    accepted = u < ratio
    left = (p - q).clamp(min=0)
    left = left / left.sum(1, keepdim=True)
    new = (left.cumsum(1) <= w[:, None]).sum(1)
    return torch.where(accepted, token, new), accepted
"""


def growth(**changed):
    """The right prediction with some entries changed; an entry is named by its number in the text, e0 to e8."""
    lines = GROWTH.strip().splitlines()
    for name, word in changed.items():
        i = int(name[1:]) + 1
        lines[i] = lines[i].rsplit(": ", 1)[0] + f": {word},"
    return "\n".join(lines) + "\n"


BANK = (
    # 13a.1 two states
    Answer("13a.1", "a right answer: the common maximum, with 0 in its place where both are empty", MERGE, right=True),
    Answer("13a.1", "a right answer: a loop over the rows, with Python's exponential", """
def merge(a, b):
    ms, ss, os = [], [], []
    for m1, s1, o1, m2, s2, o2 in zip(*a, *b):
        m = max(m1, m2)
        if m == float("-inf"):
            ms.append(m), ss.append(torch.zeros_like(s1)), os.append(torch.zeros_like(o1))
            continue
        f1, f2 = math.exp(m1 - m), math.exp(m2 - m)
        ms.append(m), ss.append(s1 * f1 + s2 * f2), os.append(o1 * f1 + o2 * f2)
    return torch.stack(ms), torch.stack(ss), torch.stack(os)
""", right=True),
    Answer("13a.1", "a right answer: both pieces stacked, einsum over the pieces, nan factors made 0", """
def merge(a, b):
    m, s, o = (torch.stack(pair) for pair in zip(a, b))       # (2, n), (2, n), (2, n, d_v)
    top = m.max(dim=0).values
    factor = torch.exp(m - top).nan_to_num(nan=0.0)
    return top, torch.einsum("kn,kn->n", factor, s), torch.einsum("kn,knd->nd", factor, o)
""", right=True),
    Answer("13a.1", "a right answer: computed in double precision and brought back, a helper for each piece", """
def merge(a, b):
    m = torch.where(a[0] > b[0], a[0], b[0])
    safe = m.double().masked_fill(torch.isneginf(m), 0.0)

    def moved(piece):
        f = (piece[0].double() - safe).exp().unsqueeze(-1)
        return f.squeeze(-1) * piece[1].double(), f * piece[2].double()

    (s_a, o_a), (s_b, o_b) = moved(a), moved(b)
    return m, (s_a + s_b).to(a[1].dtype), (o_a + o_b).to(a[2].dtype)
""", right=True),
    Answer("13a.1", "a right answer: the piece with the larger maximum stays, the other one is brought down to it", """
def merge(a, b):
    first = a[0] >= b[0]
    hi = [torch.where(first.view(-1, *[1] * (x.dim() - 1)), x, y) for x, y in zip(a, b)]
    lo = [torch.where(first.view(-1, *[1] * (x.dim() - 1)), y, x) for x, y in zip(a, b)]
    f = torch.exp(lo[0] - hi[0])
    f[lo[0] == -math.inf] = 0
    return hi[0], hi[1] + f * lo[1], hi[2] + f.reshape(-1, 1) * lo[2]
""", right=True),
    Answer("13a.1", "a right answer: nan mended afterwards, in the sums alone", """
def merge(a, b):
    m_a, s_a, o_a = a
    m_b, s_b, o_b = b
    m = torch.max(m_a, m_b)
    s = torch.exp(m_a - m) * s_a + torch.exp(m_b - m) * s_b
    o = (torch.exp(m_a - m) * o_a.T + torch.exp(m_b - m) * o_b.T).T
    return m, torch.nan_to_num(s), torch.nan_to_num(o)
""", right=True),
    Answer("13a.1", "two empty pieces give nan: minus infinity less minus infinity", edit(MERGE,
           "torch.where(m == -torch.inf, torch.zeros_like(m), m)", "m")),
    Answer("13a.1", "only the sum is mended where both pieces are empty; the weighted sum stays nan", edit(edit(MERGE,
           "torch.where(m == -torch.inf, torch.zeros_like(m), m)", "m"), "return m, s, o", "return m, s.nan_to_num(0), o")),
    Answer("13a.1", "the maximum of an empty row comes back as 0 instead of minus infinity",
           edit(MERGE, "return m, s, o", "return base, s, o")),
    Answer("13a.1", "nan_to_num over all three results: minus infinity becomes the smallest number of the type", edit(edit(MERGE,
           "torch.where(m == -torch.inf, torch.zeros_like(m), m)", "m"), "return m, s, o",
           "return m.nan_to_num(), s.nan_to_num(), o.nan_to_num()")),
    Answer("13a.1", "minus infinity is replaced by -1e9 and returned so", edit(edit(MERGE, "torch.maximum(m_a, m_b)",
           "torch.maximum(m_a, m_b).clamp(min=-1e9)"), "torch.where(m == -torch.inf, torch.zeros_like(m), m)", "m")),
    Answer("13a.1", "adds up sums and weighted sums although they are relative to different maxima",
           edit(MERGE, "f_a, f_b = (m_a - base).exp(), (m_b - base).exp()", "f_a = f_b = torch.ones_like(m)")),
    Answer("13a.1", "the sums get their factors, the weighted sums do not",
           edit(MERGE, "f_a[:, None] * o_a + f_b[:, None] * o_b", "o_a + o_b")),
    Answer("13a.1", "the weighted sums get their factors, the sums do not", edit(MERGE, "f_a * s_a + f_b * s_b", "s_a + s_b")),
    Answer("13a.1", "the difference in the exponent is turned round: the smaller piece is blown up instead of the opposite",
           edit(MERGE, "(m_a - base).exp(), (m_b - base).exp()", "(base - m_a).exp(), (base - m_b).exp()")),
    Answer("13a.1", "each piece gets the factor of the other one",
           edit(MERGE, "f_a, f_b = (m_a", "f_b, f_a = (m_a")),
    Answer("13a.1", "goes back to plain exponentials, which overflow for scores in the hundreds", """
def merge(a, b):
    m_a, s_a, o_a = a
    m_b, s_b, o_b = b
    m = torch.maximum(m_a, m_b)
    s = m_a.exp() * s_a + m_b.exp() * s_b
    o = m_a.exp()[:, None] * o_a + m_b.exp()[:, None] * o_b
    scale = torch.where(m == -torch.inf, torch.ones_like(m), (-m).exp())
    return m, s * scale, o * scale[:, None]
"""),
    Answer("13a.1", "one maximum for all rows", edit(MERGE, "m = torch.maximum(m_a, m_b)",
           "m = torch.maximum(m_a, m_b).max().expand(len(m_a))")),
    Answer("13a.1", "the smaller maximum instead of the larger", edit(MERGE, "torch.maximum", "torch.minimum")),
    Answer("13a.1", "the maxima are added up like the sums", edit(MERGE, "torch.maximum(m_a, m_b)", "m_a + m_b")),
    Answer("13a.1", "divides by the sum already while merging", edit(MERGE, "return m, s, o",
           "return m, s, o / s[:, None].clamp(min=1e-30)")),
    Answer("13a.1", "the factors meet the values' axis: no second axis for the row", edit(MERGE,
           "f_a[:, None] * o_a + f_b[:, None] * o_b", "f_a * o_a + f_b * o_b")),
    Answer("13a.1", "powers of two instead of powers of e", edit(MERGE, "(m_a - base).exp(), (m_b - base).exp()",
           "2 ** (m_a - base), 2 ** (m_b - base)")),
    Answer("13a.1", "the new maximum is the log-sum-exp of both maxima", edit(MERGE, "torch.maximum(m_a, m_b)",
           "torch.logaddexp(m_a, m_b)")),
    Answer("13a.1", "an empty row anywhere makes the whole batch empty", edit(MERGE, "    base =",
           "    if (m == -torch.inf).any():\n        "
           "return torch.full_like(m, -torch.inf), torch.zeros_like(s_a), torch.zeros_like(o_a)\n    base =")),
    Answer("13a.1", "only pieces in which all rows are empty are handled", edit(MERGE,
           "    base = torch.where(m == -torch.inf, torch.zeros_like(m), m)",
           "    if (m_a == -torch.inf).all():\n        return b\n    if (m_b == -torch.inf).all():\n        return a\n    base = m")),
    Answer("13a.1", "the first piece is changed in place", edit(edit(MERGE, "s = f_a * s_a + f_b * s_b",
           "s = s_a.mul_(f_a).add_(f_b * s_b)"),
           "o = f_a[:, None] * o_a + f_b[:, None] * o_b", "o = o_a.mul_(f_a[:, None]).add_(f_b[:, None] * o_b)")),
    Answer("13a.1", "`if m_a > m_b` with a whole tensor", """
def merge(a, b):
    if a[0] > b[0]:
        f = (b[0] - a[0]).exp()
        return a[0], a[1] + f * b[1], a[2] + f[:, None] * b[2]
    f = (a[0] - b[0]).exp()
    return b[0], b[1] + f * a[1], b[2] + f[:, None] * a[2]
"""),
    Answer("13a.1", "always relative to the first piece: overflows when the second one holds the larger score", """
def merge(a, b):
    m_a, s_a, o_a = a
    m_b, s_b, o_b = b
    f = (m_b - m_a).exp()
    return m_a, s_a + f * s_b, o_a + f[:, None] * o_b
"""),
    Answer("13a.1", "a small number is added to the sum so that nothing divides by 0",
           edit(MERGE, "s = f_a * s_a + f_b * s_b", "s = f_a * s_a + f_b * s_b + 1e-2")),
    Answer("13a.1", "returns the maximum and the sum alone", edit(MERGE, "return m, s, o", "return m, s")),
    Answer("13a.1", "returns sum and weighted sum in the wrong sequence", edit(MERGE, "return m, s, o", "return m, o, s")),
    Answer("13a.1", "the second piece is forgotten in the weighted sum", edit(MERGE, " + f_b[:, None] * o_b", "")),

    # 13a.2 attention in blocks of keys
    Answer("13a.2", "a right answer: running maximum, sum and weighted sum", BLOCKS, right=True),
    Answer("13a.2", "a right answer: a state for each block, joined by merge of exercise 13a.1", MERGE + """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError("size must be at least 1, not " + str(size))
    total = None
    for k, v in zip(key.split(size), value.split(size)):
        x = torch.einsum("nd,md->nm", query, k) * query.shape[1] ** -0.5
        m = x.max(dim=1)[0]
        e = (x - m.unsqueeze(1)).exp()
        state = (m, e.sum(dim=1), torch.einsum("nm,mv->nv", e, v))
        total = state if total is None else merge(total, state)
    m, s, o = total
    return o / s.unsqueeze(1), m + torch.log(s)
""", right=True),
    Answer("13a.2", "a right answer: each block divides, and outputs are joined by their log-sum-exps", """
def attention_in_blocks(query, key, value, size):
    if size <= 0:
        raise ValueError(f"block size {size}")
    out, lse = torch.zeros(len(query), value.shape[1]), torch.full((len(query),), float("-inf"))
    start = 0
    while start < key.shape[0]:
        stop = min(start + size, key.shape[0])
        x = (query @ key[start:stop].t()) / query.size(-1) ** 0.5
        m = x.amax(dim=-1, keepdim=True)
        e = torch.exp(x - m)
        block = e.sum(dim=-1, keepdim=True)
        block_out, block_lse = e @ value[start:stop] / block, (m + block.log())[:, 0]
        both = torch.logaddexp(lse, block_lse)
        out = (lse - both).exp()[:, None] * out + (block_lse - both).exp()[:, None] * block_out
        lse, start = both, stop
    return out, lse
""", right=True),
    Answer("13a.2", "a right answer: two passes over the blocks, first the maximum, then the sums", """
def attention_in_blocks(query, key, value, size):
    if size < 1: raise ValueError(f"size={size}")
    q = query / math.sqrt(query.shape[-1])
    parts = list(zip(torch.split(key, size), torch.split(value, size)))
    m = torch.stack([(q @ k.mT).max(-1).values for k, _ in parts]).max(0).values
    s, o = 0, 0
    for k, v in parts:
        e = (q @ k.mT - m[:, None]).exp()
        s, o = s + e.sum(-1), o + e @ v
    return o / s[:, None], m + s.log()
""", right=True),
    Answer("13a.2", "a right answer: rows in a loop, double precision, a small class that keeps the state", """
class Running:
    def __init__(self, width):
        self.m, self.s, self.o = -math.inf, 0.0, torch.zeros(width, dtype=torch.double)

    def add(self, x, v):
        m = max(self.m, x.max().item())
        e = (x - m).exp()
        f = math.exp(self.m - m)
        self.m, self.s, self.o = m, f * self.s + e.sum().item(), f * self.o + e @ v

def attention_in_blocks(query, key, value, size):
    if not size >= 1:
        raise ValueError(f"{size} keys in a block")
    outputs, sums = [], []
    for row in query.double():
        state = Running(value.shape[1])
        for i in range(0, key.shape[0], size):
            state.add(key[i:i + size].double() @ row / len(row) ** 0.5, value[i:i + size].double())
        outputs.append(state.o / state.s)
        sums.append(state.m + math.log(state.s))
    return torch.stack(outputs).to(value.dtype), torch.tensor(sums, dtype=query.dtype)
""", right=True),
    Answer("13a.2", "a right answer: blocks from the right to the left, with reduce", """
from functools import reduce
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError("bad size", size)
    def state(i):
        x = query @ key[i:i + size].T / query.shape[-1] ** .5
        m = x.amax(-1)
        e = torch.exp(x - m[..., None])
        return m, e.sum(-1), e @ value[i:i + size]
    def join(a, b):
        m = torch.maximum(a[0], b[0])
        return (m,) + tuple(torch.exp(a[0] - m).reshape(-1, *[1] * (y.dim() - 1)) * y
                            + torch.exp(b[0] - m).reshape(-1, *[1] * (y.dim() - 1)) * z for y, z in zip(a[1:], b[1:]))
    m, s, o = reduce(join, (state(i) for i in reversed(range(0, len(key), size))))
    return o.div(s[:, None]), s.log().add(m)
""", right=True),
    Answer("13a.2", "the last, shorter block is left out",
           edit(BLOCKS, "range(0, len(key), size)", "range(0, len(key) - size + 1, size)")),
    Answer("13a.2", "scores are not divided by the root of d", edit(BLOCKS, " / math.sqrt(d)", "")),
    Answer("13a.2", "scores are divided by d, without the root", edit(BLOCKS, "/ math.sqrt(d)", "/ d")),
    Answer("13a.2", "scores are divided by the root of the values' width", edit(BLOCKS, "math.sqrt(d)", "math.sqrt(value.shape[1])")),
    Answer("13a.2", "no maximum is subtracted: overflow for scores in the hundreds", """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    s, o = 0, 0
    for k, v in zip(key.split(size), value.split(size)):
        e = (query @ k.T / math.sqrt(query.shape[-1])).exp()
        s, o = s + e.sum(1), o + e @ v
    return o / s[:, None], s.log()
"""),
    Answer("13a.2", "what was added up so far is not brought to the new maximum",
           edit(BLOCKS, "old = (top - new).exp()", "old = torch.ones_like(new)")),
    Answer("13a.2", "the sum is brought to the new maximum, the weighted sum is not",
           edit(BLOCKS, "out = out * old[:, None] + e", "out = out + e")),
    Answer("13a.2", "each block's own maximum is subtracted, and old sums are brought to it although it may be smaller",
           edit(BLOCKS, "torch.maximum(top, x.amax(1))", "x.amax(1)")),
    Answer("13a.2", "the maximum of the first block is subtracted everywhere", edit(BLOCKS, "new = torch.maximum(top, x.amax(1))",
           "new = x.amax(1) if start == 0 else top")),
    Answer("13a.2", "the running maximum starts at 0: rows whose scores are far below 0 vanish",
           edit(BLOCKS, "torch.full((n,), -torch.inf)", "torch.zeros(n)")),
    Answer("13a.2", "one maximum for the whole block, not one for each row: rows far below it vanish",
           edit(BLOCKS, "x.amax(1)", "x.amax().expand(n)")),
    Answer("13a.2", "a softmax of its own in each block, and the mean of the outputs", """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    outs, lses = [], []
    for k, v in zip(key.split(size), value.split(size)):
        x = query @ k.T / math.sqrt(query.shape[-1])
        m = x.amax(1, keepdim=True)
        e = (x - m).exp()
        s = e.sum(1, keepdim=True)
        outs.append(e @ v / s)
        lses.append((m + s.log())[:, 0])
    lse = torch.stack(lses)
    top = lse.amax(0)
    return torch.stack(outs).mean(0), top + (lse - top).exp().sum(0).log()
"""),
    Answer("13a.2", "a softmax of its own in each block, and the sum of the outputs", """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    out, lse = 0, torch.full((len(query),), -torch.inf)
    for k, v in zip(key.split(size), value.split(size)):
        x = query @ k.T / math.sqrt(query.shape[-1])
        m = x.amax(1, keepdim=True)
        e = (x - m).exp()
        s = e.sum(1, keepdim=True)
        out = out + e @ v / s
        lse = torch.logaddexp(lse, (m + s.log())[:, 0])
    return out, lse
"""),
    Answer("13a.2", "never divides: returns the weighted sum", edit(BLOCKS, "out / total[:, None]", "out")),
    Answer("13a.2", "the log-sum-exp lacks the maximum: logarithm of the sum alone", edit(BLOCKS, "top + total.log()", "total.log()")),
    Answer("13a.2", "the sum of the exponentials instead of its logarithm", edit(BLOCKS, "top + total.log()", "total * top.exp()")),
    Answer("13a.2", "the logarithm of the whole: exponential of the maximum overflows", edit(BLOCKS, "top + total.log()",
           "(total * top.exp()).log()")),
    Answer("13a.2", "maximum and sum are returned multiplied", edit(BLOCKS, "top + total.log()", "top * total.log()")),
    Answer("13a.2", "logarithm to base 2", edit(BLOCKS, "total.log()", "total.log2()")),
    Answer("13a.2", "returns the maximum instead of the log-sum-exp", edit(BLOCKS, "top + total.log()", "top")),
    Answer("13a.2", "the log-sum-exp as a column (n, 1)", edit(BLOCKS, "top + total.log()", "(top + total.log())[:, None]")),
    Answer("13a.2", "returns the output alone", edit(BLOCKS, "out / total[:, None], top + total.log()", "out / total[:, None]")),
    Answer("13a.2", "a size below 1 is not refused", edit(BLOCKS, """    if size < 1:
        raise ValueError(f"size {size} is below 1")
""", "")),
    Answer("13a.2", "a size of 0 is let through to range, negative sizes are refused", edit(BLOCKS, "if size < 1:", "if size < 0:")),
    Answer("13a.2", "only a size of exactly 0 is refused", edit(BLOCKS, "if size < 1:", "if size == 0:")),
    Answer("13a.2", "a size of 1 is refused too", edit(BLOCKS, "if size < 1:", "if size <= 1:")),
    Answer("13a.2", "the message does not say the size", edit(BLOCKS, "f\"size {size} is below 1\"", "\"the block is too small\"")),
    Answer("13a.2", "an assert instead of a ValueError", edit(BLOCKS, """if size < 1:
        raise ValueError(f"size {size} is below 1")""", "assert size >= 1, f\"size {size}\"")),
    Answer("13a.2", "a bad size is silently made 1", edit(BLOCKS, """if size < 1:
        raise ValueError(f"size {size} is below 1")""", "size = max(size, 1)")),
    Answer("13a.2", "a size above the number of keys is refused", edit(BLOCKS, "if size < 1:", "if size < 1 or size > len(key):")),
    Answer("13a.2", "demands that the size divides the number of keys", edit(BLOCKS, "if size < 1:", "if size < 1 or len(key) % size:")),
    Answer("13a.2", "the query is scaled in place", edit(edit(BLOCKS, "    top = torch", "    query /= math.sqrt(d)\n    top = torch"),
           ".T / math.sqrt(d)", ".T")),
    Answer("13a.2", "calls torch.logsumexp and softmax, which are forbidden", """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    outs, lses = [], []
    for k, v in zip(key.split(size), value.split(size)):
        x = query @ k.T / math.sqrt(query.shape[-1])
        outs.append(torch.softmax(x, -1) @ v)
        lses.append(torch.logsumexp(x, -1))
    lses = torch.stack(lses)
    return (torch.stack(outs) * lses.softmax(0)[..., None]).sum(0), lses.logsumexp(0)
"""),
    Answer("13a.2", "hands the work to the fused kernel", """
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    lse, d = torch.full((len(query),), -torch.inf), query.shape[-1]
    for k in key.split(size):
        x = query @ k.T / math.sqrt(d)
        m = x.amax(1)
        lse = torch.logaddexp(lse, m + (x - m[:, None]).exp().sum(1).log())
    return F.scaled_dot_product_attention(query[None], key[None], value[None])[0], lse
"""),
    Answer("13a.2", "the last block is filled up with zero keys, which get weight", edit(BLOCKS, "    top = torch.full",
           """    missing = -len(key) % size
    key = torch.cat([key, torch.zeros(missing, d)])
    value = torch.cat([value, torch.zeros(missing, value.shape[1])])
    top = torch.full""")),
    Answer("13a.2", "keys and values of different blocks meet: the values are always those of the first block",
           edit(BLOCKS, "e @ value[start:start + size]", "e @ value[:size][:e.shape[1]]")),
    Answer("13a.2", "half finished: the first block alone", edit(BLOCKS, "range(0, len(key), size)",
           "range(0, min(size, len(key)), size)")),

    # 13a.3 the gradients of one block
    Answer("13a.3", "a right answer: the three lines repaired", GRADIENTS, right=True),
    Answer("13a.3", "a right answer: einsum, and a scaled query from the beginning", """
def block_gradients(q, k, v, grad, output, lse):
    d = q.size(1)
    scores = torch.einsum("rd,cd->rc", q, k) / math.sqrt(d)
    p = torch.exp(scores - lse.unsqueeze(1))
    D = torch.einsum("rv,rv->r", grad, output)
    ds = p * (torch.einsum("rv,cv->rc", grad, v) - D[:, None]) / math.sqrt(d)
    return torch.einsum("rc,cd->rd", ds, k), torch.einsum("rc,rd->cd", ds, q), torch.einsum("rc,rv->cv", p, grad)
""", right=True),
    Answer("13a.3", "a right answer: three loops' worth of rows and columns", """
def block_gradients(q, k, v, grad, output, lse):
    rows, d = q.shape
    columns = k.shape[0]
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(rows):
        D = torch.dot(grad[i], output[i])
        for j in range(columns):
            p = torch.exp(torch.dot(q[i], k[j]) / d ** 0.5 - lse[i])
            dx = p * (torch.dot(grad[i], v[j]) - D)
            dq[i] += dx * k[j] / d ** 0.5
            dk[j] += dx * q[i] / d ** 0.5
            dv[j] += p * grad[i]
    return dq, dk, dv
""", right=True),
    Answer("13a.3", "a right answer: autograd through the weights with lse and D held fixed", """
def block_gradients(q, k, v, grad, output, lse):
    with torch.enable_grad():
        q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
        grad = grad.detach()
        p = (q @ k.T / q.shape[-1] ** 0.5 - lse.detach()[:, None]).exp()
        D = (grad * output.detach()).sum(1, keepdim=True)
        total = (p * (grad @ v.T - D)).sum()
        return torch.autograd.grad(total, (q, k, v))
""", right=True),
    Answer("13a.3", "a right answer: double precision and a scaled copy of the keys", """
def block_gradients(q, k, v, grad, output, lse):
    q64, k64, v64, g64, o64, l64 = [x.double() for x in (q, k, v, grad, output, lse)]
    root = math.sqrt(q.shape[1])
    p = torch.exp(q64 @ k64.mT / root - l64.reshape(-1, 1))
    shift = torch.diagonal(g64 @ o64.mT)
    ds = p * (g64 @ v64.mT - shift.reshape(-1, 1))
    return (ds @ (k64 / root)).to(q), (ds.mT @ (q64 / root)).to(k), (p.mT @ g64).to(v)
""", right=True),
    Answer("13a.3", "hands the function back as it was", """
def block_gradients(q, k, v, grad, output, lse):
    scale = q.shape[-1] ** -0.5
    p = (scale * q @ k.T).softmax(-1)
    dv = p.T @ grad
    dp = grad @ v.T
    share = (p * dp).sum(-1, keepdim=True)
    ds = p * (dp - share)
    return scale * ds @ k, ds.T @ q, dv
"""),
    Answer("13a.3", "weights and share are repaired, the factor of the keys' gradient is not",
           edit(GRADIENTS, "scale * ds.T @ q", "ds.T @ q")),
    Answer("13a.3", "the weights are still a softmax over this block alone",
           edit(GRADIENTS, "(scale * q @ k.T - lse[:, None]).exp()", "(scale * q @ k.T).softmax(-1)")),
    Answer("13a.3", "the share is still summed over this block's keys alone",
           edit(GRADIENTS, "(grad * output).sum(-1, keepdim=True)", "(p * dp).sum(-1, keepdim=True)")),
    Answer("13a.3", "only the factor of the keys is repaired", edit(edit(GRADIENTS, "(scale * q @ k.T - lse[:, None]).exp()",
           "(scale * q @ k.T).softmax(-1)"), "(grad * output).sum(-1, keepdim=True)", "(p * dp).sum(-1, keepdim=True)")),
    Answer("13a.3", "only the weights are repaired", edit(edit(GRADIENTS, "(grad * output).sum(-1, keepdim=True)",
           "(p * dp).sum(-1, keepdim=True)"), "scale * ds.T @ q", "ds.T @ q")),
    Answer("13a.3", "only the share is repaired", edit(edit(GRADIENTS, "(scale * q @ k.T - lse[:, None]).exp()",
           "(scale * q @ k.T).softmax(-1)"), "scale * ds.T @ q", "ds.T @ q")),
    Answer("13a.3", "the log-sum-exp is added instead of subtracted", edit(GRADIENTS, "- lse[:, None]", "+ lse[:, None]")),
    Answer("13a.3", "exponentials without the log-sum-exp: weights that are not weights", edit(GRADIENTS, " - lse[:, None]", "")),
    Answer("13a.3", "divides by the log-sum-exp, not by its exponential",
           edit(GRADIENTS, "(scale * q @ k.T - lse[:, None]).exp()", "(scale * q @ k.T).exp() / lse[:, None]")),
    Answer("13a.3", "the softmax of the block after subtracting the log-sum-exp: the subtraction has no effect",
           edit(GRADIENTS, "(scale * q @ k.T - lse[:, None]).exp()", "(scale * q @ k.T - lse[:, None]).softmax(-1)")),
    Answer("13a.3", "weights computed with unscaled scores", edit(GRADIENTS, "(scale * q @ k.T - lse", "(q @ k.T - lse")),
    Answer("13a.3", "D is missing: the softmax's other keys are forgotten", edit(GRADIENTS, "p * (dp - share)", "p * dp")),
    Answer("13a.3", "D is added instead of subtracted", edit(GRADIENTS, "(dp - share)", "(dp + share)")),
    Answer("13a.3", "D is the sum of the output, without the gradient", edit(GRADIENTS, "(grad * output).sum", "output.sum")),
    Answer("13a.3", "D is the mean of the products instead of their sum", edit(GRADIENTS, "(grad * output).sum", "(grad * output).mean")),
    Answer("13a.3", "D is one number for the whole block of rows",
           edit(GRADIENTS, "(grad * output).sum(-1, keepdim=True)", "(grad * output).sum()")),
    Answer("13a.3", "the share multiplies output and weights: D of the block's part of the output",
           edit(GRADIENTS, "(grad * output).sum(-1, keepdim=True)", "(grad * (p @ v)).sum(-1, keepdim=True)")),
    Answer("13a.3", "the factor of the keys is applied twice", edit(GRADIENTS, "scale * ds.T @ q", "scale * scale * ds.T @ q")),
    Answer("13a.3", "the factor is removed from the queries' gradient too: symmetric, but wrong",
           edit(edit(GRADIENTS, "scale * ds @ k", "ds @ k"), "scale * ds.T @ q", "ds.T @ q")),
    Answer("13a.3", "the values' gradient is scaled as well", edit(GRADIENTS, "scale * ds.T @ q, dv", "scale * ds.T @ q, scale * dv")),
    Answer("13a.3", "the values' gradient is made of the gradients of the scores", edit(GRADIENTS, "p.T @ grad", "p.T @ (grad - output)")),
    Answer("13a.3", "the gradients of query and key are returned in the wrong sequence",
           edit(GRADIENTS, "return scale * ds @ k, scale * ds.T @ q, dv", "return scale * ds.T @ q, scale * ds @ k, dv")),
    Answer("13a.3", "the lse meets the columns instead of the rows", edit(GRADIENTS, "lse[:, None]", "lse")),
    Answer("13a.3", "a second softmax derivative: multiplied by 1 - p", edit(GRADIENTS, "p * (dp - share)", "p * (1 - p) * (dp - share)")),
    Answer("13a.3", "the incoming gradient is changed in place", edit(GRADIENTS, "(grad * output).sum(-1, keepdim=True)",
           "grad.mul_(output).sum(-1, keepdim=True)")),

    # 13a.4 predictions
    Answer("13a.4", "a right answer: words", GROWTH, right=True),
    Answer("13a.4", "a right answer: computed from the formulas, by the ratio", """
words = {1: "stays", 2: "doubles", 4: "quadruples"}
def ratio(f, **twice):
    usual = dict(n=2**20, b=8, rows=128)
    later = usual | {name: 2 * usual[name] for name in twice}
    return words[round(f(**later) / f(**usual))]
d = 64
prediction_of_growth = {
    "n doubles: weights kept by plain attention": ratio(lambda n, b, rows: n * n, n=1),
    "n doubles: bytes kept by blocks": ratio(lambda n, b, rows: 4 * n * d + n, n=1),
    "n doubles: arithmetic of blocks": ratio(lambda n, b, rows: 4 * n * n * d, n=1),
    "n doubles: bytes moved by blocks, same block size": ratio(lambda n, b, rows: 2 * n * d + 2 * n * d * n / rows, n=1),
    "n doubles: bytes moved by blocks, block of twice the rows":
        ratio(lambda n, b, rows: 2 * n * d + 2 * n * d * n / rows, n=1, rows=1),
    "n doubles: key/value cache": ratio(lambda n, b, rows: 2 * n * d, n=1),
    "batch doubles: key/value caches together": ratio(lambda n, b, rows: 2 * n * b * d, b=1),
    "batch doubles: parameters read for one step of writing": ratio(lambda n, b, rows: d * d, b=1),
    "batch doubles: arithmetic of one step of writing": ratio(lambda n, b, rows: b * d * d, b=1),
}
""", right=True),
    Answer("13a.4", "a right answer: the entries filled in one by one, in another sequence", """
prediction_of_growth = {}
for entry in ("n doubles: weights kept by plain attention", "n doubles: arithmetic of blocks",
              "n doubles: bytes moved by blocks, same block size"):
    prediction_of_growth[entry] = "quadruples"
prediction_of_growth["batch doubles: parameters read for one step of writing"] = "stays"
for entry in ("batch doubles: arithmetic of one step of writing", "batch doubles: key/value caches together",
              "n doubles: key/value cache", "n doubles: bytes moved by blocks, block of twice the rows",
              "n doubles: bytes kept by blocks"):
    prediction_of_growth[entry] = "doubles"
""", right=True),
    Answer("13a.4", "a right answer: capital letters and a blank too many", growth(e0="'Quadruples'", e1="'doubles '", e7="' Stays'"),
           right=True),
    Answer("13a.4", "blocks are said to keep a quadratic number of bytes, like plain attention", growth(e1="'quadruples'")),
    Answer("13a.4", "blocks are said to keep nothing that grows", growth(e1="'stays'")),
    Answer("13a.4", "the weights of plain attention only double", growth(e0="'doubles'")),
    Answer("13a.4", "the claim that FlashAttention makes the arithmetic linear", growth(e2="'doubles'")),
    Answer("13a.4", "the claim that the traffic of blocks is linear", growth(e3="'doubles'")),
    Answer("13a.4", "everything about blocks is linear", growth(e2="'doubles'", e3="'doubles'")),
    Answer("13a.4", "a block of twice the rows does not help: still quadratic", growth(e4="'quadruples'")),
    Answer("13a.4", "twice the rows undo the growth altogether: nothing is added", growth(e4="'stays'")),
    Answer("13a.4", "the traffic of both block sizes exchanged", growth(e3="'doubles'", e4="'quadruples'")),
    Answer("13a.4", "the cache holds pairs of tokens: it quadruples", growth(e5="'quadruples'")),
    Answer("13a.4", "the cache has a fixed size, like a state", growth(e5="'stays'")),
    Answer("13a.4", "all texts of a batch share one cache", growth(e6="'stays'")),
    Answer("13a.4", "the caches of a batch quadruple, as if texts looked at each other", growth(e6="'quadruples'")),
    Answer("13a.4", "the weights are read once for every text", growth(e7="'doubles'")),
    Answer("13a.4", "twice the batch is free: the arithmetic stays", growth(e8="'stays'")),
    Answer("13a.4", "reading of weights and arithmetic exchanged", growth(e7="'doubles'", e8="'stays'")),
    Answer("13a.4", "the arithmetic of the batch quadruples", growth(e8="'quadruples'")),
    Answer("13a.4", "everything quadruples with n", growth(e1="'quadruples'", e4="'quadruples'", e5="'quadruples'")),
    Answer("13a.4", "half finished: the last three entries are None", growth(e6="None", e7="None", e8="None")),
    Answer("13a.4", "factors instead of words", growth(e0="4", e1="2", e2="4", e3="4", e4="2", e5="2", e6="2", e7="1", e8="2")),
    Answer("13a.4", "a word that is not among the three", growth(e7="'halves'")),

    # 13a.5 few bits
    Answer("13a.5", "a right answer: a third axis for the groups", BITS, right=True),
    Answer("13a.5", "a right answer: rows and groups in two loops", """
def to_few_bits(x, bits, group=None):
    n, columns = x.shape
    g = columns if group is None else group
    if columns % g != 0:
        raise ValueError(f"{columns} columns cannot be cut into groups of {g}")
    top = 2 ** (bits - 1) - 1
    codes, scale = torch.empty_like(x), x.new_empty(n, columns // g)
    for i in range(n):
        for j in range(columns // g):
            part = x[i, j * g:(j + 1) * g]
            largest = max(abs(y) for y in part.tolist())
            scale[i, j] = largest / top if largest > 0 else 1.0
            codes[i, j * g:(j + 1) * g] = torch.round(part / scale[i, j])
    return codes, scale
""", right=True),
    Answer("13a.5", "a right answer: the pieces split, each a matrix of its own, and put together again; ties go up", """
def few(part, top):
    scale = part.abs().max(dim=1, keepdim=True).values / top
    scale[scale == 0] = 1
    return torch.floor(part / scale + 0.5), scale

def to_few_bits(x, bits, group=None):
    if group is None:
        group = x.size(1)
    elif x.size(1) % group > 0:
        raise ValueError("group " + str(group) + " and columns " + str(x.size(1)))
    found = [few(part, 2 ** (bits - 1) - 1) for part in torch.split(x, group, dim=1)]
    return torch.cat([c for c, _ in found], 1), torch.cat([s for _, s in found], 1)
""", right=True),
    Answer("13a.5", "a right answer: repeat_interleave, double precision, and a clamp that is not needed", """
def to_few_bits(x, bits, group=None):
    group = group or x.shape[1]
    if x.shape[1] // group * group != x.shape[1]:
        raise ValueError(f"{x.shape[1]} % {group} is not 0")
    top = (1 << (bits - 1)) - 1
    big = x.double().abs().unflatten(1, (-1, group)).amax(2)
    scale = torch.where(big > 0, big / top, torch.tensor(1.0, dtype=torch.double))
    codes = torch.round(x.double() / scale.repeat_interleave(group, dim=1)).clamp(-top, top)
    return codes.to(x.dtype), scale.to(x.dtype)
""", right=True),
    Answer("13a.5", "a right answer: the infinity norm, and sign times the rounded size", """
def to_few_bits(x, bits, group=None):
    columns = x.shape[-1]
    if group is None: group = columns
    if columns / group != int(columns / group):
        raise ValueError((columns, group))
    y = x.view(-1, columns // group, group) if x.is_contiguous() else x.contiguous().view(-1, columns // group, group)
    scale = torch.linalg.vector_norm(y, ord=math.inf, dim=-1, keepdim=True).div(2 ** (bits - 1) - 1)
    scale = scale.masked_fill(scale == 0, 1.)
    return (y.sign() * (y.abs() / scale).round()).flatten(1), scale.squeeze(-1)
""", right=True),
    Answer("13a.5", "top is one too large: 2 ** (bits - 1), as if 8 bits went to 128", edit(BITS, "2 ** (bits - 1) - 1",
           "2 ** (bits - 1)")),
    Answer("13a.5", "the sign is forgotten: top is 2 ** bits - 1", edit(BITS, "2 ** (bits - 1) - 1", "2 ** bits - 1")),
    Answer("13a.5", "top is fixed to eight bits", edit(BITS, "2 ** (bits - 1) - 1", "127")),
    Answer("13a.5", "one scale for the whole matrix", edit(BITS, "scale = parts.abs().amax(-1) / top",
           "scale = (parts.abs().amax() / top).expand(rows, columns // group)")),
    Answer("13a.5", "the group is ignored: one scale for each row",
           edit(BITS, "scale = parts.abs().amax(-1) / top",
           "scale = (x.abs().amax(1, keepdim=True) / top).expand(rows, columns // group)")),
    Answer("13a.5", "one scale for each column of the groups, not for each row", edit(BITS, "parts.abs().amax(-1) / top",
           "parts.abs().amax((0, 2)).expand(rows, columns // group) / top")),
    Answer("13a.5", "the largest number instead of the largest size: negative numbers are not looked at", edit(BITS,
           "parts.abs().amax(-1)", "parts.amax(-1)")),
    Answer("13a.5", "the size of the largest number: the largest first, its absolute value afterwards", edit(BITS,
           "parts.abs().amax(-1)", "parts.amax(-1).abs()")),
    Answer("13a.5", "the range from smallest to largest is divided by all steps", edit(BITS,
           "parts.abs().amax(-1) / top", "(parts.amax(-1) - parts.amin(-1)) / (2 * top)")),
    Answer("13a.5", "decimals are cut off instead of rounded", edit(BITS, ".round()", ".trunc()")),
    Answer("13a.5", "rounded down instead of to the nearest", edit(BITS, ".round()", ".floor()")),
    Answer("13a.5", "not rounded at all", edit(BITS, ".round()", "")),
    Answer("13a.5", "returns the rounded numbers instead of their codes", edit(BITS, "(parts / scale[..., None]).round()",
           "(parts / scale[..., None]).round() * scale[..., None]")),
    Answer("13a.5", "returns the factor to multiply with, the inverse of the scale", edit(BITS,
           "return codes.reshape(rows, columns), scale",
           "return codes.reshape(rows, columns), 1 / scale")),
    Answer("13a.5", "the scale is the largest size, not divided by top", edit(BITS, "return codes.reshape(rows, columns), scale",
           "return codes.reshape(rows, columns), torch.where(parts.abs().amax(-1) == 0, scale, scale * top)")),
    Answer("13a.5", "a group of zeros divides 0 by 0", edit(BITS, "    scale = torch.where(scale == 0, torch.ones_like(scale), scale)\n",
           "")),
    Answer("13a.5", "codes of a group of zeros are mended, but its scale stays 0", edit(edit(BITS,
           "    scale = torch.where(scale == 0, torch.ones_like(scale), scale)\n", ""), ".round()", ".round().nan_to_num(0)")),
    Answer("13a.5", "clamp_min instead of 1: a group of zeros gets a tiny scale", edit(BITS,
           "torch.where(scale == 0, torch.ones_like(scale), scale)", "scale.clamp_min(1e-8)")),
    Answer("13a.5", "a small number is added to every scale", edit(BITS,
           "torch.where(scale == 0, torch.ones_like(scale), scale)", "torch.where(scale == 0, torch.ones_like(scale), scale + 1e-2)")),
    Answer("13a.5", "groups of tiny numbers are taken for zeros: they all get the code 0", edit(BITS,
           "torch.where(scale == 0,", "torch.where(scale < 1e-5,")),
    Answer("13a.5", "every scale below 1 is made 1", edit(BITS, "torch.where(scale == 0, torch.ones_like(scale), scale)",
           "scale.clamp(min=1)")),
    Answer("13a.5", "one group of zeros makes every scale 1", edit(BITS, "torch.where(scale == 0, torch.ones_like(scale), scale)",
           "torch.ones_like(scale) if (scale == 0).any() else scale")),
    Answer("13a.5", "codes keep the third axis (rows, groups, members)", edit(BITS, "codes.reshape(rows, columns), scale", "codes, scale")),
    Answer("13a.5", "the scale keeps a third axis of 1", edit(BITS, "codes.reshape(rows, columns), scale",
           "codes.reshape(rows, columns), scale[..., None]")),
    Answer("13a.5", "without groups the scale has lost its second axis", edit(BITS, "return codes.reshape(rows, columns), scale",
           "return codes.reshape(rows, columns), scale.squeeze(1)")),
    Answer("13a.5", "the codes are integers of eight bits", edit(BITS, "codes.reshape(rows, columns), scale",
           "codes.reshape(rows, columns).to(torch.int8), scale")),
    Answer("13a.5", "group is read as the number of groups", edit(edit(BITS, "group = columns if group is None else group",
           "count = 1 if group is None else group"), "    if columns % group:\n",
           "    group = columns // count\n    if columns % count:\n")),
    Answer("13a.5", "columns far from each other share a scale: the two last axes of the groups exchanged", edit(edit(BITS,
           "x.reshape(rows, columns // group, group)", "x.reshape(rows, group, columns // group).transpose(1, 2)"),
           "return codes.reshape", "return codes.transpose(1, 2).reshape")),
    Answer("13a.5", "neighbours of a column share a scale: the matrix is turned", edit(edit(BITS,
           "x.reshape(rows, columns // group, group)", "x.T.reshape(rows, columns // group, group)"),
           "return codes.reshape(rows, columns)", "return codes.reshape(columns, rows).T")),
    Answer("13a.5", "groups that do not divide the columns: reshape stops with its own error", edit(BITS,
           """    if columns % group:
        raise ValueError(f"groups of {group} do not divide {columns} columns")
""", "")),
    Answer("13a.5", "only a group that is longer than the row is refused", edit(edit(BITS, "if columns % group:", "if group > columns:"),
           "x.reshape(rows, columns // group, group)", "x[:, :columns // group * group].reshape(rows, columns // group, group)")),
    Answer("13a.5", "the rest of the row becomes a shorter group instead of an error", """
def to_few_bits(x, bits, group=None):
    top = 2 ** (bits - 1) - 1
    codes, scales = [], []
    for part in x.split(group or x.shape[1], dim=1):
        scale = part.abs().amax(1, keepdim=True) / top
        scale = scale.masked_fill(scale == 0, 1)
        codes.append((part / scale).round())
        scales.append(scale)
    return torch.cat(codes, 1), torch.cat(scales, 1)
"""),
    Answer("13a.5", "the message names the group alone", edit(BITS, "groups of {group} do not divide {columns} columns",
           "bad group {group}")),
    Answer("13a.5", "asks whether the columns divide the group", edit(BITS, "if columns % group:", "if group % columns:")),
    Answer("13a.5", "the matrix is divided in place", edit(BITS, "codes = (parts / scale[..., None]).round()",
           "codes = parts.div_(scale[..., None]).round_()")),
    Answer("13a.5", "codes down to -top - 1: the scale makes room for one more below", edit(BITS, "parts.abs().amax(-1) / top",
           "torch.maximum(parts.amax(-1) / top, -parts.amin(-1) / (top + 1))")),
    Answer("13a.5", "numbers are shifted to the smallest of the group, codes from 0 on", edit(edit(BITS, "parts.abs().amax(-1) / top",
           "(parts.amax(-1) - parts.amin(-1)) / (2 ** bits - 1)"), "(parts / scale", "((parts - parts.amin(-1, keepdim=True)) / scale")),

    # 13a.6 accept or repair
    Answer("13a.6", "a right answer: indices, a ratio, and how many running sums are not above w", REPAIR, right=True),
    Answer("13a.6", "a right answer: a loop over the rows and over the tokens", """
def accept_or_repair(p, q, token, u, w):
    new, accepted = token.clone(), torch.zeros(len(token), dtype=torch.bool)
    for i, x in enumerate(token.tolist()):
        if u[i] < p[i, x] / q[i, x]:
            accepted[i] = True
            continue
        rest = [max(0.0, float(a) - float(b)) for a, b in zip(p[i], q[i])]
        total, running = sum(rest), 0.0
        for j, r in enumerate(rest):
            running += r / total
            if running > w[i]:
                new[i] = j
                break
    return new, accepted
""", right=True),
    Answer("13a.6", "a right answer: gather, u times q below p, and searchsorted with right=True", """
def accept_or_repair(p, q, token, u, w):
    pt = p.gather(1, token.unsqueeze(1)).squeeze(1)
    qt = q.gather(1, token.unsqueeze(1)).squeeze(1)
    ok = u * qt < pt
    more = torch.relu(p - q)
    more = more / more.sum(-1, keepdim=True).clamp(min=1e-12)
    where = torch.searchsorted(more.cumsum(-1).contiguous(), w.unsqueeze(-1).contiguous(), right=True).squeeze(-1)
    return torch.where(ok, token, where.clamp(max=p.shape[1] - 1)), ok
""", right=True),
    Answer("13a.6", "a right answer: only the rejected rows are repaired; argmax finds the first running sum above w", """
def accept_or_repair(p, q, token, u, w):
    one_hot = F.one_hot(token, p.shape[1]).to(p.dtype)
    chance = torch.minimum(torch.ones_like(u), (p * one_hot).sum(1) / (q * one_hot).sum(1))
    accepted = torch.lt(u, chance)
    result = token.clone()
    bad = (~accepted).nonzero()[:, 0]
    if len(bad) > 0:
        gap = torch.maximum(p[bad] - q[bad], torch.tensor(0.0))
        running = torch.cumsum(gap / gap.sum(dim=1, keepdim=True), dim=1)
        result[bad] = (running > w[bad, None]).int().argmax(dim=1)
    return result, accepted
""", right=True),
    Answer("13a.6", "a right answer: w is multiplied by the sum instead of dividing, in double precision", """
def accept_or_repair(p, q, token, u, w):
    n = torch.arange(token.numel())
    accepted = (p[n, token] / q[n, token]) > u
    gap = (p.double() - q.double()).clamp_min(0)
    running = gap.cumsum(1)
    repaired = (running <= w.double()[:, None] * running[:, -1:]).sum(1).clamp_max(p.shape[1] - 1)
    return accepted * token + ~accepted * repaired, accepted
""", right=True),
    Answer("13a.6", "repairs by drawing from p itself: the natural bug of the text", edit(edit(REPAIR,
           "    left = (p - q).clamp(min=0)\n", "    left = p\n"), "left / left.sum", "left / left.sum")),
    Answer("13a.6", "repairs by drawing from q again", edit(REPAIR, "(p - q).clamp(min=0)", "q")),
    Answer("13a.6", "repairs with what q has more than p", edit(REPAIR, "(p - q).clamp(min=0)", "(q - p).clamp(min=0)")),
    Answer("13a.6", "the size of the difference instead of its positive part", edit(REPAIR, "(p - q).clamp(min=0)", "(p - q).abs()")),
    Answer("13a.6", "the negative parts are left in the difference", edit(edit(REPAIR, "(p - q).clamp(min=0)", "p - q"),
           "left / left.sum(1, keepdim=True)", "left / left.clamp(min=0).sum(1, keepdim=True)")),
    Answer("13a.6", "the leftover is not made to sum 1", edit(REPAIR, "    left = left / left.sum(1, keepdim=True)\n", "")),
    Answer("13a.6", "the leftover is divided by the sum over the whole batch", edit(REPAIR, "left.sum(1, keepdim=True)", "left.sum()")),
    Answer("13a.6", "the leftover is divided by the sum over the rows, for each token", edit(REPAIR, "left.sum(1, keepdim=True)",
           "left.sum(0, keepdim=True)")),
    Answer("13a.6", "a softmax makes the leftover sum 1: tokens without leftover can be drawn", edit(REPAIR,
           "left / left.sum(1, keepdim=True)", "left.softmax(1)")),
    Answer("13a.6", "p without the rejected token, made to sum 1", edit(REPAIR, "(p - q).clamp(min=0)",
           "p.scatter(1, token[:, None], 0.0)")),
    Answer("13a.6", "the token with the largest leftover instead of a draw", edit(REPAIR,
           "(left.cumsum(1) <= w[:, None]).sum(1)", "left.argmax(1)")),
    Answer("13a.6", "draws by torch.multinomial and does not use w", edit(REPAIR, "(left.cumsum(1) <= w[:, None]).sum(1)",
           "torch.multinomial(left.nan_to_num(1.0) + 1e-9, 1)[:, 0]")),
    Answer("13a.6", "the acceptance is turned round: accepts if u is above the ratio", edit(REPAIR, "u < ratio", "u > ratio")),
    Answer("13a.6", "the ratio is q over p", edit(REPAIR, "p[rows, token] / q[rows, token]", "q[rows, token] / p[rows, token]")),
    Answer("13a.6", "accepts if u is below p, not below p over q", edit(REPAIR, "p[rows, token] / q[rows, token]", "p[rows, token]")),
    Answer("13a.6", "accepts exactly if p is at least q: u is not used", edit(REPAIR, "u < ratio", "ratio >= 1")),
    Answer("13a.6", "accepts everything", edit(REPAIR, "u < ratio", "u >= 0")),
    Answer("13a.6", "accepts only the token that the large model likes best", edit(REPAIR, "u < ratio", "p.argmax(1) == token")),
    Answer("13a.6", "u equal to the ratio is accepted", edit(REPAIR, "u < ratio", "u <= ratio")),
    Answer("13a.6", "u and w are exchanged", edit(edit(REPAIR, "u < ratio", "w < ratio"), "<= w[:, None]", "<= u[:, None]")),
    Answer("13a.6", "u is used for the draw too", edit(REPAIR, "<= w[:, None]", "<= u[:, None]")),
    Answer("13a.6", "running sums below w are counted: a sum equal to w already ends the search", edit(REPAIR, "<= w[:, None]",
           "< w[:, None]")),
    Answer("13a.6", "one token too late: counts the tokens up to the one sought", edit(REPAIR, "<= w[:, None]).sum(1)",
           "<= w[:, None]).sum(1) + 1")),
    Answer("13a.6", "one token too early", edit(REPAIR, "<= w[:, None]).sum(1)", "<= w[:, None]).sum(1).sub(1).clamp_min(0)")),
    Answer("13a.6", "the last token at which the running sum is not above w", edit(REPAIR, "(left.cumsum(1) <= w[:, None]).sum(1)",
           "(left.cumsum(1) > w[:, None]).sum(1)")),
    Answer("13a.6", "the running sum runs over the rows", edit(REPAIR, "left.cumsum(1)", "left.cumsum(0)")),
    Answer("13a.6", "no running sum: the first token whose own share is above w", edit(REPAIR, "left.cumsum(1) <= w[:, None]).sum(1)",
           "left > w[:, None]).int().argmax(1)")),
    Answer("13a.6", "accepted and repaired are exchanged in the result", edit(REPAIR, "torch.where(accepted, token, new)",
           "torch.where(accepted, new, token)")),
    Answer("13a.6", "the flag says which tokens were repaired", edit(REPAIR, "new), accepted", "new), ~accepted")),
    Answer("13a.6", "accepted as numbers 0 and 1", edit(REPAIR, "new), accepted", "new), accepted.float()")),
    Answer("13a.6", "only the accepted tokens are returned", edit(REPAIR, "torch.where(accepted, token, new)", "token[accepted]")),
    Answer("13a.6", "returns the new tokens alone", edit(REPAIR, "torch.where(accepted, token, new), accepted",
           "torch.where(accepted, token, new)")),
    Answer("13a.6", "returns the flag first", edit(REPAIR, "torch.where(accepted, token, new), accepted",
           "accepted, torch.where(accepted, token, new)")),
    Answer("13a.6", "the drafted tokens are overwritten in place", edit(REPAIR, "    return torch.where(accepted, token, new), accepted",
           "    token[~accepted] = new[~accepted]\n    return token, accepted")),
    Answer("13a.6", "p[:, token] picks a square of rows and tokens", edit(REPAIR, "p[rows, token] / q[rows, token]",
           "p[:, token] / q[:, token]")),
    Answer("13a.6", "the leftover is the ratio that is missing: 1 - p/q", edit(REPAIR, "(p - q).clamp(min=0)", "(1 - p / q).clamp(min=0)")),
    Answer("13a.6", "half finished: rejected tokens become 0", edit(REPAIR, "(left.cumsum(1) <= w[:, None]).sum(1)",
           "torch.zeros_like(token)")),
)
