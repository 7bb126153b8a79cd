"""Chapter 07b: answers written from the blank notebook."""

from . import Answer, edit

# 07b.1 ---------------------------------------------------------------------------------------------------------------

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

# 07b.2 ---------------------------------------------------------------------------------------------------------------

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

# 07b.3 ---------------------------------------------------------------------------------------------------------------

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

# 07b.4 --------------------------------------------------------------------------------------------------------------

PLACE = """
def sublayer(x, branch, norm_in, norm_out, place):
    if place not in ("post", "pre", "sandwich", "output"):
        raise ValueError(f"place={place!r} is unknown")
    read = norm_in(x) if place in ("pre", "sandwich") else x
    said = branch(read)
    if place in ("sandwich", "output"):
        said = norm_out(said)
    if place == "post":
        return norm_out(x + said)
    return x + said
"""

PLACE_MATCH = """
def sublayer(x, branch, norm_in, norm_out, place):
    match place:
        case "post":
            return norm_out(x + branch(x))
        case "pre":
            return x + branch(norm_in(x))
        case "sandwich":
            return x + norm_out(branch(norm_in(x)))
        case "output":
            return x + norm_out(branch(x))
    raise ValueError("no such place: " + place)
"""

PLACE_CHAIN = """
def sublayer(x, branch, norm_in, norm_out, place):
    same = lambda t: t
    table = {"post": (same, same, norm_out), "pre": (norm_in, same, same), "sandwich": (norm_in, norm_out, same),
             "output": (same, norm_out, same)}
    try:
        first, second, third = table[place]
    except KeyError:
        raise ValueError(f"{place} is none of {list(table)}") from None
    return third(torch.add(x, second(branch(first(x)))))
"""

PLACE_HANDED = """
def sublayer(x, branch, norm_in, norm_out, place):
    if place not in ("post", "pre", "sandwich", "output"):
        raise ValueError(f"place={place!r} is unknown")
    read = norm_in(x) if place != "post" else x
    said = branch(read)
    if place == "sandwich" or "output":
        said = norm_out(said)
    if place == "post":
        return norm_out(x) + said
    return read + said
"""

# 07b.5 --------------------------------------------------------------------------------------------------------------

QK = """
def qk_norm_attention(query, key, value, query_weight, key_weight, eps=1e-6):
    q = query / torch.sqrt(query.pow(2).mean(-1, keepdim=True) + eps) * query_weight
    k = key / torch.sqrt(key.pow(2).mean(-1, keepdim=True) + eps) * key_weight
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ value
"""

QK_FUSED = """
def qk_norm_attention(query, key, value, query_weight, key_weight, eps=1e-6):
    d = query.shape[-1]
    q = F.rms_norm(query, (d,), query_weight, eps)
    k = F.rms_norm(key, (d,), key_weight, eps)
    return F.scaled_dot_product_attention(q, k, value)
"""

QK_EINSUM = """
def qk_norm_attention(query, key, value, query_weight, key_weight, eps=1e-6):
    d = query.size(-1)
    size = lambda t: ((t * t).sum(-1, keepdim=True) / d + eps).rsqrt()
    both = query_weight * key_weight
    scores = torch.einsum("...qd,...kd,d->...qk", query * size(query), key * size(key), both) / d ** 0.5
    scores = scores - scores.amax(-1, keepdim=True).detach()
    weights = scores.exp()
    return torch.einsum("...qk,...kd->...qd", weights / weights.sum(-1, keepdim=True), value)
"""

