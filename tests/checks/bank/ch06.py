"""Chapter 06: answers written from the blank notebook."""

from . import Answer, edit

# 06.1 ---------------------------------------------------------------------------------------------------------------

CAUSAL = """
def causal_mask(n, m=None):
    if m is None:
        m = n
    if m < n:
        raise ValueError(f"{n} queries cannot be the last of {m} keys")
    query = torch.arange(m - n, m)[:, None]
    key = torch.arange(m)
    return key <= query
"""

CAUSAL_TRIL = """
def causal_mask(n, m=None):
    keys = n if m is None else m
    offset = keys - n
    if offset < 0:
        raise ValueError("m = %d is smaller than n = %d" % (keys, n))
    return torch.ones(n, keys, dtype=torch.bool).tril(diagonal=offset)
"""

CAUSAL_LOOP = """
def causal_mask(n, m=None):
    if m is None:
        m = n
    elif n > m:
        raise ValueError("there are only " + str(m) + " keys for " + str(n) + " queries")
    allowed = torch.zeros((n, m), dtype=torch.bool)
    for row in range(n):
        position = m - n + row
        allowed[row, :position + 1] = True
    return allowed
"""

CAUSAL_SLICE = """
def causal_mask(n, m=None):
    m = m if m is not None else n
    if not n <= m:
        raise ValueError(f"need n <= m, got n={n} and m={m}")
    whole = ~torch.triu(torch.ones(m, m), diagonal=1).bool()
    return whole[m - n:]
"""

# 06.2 ---------------------------------------------------------------------------------------------------------------

FILLS = """
prediction_of_fills = {
    "two hidden, filled with -inf": "zero",
    "two hidden, filled with -1e9": "zero",
    "two hidden, scores times 0": "unequal",
    "two hidden, fp16: (1 - keep) * -1e9 added": "nan",
    "all hidden, filled with -inf": "nan",
    "all hidden, filled with -1e9": "equal",
    "all hidden, fp16: two masks of finfo.min added": "nan",
    "all hidden, the policy of this course": "zero",
}
"""

FILLS_GROUPED = """
answers = {
    "zero": ["two hidden, filled with -inf", "two hidden, filled with -1e9", "all hidden, the policy of this course"],
    "equal": ["all hidden, filled with -1e9"],
    "unequal": ["two hidden, scores times 0"],
    "nan": ["two hidden, fp16: (1 - keep) * -1e9 added", "all hidden, filled with -inf",
            "all hidden, fp16: two masks of finfo.min added"],
}
prediction_of_fills = {case: word for word, cases in answers.items() for case in cases}
"""

FILLS_STEPS = """
nan, zero = "nan", "zero"
prediction_of_fills = dict.fromkeys(["two hidden, filled with -inf", "two hidden, filled with -1e9"], zero)
prediction_of_fills["two hidden, scores times 0"] = "unequal"      # e^0 stays in the sum: about 0.08 each
prediction_of_fills["two hidden, fp16: (1 - keep) * -1e9 added"] = nan
prediction_of_fills["all hidden, filled with -inf"] = nan
prediction_of_fills["all hidden, filled with -1e9"] = "equal"
prediction_of_fills["all hidden, fp16: two masks of finfo.min added"] = nan
prediction_of_fills["all hidden, the policy of this course"] = zero
"""

# 06.3 ---------------------------------------------------------------------------------------------------------------

DECODER = """
def decoder_mask(ids, pad_id=0, n=None):
    if ids.dim() != 2:
        raise ValueError(f"ids must be (batch, m), not {tuple(ids.shape)}")
    m = ids.shape[1]
    if n is None:
        n = m
    position = torch.arange(m, device=ids.device)
    causal = position <= position[m - n:, None]
    real = ids != pad_id
    return real[:, None, :] & causal
"""

DECODER_FULL = """
def decoder_mask(ids, pad_id=0, n=None):
    if len(ids.shape) != 2:
        raise ValueError("expected two axes, but the shape is " + str(tuple(ids.shape)))
    batch, m = ids.shape
    square = torch.ones(m, m, dtype=torch.bool, device=ids.device).tril()
    both = torch.logical_and(square.expand(batch, m, m), ids.ne(pad_id).unsqueeze(1))
    return both if n is None else both[:, m - n:]
"""

