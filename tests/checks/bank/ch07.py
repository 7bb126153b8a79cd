"""Chapter 07: answers written from the blank notebook."""

from . import Answer, edit

# 07.1 ---------------------------------------------------------------------------------------------------------------

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

# 07.2 ---------------------------------------------------------------------------------------------------------------

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

# 07.3 ---------------------------------------------------------------------------------------------------------------

RMS = """
def rms_norm(x, weight, eps=1e-6):
    wide = x.float()
    divisor = torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    normal = (wide / divisor).to(x.dtype)
    return normal * weight, divisor
"""

RMS_INSIDE = """
def rms_norm(x, weight, eps=1e-6):
    kind, x = x.dtype, x.to(torch.float32)
    square = torch.einsum("...i,...i->...", x, x)[..., None]
    root = (square / x.size(-1) + eps) ** 0.5
    return (x / root * weight.float()).type(kind), root
"""

RMS_NORM = """
def rms_norm(x, weight, eps=1e-6):
    d = x.shape[-1]
    token = x.float()
    length = torch.linalg.vector_norm(token, dim=-1, keepdim=True)
    divisor = (length ** 2 / d + eps).sqrt()
    out = (token / divisor).to(x.dtype)
    return (weight * out, divisor)
"""

# 07.4 ---------------------------------------------------------------------------------------------------------------

GATED = """
def swiglu(x, w_gate, w_up, w_down):
    gate = F.silu(x @ w_gate)
    return (gate * (x @ w_up)) @ w_down
"""

GATED_SIGMOID = """
def swiglu(x, w_gate, w_up, w_down):
    g = torch.einsum("...d,dw->...w", x, w_gate)
    u = torch.einsum("...d,dw->...w", x, w_up)
    return torch.einsum("...w,...w,wd->...d", g * g.sigmoid(), u, w_down)
"""

GATED_TANH = """
def swiglu(x, w_gate, w_up, w_down):
    both = torch.matmul(x, torch.cat([w_gate, w_up], dim=1))
    z, up = both.chunk(2, dim=-1)
    soft_switch = 0.5 + 0.5 * torch.tanh(z / 2)              # the sigmoid, written with a tanh
    return torch.matmul(z * soft_switch * up, w_down)
"""

GATED_SUM = """
def swiglu(x, w_gate, w_up, w_down):
    out = torch.zeros(x.shape[:-1] + (w_down.shape[1],), dtype=x.dtype, device=x.device)
    for k in range(w_gate.shape[1]):
        z = (x * w_gate[:, k]).sum(-1, keepdim=True)
        out = out + z * torch.exp(F.logsigmoid(z)) * (x * w_up[:, k]).sum(-1, keepdim=True) * w_down[k]
    return out
"""

# 07.5 ---------------------------------------------------------------------------------------------------------------

SIZES = """
prediction_of_sizes = {
    "weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases": 2097152,
    "width of a SwiGLU layer with as many weights, rounded down": 1365,
    "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256": 11008,
    "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms": 7087872,
}
"""

SIZES_EXPRESSIONS = """
d = 768
prediction_of_sizes = {
    "weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases": 2 * 512 * 2048,
    "width of a SwiGLU layer with as many weights, rounded down": 2 * 2048 // 3,
    "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256": 256 * math.ceil(2 * 4 * 4096 / 3 / 256),
    "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms": 12 * d**2 + 13 * d,
}
"""

SIZES_HELPER = """
linear = lambda a, b: a * b + b
plain = 512 * 2048 + 2048 * 512
values = [plain, plain // (3 * 512), 43 * 256, 4 * linear(768, 768) + linear(768, 3072) + linear(3072, 768) + 4 * 768]
names = ["weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases",
         "width of a SwiGLU layer with as many weights, rounded down",
         "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256",
         "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms"]
prediction_of_sizes = dict(zip(names, values))
"""

SIZES_FLOATS = """
from fractions import Fraction
prediction_of_sizes = {
    "weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases": 2.0**21,
    "width of a SwiGLU layer with as many weights, rounded down": math.floor(Fraction(2, 3) * 2048),
    "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256": 11_008.0,
    "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms": 7_087_872.0,
}
"""

# 07.6 ---------------------------------------------------------------------------------------------------------------

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

