"""Chapter 04: answers written from the blank notebook."""

from . import Answer, edit

# ---------------------------------------------------------------- 04.1

SHAPES = """
prediction_of_shapes = {
    "W_Q of one head": (12, 4),
    "W_V of one head": (12, 6),
    "weights of one head": (5, 7),
    "output of one head": (5, 6),
    "all heads side by side": (5, 18),
    "W_O": (18, 12),
    "output": (5, 12),
}
"""

# ---------------------------------------------------------------- 04.2

SPLIT = """
def split_heads(x, num_heads):
    batch, n, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"d_model = {d_model} is not divisible by num_heads = {num_heads}")
    head_dim = d_model // num_heads
    return x.reshape(batch, n, num_heads, head_dim).transpose(1, 2)
"""
SPLIT_LAST = "x.reshape(batch, n, num_heads, head_dim).transpose(1, 2)"

# ---------------------------------------------------------------- 04.3

MERGE = """
def merge_heads(x):
    batch, num_heads, n, d_v = x.shape
    return x.transpose(1, 2).reshape(batch, n, num_heads * d_v)
"""
MERGE_LAST = "x.transpose(1, 2).reshape(batch, n, num_heads * d_v)"

# ---------------------------------------------------------------- 04.4

MULTI = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is not divisible by num_heads = {num_heads}")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(heads.transpose(1, 2).flatten(2))
"""
CALL = "        heads, weights = scaled_dot_product_attention(q, k, v, mask)\n"

# the same with the attention written out
BY_HAND = edit(MULTI, CALL, """        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            empty = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & ~empty, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
        heads = weights @ v
""")

# ---------------------------------------------------------------- 04.5

OTHER = """
def mask_for_pytorch(mask, num_heads):
    return ~mask.repeat_interleave(num_heads, dim=0)
"""
OTHER_LAST = "~mask.repeat_interleave(num_heads, dim=0)"

# ---------------------------------------------------------------- 04.6

TERMS = """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    heads = torch.softmax(scores, dim=-1) @ value
    num_heads, n, d_v = heads.shape
    blocks = w_o.reshape(num_heads, d_v, w_o.shape[1])
    return heads @ blocks
"""

# ---------------------------------------------------------------- 04.7

TWINS = """
prediction_of_twins = {
    "heads equal, blocks of W_O equal": "identical for ever",
    "heads equal, blocks of W_O random": "different",
    "heads equal, W_O all zero": "identical for ever",
    "heads random, blocks of W_O equal": "different",
    "all equal, dropout on the weights": "different",
}
"""

BANK = (
    # ------------------------------------------------------------ 04.1
    Answer("04.1", "the seven shapes", SHAPES, right=True),
    Answer("04.1", "written with letters", """
n, m, d, h, d_k, d_v = 5, 7, 12, 3, 4, 6
prediction_of_shapes = dict([
    ("W_Q of one head", (d, d_k)),
    ("W_V of one head", (d, d_v)),
    ("weights of one head", (n, m)),
    ("output of one head", (n, d_v)),
    ("all heads side by side", (n, h * d_v)),
    ("W_O", (h * d_v, d)),
    ("output", (n, d)),
])
""", right=True),
    Answer("04.1", "read off from tensors of zeros", """