DECODER_LOOP = """
def decoder_mask(ids, pad_id=0, n=None):
    if ids.ndim != 2:
        raise ValueError(f"shape {tuple(ids.shape)} has {ids.ndim} axes instead of 2")
    batch, m = ids.shape
    queries = m if n is None else n
    mask = torch.zeros(batch, queries, m, dtype=torch.bool)
    for b in range(batch):
        for i in range(queries):
            for j in range(m - queries + i + 1):
                mask[b, i, j] = ids[b, j].item() != pad_id
    return mask
"""

DECODER_PRODUCT = """
def decoder_mask(ids, pad_id=0, n=None):
    if ids.dim() != 2:
        raise ValueError(f"decoder_mask got ids of the shape {tuple(ids.shape)}")
    m = ids.size(1)
    n = m if n is None else n
    hidden_future = torch.ones(n, m, device=ids.device).triu(m - n + 1).bool()
    hidden_pads = (ids == pad_id)[:, None].expand(-1, n, -1)
    return ~(hidden_pads | hidden_future)
"""

# 06.4 ---------------------------------------------------------------------------------------------------------------

MEAN = """
def masked_mean(x, mask):
    filled = x.masked_fill(~mask[..., None], 0.0)
    count = mask.sum(dim=1, keepdim=True)
    return filled.sum(dim=1) / count.clamp(min=1)
"""

MEAN_LOOP = """
def masked_mean(x, mask):
    rows = []
    for vectors, real in zip(x, mask):
        chosen = vectors[real]
        rows.append(chosen.sum(0) / max(1, len(chosen)))
    return torch.stack(rows)
"""

MEAN_EINSUM = """
def masked_mean(x, mask):
    clean = torch.where(mask.unsqueeze(-1), x, torch.zeros_like(x))
    share = mask.to(x.dtype) / mask.sum(1, keepdim=True).clamp_min(1)
    return torch.einsum("bn,bnd->bd", share, clean)
"""

MEAN_INDEX = """
def masked_mean(x, mask):
    sentence, token = mask.nonzero(as_tuple=True)
    total = x.new_zeros(x.shape[0], x.shape[2]).index_add(0, sentence, x[sentence, token])
    count = mask.sum(1)
    count = torch.where(count == 0, torch.ones_like(count), count)
    return total / count.unsqueeze(1)
"""

# 06.5 ---------------------------------------------------------------------------------------------------------------

READS = """
def reads(f, x):
    jacobian = torch.autograd.functional.jacobian(f, x.detach().clone())      # (output, feature, input, feature)
    return (jacobian != 0).any(dim=3).any(dim=1)
"""

READS_GRAD = """
def reads(f, x):
    leaf = x.detach().clone().requires_grad_()
    out = f(leaf.clone())
    matrix = torch.zeros(out.shape[0], x.shape[0], dtype=torch.bool)
    if not out.requires_grad:
        return matrix
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            slope, = torch.autograd.grad(out[i, c], leaf, retain_graph=True, allow_unused=True)
            if slope is not None:
                matrix[i] |= slope.ne(0).any(-1)
    return matrix
"""

READS_ROWS = """
def reads(f, x):
    x = x.detach().clone()
    rows = []
    for i in range(len(f(x))):
        slopes = torch.autograd.functional.jacobian(lambda t: f(t)[i], x)     # (feature, input, feature)
        rows.append(slopes.abs().amax(dim=(0, 2)) > 0)
    return torch.stack(rows)
"""

READS_BACKWARD = """
def reads(f, x):
    x = x.detach().clone().requires_grad_()
    out = f(x)
    matrix = torch.zeros(len(out), len(x), dtype=torch.bool)
    for i in range(len(out)):
        for c in range(out.shape[1]):
            x.grad = None
            out[i, c].backward(retain_graph=True)
            matrix[i] |= (x.grad != 0).any(-1)
    return matrix
"""

# 06.6 ---------------------------------------------------------------------------------------------------------------

LEAKY = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def forward(self, x):
        n = x.shape[1]
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)     # (batch, query, key)
        weights = torch.softmax(scores, dim=-1)
        weights = weights.masked_fill(~self.visible[:n, :n], 0.0)
        return weights @ self.w_v(x)
