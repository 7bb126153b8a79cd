"""Chapter 03."""

from . import Listed

SCORES = """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"{query.shape[-1]} {key.shape[-1]}")
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
"""

ATTENTION = """
def scaled_dot_product_attention(query, key, value, mask=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"shapes {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    empty = ~mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & ~empty, -torch.inf), -1).masked_fill(empty, 0.0)
    return weights @ value, weights
"""
SOFTMAX = "weights = torch.softmax(scores.masked_fill(~mask & ~empty, -torch.inf), -1).masked_fill(empty, 0.0)"

MODULE = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            empty = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & ~empty, -torch.inf)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
        return weights @ v
"""

SPREAD = '''
from decimal import Decimal
from fractions import Fraction
prediction_of_spread = {"variance of q·k": 64, "std of q·k": 8, "std of q·k / sqrt(d_k)": ONE, "std of q·k / d_k": EIGHTH}
'''

LISTED = (
    Listed("03.1", "width 1 let through and broadcast", """
def attention_scores(query, key):
    if query.shape[-1] != key.shape[-1] and 1 not in (query.shape[-1], key.shape[-1]):
        raise ValueError(f"{query.shape[-1]} {key.shape[-1]}")
    return (query[..., :, None, :] * key[..., None, :, :]).sum(-1) / math.sqrt(query.shape[-1])
"""),
    Listed("03.1", "an assertion", SCORES.replace(
        "if query.shape[-1] != key.shape[-1]:\n        raise ValueError(f\"{query.shape[-1]} {key.shape[-1]}\")",
        "assert query.shape[-1] == key.shape[-1], f\"{query.shape[-1]} {key.shape[-1]}\""), never=("by accident",)),
    Listed("03.1", "a product", SCORES, right=True),
    Listed("03.2", "exponentials without a shift", ATTENTION.replace(
        SOFTMAX, "e = torch.exp(scores) * mask\n    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)")),
    Listed("03.2", "forbidden score -100", ATTENTION.replace("-torch.inf", "-100"), says=("Masked scores set to a number",)),
    Listed("03.2", "forbidden score -1e4", ATTENTION.replace("-torch.inf", "-1e4")),
    Listed("03.2", "forbidden score -1e9, and nothing else: the input shown has the empty row of the reason", ATTENTION.replace(
        SOFTMAX, "weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1)"),
        says=("Tried: row 1 may attend to nothing", "Empty row gives the mean"), never=("-0,",)),
    Listed("03.2", "forbidden score -1e9, then a product with the mask", ATTENTION.replace(
        SOFTMAX, "weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1) * mask"),
        says=("Tried: each query permits one key", "A low fill, then a product with the mask")),
    Listed("03.2", "an assertion", ATTENTION.replace(
        "if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:\n        raise ValueError(",
        "assert query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2], ("), never=("by accident",)),
    Listed("03.2", "softmax around everything", ATTENTION.replace(SOFTMAX, "weights = scores.masked_fill(~mask, -torch.inf)").replace(
        "weights @ value, weights", "torch.softmax(weights @ value, -1), weights"), never=("NaN",)),
    Listed("03.2", "filled with minus infinity, NaN swept away", ATTENTION.replace(
        SOFTMAX, "weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()"), right=True),
    Listed("03.2", "rows shifted by hand", ATTENTION.replace(
        SOFTMAX, "top = scores.detach().masked_fill(~mask, -1e30).amax(-1, keepdim=True)\n"
                 "    e = torch.where(mask, torch.exp((scores - top).masked_fill(~mask, 0.0)), 0.0)\n"
                 "    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)"), right=True),
    Listed("03.2", "a softmax with minus infinity", ATTENTION, right=True),
    Listed("03.3", "fractions", SPREAD.replace("ONE", "Fraction(1)").replace("EIGHTH", "Fraction(1, 8)"), right=True),
    Listed("03.3", "decimal numbers", SPREAD.replace("ONE", "Decimal(1)").replace("EIGHTH", "Decimal('0.125')"), right=True),
    Listed("03.4", "autograd in a loop, which nothing forbids", """
def softmax_jacobian(p):
    with torch.enable_grad():
        scores = p.log().detach().requires_grad_(True)
        weights = torch.softmax(scores, -1)
        return torch.stack([torch.autograd.grad(w, scores, retain_graph=True)[0] for w in weights])
""", right=True),
    Listed("03.4", "a Jacobian of torch.func", """
def softmax_jacobian(p):
    return torch.func.jacrev(lambda s: torch.softmax(s, -1))(p.log())
""", says=("out of bounds",)),
    Listed("03.5", "exponentials without a shift", """
def self_attention(x, w_q, w_k, w_v):
    e = torch.exp(x @ w_q @ (x @ w_k).T / math.sqrt(w_q.shape[1]))
    return e / e.sum(-1, keepdim=True) @ (x @ w_v)
""", says=("Exponentials out of range",)),
    Listed("03.5", "the course's own function, which 03.5 allows", """
from course_utils.models.attention import scaled_dot_product_attention
def self_attention(x, w_q, w_k, w_v):
    return scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)[0]
""", right=True),
    Listed("03.6", "the batch squeezed away", MODULE.replace("return weights @ v", "return (weights @ v).squeeze()")),
    Listed("03.6", "forbidden score -100", MODULE.replace("-torch.inf", "-100"), says=("Masked scores set to a number",)),
    Listed("03.6", "divided by d_k by hand", MODULE.replace("math.sqrt(q.shape[-1])", "q.shape[-1]"),
           never=("The function you call already scales;",)),
    Listed("03.6", "mask inverted by hand", MODULE.replace("mask.any", "(~mask).any").replace("(~mask & ~empty", "(mask & ~empty"),
           says=("Mask inverted",)),
    Listed("03.6", "mask inverted, no policy", MODULE.replace("~mask & ~empty", "mask").replace(
        "weights = weights.masked_fill(empty, 0.0)", "pass"), says=("Mask the wrong way round",)),
    Listed("03.6", "the course's own, subclassed", """
from course_utils.models import attention as reference
class SelfAttention(reference.SelfAttention):
    pass
""", says=("out of bounds",)),
    Listed("03.6", "PyTorch's fused function", """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        if mask is None:
            return F.scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x))
        empty = ~mask.any(-1, keepdim=True)
        out = F.scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attn_mask=mask | empty)
        return out.masked_fill(empty, 0.0)
""", right=True),
    Listed("03.6", "a softmax with minus infinity", MODULE, right=True),
)