x, source = torch.zeros(5, 12), torch.zeros(7, 12)
w_q = w_k = torch.zeros(12, 4)
w_v = torch.zeros(12, 6)
weights = (x @ w_q) @ (source @ w_k).T
head = weights @ (source @ w_v)
row = torch.cat([head] * 3, dim=1)
w_o = torch.zeros(row.shape[1], 12)
prediction_of_shapes = {
    "W_Q of one head": tuple(w_q.shape),
    "W_V of one head": tuple(w_v.shape),
    "weights of one head": tuple(weights.shape),
    "output of one head": tuple(head.shape),
    "all heads side by side": tuple(row.shape),
    "W_O": tuple(w_o.shape),
    "output": tuple((row @ w_o).shape),
}
""", right=True),
    Answer("04.1", "W_Q is written as nn.Linear stores it, turned round: tokens are rows here.",
           edit(SHAPES, '"W_Q of one head": (12, 4)', '"W_Q of one head": (4, 12)')),
    Answer("04.1", "W_V is given the width of the keys.", edit(SHAPES, '"W_V of one head": (12, 6)', '"W_V of one head": (12, 4)')),
    Answer("04.1", "The weights stand on their side: they have a row for each query.", edit(SHAPES, "(5, 7)", "(7, 5)")),
    Answer("04.1", "The weights are not square: there are 7 keys.", edit(SHAPES, "(5, 7)", "(5, 5)")),
    Answer("04.1", "The output of a head has a row for each query, not for each value.", edit(SHAPES, "(5, 6)", "(7, 6)")),
    Answer("04.1", "The output of a head is as wide as the values, not as the keys.", edit(SHAPES, "(5, 6)", "(5, 4)")),
    Answer("04.1", "Side by side are h d_v columns, not h d_k; W_O has as many rows.",
           edit(edit(SHAPES, "(5, 18)", "(5, 12)"), '"W_O": (18, 12)', '"W_O": (12, 12)')),
    Answer("04.1", "The heads are stacked on top of each other: they lie along the features.", edit(SHAPES, "(5, 18)", "(15, 6)")),
    Answer("04.1", "W_O is taken to be square, as in the usual choice.", edit(SHAPES, '"W_O": (18, 12)', '"W_O": (12, 12)')),
    Answer("04.1", "W_O is turned round.", edit(SHAPES, '"W_O": (18, 12)', '"W_O": (12, 18)')),
    Answer("04.1", "The last matrix brings the width back to 12.", edit(SHAPES, '"output": (5, 12)', '"output": (5, 18)')),
    Answer("04.1", "The output has a row for each query, of which there are 5.", edit(SHAPES, '"output": (5, 12)', '"output": (7, 12)')),
    Answer("04.1", "Three rows are not filled in.", """
prediction_of_shapes = {
    "W_Q of one head": (12, 4),
    "W_V of one head": (12, 6),
    "weights of one head": (5, 7),
    "output of one head": (5, 6),
    "all heads side by side": None,
    "W_O": None,
    "output": None,
}
"""),

    # ------------------------------------------------------------ 04.2
    Answer("04.2", "cut the features, then swap", SPLIT, right=True),
    Answer("04.2", "runs of features, stacked", """
def split_heads(x, num_heads):
    width, rest = divmod(x.shape[2], num_heads)
    if rest:
        raise ValueError(f"{num_heads} heads do not share {x.shape[2]} features evenly")
    runs = [x[:, :, i * width:(i + 1) * width] for i in range(num_heads)]
    return torch.stack(runs, dim=1)
""", right=True),
    Answer("04.2", "unflatten and permute", """