"""

MENDED = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def forward(self, x):
        n = x.shape[1]
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)     # (batch, query, key)
        scores = scores.masked_fill(~self.visible[:n, :n], -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.w_v(x)
"""

MASK_LINE = """        scores = scores.masked_fill(~self.visible[:n, :n], -torch.inf)
"""

MENDED_ADDED = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_k, bias=False)
        self.d_k = d_k

    def forward(self, x):
        batch, n, _ = x.shape
        future = torch.full((n, n), -math.inf, device=x.device, dtype=x.dtype).triu(1)
        scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x)) * self.d_k ** -0.5
        return torch.einsum("bij,bjd->bid", (scores + future).softmax(-1), self.w_v(x))
"""

MENDED_ROWS = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.root = math.sqrt(d_k)

    def forward(self, x):
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        rows = []
        for i in range(x.shape[1]):
            past = slice(0, i + 1)                           # row i never meets a later token
            scores = query[:, i:i + 1] @ key[:, past].transpose(1, 2) / self.root
            rows.append(torch.softmax(scores, -1) @ value[:, past])
        return torch.cat(rows, dim=1)
"""

MENDED_BY_HAND = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def forward(self, x):
        n = x.shape[1]
        keep = self.visible[:n, :n]
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)
        scores = torch.where(keep, scores, -torch.inf)
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        return exps / exps.sum(-1, keepdim=True) @ self.w_v(x)
"""

# 06.7 ---------------------------------------------------------------------------------------------------------------

PREFIX = """
def prefix_window_mask(n, prefix=0, window=None):
    if prefix < 0 or prefix > n:
        raise ValueError(f"prefix {prefix} is not in 0..{n}")
    if window is not None and window < 1:
        raise ValueError(f"window {window} is below 1")
    key = torch.arange(n)
    distance = key[:, None] - key
    near = distance >= 0
    if window is not None:
        near = near & (distance < window)
    return near | (key < prefix)
"""

PREFIX_BAND = """
def prefix_window_mask(n, prefix=0, window=None):
    if not 0 <= prefix <= n:
        raise ValueError("bad prefix: " + str(prefix))
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    if window is not None:
        if window <= 0:
            raise ValueError("bad window: " + str(window))
        mask = mask.triu(1 - window)
    mask[:, :prefix] = True
    return mask
"""

PREFIX_LOOP = """
def prefix_window_mask(n, prefix=0, window=None):
    if prefix not in range(n + 1):
        raise ValueError(f"a prefix of {prefix} tokens does not fit {n} tokens")
    if window is not None and not window >= 1:
        raise ValueError(f"a window of {window} sees nothing")
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        first = 0 if window is None else max(0, i - window + 1)
        mask[i, first:i + 1] = True
        mask[i, :prefix] = True
    return mask
"""

PREFIX_DIFFERENCE = """
def prefix_window_mask(n, prefix=0, window=None):
    if min(prefix, n - prefix) < 0:
        raise ValueError(f"prefix={prefix}")
    if window is not None and window < 1:
        raise ValueError(f"window={window}")
    reach = n if window is None else window
    triangle = torch.tril(torch.ones(n, n))
    too_old = torch.tril(torch.ones(n, n), diagonal=-reach)
    open_keys = torch.zeros(n, n)
    open_keys[:, :prefix] = 1
    return (triangle - too_old + open_keys) > 0
"""

BANK = (
    # 06.1
    Answer("06.1", "compares positions", CAUSAL, right=True),
    Answer("06.1", "a lower triangle with an offset", CAUSAL_TRIL, right=True),
    Answer("06.1", "fills row by row", CAUSAL_LOOP, right=True),
    Answer("06.1", "cuts the last rows out of the square triangle", CAUSAL_SLICE, right=True),
    Answer("06.1", "the triangle lies in the upper left corner, as if the queries were the first n of the keys",
           edit(CAUSAL, "torch.arange(m - n, m)[:, None]", "torch.arange(n)[:, None]")),
    Answer("06.1", "True hides instead of permitting", edit(CAUSAL, "key <= query", "key > query")),
    Answer("06.1", "the token does not see itself", edit(CAUSAL, "key <= query", "key < query")),
    Answer("06.1", "m = 0 is taken for 'no m given', so no error is raised", edit(CAUSAL, """    if m is None:
        m = n