# 07.7 ---------------------------------------------------------------------------------------------------------------

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

BANK = (
    # 07.1
    Answer("07.1", "centre, square, mean, root", NORM, right=True),
    Answer("07.1", "var_mean with correction 0", NORM_VAR, right=True),
    Answer("07.1", "computed in 64 bits and brought back", NORM_DOUBLE, right=True),
    Answer("07.1", "one token after another", NORM_LOOP, right=True),
    Answer("07.1", "divides the squares by d - 1",
           edit(NORM_VAR, "correction=0, ", "")),
    Answer("07.1", "adds eps to the standard deviation, outside the root",
           edit(NORM, "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")),
    Answer("07.1", "takes mean and variance over the tokens instead of the features", """
def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean(dim=-2, keepdim=True)
    variance = centred.pow(2).mean(dim=-2, keepdim=True)
    return centred / torch.sqrt(variance + eps) * weight + bias
"""),
    Answer("07.1", "takes one mean and one variance over the whole tensor", """
def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean()
    return centred / (centred.pow(2).mean() + eps).sqrt() * weight + bias
"""),
    Answer("07.1", "averages over tokens and features together", """
def layer_norm(x, weight, bias, eps=1e-5):
    dims = tuple(range(1, x.dim())) if x.dim() > 1 else (0,)
    centred = x - x.mean(dims, keepdim=True)
    return centred / (centred.pow(2).mean(dims, keepdim=True) + eps).sqrt() * weight + bias
"""),
    Answer("07.1", "forgets eps: a token of equal features is 0 / 0", edit(NORM, "torch.sqrt(variance + eps)", "torch.sqrt(variance)")),
    Answer("07.1", "mean of squares minus square of the mean, which cancels when features are large",
           edit(NORM, "centred.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).mean(dim=-1, keepdim=True) - mean**2")),
    Answer("07.1", "adds the bias before it multiplies by the weight",
           edit(NORM, "centred / torch.sqrt(variance + eps) * weight + bias",
                "(centred / torch.sqrt(variance + eps) + bias) * weight")),
    Answer("07.1", "divides by the variance, not by its root", edit(NORM, "torch.sqrt(variance + eps)", "(variance + eps)")),
    Answer("07.1", "forgets the bias", edit(NORM, " * weight + bias", " * weight")),
    Answer("07.1", "does not centre before it divides", edit(NORM, "    return centred / ", "    return x / ")),
    Answer("07.1", "drops the averaged axis, so means meet the wrong axis", """
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1)
    variance = (x - mean).pow(2).mean(dim=-1)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias
"""),
    Answer("07.1", "works for exactly three axes", edit(NORM, "    mean = x.mean", "    batch, n, d = x.shape\n    mean = x.mean")),
    Answer("07.1", "ignores the argument eps", edit(NORM, "variance + eps", "variance + 1e-5")),
    Answer("07.1", "raises small variances to eps instead of adding eps", edit(NORM, "(variance + eps)", "(variance.clamp(min=eps))")),
    # 07.2
    Answer("07.2", "a table of axes", FOUR, right=True),
    Answer("07.2", "chunk after chunk", FOUR_CHUNKS, right=True),
    Answer("07.2", "brings each kind into rows", FOUR_VIEWS, right=True),
    Answer("07.2", "batch norm averages over the samples only, not over the tokens", edit(FOUR, '"batch": (0, 1)', '"batch": (0,)')),
    Answer("07.2", "layer norm averages over tokens and features", edit(FOUR, '"layer": (2,)', '"layer": (1, 2)')),
    Answer("07.2", "batch and layer norm are exchanged",
           edit(FOUR, '"batch": (0, 1), "layer": (2,)', '"batch": (2,), "layer": (0, 1)')),
    Answer("07.2", "instance norm averages over the features as well", edit(FOUR, '"instance": (1,)', '"instance": (1, 2)')),
    Answer("07.2", "group norm takes each token by itself", edit(FOUR, '"group": (1, 3)', '"group": (3,)')),
    Answer("07.2", "the groups take every second feature instead of neighbours", """
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
    Answer("07.2", "divides by the number of entries minus one", edit(FOUR_CHUNKS, "correction=0, ", "")),
    Answer("07.2", "eps stands outside the root", edit(FOUR, "(variance + eps).sqrt()", "(variance.sqrt() + eps)")),
    Answer("07.2", "0 or -1 groups end in some other error (division by zero, a shape) instead of a ValueError",
           edit(FOUR, "groups < 1 or shape[-1] % groups != 0", "shape[-1] % groups != 0")),
    Answer("07.2", "refuses a number of groups although the kind has none",
           edit(edit(FOUR, """        if groups < 1 or shape[-1] % groups != 0:
            raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
""", ""), """    shape = x.shape
""", """    shape = x.shape
    if groups < 1 or shape[-1] % groups != 0:
        raise ValueError(f"cannot cut {shape[-1]} features into {groups} groups")
""")),
    Answer("07.2", "an unknown kind is treated as group norm", edit(FOUR_CHUNKS, """    if kind != "group":
        raise ValueError("unknown kind: " + str(kind))
""", "")),
    Answer("07.2", "returns four axes for group norm", edit(FOUR, ".sqrt()).reshape(shape)", ".sqrt())")),
    Answer("07.2", "the number of groups is always 2", edit(FOUR, "    shape = x.shape\n", "    shape = x.shape\n    groups = 2\n")),
    Answer("07.2", "cuts off the features that do not fit into a group instead of raising", """
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
    Answer("07.2", "only subtracts the mean and never divides",
           edit(FOUR, "(centred / (variance + eps).sqrt()).reshape(shape)", "centred.reshape(shape)")),
    Answer("07.2", "the message does not say how many groups were asked for",
           edit(FOUR, 'f"cannot cut {shape[-1]} features into {groups} groups"', 'f"{shape[-1]} features cannot be cut like this"')),
    # 07.3
    Answer("07.3", "widen, normalise, narrow, weight", RMS, right=True),
    Answer("07.3", "the weight before the way back", RMS_INSIDE, right=True),
    Answer("07.3", "from the length of the vector", RMS_NORM, right=True),
    Answer("07.3", "no cast at all: in 16 bits the squares overflow", """
def rms_norm(x, weight, eps=1e-6):
    divisor = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    return x / divisor * weight, divisor.float()
"""),
    Answer("07.3", "widens after squaring, when the overflow has happened",
           edit(RMS, "wide.pow(2).mean(", "x.pow(2).float().mean(")),
    Answer("07.3", "narrows the divisor before it divides",
           edit(RMS, "(wide / divisor).to(x.dtype)", "x / divisor.to(x.dtype)")),
    Answer("07.3", "returns only the output", edit(RMS, "return normal * weight, divisor", "return normal * weight")),
    Answer("07.3", "returns the divisor first", edit(RMS, "return normal * weight, divisor", "return divisor, normal * weight")),
    Answer("07.3", "the divisor lost its last axis",
           edit(RMS, "return normal * weight, divisor", "return normal * weight, divisor.squeeze(-1)")),
    Answer("07.3", "returns the divisor in the type of x", edit(RMS, "normal * weight, divisor", "normal * weight, divisor.to(x.dtype)")),
    Answer("07.3", "returns the divisor without eps", edit(RMS, "return normal * weight, divisor",
                                                          "return normal * weight, wide.pow(2).mean(dim=-1, keepdim=True).sqrt()")),
    Answer("07.3", "returns one over the divisor",
           edit(RMS, "return normal * weight, divisor", "return normal * weight, 1 / divisor")),
    Answer("07.3", "adds eps outside the root",
           edit(RMS, "torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)", "wide.pow(2).mean(dim=-1, keepdim=True).sqrt() + eps")),
    Answer("07.3", "subtracts the mean, which is LayerNorm",
           edit(RMS, "    divisor =", "    wide = wide - wide.mean(dim=-1, keepdim=True)\n    divisor =")),
    Answer("07.3", "divides by the length: sums the squares instead of averaging them", edit(RMS, ".pow(2).mean(", ".pow(2).sum(")),
    Answer("07.3", "the output stays in float32", edit(RMS, "(wide / divisor).to(x.dtype)", "wide / divisor")),
    Answer("07.3", "narrows to float16 whatever came in", edit(RMS, "(wide / divisor).to(x.dtype)", "(wide / divisor).half()")),
    Answer("07.3", "averages over all tokens at once",
           edit(RMS, "wide.pow(2).mean(dim=-1, keepdim=True) + eps)", "wide.pow(2).mean() + eps).expand(*x.shape[:-1], 1)")),
    Answer("07.3", "multiplies by 1 + weight", edit(RMS, "return normal * weight", "return normal * (1 + weight)")),
    Answer("07.3", "forgets the weight", edit(RMS, "return normal * weight,", "return normal,")),
    Answer("07.3", "ignores the argument eps", edit(RMS, "keepdim=True) + eps", "keepdim=True) + 1e-6")),
    # 07.4
    Answer("07.4", "three products and a SiLU", GATED, right=True),
    Answer("07.4", "einsum and a sigmoid", GATED_SIGMOID, right=True),
    Answer("07.4", "one product for both branches, sigmoid by tanh", GATED_TANH, right=True),
    Answer("07.4", "hidden unit after hidden unit", GATED_SUM, right=True),
    Answer("07.4", "bends the other branch: SiLU acts on xV instead of xW", """
def swiglu(x, w_gate, w_up, w_down):
    return ((x @ w_gate) * F.silu(x @ w_up)) @ w_down
"""),
    Answer("07.4", "takes the sigmoid for the gate, which is GLU", edit(GATED, "F.silu(", "torch.sigmoid(")),
    Answer("07.4", "takes GELU, which is GEGLU", edit(GATED, "F.silu(", "F.gelu(")),
    Answer("07.4", "takes ReLU, which is ReGLU", edit(GATED, "F.silu(", "torch.relu(")),
    Answer("07.4", "SiLU acts on the product of both branches", """
def swiglu(x, w_gate, w_up, w_down):
    return F.silu((x @ w_gate) * (x @ w_up)) @ w_down
"""),
    Answer("07.4", "adds the branches instead of multiplying them", edit(GATED, "gate * (x @ w_up)", "gate + (x @ w_up)")),
    Answer("07.4", "writes SiLU as x e^x / (1 + e^x), which is infinity by infinity for large gates", """
def swiglu(x, w_gate, w_up, w_down):
    z = x @ w_gate
    gate = z * torch.exp(z) / (1 + torch.exp(z))
    return (gate * (x @ w_up)) @ w_down
"""),
    Answer("07.4", "clamps the gates at 20, so larger ones are cut", """
def swiglu(x, w_gate, w_up, w_down):
    z = (x @ w_gate).clamp(-20, 20)
    return (z / (1 + torch.exp(-z)) * (x @ w_up)) @ w_down
"""),
    Answer("07.4", "the sign in the exponent is wrong, so the gate closes where it should open", """
def swiglu(x, w_gate, w_up, w_down):
    z = x @ w_gate
    return (z / (1 + torch.exp(z)) * (x @ w_up)) @ w_down
"""),
    Answer("07.4", "multiplies by the transposed matrices, as if they came from nn.Linear", """
def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
"""),
    Answer("07.4", "a bracket is missing: the gate is multiplied with x before W_up comes", """
def swiglu(x, w_gate, w_up, w_down):
    return F.silu(x @ w_gate) * x @ w_up @ w_down
"""),
    Answer("07.4", "both branches go through SiLU", edit(GATED, "(x @ w_up)", "F.silu(x @ w_up)")),
    Answer("07.4", "stops at the hidden layer: the way down is missing", edit(GATED, "(gate * (x @ w_up)) @ w_down", "gate * (x @ w_up)")),
    Answer("07.4", "forgets the up branch: this is a plain layer with SiLU", edit(GATED, "(gate * (x @ w_up)) @ w_down", "gate @ w_down")),
    # 07.5
    Answer("07.5", "four whole numbers", SIZES, right=True),
    Answer("07.5", "expressions", SIZES_EXPRESSIONS, right=True),
    Answer("07.5", "a helper for linear layers", SIZES_HELPER, right=True),
    Answer("07.5", "floats and a fraction", SIZES_FLOATS, right=True),
    Answer("07.5", "counts the biases of the feed-forward layer", edit(SIZES, "2097152", "2097152 + 2048 + 512")),
    Answer("07.5", "counts only one of the two matrices", edit(SIZES, "2097152", "512 * 2048")),
    Answer("07.5", "rounds the width up", edit(SIZES, "1365", "1366")),
    Answer("07.5", "does not round the width at all", edit(SIZES, "1365", "2 * 2048 / 3")),
    Answer("07.5", "takes two thirds of d_model instead of d_ff", edit(SIZES, "1365", "2 * 512 // 3")),
    Answer("07.5", "thinks that the gate halves the width", edit(SIZES, "1365", "1024")),
    Answer("07.5", "rounds down to a multiple of 256", edit(SIZES, "11008", "10752")),
    Answer("07.5", "rounds up to a whole number, not to a multiple of 256", edit(SIZES, "11008", "10923")),
    Answer("07.5", "forgets the two LayerNorms", edit(SIZES, "7087872", "12 * 768**2 + 9 * 768")),
    Answer("07.5", "counts one LayerNorm only", edit(SIZES, "7087872", "12 * 768**2 + 11 * 768")),
    Answer("07.5", "forgets all biases of the linear layers", edit(SIZES, "7087872", "12 * 768**2 + 4 * 768")),
    Answer("07.5", "gives attention three matrices: the output projection is missing",
           edit(SIZES, "7087872", "11 * 768**2 + 12 * 768")),
    Answer("07.5", "leaves the block unanswered", edit(SIZES, "7087872", "None")),
    # 07.6
    Answer("07.6", "two lines for each form", BLOCK, right=True),
    Answer("07.6", "one step used twice", BLOCK_STEP, right=True),
    Answer("07.6", "a loop over the sub-layers", BLOCK_LOOP, right=True),
    Answer("07.6", "in the pre form the residual starts from the normed tokens",
           edit(BLOCK, """            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            x = x + self.dropout(self.feed(self.norm2(x)))
""", """            x = self.norm1(x)
            x = x + self.dropout(self.attention(x, mask=mask))
            x = self.norm2(x)
            x = x + self.dropout(self.feed(x))
""")),
    Answer("07.6", "the post form norms the branch before the addition",
           edit(edit(BLOCK, "self.norm1(x + self.dropout(self.attention(x, mask=mask)))",
                     "x + self.norm1(self.dropout(self.attention(x, mask=mask)))"),
                "self.norm2(x + self.dropout(self.feed(x)))", "x + self.norm2(self.dropout(self.feed(x)))")),
    Answer("07.6", "the second step adds to the block's input, so what attention said is lost from the stream", """
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
    Answer("07.6", "the mask is not handed to attention in the post form",
           edit(BLOCK, "self.attention(x, mask=mask)", "self.attention(x)")),
    Answer("07.6", "the mask is turned round before it is handed on",
           edit(BLOCK, "    def forward(self, x, mask=None):\n",
                "    def forward(self, x, mask=None):\n        mask = None if mask is None else ~mask\n")),
    Answer("07.6", "there is nothing between the two linear layers", edit(BLOCK, "torch.relu(self.linear1(x))", "self.linear1(x)")),
    Answer("07.6", "GELU instead of ReLU", edit(BLOCK, "torch.relu(", "F.gelu(")),
    Answer("07.6", "dropout stays on in evaluation mode", edit(BLOCK_STEP, ", training=self.training", "")),
    Answer("07.6", "adds in place and changes the x that came in",
           edit(BLOCK, """            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
""", """            x += self.dropout(self.attention(self.norm1(x), mask=mask))
""")),
    Answer("07.6", "norm_place is ignored: always pre", edit(BLOCK, "self.norm_place = norm_place", 'self.norm_place = "pre"')),
    Answer("07.6", "one and the same norm serves both steps",
           edit(BLOCK, "self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")),
    Answer("07.6", "drops hidden features as well",
           edit(BLOCK, "self.linear2(torch.relu(self.linear1(x)))", "self.linear2(self.dropout(torch.relu(self.linear1(x))))")),
    Answer("07.6", "dropout acts on the sum, so the residual is dropped as well",
           edit(edit(BLOCK, "x + self.dropout(self.attention(self.norm1(x), mask=mask))",
                     "self.dropout(x + self.attention(self.norm1(x), mask=mask))"),
                "x + self.dropout(self.feed(self.norm2(x)))", "self.dropout(x + self.feed(self.norm2(x)))")),
    Answer("07.6", "no dropout on what attention returns",
           edit(BLOCK, "self.dropout(self.attention(self.norm1(x), mask=mask))", "self.attention(self.norm1(x), mask=mask)")),
    Answer("07.6", "the rate of dropout is always 0.1", edit(BLOCK, "nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    Answer("07.6", "the pre form ends with one more norm",
           edit(BLOCK, "            x = x + self.dropout(self.feed(self.norm2(x)))\n",
                "            x = self.norm2(x + self.dropout(self.feed(self.norm2(x))))\n")),
    Answer("07.6", "the number of heads is fixed", edit(BLOCK, "MultiHeadAttention(d_model, num_heads)", "MultiHeadAttention(d_model, 1)")),
    Answer("07.6", "half finished: attention only, no feed-forward layer",
           edit(BLOCK, """            x = x + self.dropout(self.feed(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
            x = self.norm2(x + self.dropout(self.feed(x)))
""", """        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
""")),
    Answer("07.6", "the feed-forward layer has no residual",
           edit(BLOCK, "x = x + self.dropout(self.feed(self.norm2(x)))", "x = self.dropout(self.feed(self.norm2(x)))")),
    # 07.7
    Answer("07.7", "four repairs", BLOCK + STACK, right=True),
    Answer("07.7", "appends block after block", BLOCK + STACK_APPEND, right=True),
    Answer("07.7", "recursive", BLOCK_STEP + STACK_RECURSIVE, right=True),
    Answer("07.7", "nothing was changed", BLOCK + STACK_BROKEN),
    Answer("07.7", "the layers are still one block, repeated",
           BLOCK + edit(STACK, "[EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]",
                        "[EncoderBlock(d_model, num_heads, d_ff)] * num_layers")),
    Answer("07.7", "a comprehension, but over one block that was built before it",
           BLOCK + edit(STACK, """        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
""", """        block = EncoderBlock(d_model, num_heads, d_ff)
        self.layers = nn.ModuleList([block for _ in range(num_layers)])
""")),
    Answer("07.7", "the final norm is missing",
           BLOCK + edit(edit(STACK, "        self.norm = nn.LayerNorm(d_model)\n", ""), "return self.norm(x)", "return x")),
    Answer("07.7", "the final norm is built and never used", BLOCK + edit(STACK, "return self.norm(x)", "return x")),
    Answer("07.7", "the final norm has no parameters and no name",
           BLOCK + edit(edit(STACK, "        self.norm = nn.LayerNorm(d_model)\n", ""),
                        "return self.norm(x)", "return F.layer_norm(x, x.shape[-1:])")),
    Answer("07.7", "every block still reads the input instead of what the block before it said",
           BLOCK + edit(STACK, """            x = layer(x, mask=mask)
        return self.norm(x)
""", """            output = layer(x, mask=mask)
        return self.norm(output)
""")),
    Answer("07.7", "the mask still reaches no block", BLOCK + edit(STACK, "layer(x, mask=mask)", "layer(x)")),
    Answer("07.7", "only the first block obeys the mask", BLOCK + edit(STACK, """        for layer in self.layers:
            x = layer(x, mask=mask)
""", """        for layer in self.layers:
            x = layer(x, mask=mask)
            mask = None
""")),
    Answer("07.7", "norms after every block, not once at the end", BLOCK + edit(STACK, """            x = layer(x, mask=mask)
        return self.norm(x)
""", """            x = self.norm(layer(x, mask=mask))
        return x
""")),
    Answer("07.7", "the norm stands before the first block instead of behind the last",
           BLOCK + edit(STACK, """        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.norm(x)
""", """        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x
""")),
    Answer("07.7", "the blocks lie in a plain list, so their parameters are not registered",
           BLOCK + edit(STACK, "nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])",
                        "[EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]")),
    Answer("07.7", "adds a second residual around each block",
           BLOCK + edit(STACK, "x = layer(x, mask=mask)", "x = x + layer(x, mask=mask)")),
    Answer("07.7", "builds post-norm blocks", BLOCK + edit(STACK, "EncoderBlock(d_model, num_heads, d_ff)",
                                                        'EncoderBlock(d_model, num_heads, d_ff, norm_place="post")')),
    Answer("07.7", "one block too few", BLOCK + edit(STACK, "range(num_layers)", "range(1, num_layers)")),
)