def split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("d_model %d, num_heads %d: there is a remainder" % (x.size(-1), num_heads))
    return x.unflatten(-1, (num_heads, x.size(-1) // num_heads)).permute(0, 2, 1, 3)
""", right=True),
    Answer("04.2", "a table of feature numbers", """
def split_heads(x, num_heads):
    b, n, d = x.shape
    if d != num_heads * (d // num_heads):
        raise ValueError(f"cannot cut {d} features into {num_heads} heads")
    columns = torch.arange(d, device=x.device).reshape(num_heads, -1)    # (head, feature of the head)
    picked = x[:, :, columns]                                            # (batch, n, head, head_dim)
    return torch.einsum("bthf->bhtf", picked)
""", right=True),
    Answer("04.2", "Half repaired: the remainder is refused, but the heads are still made of tokens.",
           edit(SPLIT, SPLIT_LAST, "x.reshape(batch, num_heads, n, head_dim)")),
    Answer("04.2", "Half repaired: the cut is right, but a remainder is not refused with a ValueError.", """
def split_heads(x, num_heads):
    batch, n, d_model = x.shape
    head_dim = d_model // num_heads
    return x.reshape(batch, n, num_heads, head_dim).transpose(1, 2)
"""),
    Answer("04.2", "Features left over are quietly dropped.", """
def split_heads(x, num_heads):
    batch, n, d_model = x.shape
    head_dim = d_model // num_heads
    x = x[:, :, :num_heads * head_dim]
    return x.reshape(batch, n, num_heads, head_dim).transpose(1, 2)
"""),
    Answer("04.2", "Head i gets every h-th feature, not a run of neighbours.",
           edit(SPLIT, SPLIT_LAST, "x.reshape(batch, n, head_dim, num_heads).permute(0, 3, 1, 2)")),
    Answer("04.2", "Tokens and features are swapped before the cut, and then the numbers are read in the wrong order.",
           edit(SPLIT, SPLIT_LAST, "x.transpose(1, 2).reshape(batch, num_heads, n, head_dim)")),
    Answer("04.2", "The swap of heads and tokens is missing.", edit(SPLIT, ".transpose(1, 2)", "")),
    Answer("04.2", "Heads and features were swapped, not heads and tokens.", edit(SPLIT, ".transpose(1, 2)", ".transpose(2, 3)")),
    Answer("04.2", "The last two axes of each head stand the wrong way round.",
           edit(SPLIT, SPLIT_LAST, "x.transpose(1, 2).reshape(batch, num_heads, head_dim, n)")),
    Answer("04.2", "Heads come first and the batch second.", edit(SPLIT, ".transpose(1, 2)", ".permute(2, 0, 1, 3)")),
    Answer("04.2", "The message does not name the two numbers.",
           edit(SPLIT, 'f"d_model = {d_model} is not divisible by num_heads = {num_heads}"', '"d_model must be divisible by num_heads"')),
    Answer("04.2", "The message names only one number.",
           edit(SPLIT, "is not divisible by num_heads = {num_heads}", "is not divisible by num_heads")),
    Answer("04.2", "The remainder of the wrong division is tested.", edit(SPLIT, "d_model % num_heads != 0", "num_heads % d_model != 0")),
    Answer("04.2", "The number of tokens is tested, not the number of features.",
           edit(SPLIT, "if d_model % num_heads", "if n % num_heads")),
    Answer("04.2", "assert raises AssertionError, not ValueError.", """
def split_heads(x, num_heads):
    batch, n, d_model = x.shape
    assert d_model % num_heads == 0, f"{d_model} is not divisible by {num_heads}"
    return x.reshape(batch, n, num_heads, d_model // num_heads).transpose(1, 2)
"""),
    Answer("04.2", "Only the first sentence of the batch is cut.",
           edit(SPLIT, SPLIT_LAST, "x[:1].reshape(1, n, num_heads, head_dim).transpose(1, 2)")),
    Answer("04.2", "A width of 4 is built in.", edit(SPLIT, "head_dim = d_model // num_heads", "head_dim = 4")),

    # ------------------------------------------------------------ 04.3
    Answer("04.3", "swap, then join", MERGE, right=True),
    Answer("04.3", "concatenation along the features", """
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)
""", right=True),
    Answer("04.3", "permute and flatten", """
def merge_heads(x):
    tokens_first = x.permute(0, 2, 1, 3)
    return tokens_first.flatten(start_dim=2)
""", right=True),
    Answer("04.3", "an empty tensor, filled head by head", """
def merge_heads(x):
    b, h, n, w = x.shape
    result = x.new_empty(b, n, h * w)
    for head in range(h):
        result[:, :, head * w:(head + 1) * w] = x[:, head]
    return result
""", right=True),
    Answer("04.3", "Heads and tokens are not swapped before the join.", edit(MERGE, ".transpose(1, 2)", "")),
    Answer("04.3", "view cannot join axes that were swapped: it stops with an error.", edit(MERGE, "reshape(", "view(")),
    Answer("04.3", "contiguous comes before the swap, where it does not help: view stops with an error.",
           edit(MERGE, MERGE_LAST, "x.contiguous().transpose(1, 2).view(batch, n, num_heads * d_v)")),
    Answer("04.3", "The heads are interleaved feature by feature.",
           edit(MERGE, MERGE_LAST, "x.permute(0, 2, 3, 1).reshape(batch, n, num_heads * d_v)")),
    Answer("04.3", "The heads are laid one after the other along the tokens.", edit(MERGE, MERGE_LAST, "torch.cat(x.unbind(1), dim=1)")),
    Answer("04.3", "The heads are averaged.", edit(MERGE, MERGE_LAST, "x.mean(dim=1)")),
    Answer("04.3", "The heads are summed.", edit(MERGE, MERGE_LAST, "x.sum(dim=1)")),
    Answer("04.3", "The last head comes first.", edit(MERGE, MERGE_LAST, "torch.cat(x.unbind(1)[::-1], dim=-1)")),
    Answer("04.3", "The last two axes are swapped but not joined.", edit(MERGE, MERGE_LAST, "x.transpose(1, 2)")),
    Answer("04.3", "flatten(1) joins the tokens as well.", edit(MERGE, MERGE_LAST, "x.transpose(1, 2).flatten(1)")),
    Answer("04.3", "squeeze removes the batch axis of a single sentence, or the axis of a single token.",
           edit(MERGE, MERGE_LAST, "x.transpose(1, 2).flatten(2).squeeze()")),
    Answer("04.3", "transpose_ with an underscore turns the tensor of the caller as well.",
           edit(MERGE, "x.transpose(1, 2)", "x.transpose_(1, 2)")),
    Answer("04.3", "The width 12 of the example is built in.", edit(MERGE, "num_heads * d_v)", "12)")),
    Answer("04.3", "The first sentence is used for the whole batch.",
           edit(MERGE, MERGE_LAST, "torch.cat(list(x[0]), dim=-1).expand(batch, n, num_heads * d_v)")),
    Answer("04.3", "The wrong axes change places: tokens with features.",
           edit(MERGE, "x.transpose(1, 2)", "x.transpose(2, 3)")),

    # ------------------------------------------------------------ 04.4
    Answer("04.4", "project, split, attend, merge, project", MULTI, right=True),
    Answer("04.4", "a loop over the heads, each on its run of features, three axes only", """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        self.width, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} features cannot be shared by {num_heads} heads")
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        runs = (self.w_q(query).split(self.width, -1), self.w_k(key).split(self.width, -1), self.w_v(value).split(self.width, -1))
        outputs = []
        for q, k, v in zip(*runs):
            s = torch.bmm(q, k.transpose(1, 2)) / self.width ** 0.5
            if mask is None:
                a = s.softmax(-1)
            else:
                some = mask.any(-1, keepdim=True)
                a = s.masked_fill(~mask & some, float("-inf")).softmax(-1) * some
            outputs.append(torch.bmm(a, v))
        return self.w_o(torch.cat(outputs, dim=-1))
""", right=True),
    Answer("04.4", "PyTorch's fused function, empty rows opened for it and zeroed before w_o", """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} / num_heads {num_heads} leaves a remainder of {d_model % num_heads}")
        self.h = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        b, n, d = query.shape
        m = key.shape[1]
        q = self.w_q(query).reshape(b, n, self.h, -1).transpose(1, 2)
        k = self.w_k(key).reshape(b, m, self.h, -1).transpose(1, 2)
        v = self.w_v(value).reshape(b, m, self.h, -1).transpose(1, 2)
        if mask is None:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            allowed = mask.expand(b, n, m)[:, None]
            nobody = ~allowed.any(-1, keepdim=True)
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed | nobody).masked_fill(nobody, 0.0)
        return self.w_o(mixed.transpose(1, 2).reshape(b, n, d))