""", """    m = m or n
""")),
    Answer("06.1", "no ValueError when there are fewer keys than queries", edit(CAUSAL, """    if m < n:
        raise ValueError(f"{n} queries cannot be the last of {m} keys")
""", "")),
    Answer("06.1", "returns ones and zeros as floats instead of booleans",
           edit(CAUSAL_TRIL, "torch.ones(n, keys, dtype=torch.bool)", "torch.ones(n, keys)")),
    Answer("06.1", "every query sees one token ahead", edit(CAUSAL_TRIL, "diagonal=offset", "diagonal=offset + 1")),
    Answer("06.1", "returns (m, n): the axes of queries and keys are exchanged",
           edit(CAUSAL, "    return key <= query", "    return (key <= query).T")),
    Answer("06.1", "raises for m = n too, although a square mask was asked for by name",
           edit(CAUSAL, """        m = n
    if m < n:
""", """        return torch.ones(n, n).tril().bool()
    if m <= n:
""")),
    Answer("06.1", "the error message names only one of the two numbers",
           edit(CAUSAL, '{n} queries cannot be the last of {m} keys', 'more queries than the {m} keys')),
    Answer("06.1", "ignores m and always returns a square", """
def causal_mask(n, m=None):
    if m is not None and m < n:
        raise ValueError(f"{m} is smaller than {n}")
    return torch.ones(n, n).tril().bool()
"""),
    Answer("06.1", "returns minus infinity and 0 to be added, not a boolean mask", """
def causal_mask(n, m=None):
    m = n if m is None else m
    if m < n:
        raise ValueError(f"{m} < {n}")
    return torch.full((n, m), float("-inf")).triu(m - n + 1)
"""),
    Answer("06.1", "prints the mask and returns nothing", """
def causal_mask(n, m=None):
    if m is None:
        m = n
    if m < n:
        raise ValueError(f"{m} < {n}")
    print(torch.ones(n, m).tril(m - n).bool())
"""),
    # 06.2
    Answer("06.2", "the plain dictionary", FILLS, right=True),
    Answer("06.2", "grouped by answer and turned round", FILLS_GROUPED, right=True),
    Answer("06.2", "filled step by step", FILLS_STEPS, right=True),
    Answer("06.2", "believes that a score of 0 has the weight 0, but e to the 0 is 1",
           edit(FILLS, '"two hidden, scores times 0": "unequal"', '"two hidden, scores times 0": "zero"')),
    Answer("06.2", "says a quarter each for scores times 0, but the visible keys have larger scores",
           edit(FILLS, '"two hidden, scores times 0": "unequal"', '"two hidden, scores times 0": "equal"')),
    Answer("06.2", "forgets that minus infinity minus minus infinity is not a number",
           edit(FILLS, '"all hidden, filled with -inf": "nan"', '"all hidden, filled with -inf": "zero"')),
    Answer("06.2", "believes that -1e9 everywhere gives zeros, although a softmax sums to 1",
           edit(FILLS, '"all hidden, filled with -1e9": "equal"', '"all hidden, filled with -1e9": "zero"')),
    Answer("06.2", "takes filling for adding: the old differences of the scores are gone when all are replaced",
           edit(FILLS, '"all hidden, filled with -1e9": "equal"', '"all hidden, filled with -1e9": "unequal"')),
    Answer("06.2", "does not notice that 0 times minus infinity makes the visible keys NaN",
           edit(FILLS, '-1e9 added": "nan"', '-1e9 added": "zero"')),
    Answer("06.2", "does not notice that two finfo.min overflow to minus infinity",
           edit(FILLS, 'finfo.min added": "nan"', 'finfo.min added": "equal"')),
    Answer("06.2", "takes uniform weights for the policy of the course",
           edit(FILLS, 'policy of this course": "zero"', 'policy of this course": "equal"')),
    Answer("06.2", "thinks that the course lets an empty row be NaN",
           edit(FILLS, 'policy of this course": "zero"', 'policy of this course": "nan"')),
    Answer("06.2", "thinks that -1e9 leaves something above zero; the exponential of -1e9 is 0 in floats",
           edit(FILLS, '"two hidden, filled with -1e9": "zero"', '"two hidden, filled with -1e9": "unequal"')),
    Answer("06.2", "believes that one minus infinity already spoils a row with visible keys",
           edit(FILLS, '"two hidden, filled with -inf": "zero"', '"two hidden, filled with -inf": "nan"')),
    Answer("06.2", "answers zero everywhere without thinking", """
