"""Chapter 07a: answers written from the blank notebook."""

from . import Answer, edit

# 07a.1 ---------------------------------------------------------------------------------------------------------------

NORM = """
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + eps) * weight + bias
"""

NORM_VAR = """
def layer_norm(x, weight, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), weight)
"""

NORM_DOUBLE = """
def layer_norm(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    wide = x.double()
    wide = wide - (wide.sum(-1) / d).unsqueeze(-1)
    sigma = (torch.einsum("...i,...i->...", wide, wide) / d + eps) ** 0.5
    return (weight * (wide / sigma[..., None]) + bias).to(x.dtype)
"""

NORM_LOOP = """
def layer_norm(x, weight, bias, eps=1e-5):
    def one(token):
        away = token - token.mean()
        return away / (away.square().mean() + eps).sqrt()

    flat = x.reshape(-1, x.shape[-1])
    normal = torch.stack([one(token) for token in flat]).reshape(x.shape)
    return normal * weight + bias
"""

# 07a.3 ---------------------------------------------------------------------------------------------------------------

FOUR = """
def normalise(x, kind, groups=2, eps=1e-5):
    axes = {"batch": (0, 1), "layer": (2,), "instance": (1,), "group": (1, 3)}
    if kind not in axes:
        raise ValueError(f"there is no norm of the kind {kind!r}")
    shape = x.shape
    if kind == "group":
        if groups < 1 or shape[-1] % groups != 0:
            raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
        x = x.unflatten(-1, (groups, shape[-1] // groups))
    centred = x - x.mean(axes[kind], keepdim=True)
    variance = centred.pow(2).mean(axes[kind], keepdim=True)
    return (centred / (variance + eps).sqrt()).reshape(shape)
"""

FOUR_CHUNKS = """
def normalise(x, kind, groups=2, eps=1e-5):
    def over(part, *dims):
        variance, mean = torch.var_mean(part, dims, correction=0, keepdim=True)
        return (part - mean) * (variance + eps).rsqrt()

    if kind == "batch":
        return over(x, 0, 1)
    if kind == "layer":
        return over(x, 2)
    if kind == "instance":
        return over(x, 1)
    if kind != "group":
        raise ValueError("unknown kind: " + str(kind))
    features = x.shape[2]
    if groups <= 0 or features % groups:
        raise ValueError(f"groups={groups} does not divide features={features}")
    return torch.cat([over(part, 1, 2) for part in x.split(features // groups, dim=2)], dim=2)
"""

FOUR_VIEWS = """
def normalise(x, kind, groups=2, eps=1e-5):
    batch, n, d = x.shape
    if kind == "batch":
        rows = x.reshape(batch * n, d).T                                 # one row for each feature
    elif kind == "layer":
        rows = x.reshape(batch * n, d)
    elif kind == "instance":
        rows = x.transpose(1, 2).reshape(batch * d, n)
    elif kind == "group":
        if groups not in range(1, d + 1) or d % groups > 0:
            raise ValueError(f"{d} features do not make {groups} equal groups")
        rows = x.transpose(1, 2).reshape(batch * groups, (d // groups) * n)
    else:
        raise ValueError(f"kind {kind} is not one of batch, layer, instance, group")
    rows = rows - rows.mean(1, keepdim=True)
    rows = rows / (rows.square().mean(1, keepdim=True) + eps).sqrt()
    if kind == "batch":
        return rows.T.reshape(batch, n, d)
    if kind == "layer":
        return rows.reshape(batch, n, d)
    return rows.reshape(batch, d, n).transpose(1, 2)
"""

# 07a.4 ---------------------------------------------------------------------------------------------------------------