""", right=True),
    Answer("04.4", "einsum on (batch, token, head, feature), no axis is ever swapped", """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model != d_model // num_heads * num_heads:
            raise ValueError(f"num_heads = {num_heads} does not divide d_model = {d_model}")
        self.shape = (num_heads, d_model // num_heads)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_q = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key=None, value=None, mask=None):
        source = query if key is None else key
        content = source if value is None else value
        q = self.w_q(query).unflatten(2, self.shape)
        k = self.w_k(source).unflatten(2, self.shape)
        v = self.w_v(content).unflatten(2, self.shape)
        scores = torch.einsum("bnhd,bmhd->bhnm", q, k) * self.shape[1] ** -0.5
        if mask is not None:
            allowed = mask[None, None] if mask.ndim == 2 else mask.unsqueeze(1)
            some = allowed.any(dim=-1, keepdim=True)
            scores = torch.where(allowed | ~some, scores, torch.full_like(scores, -torch.inf))
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = torch.where(some, weights, torch.zeros_like(weights))
        return self.w_o(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(2))
""", right=True),
    Answer("04.4", "w_o keeps its bias when bias=False.",
           edit(MULTI, "self.w_o = nn.Linear(d_model, d_model, bias=bias)", "self.w_o = nn.Linear(d_model, d_model)")),
    Answer("04.4", "The argument bias is ignored.", MULTI.replace(", bias=bias)", ")")),
    Answer("04.4", "A mask with a batch axis meets the heads instead of the batch.",
           edit(MULTI, """        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
""", "")),
    Answer("04.4", "The axis for the heads is put in front of the batch of the mask.",
           edit(MULTI, "mask = mask[:, None]", "mask = mask[None]")),
    Answer("04.4", "A mask of shape (batch, 1, m) is not spread over the queries: view needs (batch, n, m).",
           edit(MULTI, "mask = mask[:, None]",
           "mask = mask.view(query.shape[0], 1, query.shape[1], key.shape[1])")),
    Answer("04.4", "Without value the queries are used as values, not the keys.", edit(MULTI, "value = key\n", "value = query\n")),
    Answer("04.4", "The keys given are ignored.",
           edit(MULTI, "        if key is None:\n            key = query\n", "        key = query\n")),
    Answer("04.4", "The value given is ignored.",
           edit(MULTI, "        if value is None:\n            value = key\n", "        value = key\n")),
    Answer("04.4", "The output projection is never applied.",
           edit(MULTI, "self.w_o(heads.transpose(1, 2).flatten(2))", "heads.transpose(1, 2).flatten(2)")),
    Answer("04.4", "The scores are divided by the root of d_model, not of the width of a head.",
           edit(BY_HAND, "math.sqrt(q.shape[-1])", "math.sqrt(query.shape[-1])")),
    Answer("04.4", "The heads are cut by a reshape alone: they are made of tokens.",
           edit(MULTI, "t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
                "t.reshape(t.shape[0], self.num_heads, t.shape[1], -1)")),
    Answer("04.4", "The way back lacks the swap of heads and tokens.",
           edit(MULTI, "heads.transpose(1, 2).flatten(2)", "heads.reshape(query.shape)")),
    Answer("04.4", "Head i gets every h-th feature, not the i-th run.",
           edit(edit(MULTI, "t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
                     "t.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)"),
                "heads.transpose(1, 2).flatten(2)", "heads.permute(0, 2, 3, 1).flatten(2)")),
    Answer("04.4", "A width that does not divide is not refused in the constructor.", edit(MULTI, """        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is not divisible by num_heads = {num_heads}")
""", "")),
    Answer("04.4", "The message of the ValueError lacks the numbers.",
           edit(MULTI, 'f"d_model = {d_model} is not divisible by num_heads = {num_heads}"', '"the heads do not fit"')),
    Answer("04.4", "A query that may attend to nothing gets NaN.", edit(edit(BY_HAND, """            empty = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & ~empty, -torch.inf)