prediction_of_fills = dict.fromkeys([
    "two hidden, filled with -inf", "two hidden, filled with -1e9", "two hidden, scores times 0",
    "two hidden, fp16: (1 - keep) * -1e9 added", "all hidden, filled with -inf", "all hidden, filled with -1e9",
    "all hidden, fp16: two masks of finfo.min added", "all hidden, the policy of this course"], "zero")
"""),
    Answer("06.2", "leaves the last two unanswered",
           edit(edit(FILLS, 'finfo.min added": "nan"', 'finfo.min added": None'), 'course": "zero"', 'course": None')),
    # 06.3
    Answer("06.3", "compares positions and adds an axis", DECODER, right=True),
    Answer("06.3", "builds all m rows and cuts out the last n", DECODER_FULL, right=True),
    Answer("06.3", "three loops", DECODER_LOOP, right=True),
    Answer("06.3", "collects what is hidden and negates it", DECODER_PRODUCT, right=True),
    Answer("06.3", "joins the masks by or, so that each permits what the other forbids",
           edit(DECODER, "real[:, None, :] & causal", "real[:, None, :] | causal")),
    Answer("06.3", "the padding mask is turned round: only pads may be seen",
           edit(DECODER, "ids != pad_id", "ids == pad_id")),
    Answer("06.3", "takes 0 for the pad whatever pad_id says", edit(DECODER, "ids != pad_id", "ids != 0")),
    Answer("06.3", "ignores n and returns all m rows", edit(DECODER, """    if n is None:
        n = m
""", """    n = m
""")),
    Answer("06.3", "takes the first n positions for the queries instead of the last n",
           edit(DECODER, "position[m - n:, None]", "position[:n, None]")),
    Answer("06.3", "counts the real tokens and assumes that pads stand on the right",
           edit(DECODER, "    real = ids != pad_id\n",
                "    real = position < (ids != pad_id).sum(1, keepdim=True)\n")),
    Answer("06.3", "empties the rows of pads too, which the task leaves alone",
           edit(DECODER, "    return real[:, None, :] & causal",
                "    return real[:, None, :] & causal & real[:, m - n:, None]")),
    Answer("06.3", "lets every query see itself, pads included, so that no row is empty",
           edit(DECODER, "    return real[:, None, :] & causal",
                "    own = position == position[m - n:, None]\n    return real[:, None, :] & causal | own")),
    Answer("06.3", "no ValueError for ids with one or three axes", edit(DECODER, """    if ids.dim() != 2:
        raise ValueError(f"ids must be (batch, m), not {tuple(ids.shape)}")
    m = ids.shape[1]
""", """    ids = ids.reshape(-1, ids.shape[-1])
    m = ids.shape[1]
""")),
    Answer("06.3", "inserts the axis on the wrong side: the rows of pads are hidden, not their columns", """
def decoder_mask(ids, pad_id=0, n=None):
    if ids.dim() != 2:
        raise ValueError(f"ids must be (batch, m), not {tuple(ids.shape)}")
    m = ids.shape[1]
    n = m if n is None else n
    causal = torch.ones(n, m).tril(m - n).bool()
    return (ids != pad_id)[:, m - n:, None] & causal
"""),
    Answer("06.3", "forgets the axis of the queries, so sentences and queries get mixed up",
           edit(DECODER, "real[:, None, :] & causal", "real & causal")),
    Answer("06.3", "returns four axes with one for the heads",
           edit(DECODER, "real[:, None, :] & causal", "real[:, None, None, :] & causal")),
    Answer("06.3", "the triangle is turned round: only the future may be seen",
           edit(DECODER, "position <= position[m - n:, None]", "position >= position[m - n:, None]")),
    Answer("06.3", "takes every id below pad_id for a pad as well", edit(DECODER, "ids != pad_id", "ids > pad_id")),
    Answer("06.3", "with n it cuts the keys too and returns (batch, n, n)", """
def decoder_mask(ids, pad_id=0, n=None):
    if ids.dim() != 2:
        raise ValueError(f"ids must be (batch, m), not {tuple(ids.shape)}")
    if n is not None:
        ids = ids[:, -n:]
    m = ids.shape[1]
    return (ids != pad_id)[:, None] & torch.ones(m, m).tril().bool()