BLOCK = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_place = norm_place

    def feed(self, x):
        return self.linear2(torch.relu(self.linear1(x)))

    def forward(self, x, mask=None):
        if self.norm_place == "pre":
            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            x = x + self.dropout(self.feed(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
            x = self.norm2(x + self.dropout(self.feed(x)))
        return x
"""

BLOCK_STEP = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.pre, self.rate = norm_place == "pre", dropout

    def step(self, x, norm, branch):
        said = branch(norm(x)) if self.pre else branch(x)
        total = x + F.dropout(said, self.rate, training=self.training)
        return total if self.pre else norm(total)

    def forward(self, x, mask=None):
        u = self.step(x, self.norm1, lambda t: self.attention(t, mask=mask))
        return self.step(u, self.norm2, lambda t: self.linear2(self.linear1(t).clamp(min=0)))
"""

BLOCK_LOOP = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        if norm_place not in ("pre", "post"):
            raise ValueError(f"norm_place must be pre or post, not {norm_place}")
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        for name in ("norm1", "norm2"):
            setattr(self, name, nn.LayerNorm(d_model))
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)
        self.order = norm_place

    def forward(self, x, mask=None):
        stream = x
        for part in (1, 2):
            norm = self.norm1 if part == 1 else self.norm2
            entrance = norm(stream) if self.order == "pre" else stream
            if part == 1:
                branch = self.drop1(self.attention(entrance, mask=mask))
            else:
                branch = self.drop2(self.linear2(F.relu(self.linear1(entrance))))
            stream = branch + stream
            if self.order == "post":
                stream = norm(stream)
        return stream
"""

# 07a.5 ---------------------------------------------------------------------------------------------------------------

STACK = """
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.norm(x)
"""

STACK_APPEND = """
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.layers = nn.ModuleList()
        while len(self.layers) < num_layers:
            self.layers.append(EncoderBlock(d_model, num_heads, d_ff, norm_place="pre"))

    def forward(self, x, mask=None):
        output = x
        for layer in self.layers:
            output = layer(output, mask)
        output = self.norm(output)
        return output
"""

STACK_RECURSIVE = """
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        sizes = (d_model, num_heads, d_ff)
        self.layers = nn.ModuleList(EncoderBlock(*size) for size in [sizes] * num_layers)
        self.norm = nn.LayerNorm(d_model)

    def through(self, x, mask, k):
        return self.norm(x) if k == len(self.layers) else self.through(self.layers[k](x, mask=mask), mask, k + 1)

    def forward(self, x, mask=None):
        return self.through(x, mask, 0)
"""

STACK_BROKEN = """
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff)] * num_layers)

    def forward(self, x, mask=None):
        for layer in self.layers:
            output = layer(x)
        return output
"""

# 07a.2 --------------------------------------------------------------------------------------------------------------

SLOPES = """
prediction_of_slopes = {
    "length of the output": 8,
    "length of the output, input times 3": 8,
    "rank of the matrix of slopes": 62,
    "sum of the gradient over the features": 0,
    "gradient's size, input times 3": 1 / 3,
}
"""

SLOPES_COMPUTED = """
d = 64
prediction_of_slopes = dict(zip(
    ("length of the output", "length of the output, input times 3", "rank of the matrix of slopes",
     "sum of the gradient over the features", "gradient's size, input times 3"),
    (math.sqrt(d), d ** 0.5, d - 2, 0.0, 0.3333)))
"""

SLOPES_MEASURED = """
torch.manual_seed(1)
x = torch.randn(64, dtype=torch.float64, requires_grad=True)
norm = lambda t: (t - t.mean()) / t.var(correction=0).sqrt()
slopes = torch.autograd.functional.jacobian(norm, x)
g1 = torch.autograd.grad(norm(x)[0], x)[0]
y = (3 * x).detach().requires_grad_()
g3 = torch.autograd.grad(norm(y)[0], y)[0]
prediction_of_slopes = {
    "length of the output": norm(x).norm().item(),
    "length of the output, input times 3": norm(3 * x).norm().item(),
    "rank of the matrix of slopes": int(torch.linalg.matrix_rank(slopes, rtol=1e-9)),
    "sum of the gradient over the features": g1.sum().item(),
    "gradient's size, input times 3": (g3.norm() / g1.norm()).item(),
}
"""

BANK = (
    # 07a.1
    Answer("07a.1", "centre, square, mean, root", NORM, right=True),
    Answer("07a.1", "var_mean with correction 0", NORM_VAR, right=True),
    Answer("07a.1", "computed in 64 bits and brought back", NORM_DOUBLE, right=True),
    Answer("07a.1", "one token after another", NORM_LOOP, right=True),
    Answer("07a.1", "divides the squares by d - 1",
           edit(NORM_VAR, "correction=0, ", "")),
    Answer("07a.1", "adds eps to the standard deviation, outside the root",
           edit(NORM, "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")),
    Answer("07a.1", "takes mean and variance over the tokens instead of the features", """
