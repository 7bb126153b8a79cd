"""Chapter 04."""

from . import Listed

SPLIT = """
def split_heads(x, num_heads):
    batch, n, d_model = x.shape
    if d_model % num_heads:
        raise ValueError(f"{d_model} features, {num_heads} heads")
    return x.reshape(batch, n, num_heads, d_model // num_heads).transpose(1, 2)
"""

MODULE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        split = lambda x: x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        q, k, v = split(self.w_q(query)), split(self.w_k(key)), split(self.w_v(value))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            empty = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & ~empty, -torch.inf)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
        return self.w_o((weights @ v).transpose(1, 2).flatten(2))
"""

LISTED = (
    Listed("04.2", "the error added, the reshape left", SPLIT.replace(
        "x.reshape(batch, n, num_heads, d_model // num_heads).transpose(1, 2)", "x.reshape(batch, num_heads, n, d_model // num_heads)"),
        never=("behaves exactly like the code that was handed out",)),
    Listed("04.2", "an assertion", SPLIT.replace(
        "if d_model % num_heads:\n        raise ValueError(f\"{d_model} features, {num_heads} heads\")",
        "assert d_model % num_heads == 0, f\"{d_model} features, {num_heads} heads\""), never=("by accident",)),
    Listed("04.2", "refuses only more heads than features", SPLIT.replace("d_model % num_heads:", "num_heads > d_model:")),
    Listed("04.2", "the course's own", """
from course_utils.models import multihead as reference
def split_heads(x, num_heads):
    return reference.split_heads(x, num_heads)
""", says=("out of bounds",)),
    Listed("04.2", "a reshape and a transpose", SPLIT, right=True),
    Listed("04.3", "the course's own", """
from course_utils.models.multihead import merge_heads as theirs
def merge_heads(x):
    return theirs(x)
""", says=("out of bounds",)),
    Listed("04.4", "the mask of an earlier call kept", MODULE.replace(
        "        key = query if", "        self.last = mask = mask if mask is not None else getattr(self, 'last', None)\n        key "
        "= query if")),
    Listed("04.4", "the keys of the first call kept", MODULE.replace(
        "\n        scores =", "\n        old = getattr(self, 'k0', k)\n        k = self.k0 = old if old.shape == k.shape else k\n     "
        "   scores =")),
    Listed("04.4", "an assertion", MODULE.replace(
        "if d_model % num_heads:\n            raise ValueError(f\"{d_model} features, {num_heads} heads\")",
        "assert d_model % num_heads == 0, f\"{d_model} features, {num_heads} heads\""), never=("by accident",)),
    Listed("04.4", "softmax over the queries", MODULE.replace("torch.softmax(scores, -1)", "torch.softmax(scores, 2)"),
           never=("contains NaN",)),
    Listed("04.4", "softmax over the heads", MODULE.replace("torch.softmax(scores, -1)", "torch.softmax(scores, 1)"),
           never=("contains NaN",)),
    Listed("04.4", "forbidden score -1e4", MODULE.replace("-torch.inf", "-1e4"), says=("Masked scores set to a number",)),
    Listed("04.4", "forbidden score -1e9, and nothing else: the input shown has the empty row of the reason", MODULE.replace(
        "scores.masked_fill(~mask & ~empty, -torch.inf)", "scores.masked_fill(~mask, -1e9)").replace(
        "weights.masked_fill(empty, 0.0)", "weights"), says=("Tried: queries that may attend to nothing", "Empty row gives the mean")),
    Listed("04.4", "forbidden score -1e9, then a product with the mask", MODULE.replace(
        "scores.masked_fill(~mask & ~empty, -torch.inf)", "scores.masked_fill(~mask, -1e9)").replace(
        "weights.masked_fill(empty, 0.0)", "weights * mask"), says=("A low fill, then a product with the mask",)),
    Listed("04.4", "mask added as 0 and 1", MODULE.replace(
        "scores.masked_fill(~mask & ~empty, -torch.inf)", "scores + mask.float()").replace(
        "weights = weights.masked_fill(empty, 0.0)", "pass"), says=("Mask added to the scores",)),
    Listed("04.4", "mask after the softmax", MODULE.replace("scores.masked_fill(~mask & ~empty, -torch.inf)", "scores").replace(
        "weights.masked_fill(empty, 0.0)", "weights * mask"), says=("Mask applied after the softmax",)),
    Listed("04.4", "hidden scores 0", MODULE.replace("scores.masked_fill(~mask & ~empty, -torch.inf)", "scores * mask").replace(
        "weights = weights.masked_fill(empty, 0.0)", "pass"), says=("Masked scores set to 0",)),
    Listed("04.4", "the course's own, subclassed", """
from course_utils.models import multihead as reference
class MultiHeadAttention(reference.MultiHeadAttention):
    pass
"""),
    Listed("04.4", "a softmax with minus infinity", MODULE, right=True),
    Listed("04.5", "not inverted", """
def mask_for_pytorch(mask, num_heads):
    return mask.repeat_interleave(num_heads, dim=0)
""", never=("numbers ().",)),
    Listed("04.6", "mask added as 0 and 1", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(w_q.shape[-1])
    if mask is not None:
        scores = scores + mask.float()
    return torch.softmax(scores, -1) @ (x @ w_v) @ w_o.reshape(len(w_q), w_v.shape[-1], -1)
""", says=("Mask added to the scores",)),
    Listed("04.6", "hidden scores 0", """
def head_contributions(x, w_q, w_k, w_v, w_o, mask=None):
    scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(w_q.shape[-1])
    if mask is not None:
        scores = scores * mask
    return torch.softmax(scores, -1) @ (x @ w_v) @ w_o.reshape(len(w_q), w_v.shape[-1], -1)
""", says=("Masked scores set to 0",)),
    Listed("04.7", "words outside the list", """
prediction_of_twins = {"heads equal, blocks of W_O equal": "identical forever", "heads equal, blocks of W_O random": "different",
                       "heads equal, W_O all zero": "identical for ever", "heads random, blocks of W_O equal": "different",
                       "all equal, dropout on the weights": "different"}
""", never=("4 of 5 entries agree",)),
)
