"""Chapter 02."""

from . import Listed

ELMAN = """
class ElmanRNN(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.w = nn.Linear(d_in, width)
        self.u = nn.Linear(width, width, bias=False)

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(len(x), self.u.in_features)
        states = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.w(x[:, t]) + self.u(h))
            states.append(h)
        return torch.stack(states, dim=1)
"""

ATTENTION = """
class AdditiveAttention(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.w_q = nn.Linear(d_query, d_attn, bias=False)
        self.w_k = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key, value, mask=None):
        scores = self.v(torch.tanh(self.w_q(query)[:, :, None] + self.w_k(key)[:, None])).squeeze(-1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights
"""

FIELD = """
def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels but {len(dilations)} dilations")
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations))
"""

LISTED = (
    Listed("02.1", "the course's own, subclassed", """
from course_utils.models.recurrent import ElmanRNN as Theirs
class ElmanRNN(Theirs):
    pass
""", says=("out of bounds",)),
    Listed("02.1", "width written as 5", ELMAN.replace("torch.zeros(len(x), self.u.in_features)", "x.new_zeros(len(x), 5)")),
    Listed("02.1", "the state kept from call to call", ELMAN.replace(
        "        if h is None:\n            h = torch.zeros(len(x), self.u.in_features)\n",
        "        if h is None:\n            h = getattr(self, 'h', None)\n        if h is None or len(h) != len(x):\n"
        "            h = torch.zeros(len(x), self.u.in_features)\n").replace("        return", "        self.h = h.detach()\n        "
        "return")),
    Listed("02.1", "states side by side", ELMAN.replace("torch.stack(states, dim=1)", "torch.cat(states, dim=-1)"),
           never=("an axis of length 1",)),
    Listed("02.1", "a loop", ELMAN, right=True),
    Listed("02.2", "only the first m queries", """
def additive_scores(query, key, w_q, w_k, v):
    n, m = query.shape[1], key.shape[1]
    out = torch.zeros(query.shape[0], n, m)
    for i in range(min(n, m)):
        out[:, i] = torch.tanh((query[:, i] @ w_q)[:, None] + key @ w_k) @ v
    return out
"""),
    Listed("02.4", "the course's own, subclassed", """
from course_utils.models.recurrent import AdditiveAttention as ReferenceAttention
class AdditiveAttention(ReferenceAttention):
    pass
""", says=("out of bounds",)),
    Listed("02.4", "the course's own forward", ATTENTION.split("        scores")[0].replace(
        "\nclass", "\nfrom course_utils.models.recurrent import AdditiveAttention as Theirs\nclass", 1)
        + "        return Theirs.forward(self, query, key, value, mask)\n", says=("out of bounds",), never=("has no attribute",)),
    Listed("02.4", "forbidden score -100", ATTENTION.replace("-torch.inf", "-100"), says=("Masked scores set to a number",)),
    Listed("02.4", "a mask of two axes taken as (batch, m)", ATTENTION.replace(
        "            scores = scores.masked", "            if mask.dim() == 2:\n                mask = mask[:, None, :]\n            "
        "scores = scores.masked")),
    Listed("02.4", "a mask of four axes", ATTENTION.replace("(~mask,", "(~mask[:, None],"), never=("should be summed",)),
    Listed("02.4", "the mask of the first call kept", ATTENTION.replace(
        "        if mask is not None:", "        if mask is None:\n            mask = getattr(self, 'mask', None)\n        self.mask "
        "= mask\n"
        "        if mask is not None and mask.shape[-1] == scores.shape[-1]:")),
    Listed("02.4", "softmax over the queries", ATTENTION.replace("dim=-1", "dim=1"), never=("NaN",)),
    Listed("02.4", "a softmax with minus infinity", ATTENTION, right=True),
    Listed("02.5", "refuses only surplus dilations", FIELD.replace("!=", "<")),
    Listed("02.5", "an assertion", """
def receptive_field(kernels, dilations):
    assert len(kernels) == len(dilations), f"{len(kernels)} kernels but {len(dilations)} dilations"
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations))
""", never=("by accident",)),
    Listed("02.5", "a floating tensor", FIELD.replace("return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations))",
        "k, d = torch.tensor(kernels).float(), torch.tensor(dilations).float()\n    return 1 + ((k - 1) * d).sum()")),
    Listed("02.5", "an integer of NumPy", FIELD.replace("return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations))",
        "import numpy as np\n    return 1 + np.sum((np.array(kernels, dtype=int) - 1) * np.array(dilations, dtype=int))"), right=True),
)