""", "            scores = scores.masked_fill(~mask, -torch.inf)\n"), """        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
""", "")),
    Answer("04.4", "A query that may attend to nothing gets the mean of all values.", edit(BY_HAND, """        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
""", "")),
    Answer("04.4", "The output of an empty row is zeroed after w_o, so the bias is lost.",
           edit(MULTI, "        return self.w_o(heads.transpose(1, 2).flatten(2))\n",
                """        output = self.w_o(heads.transpose(1, 2).flatten(2))
        if mask is not None:
            nobody = ~mask.any(-1, keepdim=True)
            output = output.masked_fill(nobody[:, 0] if mask.dim() == 4 else nobody, 0.0)
        return output
""")),
    Answer("04.4", "A mask given once is used again by later calls without one.",
           edit(MULTI, """        q, k, v =""", """        if mask is not None:
            self.mask = mask
        mask = getattr(self, "mask", None)
        q, k, v =""")),
    Answer("04.4", "The mask is turned round.", edit(MULTI, "scaled_dot_product_attention(q, k, v, mask)",
           "scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)")),
    Answer("04.4", "The mask is never handed on.", edit(MULTI, "(q, k, v, mask)", "(q, k, v)")),
    Answer("04.4", "A fill of -1e9 loses against permitted scores that are lower still.",
           edit(BY_HAND, "scores.masked_fill(~mask & ~empty, -torch.inf)", "scores.masked_fill(~mask, -1e9)")),
    Answer("04.4", "Weights are returned beside the output.",
           edit(MULTI, "return self.w_o(heads.transpose(1, 2).flatten(2))", "return self.w_o(heads.transpose(1, 2).flatten(2)), weights")),
    Answer("04.4", "The three input layers are as narrow as one head; each must map d_model to d_model.",
           edit(edit(edit(MULTI, "self.w_q = nn.Linear(d_model, d_model,", "self.w_q = nn.Linear(d_model, d_model // num_heads,"),
                     "self.w_k = nn.Linear(d_model, d_model,", "self.w_k = nn.Linear(d_model, d_model // num_heads,"),
                "self.w_v = nn.Linear(d_model, d_model,", "self.w_v = nn.Linear(d_model, d_model // num_heads,")),
    Answer("04.4", "All heads share the average of their weights.", edit(BY_HAND, "heads = weights @ v",
           "heads = weights.mean(1, keepdim=True) @ v")),
    Answer("04.4", "The softmax runs over the heads.", edit(BY_HAND, "softmax(scores, dim=-1)", "softmax(scores, dim=1)")),
    Answer("04.4", "Keys and values beyond the number of queries are cut off.",
           edit(MULTI, "self.split(self.w_k(key)), self.split(self.w_v(value))",
                "self.split(self.w_k(key)[:, :query.shape[1]]), self.split(self.w_v(value)[:, :query.shape[1]])")),
    Answer("04.4", "Dropout is on in evaluation too.", edit(BY_HAND, "heads = weights @ v", "heads = F.dropout(weights, 0.1) @ v")),
    Answer("04.4", "forward stops half-way: projections and heads, but no return.", edit(MULTI,
           "        return self.w_o(heads.transpose(1, 2).flatten(2))\n", "        print(heads.shape)\n")),

    # ------------------------------------------------------------ 04.5
    Answer("04.5", "repeat_interleave and not", OTHER, right=True),
    Answer("04.5", "a new axis for the heads, joined with the batch", """