def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean(dim=-2, keepdim=True)
    variance = centred.pow(2).mean(dim=-2, keepdim=True)
    return centred / torch.sqrt(variance + eps) * weight + bias
"""),
    Answer("07a.1", "takes one mean and one variance over the whole tensor", """
def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean()
    return centred / (centred.pow(2).mean() + eps).sqrt() * weight + bias
"""),
    Answer("07a.1", "averages over tokens and features together", """
def layer_norm(x, weight, bias, eps=1e-5):
    dims = tuple(range(1, x.dim())) if x.dim() > 1 else (0,)
    centred = x - x.mean(dims, keepdim=True)
    return centred / (centred.pow(2).mean(dims, keepdim=True) + eps).sqrt() * weight + bias
"""),
    Answer("07a.1", "forgets eps: a token of equal features is 0 / 0", edit(NORM, "torch.sqrt(variance + eps)", "torch.sqrt(variance)")),
    Answer("07a.1", "mean of squares minus square of the mean, which cancels when features are large",
           edit(NORM, "centred.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).mean(dim=-1, keepdim=True) - mean**2")),
    Answer("07a.1", "adds the bias before it multiplies by the weight",
           edit(NORM, "centred / torch.sqrt(variance + eps) * weight + bias",
                "(centred / torch.sqrt(variance + eps) + bias) * weight")),
    Answer("07a.1", "divides by the variance, not by its root", edit(NORM, "torch.sqrt(variance + eps)", "(variance + eps)")),
    Answer("07a.1", "forgets the bias", edit(NORM, " * weight + bias", " * weight")),
    Answer("07a.1", "does not centre before it divides", edit(NORM, "    return centred / ", "    return x / ")),
    Answer("07a.1", "drops the averaged axis, so means meet the wrong axis", """
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1)
    variance = (x - mean).pow(2).mean(dim=-1)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias
"""),
    Answer("07a.1", "works for exactly three axes", edit(NORM, "    mean = x.mean", "    batch, n, d = x.shape\n    mean = x.mean")),
    Answer("07a.1", "ignores the argument eps", edit(NORM, "variance + eps", "variance + 1e-5")),
    Answer("07a.1", "raises small variances to eps instead of adding eps", edit(NORM, "(variance + eps)", "(variance.clamp(min=eps))")),
    # 07a.3
    Answer("07a.3", "a table of axes", FOUR, right=True),
    Answer("07a.3", "chunk after chunk", FOUR_CHUNKS, right=True),
    Answer("07a.3", "brings each kind into rows", FOUR_VIEWS, right=True),
    Answer("07a.3", "batch norm averages over the samples only, not over the tokens", edit(FOUR, '"batch": (0, 1)', '"batch": (0,)')),
    Answer("07a.3", "layer norm averages over tokens and features", edit(FOUR, '"layer": (2,)', '"layer": (1, 2)')),
    Answer("07a.3", "batch and layer norm are exchanged",
           edit(FOUR, '"batch": (0, 1), "layer": (2,)', '"batch": (2,), "layer": (0, 1)')),
    Answer("07a.3", "instance norm averages over the features as well", edit(FOUR, '"instance": (1,)', '"instance": (1, 2)')),
    Answer("07a.3", "group norm takes each token by itself", edit(FOUR, '"group": (1, 3)', '"group": (3,)')),
    Answer("07a.3", "the groups take every second feature instead of neighbours", """
