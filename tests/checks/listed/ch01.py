"""Chapter 01."""

from . import Listed

WEIGHTS = """
def gaussian_weights(query, keys, bandwidth):
    if bandwidth <= 0:
        raise ValueError(f"bandwidth must be positive, got {bandwidth}")
    return torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2), dim=1)
"""

PREDICTION = """
def nadaraya_watson(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    weights = torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2), dim=1)
    return weights @ values
"""
SHARES = "weights = torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2), dim=1)\n    return weights @ values"

LOO = """
def loo_error(keys, values, bandwidth):
    if len(keys) < 2:
        raise ValueError(f"{len(keys)} points")
    scores = -((keys[:, None] - keys[None, :]) ** 2) / (2 * bandwidth**2)
    scores = scores.masked_fill(torch.eye(len(keys), dtype=torch.bool), -torch.inf)
    return ((torch.softmax(scores, -1) @ values - values) ** 2).mean()
"""

LEARNED = """
class LearnedKernel(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))

    def forward(self, query, keys, values, exclude_self=False):
        difference = query[:, None, :] - keys[None, :, :]
        scores = -0.5 * (difference * self.w).pow(2).sum(-1)
        if exclude_self:
            scores = scores.masked_fill(torch.eye(len(keys), dtype=torch.bool), -torch.inf)
        return torch.softmax(scores, dim=-1) @ values
"""

LISTED = (
    Listed("01.1", "the course's own", """
from course_utils.models import kernels
def gaussian_weights(query, keys, bandwidth):
    return kernels.gaussian_weights(query, keys, bandwidth)
""", says=("out of bounds",)),
    Listed("01.1", "an assertion", WEIGHTS.replace(
        "if bandwidth <= 0:\n        raise ValueError(f\"bandwidth must be positive, got {bandwidth}\")",
        "assert bandwidth > 0, f\"bandwidth must be positive, got {bandwidth}\""), never=("by accident",)),
    Listed("01.1", "a TypeError on purpose", WEIGHTS.replace("raise ValueError", "raise TypeError"), never=("by accident",)),
    Listed("01.1", "NaN replaced by 0", WEIGHTS.replace(
        "return torch.softmax(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2), dim=1)",
        "k = torch.exp(-(query[:, None] - keys[None, :]) ** 2 / (2 * bandwidth**2))\n"
        "    return torch.nan_to_num(k / k.sum(1, keepdim=True))"), never=("Why: A small number added",)),
    Listed("01.1", "a softmax of the exponents", WEIGHTS, right=True),
    Listed("01.2", "far queries give NaN", PREDICTION.replace(
        SHARES, "k = torch.exp(-(query[:, None] - keys) ** 2 / (2 * bandwidth**2))\n    return (k @ values) / k.sum(1)"),
        says=("Far queries give 0/0",)),
    Listed("01.2", "far queries give 0", PREDICTION.replace(
        SHARES, "k = torch.exp(-(query[:, None] - keys) ** 2 / (2 * bandwidth**2))\n    return (k @ values) / (k.sum(1) + 1e-12)"),
        says=("Far queries are predicted as 0",)),
    Listed("01.2", "refuses only fewer values than keys", PREDICTION.replace("len(keys) != len(values)", "len(keys) > len(values)")),
    Listed("01.2", "the number of queries in the message", PREDICTION.replace("{len(keys)} keys", "{len(query)} keys")),
    Listed("01.2", "an assertion", PREDICTION.replace(
        "if len(keys) != len(values) or len(keys) == 0:\n        raise ValueError(f\"{len(keys)} keys, {len(values)} values\")",
        "assert len(keys) == len(values) and len(keys) > 0, f\"{len(keys)} keys, {len(values)} values\""), never=("by accident",)),
    Listed("01.2", "an IndexError on purpose", PREDICTION.replace("raise ValueError", "raise IndexError"), never=("by accident",)),
    Listed("01.2", "the course's own", """
from course_utils.models.kernels import nadaraya_watson as theirs
def nadaraya_watson(query, keys, values, bandwidth):
    return theirs(query, keys, values, bandwidth)
""", says=("out of bounds",)),
    Listed("01.2", "the course's weights, which 01.1 hands out", """
from course_utils.models.kernels import gaussian_weights
def nadaraya_watson(query, keys, values, bandwidth):
    if len(keys) != len(values) or len(keys) == 0:
        raise ValueError(f"{len(keys)} keys, {len(values)} values")
    return gaussian_weights(query, keys, bandwidth) @ values
""", right=True),
    Listed("01.2", "a softmax", PREDICTION, right=True),
    Listed("01.5", "own score -1e4", LOO.replace("-torch.inf", "-1e4"), says=("Excluded with a large negative score",)),
    Listed("01.5", "own score -1e9", LOO.replace("-torch.inf", "-1e9"), says=("Excluded with a large negative score",)),
    Listed("01.5", "a softmax with minus infinity", LOO, right=True),
    Listed("01.6", "exponentials without a shift", LEARNED.replace(
        "return torch.softmax(scores, dim=-1) @ values", "return torch.exp(scores) @ values / torch.exp(scores).sum(1)"),
        says=("Far queries give 0/0",)),
    Listed("01.6", "own score -100", LEARNED.replace("-torch.inf", "-100.0"), says=("Excluded with a finite score",)),
    Listed("01.6", "own score -1e4", LEARNED.replace("-torch.inf", "-1e4"), says=("Excluded with a finite score",)),
    Listed("01.6", "twins excluded too", LEARNED.replace(
        "torch.eye(len(keys), dtype=torch.bool)", "(difference == 0).all(-1)"), says=("Every point at distance 0 excluded",)),
    Listed("01.6", "exclude_self by default", LEARNED.replace("exclude_self=False", "exclude_self=True")),
    Listed("01.6", "the course's own, subclassed", """
from course_utils.models import kernels
class LearnedKernel(kernels.LearnedKernel):
    pass
""", says=("out of bounds",)),
    Listed("01.6", "a softmax with minus infinity", LEARNED, right=True),
    Listed("01.7", "torch.dist in two loops", """
def dot_product_scores(query, keys):
    return torch.stack([torch.stack([-0.5 * torch.dist(q, k) ** 2 for k in keys]) for q in query])
""", says=("out of bounds",)),
    Listed("01.7", "the long way, by differences: allowed since the docstring only advises against it", """
def dot_product_scores(query, keys):
    return -0.5 * (query[:, None] - keys[None]).pow(2).sum(-1)
""", right=True),
    Listed("01.7", "differences and an einsum: likewise", """
def dot_product_scores(query, keys):
    d = query[:, None] - keys[None]
    return -0.5 * torch.einsum('mnf,mnf->mn', d, d)
""", right=True),
)