BANK = (
    # 07b.1
    Answer("07b.1", "widen, normalise, narrow, weight", RMS, right=True),
    Answer("07b.1", "the weight before the way back", RMS_INSIDE, right=True),
    Answer("07b.1", "from the length of the vector", RMS_NORM, right=True),
    Answer("07b.1", "no cast at all: in 16 bits the squares overflow", """
def rms_norm(x, weight, eps=1e-6):
    divisor = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    return x / divisor * weight, divisor.float()
"""),
    Answer("07b.1", "widens after squaring, when the overflow has happened",
           edit(RMS, "wide.pow(2).mean(", "x.pow(2).float().mean(")),
    Answer("07b.1", "narrows the divisor before it divides",
           edit(RMS, "(wide / divisor).to(x.dtype)", "x / divisor.to(x.dtype)")),
    Answer("07b.1", "returns only the output", edit(RMS, "return normal * weight, divisor", "return normal * weight")),
    Answer("07b.1", "returns the divisor first", edit(RMS, "return normal * weight, divisor", "return divisor, normal * weight")),
    Answer("07b.1", "the divisor lost its last axis",
           edit(RMS, "return normal * weight, divisor", "return normal * weight, divisor.squeeze(-1)")),
    Answer("07b.1", "returns the divisor in the type of x", edit(RMS, "normal * weight, divisor", "normal * weight, divisor.to(x.dtype)")),
    Answer("07b.1", "returns the divisor without eps", edit(RMS, "return normal * weight, divisor",
                                                          "return normal * weight, wide.pow(2).mean(dim=-1, keepdim=True).sqrt()")),
    Answer("07b.1", "returns one over the divisor",
           edit(RMS, "return normal * weight, divisor", "return normal * weight, 1 / divisor")),
    Answer("07b.1", "adds eps outside the root",
           edit(RMS, "torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)", "wide.pow(2).mean(dim=-1, keepdim=True).sqrt() + eps")),
    Answer("07b.1", "subtracts the mean, which is LayerNorm",
           edit(RMS, "    divisor =", "    wide = wide - wide.mean(dim=-1, keepdim=True)\n    divisor =")),
    Answer("07b.1", "divides by the length: sums the squares instead of averaging them", edit(RMS, ".pow(2).mean(", ".pow(2).sum(")),
    Answer("07b.1", "the output stays in float32", edit(RMS, "(wide / divisor).to(x.dtype)", "wide / divisor")),
    Answer("07b.1", "narrows to float16 whatever came in", edit(RMS, "(wide / divisor).to(x.dtype)", "(wide / divisor).half()")),
    Answer("07b.1", "averages over all tokens at once",
           edit(RMS, "wide.pow(2).mean(dim=-1, keepdim=True) + eps)", "wide.pow(2).mean() + eps).expand(*x.shape[:-1], 1)")),
    Answer("07b.1", "multiplies by 1 + weight", edit(RMS, "return normal * weight", "return normal * (1 + weight)")),
    Answer("07b.1", "forgets the weight", edit(RMS, "return normal * weight,", "return normal,")),
    Answer("07b.1", "ignores the argument eps", edit(RMS, "keepdim=True) + eps", "keepdim=True) + 1e-6")),
    # 07b.2
    Answer("07b.2", "three products and a SiLU", GATED, right=True),
    Answer("07b.2", "einsum and a sigmoid", GATED_SIGMOID, right=True),
    Answer("07b.2", "one product for both branches, sigmoid by tanh", GATED_TANH, right=True),
    Answer("07b.2", "hidden unit after hidden unit", GATED_SUM, right=True),
    Answer("07b.2", "bends the other branch: SiLU acts on xV instead of xW", """
def swiglu(x, w_gate, w_up, w_down):
    return ((x @ w_gate) * F.silu(x @ w_up)) @ w_down
"""),
    Answer("07b.2", "takes the sigmoid for the gate, which is GLU", edit(GATED, "F.silu(", "torch.sigmoid(")),
    Answer("07b.2", "takes GELU, which is GEGLU", edit(GATED, "F.silu(", "F.gelu(")),
    Answer("07b.2", "takes ReLU, which is ReGLU", edit(GATED, "F.silu(", "torch.relu(")),
    Answer("07b.2", "SiLU acts on the product of both branches", """
def swiglu(x, w_gate, w_up, w_down):
    return F.silu((x @ w_gate) * (x @ w_up)) @ w_down
"""),
    Answer("07b.2", "adds the branches instead of multiplying them", edit(GATED, "gate * (x @ w_up)", "gate + (x @ w_up)")),
    Answer("07b.2", "writes SiLU as x e^x / (1 + e^x), which is infinity by infinity for large gates", """
def swiglu(x, w_gate, w_up, w_down):
    z = x @ w_gate
    gate = z * torch.exp(z) / (1 + torch.exp(z))
    return (gate * (x @ w_up)) @ w_down
"""),
    Answer("07b.2", "clamps the gates at 20, so larger ones are cut", """
def swiglu(x, w_gate, w_up, w_down):
    z = (x @ w_gate).clamp(-20, 20)
    return (z / (1 + torch.exp(-z)) * (x @ w_up)) @ w_down
"""),
    Answer("07b.2", "the sign in the exponent is wrong, so the gate closes where it should open", """
def swiglu(x, w_gate, w_up, w_down):
    z = x @ w_gate
    return (z / (1 + torch.exp(z)) * (x @ w_up)) @ w_down
"""),
    Answer("07b.2", "multiplies by the transposed matrices, as if they came from nn.Linear", """
def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
"""),
    Answer("07b.2", "a bracket is missing: the gate is multiplied with x before W_up comes", """
def swiglu(x, w_gate, w_up, w_down):
    return F.silu(x @ w_gate) * x @ w_up @ w_down
"""),
    Answer("07b.2", "both branches go through SiLU", edit(GATED, "(x @ w_up)", "F.silu(x @ w_up)")),
    Answer("07b.2", "stops at the hidden layer: the way down is missing", edit(GATED, "(gate * (x @ w_up)) @ w_down", "gate * (x @ w_up)")),
    Answer("07b.2", "forgets the up branch: this is a plain layer with SiLU", edit(GATED, "(gate * (x @ w_up)) @ w_down", "gate @ w_down")),
    # 07b.3
    Answer("07b.3", "four whole numbers", SIZES, right=True),
    Answer("07b.3", "expressions", SIZES_EXPRESSIONS, right=True),
    Answer("07b.3", "a helper for linear layers", SIZES_HELPER, right=True),
    Answer("07b.3", "floats and a fraction", SIZES_FLOATS, right=True),
    Answer("07b.3", "counts the biases of the feed-forward layer", edit(SIZES, "2097152", "2097152 + 2048 + 512")),
    Answer("07b.3", "counts only one of the two matrices", edit(SIZES, "2097152", "512 * 2048")),
    Answer("07b.3", "rounds the width up", edit(SIZES, "1365", "1366")),
    Answer("07b.3", "does not round the width at all", edit(SIZES, "1365", "2 * 2048 / 3")),
    Answer("07b.3", "takes two thirds of d_model instead of d_ff", edit(SIZES, "1365", "2 * 512 // 3")),
    Answer("07b.3", "thinks that the gate halves the width", edit(SIZES, "1365", "1024")),
    Answer("07b.3", "rounds down to a multiple of 256", edit(SIZES, "11008", "10752")),
    Answer("07b.3", "rounds up to a whole number, not to a multiple of 256", edit(SIZES, "11008", "10923")),
    Answer("07b.3", "forgets the two LayerNorms", edit(SIZES, "7087872", "12 * 768**2 + 9 * 768")),
    Answer("07b.3", "counts one LayerNorm only", edit(SIZES, "7087872", "12 * 768**2 + 11 * 768")),
    Answer("07b.3", "forgets all biases of the linear layers", edit(SIZES, "7087872", "12 * 768**2 + 4 * 768")),
    Answer("07b.3", "gives attention three matrices: the output projection is missing",
           edit(SIZES, "7087872", "11 * 768**2 + 12 * 768")),
    Answer("07b.3", "leaves the block unanswered", edit(SIZES, "7087872", "None")),
    # 07b.4
    Answer("07b.4", "one test for each side", PLACE, right=True),
    Answer("07b.4", "a formula for each place", PLACE_MATCH, right=True),
    Answer("07b.4", "three functions from a table", PLACE_CHAIN, right=True),
    Answer("07b.4", "only the residual mended", edit(PLACE_HANDED, "return read + said", "return x + said"),
           never=("exactly like the code that was handed out",)),
    Answer("07b.4", "only the condition mended", edit(PLACE_HANDED, '== "sandwich" or "output"', 'in ("sandwich", "output")'),
           never=("exactly like the code that was handed out",)),
    Answer("07b.4", "the condition forgotten", edit(PLACE, 'if place in ("sandwich", "output")', 'if place == "sandwich" or "output"'),
           says=("Norm behind every branch",)),
    Answer("07b.4", "the residual forgotten", edit(PLACE, "    return x + said\n", "    return read + said\n"),
           says=("Stream normalised inside",)),
    Answer("07b.4", "the output form reads normed tokens", edit(PLACE, 'place in ("pre", "sandwich")', 'place != "post"'),
           says=("Output form reads normed tokens",)),
    Answer("07b.4", "the post form's norm too early", edit(PLACE, "norm_out(x + said)", "norm_out(x) + said"),
           says=("Post form norms too early",)),
    Answer("07b.4", "the post form takes the first norm", edit(PLACE, "norm_out(x + said)", "norm_in(x + said)")),
    Answer("07b.4", "no refusal", edit(PLACE, "        raise ValueError(f\"place={place!r} is unknown\")", "        pass")),
    Answer("07b.4", "a KeyError instead", edit(PLACE, "raise ValueError", "raise KeyError")),
    Answer("07b.4", "the tokens changed in place", edit(PLACE, "    return x + said\n", "    x += said\n    return x\n")),
    # 07b.5
    Answer("07b.5", "written out", QK, right=True),
    Answer("07b.5", "with PyTorch's two functions", QK_FUSED, right=True),
    Answer("07b.5", "one product of the two weights", QK_EINSUM, right=True),
    Answer("07b.5", "the keys forgotten", edit(QK, "key / torch.sqrt(key.pow(2).mean(-1, keepdim=True) + eps) * key_weight",
                                               "key * key_weight"), says=("Keys not normalised",)),
    Answer("07b.5", "unit vectors", QK.replace(".mean(-1, keepdim=True)", ".sum(-1, keepdim=True)"), says=("Vectors of length one",)),
    Answer("07b.5", "F.normalize", edit(QK, "query / torch.sqrt(query.pow(2).mean(-1, keepdim=True) + eps) * query_weight",
                                        "F.normalize(query, dim=-1) * query_weight")),
    Answer("07b.5", "no root of the width", edit(QK, " / math.sqrt(q.shape[-1])", ""), says=("Scores not divided",)),
    Answer("07b.5", "LayerNorm", QK_FUSED.replace("F.rms_norm(query, (d,), query_weight, eps)",
                                                  "F.layer_norm(query, (d,), query_weight, eps=eps)").replace(
        "F.rms_norm(key, (d,), key_weight, eps)", "F.layer_norm(key, (d,), key_weight, eps=eps)"), says=("Centred as in LayerNorm",)),
    Answer("07b.5", "over the tokens", QK.replace(".mean(-1, keepdim=True)", ".mean(-2, keepdim=True)"),
           says=("Normalised over the tokens",)),
    Answer("07b.5", "values too", edit(QK, "@ value", "@ (value / torch.sqrt(value.pow(2).mean(-1, keepdim=True) + eps))"),
           says=("Values normalised too",)),
    Answer("07b.5", "softmax over the queries", edit(QK, "dim=-1", "dim=-2"), says=("Softmax over the queries",)),
    Answer("07b.5", "eps outside the root", QK.replace("keepdim=True) + eps)", "keepdim=True)) + eps").replace(
        "query / torch.sqrt(query.pow(2).mean(-1, keepdim=True)) + eps", "query / (torch.sqrt(query.pow(2).mean(-1, keepdim=True)) + eps)"
    ).replace("key / torch.sqrt(key.pow(2).mean(-1, keepdim=True)) + eps", "key / (torch.sqrt(key.pow(2).mean(-1, keepdim=True)) + eps)")),
    Answer("07b.5", "the learned factors forgotten", QK.replace(" * query_weight", "").replace(" * key_weight", ""),
           says=("Learned weights left out",)),
    Answer("07b.5", "eps written out", QK.replace("+ eps", "+ 1e-6"), says=("Eps argument ignored",)),
)