def normalise(x, kind, groups=2, eps=1e-5):
    axes = {"batch": (0, 1), "layer": (2,), "instance": (1,), "group": (1, 2)}
    if kind not in axes:
        raise ValueError(f"there is no norm of the kind {kind!r}")
    shape = x.shape
    if kind == "group":
        if groups < 1 or shape[-1] % groups != 0:
            raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
        x = x.unflatten(-1, (shape[-1] // groups, groups))
    centred = x - x.mean(axes[kind], keepdim=True)
    variance = centred.pow(2).mean(axes[kind], keepdim=True)
    return (centred / (variance + eps).sqrt()).reshape(shape)
"""),
    Answer("07a.3", "divides by the number of entries minus one", edit(FOUR_CHUNKS, "correction=0, ", "")),
    Answer("07a.3", "eps stands outside the root", edit(FOUR, "(variance + eps).sqrt()", "(variance.sqrt() + eps)")),
    Answer("07a.3", "0 or -1 groups end in some other error (division by zero, a shape) instead of a ValueError",
           edit(FOUR, "groups < 1 or shape[-1] % groups != 0", "shape[-1] % groups != 0")),
    Answer("07a.3", "refuses a number of groups although the kind has none",
           edit(edit(FOUR, """        if groups < 1 or shape[-1] % groups != 0:
            raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
""", ""), """    shape = x.shape
""", """    shape = x.shape
    if groups < 1 or shape[-1] % groups != 0:
        raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
""")),
    Answer("07a.3", "an unknown kind is treated as group norm", edit(FOUR_CHUNKS, """    if kind != "group":
        raise ValueError("unknown kind: " + str(kind))
""", "")),
    Answer("07a.3", "returns four axes for group norm", edit(FOUR, ".sqrt()).reshape(shape)", ".sqrt())")),
    Answer("07a.3", "the number of groups is always 2", edit(FOUR, "    shape = x.shape\n", "    shape = x.shape\n    groups = 2\n")),
    Answer("07a.3", "cuts off the features that do not fit into a group instead of raising", """
def normalise(x, kind, groups=2, eps=1e-5):
    def over(part, *dims):
        part = part - part.mean(dims, keepdim=True)
        return part / (part.pow(2).mean(dims, keepdim=True) + eps).sqrt()

    axes = {"batch": (0, 1), "layer": (2,), "instance": (1,)}
    if kind in axes:
        return over(x, *axes[kind])
    if kind == "group":
        if groups < 1:
            raise ValueError(f"{groups} groups for {x.shape[2]} features")
        size = x.shape[2] // groups
        return torch.cat([over(x[..., g * size:(g + 1) * size], 1, 2) for g in range(groups)], dim=2)
    raise ValueError(f"unknown kind {kind}")
"""),
    Answer("07a.3", "only subtracts the mean and never divides",
           edit(FOUR, "(centred / (variance + eps).sqrt()).reshape(shape)", "centred.reshape(shape)")),
    Answer("07a.3", "the message does not say how many groups were asked for",
           edit(FOUR, 'f"cannot cut {shape[-1]} features into {groups} groups"', 'f"{shape[-1]} features cannot be cut like this"')),
    # 07a.4
    Answer("07a.4", "two lines for each form", BLOCK, right=True),
    Answer("07a.4", "one step used twice", BLOCK_STEP, right=True),
    Answer("07a.4", "a loop over the sub-layers", BLOCK_LOOP, right=True),
    Answer("07a.4", "in the pre form the residual starts from the normed tokens",
           edit(BLOCK, """            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            x = x + self.dropout(self.feed(self.norm2(x)))
""", """            x = self.norm1(x)
            x = x + self.dropout(self.attention(x, mask=mask))
            x = self.norm2(x)
            x = x + self.dropout(self.feed(x))
""")),
    Answer("07a.4", "the post form norms the branch before the addition",
           edit(edit(BLOCK, "self.norm1(x + self.dropout(self.attention(x, mask=mask)))",
                     "x + self.norm1(self.dropout(self.attention(x, mask=mask)))"),
                "self.norm2(x + self.dropout(self.feed(x)))", "x + self.norm2(self.dropout(self.feed(x)))")),
    Answer("07a.4", "the second step adds to the block's input, so what attention said is lost from the stream", """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout, self.norm_place = nn.Dropout(dropout), norm_place

    def forward(self, x, mask=None):
        if self.norm_place == "pre":
            u = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            return x + self.dropout(self.linear2(torch.relu(self.linear1(self.norm2(u)))))
        u = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
        return self.norm2(x + self.dropout(self.linear2(torch.relu(self.linear1(u)))))
"""),
    Answer("07a.4", "the mask is not handed to attention in the post form",
           edit(BLOCK, "self.attention(x, mask=mask)", "self.attention(x)")),
    Answer("07a.4", "the mask is turned round before it is handed on",
           edit(BLOCK, "    def forward(self, x, mask=None):\n",
                "    def forward(self, x, mask=None):\n        mask = None if mask is None else ~mask\n")),
    Answer("07a.4", "there is nothing between the two linear layers", edit(BLOCK, "torch.relu(self.linear1(x))", "self.linear1(x)")),
    Answer("07a.4", "GELU instead of ReLU", edit(BLOCK, "torch.relu(", "F.gelu(")),
    Answer("07a.4", "dropout stays on in evaluation mode", edit(BLOCK_STEP, ", training=self.training", "")),
    Answer("07a.4", "adds in place and changes the x that came in",
           edit(BLOCK, """            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
""", """            x += self.dropout(self.attention(self.norm1(x), mask=mask))
""")),
    Answer("07a.4", "norm_place is ignored: always pre", edit(BLOCK, "self.norm_place = norm_place", 'self.norm_place = "pre"')),
    Answer("07a.4", "one and the same norm serves both steps",
           edit(BLOCK, "self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")),
    Answer("07a.4", "drops hidden features as well",
           edit(BLOCK, "self.linear2(torch.relu(self.linear1(x)))", "self.linear2(self.dropout(torch.relu(self.linear1(x))))")),
    Answer("07a.4", "dropout acts on the sum, so the residual is dropped as well",
           edit(edit(BLOCK, "x + self.dropout(self.attention(self.norm1(x), mask=mask))",
                     "self.dropout(x + self.attention(self.norm1(x), mask=mask))"),
                "x + self.dropout(self.feed(self.norm2(x)))", "self.dropout(x + self.feed(self.norm2(x)))")),
    Answer("07a.4", "no dropout on what attention returns",
           edit(BLOCK, "self.dropout(self.attention(self.norm1(x), mask=mask))", "self.attention(self.norm1(x), mask=mask)")),
    Answer("07a.4", "the rate of dropout is always 0.1", edit(BLOCK, "nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    Answer("07a.4", "the pre form ends with one more norm",
           edit(BLOCK, "            x = x + self.dropout(self.feed(self.norm2(x)))\n",
                "            x = self.norm2(x + self.dropout(self.feed(self.norm2(x))))\n")),
    Answer("07a.4", "the number of heads is fixed",
           edit(BLOCK, "MultiHeadAttention(d_model, num_heads)", "MultiHeadAttention(d_model, 1)")),
    Answer("07a.4", "half finished: attention only, no feed-forward layer",
           edit(BLOCK, """            x = x + self.dropout(self.feed(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
            x = self.norm2(x + self.dropout(self.feed(x)))
""", """        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
""")),
    Answer("07a.4", "the feed-forward layer has no residual",
           edit(BLOCK, "x = x + self.dropout(self.feed(self.norm2(x)))", "x = self.dropout(self.feed(self.norm2(x)))")),
    # 07a.5
    Answer("07a.5", "four repairs", BLOCK + STACK, right=True),
    Answer("07a.5", "appends block after block", BLOCK + STACK_APPEND, right=True),
    Answer("07a.5", "recursive", BLOCK_STEP + STACK_RECURSIVE, right=True),
    Answer("07a.5", "nothing was changed", BLOCK + STACK_BROKEN),
    Answer("07a.5", "the layers are still one block, repeated",
           BLOCK + edit(STACK, "[EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]",
                        "[EncoderBlock(d_model, num_heads, d_ff)] * num_layers")),
    Answer("07a.5", "a comprehension, but over one block that was built before it",
           BLOCK + edit(STACK, """        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
""", """        block = EncoderBlock(d_model, num_heads, d_ff)
        self.layers = nn.ModuleList([block for _ in range(num_layers)])
""")),
    Answer("07a.5", "the final norm is missing",
           BLOCK + edit(edit(STACK, "        self.norm = nn.LayerNorm(d_model)\n", ""), "return self.norm(x)", "return x")),
    Answer("07a.5", "the final norm is built and never used", BLOCK + edit(STACK, "return self.norm(x)", "return x")),
    Answer("07a.5", "the final norm has no parameters and no name",
           BLOCK + edit(edit(STACK, "        self.norm = nn.LayerNorm(d_model)\n", ""),
                        "return self.norm(x)", "return F.layer_norm(x, x.shape[-1:])")),
    Answer("07a.5", "every block still reads the input instead of what the block before it said",
           BLOCK + edit(STACK, """            x = layer(x, mask=mask)
        return self.norm(x)
""", """            output = layer(x, mask=mask)
        return self.norm(output)
""")),
    Answer("07a.5", "the mask still reaches no block", BLOCK + edit(STACK, "layer(x, mask=mask)", "layer(x)")),
    Answer("07a.5", "only the first block obeys the mask", BLOCK + edit(STACK, """        for layer in self.layers:
            x = layer(x, mask=mask)
""", """        for layer in self.layers:
            x = layer(x, mask=mask)
            mask = None
""")),
    Answer("07a.5", "norms after every block, not once at the end", BLOCK + edit(STACK, """            x = layer(x, mask=mask)
        return self.norm(x)
""", """            x = self.norm(layer(x, mask=mask))
        return x
""")),
    Answer("07a.5", "the norm stands before the first block instead of behind the last",
           BLOCK + edit(STACK, """        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.norm(x)
""", """        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x
""")),
    Answer("07a.5", "the blocks lie in a plain list, so their parameters are not registered",
           BLOCK + edit(STACK, "nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])",
                        "[EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]")),
    Answer("07a.5", "adds a second residual around each block",
           BLOCK + edit(STACK, "x = layer(x, mask=mask)", "x = x + layer(x, mask=mask)")),
    Answer("07a.5", "builds post-norm blocks", BLOCK + edit(STACK, "EncoderBlock(d_model, num_heads, d_ff)",
                                                        'EncoderBlock(d_model, num_heads, d_ff, norm_place="post")')),
    Answer("07a.5", "one block too few", BLOCK + edit(STACK, "range(num_layers)", "range(1, num_layers)")),
    # 07a.2
    Answer("07a.2", "the five numbers", SLOPES, right=True),
    Answer("07a.2", "computed from the width", SLOPES_COMPUTED, right=True),
    Answer("07a.2", "measured with autograd", SLOPES_MEASURED, right=True),
    Answer("07a.2", "the sum of squares for the length", edit(SLOPES, '"length of the output": 8', '"length of the output": 64'),
           says=("root of that sum",)),
    Answer("07a.2", "a vector of length one", edit(SLOPES, '"length of the output": 8', '"length of the output": 1')),
    Answer("07a.2", "three times as long", edit(SLOPES, 'times 3": 8', 'times 3": 24'), says=("Length scales with the input",)),
    Answer("07a.2", "every direction passes", edit(SLOPES, "62", "64"), says=("Full rank",)),
    Answer("07a.2", "only the mean is lost", edit(SLOPES, "62", "63"), says=("One direction lost",)),
    Answer("07a.2", "the gradients sum to the weight's mean", edit(SLOPES, 'over the features": 0', 'over the features": 0.5')),
    Answer("07a.2", "the gradient grows with the input", edit(SLOPES, "1 / 3", "3"), says=("three times larger",)),
    Answer("07a.2", "the gradient stays as it is", edit(SLOPES, "1 / 3", "1.0"), says=("of the same size",)),
    Answer("07a.2", "one entry left open", edit(SLOPES, "62", "None")),
    Answer("07a.2", "a text for a number", edit(SLOPES, "62", '"all but two"')),
)