def mask_for_pytorch(mask, num_heads):
    b, n, m = mask.shape
    hidden = mask.logical_not()
    return hidden[:, None].expand(b, num_heads, n, m).reshape(b * num_heads, n, m)
""", right=True),
    Answer("04.5", "two loops", """
def mask_for_pytorch(mask, num_heads):
    matrices = []
    for sentence in mask:
        for _ in range(num_heads):
            matrices.append(sentence == False)
    return torch.stack(matrices)
""", right=True),
    Answer("04.5", "the sentence of each entry looked up by integer division", """
def mask_for_pytorch(mask, num_heads):
    entry = torch.arange(len(mask) * num_heads, device=mask.device)
    return torch.logical_not(mask[entry // num_heads])
""", right=True),
    Answer("04.5", "repeat gives the order A B A B: all sentences for the first head.",
           edit(OTHER, OTHER_LAST, "~mask.repeat(num_heads, 1, 1)")),
    Answer("04.5", "The mask is not turned round.", edit(OTHER, OTHER_LAST, "mask.repeat_interleave(num_heads, dim=0)")),
    Answer("04.5", "Without dim everything is flattened into one row.", edit(OTHER, ", dim=0", "")),
    Answer("04.5", "The queries are repeated, not the sentences.", edit(OTHER, "dim=0", "dim=1")),
    Answer("04.5", "The copies are laid one after another along axis 0: A B A B again.",
           edit(OTHER, OTHER_LAST, "torch.cat([~mask] * num_heads, dim=0)")),
    Answer("04.5", "The axis of the heads is there, but not joined with the batch.",
           edit(OTHER, OTHER_LAST, "(~mask)[:, None].repeat(1, num_heads, 1, 1)")),
    Answer("04.5", "The heads stand before the sentences when the two axes are joined.",
           edit(OTHER, OTHER_LAST, "(~mask)[None].repeat(num_heads, 1, 1, 1).flatten(0, 1)")),
    Answer("04.5", "The result is floating-point, not boolean.",
           edit(OTHER, OTHER_LAST, "1.0 - mask.repeat_interleave(num_heads, dim=0).float()")),
    Answer("04.5", "Minus infinity is a form of mask too, but boolean was asked for.",
           edit(OTHER, OTHER_LAST, "torch.zeros(mask.shape).masked_fill(~mask, -torch.inf).repeat_interleave(num_heads, dim=0)")),
    Answer("04.5", "~ on integers gives -1 and -2, not False and True.",
           edit(OTHER, OTHER_LAST, "~mask.int().repeat_interleave(num_heads, dim=0)")),
    Answer("04.5", "Only the first sentence's mask is used.",
           edit(OTHER, OTHER_LAST, "~mask[:1].expand(len(mask) * num_heads, -1, -1)")),
    Answer("04.5", "logical_not_ with an underscore turns the mask of the caller round.",
           edit(OTHER, OTHER_LAST, "mask.logical_not_().repeat_interleave(num_heads, dim=0)")),
    Answer("04.5", "Queries and keys have changed places.",
           edit(OTHER, OTHER_LAST, "~mask.transpose(1, 2).repeat_interleave(num_heads, dim=0)")),
    Answer("04.5", "The number of heads is built in.", edit(OTHER, "num_heads, dim=0", "4, dim=0")),
    Answer("04.5", "Rows that are hidden everywhere are opened, which nobody asked for.", """
def mask_for_pytorch(mask, num_heads):
    hidden = ~mask
    hidden = hidden & ~hidden.all(-1, keepdim=True)
    return hidden.repeat_interleave(num_heads, dim=0)
"""),

    # ------------------------------------------------------------ 04.6
    Answer("04.6", "stacks of matrices", TERMS, right=True),
    Answer("04.6", "a loop over heads with the function imported at the top", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    d_v = w_v.shape[-1]
    terms = []
    for i in range(len(w_q)):
        mixed, _ = scaled_dot_product_attention(x @ w_q[i], x @ w_k[i], x @ w_v[i], mask)
        terms.append(mixed @ w_o[i * d_v:(i + 1) * d_v])
    return torch.stack(terms)
""", right=True),
    Answer("04.6", "einsum throughout", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    q = torch.einsum("nd,hdk->hnk", x, w_q)
    k = torch.einsum("nd,hdk->hnk", x, w_k)
    v = torch.einsum("nd,hdv->hnv", x, w_v)
    scores = torch.einsum("hnk,hmk->hnm", q, k) * w_q.size(2) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = F.softmax(scores, dim=2)
    return torch.einsum("hnm,hmv,hve->hne", weights, v, w_o.unflatten(0, (w_v.size(0), w_v.size(2))))
""", right=True),
    Answer("04.6", "all heads side by side, everything but one silenced", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    h, _, d_v = w_v.shape
    allowed = torch.ones(len(x), len(x), dtype=torch.bool) if mask is None else mask
    heads = []
    for q, k, v in zip(w_q, w_k, w_v):
        s = (x @ q) @ (x @ k).T / math.sqrt(q.shape[1])
        s = s.masked_fill(~allowed, -torch.inf)
        heads.append(torch.softmax(s, dim=1) @ (x @ v))
    side_by_side = torch.cat(heads, dim=1)                                # (n, h · d_v)
    owner = torch.arange(h).repeat_interleave(d_v)                        # the head of each column
    return torch.stack([(side_by_side * (owner == i)) @ w_o for i in range(h)])
""", right=True),
    Answer("04.6", "The rows of w_o are dealt out in turn; head 0 owns the first d_v rows.",
           edit(TERMS, "w_o.reshape(num_heads, d_v, w_o.shape[1])", "w_o.reshape(d_v, num_heads, w_o.shape[1]).transpose(0, 1)")),
    Answer("04.6", "w_o is cut by columns instead of by rows.",
           edit(TERMS, "w_o.reshape(num_heads, d_v, w_o.shape[1])", "torch.stack(w_o.chunk(num_heads, dim=1))")),
    Answer("04.6", "The heads are returned before their rows of w_o.", edit(TERMS, "return heads @ blocks", "return heads")),
    Answer("04.6", "You return the sum; the terms were asked for.", edit(TERMS, "return heads @ blocks", "return (heads @ blocks).sum(0)")),
    Answer("04.6", "The terms are divided by the number of heads, so they sum to a mean.",
           edit(TERMS, "return heads @ blocks", "return heads @ blocks / num_heads")),
    Answer("04.6", "The scale is the root of d_model.", edit(TERMS, "math.sqrt(query.shape[-1])", "math.sqrt(x.shape[-1])")),
    Answer("04.6", "The scale is the root of d_v.", edit(TERMS, "math.sqrt(query.shape[-1])", "math.sqrt(value.shape[-1])")),
    Answer("04.6", "The blocks have d_k rows; that is right only when d_k = d_v.",
           edit(TERMS, "w_o.reshape(num_heads, d_v, w_o.shape[1])", "w_o.reshape(num_heads, w_q.shape[-1], w_o.shape[1])")),
    Answer("04.6", "The blocks have d_model / num_heads rows; that is right only when h d_v = d_model.",
           edit(TERMS, "w_o.reshape(num_heads, d_v, w_o.shape[1])", "w_o.reshape(num_heads, x.shape[1] // num_heads, x.shape[1])")),
    Answer("04.6", "The scale is missing.", edit(TERMS, " / math.sqrt(query.shape[-1])", "")),
    Answer("04.6", "The mask is not used.", edit(TERMS, """    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
""", "")),
    Answer("04.6", "The mask is turned round.", edit(TERMS, "~mask, -torch.inf", "mask, -torch.inf")),
    Answer("04.6", "A fill of -1e4 is beaten when the permitted scores are lower.", edit(TERMS, "-torch.inf", "-1e4")),
    Answer("04.6", "The scores are multiplied by the mask, and a score of 0 is no weight of 0.",
           edit(TERMS, "scores.masked_fill(~mask, -torch.inf)", "scores * mask")),
    Answer("04.6", "Without a mask it stops: None cannot be turned round.", edit(TERMS, """    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
""", "    scores = scores.masked_fill(~mask, -torch.inf)\n")),
    Answer("04.6", "The weights are masked after the softmax and no longer sum to 1.", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
    heads = weights @ value
    return heads @ w_o.reshape(len(heads), -1, w_o.shape[1])
"""),
    Answer("04.6", "The softmax runs over the heads.", edit(TERMS, "dim=-1) @ value", "dim=0) @ value")),
    Answer("04.6", "The softmax runs over the queries.", edit(TERMS, "dim=-1) @ value", "dim=1) @ value")),
    Answer("04.6", "Keys are made with the matrices of the queries.", edit(TERMS, "x @ w_q, x @ w_k,", "x @ w_q, x @ w_q,")),
    Answer("04.6", "Three heads are built in.", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    d_v = w_v.shape[-1]
    return torch.stack([scaled_dot_product_attention(x @ w_q[i], x @ w_k[i], x @ w_v[i], mask)[0] @ w_o[i * d_v:(i + 1) * d_v]
                        for i in range(3)])
"""),
    Answer("04.6", "Every head is multiplied by the block of head 0.", edit(TERMS, "return heads @ blocks", "return heads @ blocks[0]")),

    # ------------------------------------------------------------ 04.7
    Answer("04.7", "the five words", TWINS, right=True),
    Answer("04.7", "filled in from two lists", """
starts = ("heads equal, blocks of W_O equal", "heads equal, W_O all zero", "heads equal, blocks of W_O random",
          "heads random, blocks of W_O equal", "all equal, dropout on the weights")
prediction_of_twins = dict(zip(starts, ["identical for ever"] * 2 + ["different"] * 3))
""", right=True),
    Answer("04.7", "all different, then the two exceptions", """
prediction_of_twins = {
    "heads equal, blocks of W_O equal": None,
    "heads equal, blocks of W_O random": None,
    "heads equal, W_O all zero": None,
    "heads random, blocks of W_O equal": None,
    "all equal, dropout on the weights": None,
}
for start in prediction_of_twins:
    prediction_of_twins[start] = "different"
# rows of zeros are equal blocks as well: both heads get the same gradient at every step
for start in ("heads equal, W_O all zero", "heads equal, blocks of W_O equal"):
    prediction_of_twins[start] = "identical for ever"
""", right=True),
    Answer("04.7", "Nothing in a step can tell heads apart whose blocks are equal too.",
           edit(TWINS, 'heads equal, blocks of W_O equal": "identical for ever"', 'heads equal, blocks of W_O equal": "different"')),
    Answer("04.7", "Random blocks hand different gradients back to equal heads.",
           edit(TWINS, 'blocks of W_O random": "different"', 'blocks of W_O random": "identical for ever"')),
    Answer("04.7", "Blocks of zeros are equal blocks, and they stay equal.",
           edit(TWINS, 'W_O all zero": "identical for ever"', 'W_O all zero": "different"')),
    Answer("04.7", "Heads that start different are not made equal by equal blocks.",
           edit(TWINS, 'heads random, blocks of W_O equal": "different"', 'heads random, blocks of W_O equal": "identical for ever"')),
    Answer("04.7", "Dropout draws for each head separately and so tells the heads apart.",
           edit(TWINS, 'dropout on the weights": "different"', 'dropout on the weights": "identical for ever"')),
    Answer("04.7", "Only the heads were compared, not what else the gradient passes through.",
           edit(edit(TWINS, 'blocks of W_O random": "different"', 'blocks of W_O random": "identical for ever"'),
                'dropout on the weights": "different"', 'dropout on the weights": "identical for ever"')),
    Answer("04.7", "Only W_O was compared: equal blocks do not make heads equal.",
           edit(edit(TWINS, 'heads random, blocks of W_O equal": "different"', 'heads random, blocks of W_O equal": "identical for ever"'),
                'dropout on the weights": "different"', 'dropout on the weights": "identical for ever"')),
    Answer("04.7", "Training is taken to separate all heads.",
           edit(edit(TWINS, 'heads equal, blocks of W_O equal": "identical for ever"', 'heads equal, blocks of W_O equal": "different"'),
                'W_O all zero": "identical for ever"', 'W_O all zero": "different"')),
    Answer("04.7", "Zero and random blocks are exchanged.",
           edit(edit(TWINS, 'blocks of W_O random": "different"', 'blocks of W_O random": "identical for ever"'),
                'W_O all zero": "identical for ever"', 'W_O all zero": "different"')),
    Answer("04.7", "The row about dropout is not filled in.",
           edit(TWINS, 'dropout on the weights": "different"', 'dropout on the weights": None')),
)