"""),
    # 06.4
    Answer("06.4", "fills with 0, sums, divides by the clamped count", MEAN, right=True),
    Answer("06.4", "one sentence after another", MEAN_LOOP, right=True),
    Answer("06.4", "shares and einsum", MEAN_EINSUM, right=True),
    Answer("06.4", "collects the real tokens with index_add", MEAN_INDEX, right=True),
    Answer("06.4", "multiplies by the mask: 0 times NaN is NaN", """
def masked_mean(x, mask):
    total = (x * mask[..., None]).sum(1)
    return total / mask.sum(1, keepdim=True).clamp(min=1)
"""),
    Answer("06.4", "takes the mean over all tokens, pads included", """
def masked_mean(x, mask):
    return x.mean(dim=1)
"""),
    Answer("06.4", "fills the pads with 0 but divides by n instead of the number of real tokens", """
def masked_mean(x, mask):
    return x.masked_fill(~mask[..., None], 0.0).mean(dim=1)
"""),
    Answer("06.4", "divides 0 by 0 for a sentence without real tokens", edit(MEAN, "count.clamp(min=1)", "count")),
    Answer("06.4", "takes the first tokens for the real ones, as if pads stood on the right only", """
def masked_mean(x, mask):
    rows = []
    for vectors, count in zip(x, mask.sum(1).tolist()):
        rows.append(vectors[:count].sum(0) / max(count, 1))
    return torch.stack(rows)
"""),
    Answer("06.4", "the mask is turned round: averages what stands on the pads",
           edit(edit(MEAN, "~mask[..., None]", "mask[..., None]"), "mask.sum(dim=1", "(~mask).sum(dim=1")),
    Answer("06.4", "divides by one token too many", edit(MEAN, "count.clamp(min=1)", "(count + 1)")),
    Answer("06.4", "writes zeros into x itself, which fails as soon as x needs a gradient", """
def masked_mean(x, mask):
    x[~mask] = 0.0
    return x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
"""),
    Answer("06.4", "works only if all sentences have equally many real tokens", """
def masked_mean(x, mask):
    return x[mask].view(x.shape[0], -1, x.shape[2]).mean(dim=1)
"""),
    Answer("06.4", "divides every sentence by the number of real tokens of the whole batch",
           edit(MEAN, "mask.sum(dim=1, keepdim=True)", "mask.sum()")),
    Answer("06.4", "removes NaN before multiplying, but not infinity", """
def masked_mean(x, mask):
    x = torch.where(x.isnan(), torch.zeros_like(x), x)
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
"""),
    Answer("06.4", "averages over the features instead of the tokens", """
def masked_mean(x, mask):
    return x.masked_fill(~mask[..., None], 0.0).sum(dim=-1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
"""),
    Answer("06.4", "cuts the gradient by detaching x", edit(MEAN, "x.masked_fill", "x.detach().masked_fill")),
    # 06.5
    Answer("06.5", "the whole Jacobian, then any", READS, right=True),
    Answer("06.5", "one gradient for each feature of each output", READS_GRAD, right=True),
    Answer("06.5", "one Jacobian for each output", READS_ROWS, right=True),
    Answer("06.5", "sums the features of an output before differentiating, which is blind behind a layer norm", """
def reads(f, x):
    rows = [torch.autograd.functional.jacobian(lambda t: f(t)[i].sum(), x) for i in range(len(f(x)))]
    return torch.stack(rows).abs().amax(-1) > 1e-5
"""),
    Answer("06.5", "its threshold of 0.001 overlooks faint slopes", """
def reads(f, x):
    jacobian = torch.autograd.functional.jacobian(f, x)
    return (jacobian.abs() > 1e-3).any(dim=3).any(dim=1)
"""),
    Answer("06.5", "compares with the largest slope, so that a faint one beside it is overlooked", """
def reads(f, x):
    size = torch.autograd.functional.jacobian(f, x).abs().amax(dim=(1, 3))
    return size > 1e-3 * size.max()
"""),
    Answer("06.5", "pushes inputs and compares with allclose, which faint dependence beside large numbers does not move", """
def reads(f, x):
    before = f(x)
    columns = []
    for j in range(len(x)):
        pushed = x.clone()
        pushed[j] += 0.1 * torch.randn(x.shape[1])
        after = f(pushed)
        columns.append(torch.tensor([not torch.allclose(a, b, atol=1e-4) for a, b in zip(after, before)]))
    return torch.stack(columns, dim=1)
"""),
    Answer("06.5", "returns (inputs, outputs): the matrix is transposed",
           edit(READS, ".any(dim=3).any(dim=1)", ".any(dim=3).any(dim=1).T")),
    Answer("06.5", "demands that all features depend on each other, where one pair is enough",
           edit(READS, ".any(dim=3).any(dim=1)", ".all(dim=3).all(dim=1)")),
    Answer("06.5", "looks only at the first feature of each output",
           edit(READS, "(jacobian != 0).any(dim=3).any(dim=1)", "(jacobian[:, 0] != 0).any(dim=2)")),
    Answer("06.5", "returns the sizes of the slopes instead of booleans",
           edit(READS, "(jacobian != 0).any(dim=3).any(dim=1)", "jacobian.abs().amax(dim=3).amax(dim=1)")),
    Answer("06.5", "adds up slopes with their signs, which cancel",
           edit(READS, "(jacobian != 0).any(dim=3).any(dim=1)", "jacobian.sum(dim=(1, 3)).abs() > 1e-6")),
    Answer("06.5", "assumes as many outputs as inputs",
           edit(READS_BACKWARD, "torch.zeros(len(out), len(x), dtype=torch.bool)", "torch.zeros(len(x), len(x)).bool()")),
    Answer("06.5", "does not reset the gradient, so each row inherits what the rows above read",
           edit(READS_BACKWARD, "            x.grad = None\n", "")),
    Answer("06.5", "differentiates the sum of all outputs at once: all rows are alike", """
def reads(f, x):
    x = x.detach().clone().requires_grad_()
    out = f(x)
    out.pow(2).sum().backward()
    return (x.grad != 0).any(-1).expand(len(out), len(x))
"""),
    Answer("06.5", "changes the numbers of x while it tries", """
def reads(f, x):
    before = f(x).detach()
    matrix = torch.zeros(len(before), len(x), dtype=torch.bool)
    for j in range(len(x)):
        x[j] += 1.0
        after = f(x).detach()
        matrix[:, j] = (after != before).any(-1)
        before = after
    return matrix
"""),
    Answer("06.5", "returns the triangle that one hopes for, without looking at f", """
def reads(f, x):
    n = len(x)
    return torch.ones(n, n).tril().bool()
"""),
    # 06.6
    Answer("06.6", "masks before the softmax", MENDED, right=True),
    Answer("06.6", "adds minus infinity above the diagonal", MENDED_ADDED, right=True),
    Answer("06.6", "row by row, over the past only", MENDED_ROWS, right=True),
    Answer("06.6", "writes the softmax out", MENDED_BY_HAND, right=True),
    Answer("06.6", "nothing was changed: the future is still in the denominator", LEAKY),
    Answer("06.6", "the scores of the future are set to 0, which is an ordinary score",
           edit(MENDED, "-torch.inf", "0.0")),
    Answer("06.6", "the mask is turned round: the past is hidden",
           edit(MENDED, "~self.visible[:n, :n]", "self.visible[:n, :n]")),
    Answer("06.6", "the softmax runs over the queries",
           edit(MENDED, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=1)")),
    Answer("06.6", "the mask is not cut to the length of x, so it fails for n below max_len",
           edit(MENDED, "~self.visible[:n, :n]", "~self.visible")),
    Answer("06.6", "a token may not see itself, so the first row has nothing and is NaN",
           edit(MENDED, ".tril().bool()", ".tril(-1).bool()")),
    Answer("06.6", "one token ahead stays visible", edit(MENDED, ".tril().bool()", ".tril(1).bool()")),
    Answer("06.6", "divides each column, not each row, by what is left", edit(LEAKY, """        return weights @ self.w_v(x)
""", """        weights = weights / weights.sum(dim=-2, keepdim=True)
        return weights @ self.w_v(x)
""")),
    Answer("06.6", "hides the future in training mode only", edit(MENDED, MASK_LINE, """        if self.training:
            scores = scores.masked_fill(~self.visible[:n, :n], -torch.inf)
""")),
    Answer("06.6", "fills with -10, which is not small enough: the future keeps some weight", edit(MENDED, "-torch.inf", "-10.0")),
    Answer("06.6", "cuts the stored mask for good, so a longer text after a short one fails",
           edit(MENDED, MASK_LINE, """        self.visible = self.visible[:n, :n]
        scores = scores.masked_fill(~self.visible, -torch.inf)
""")),
    Answer("06.6", "gives the linear layers a bias", edit(MENDED, "bias=False", "bias=True")),
    Answer("06.6", "the scale got lost in the repair", edit(MENDED, " / math.sqrt(self.w_q.out_features)", "")),
    Answer("06.6", "masks scores and detaches the weights, so queries and keys learn nothing",
           edit(MENDED, "return weights @", "return weights.detach() @")),
    # 06.7
    Answer("06.7", "a distance and two rules", PREFIX, right=True),
    Answer("06.7", "a band with open columns", PREFIX_BAND, right=True),
    Answer("06.7", "fills row by row", PREFIX_LOOP, right=True),
    Answer("06.7", "triangle minus what is too old", PREFIX_DIFFERENCE, right=True),
    Answer("06.7", "joins the two rules by and", edit(PREFIX, "near | (key < prefix)", "near & (key < prefix)")),
    Answer("06.7", "the window is one too wide: the own position is not counted",
           edit(PREFIX, "(distance < window)", "(distance <= window)")),
    Answer("06.7", "opens the prefix only to queries in the prefix; later ones lose it behind their window",
           edit(PREFIX_BAND, "mask[:, :prefix] = True", "mask[:prefix, :prefix] = True")),
    Answer("06.7", "the window cuts the prefix as well", """
def prefix_window_mask(n, prefix=0, window=None):
    if not 0 <= prefix <= n:
        raise ValueError(f"prefix {prefix}")
    if window is not None and window < 1:
        raise ValueError(f"window {window}")
    i, j = torch.arange(n)[:, None], torch.arange(n)
    mask = (j <= i) | (j < prefix)
    if window is not None:
        mask = mask & (i - j < window)
    return mask
"""),
    Answer("06.7", "a window of 0 is taken for no window instead of an error",
           edit(edit(PREFIX, "if window is not None and window < 1:", "if window and window < 1:"),
                "    if window is not None:\n        near", "    if window:\n        near")),
    Answer("06.7", "negative prefixes are not refused", edit(PREFIX, "prefix < 0 or prefix > n", "prefix > n")),
    Answer("06.7", "a prefix longer than the text is not refused", edit(PREFIX, "prefix < 0 or prefix > n", "prefix < 0")),
    Answer("06.7", "refuses a prefix of n, which is allowed", edit(PREFIX, "prefix > n:", "prefix >= n > 0:")),
    Answer("06.7", "opens the rows of the prefix instead of its columns",
           edit(PREFIX_BAND, "mask[:, :prefix] = True", "mask[:prefix] = True")),
    Answer("06.7", "the window looks ahead too", edit(PREFIX, """        near = near & (distance < window)
""", """        near = distance.abs() < window
""")),
    Answer("06.7", "the prefix is one key too long", edit(PREFIX, "key < prefix)", "key <= prefix)")),
    Answer("06.7", "returns floats, not booleans", edit(PREFIX, "return near | (key < prefix)", "return (near | (key < prefix)).float()")),
    Answer("06.7", "a missing window becomes a window of 1", edit(PREFIX, "    key = torch.arange(n)\n",
                                                                 "    key = torch.arange(n)\n    window = window or 1\n")),
    Answer("06.7", "checks nothing: bad prefixes and windows get a mask", """
def prefix_window_mask(n, prefix=0, window=None):
    window = n if window is None else window
    i, j = torch.arange(n)[:, None], torch.arange(n)
    return (j < prefix) | ((j <= i) & (i - j < window))
"""),
    Answer("06.7", "does the prefix and forgets the window", """
def prefix_window_mask(n, prefix=0, window=None):
    if not 0 <= prefix <= n:
        raise ValueError(f"prefix {prefix}")
    if window is not None and window < 1:
        raise ValueError(f"window {window}")
    mask = torch.ones(n, n).tril().bool()
    mask[:, :prefix] = True
    return mask
"""),
)
