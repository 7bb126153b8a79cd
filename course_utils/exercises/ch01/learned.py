"""Exercises 01.6 and 01.7: a kernel that learns its width, and scores without distances."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from ...checks.exercise import Case, Exercise, Twin, generator
from ...models import kernels


def _kernel_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    w, query, keys, values = parameters["w"], inputs["query"], inputs["keys"], inputs["values"]
    rows = []
    for i, q in enumerate(query):
        use = [j for j in range(len(keys)) if not (inputs["exclude_self"] and i == j)]
        kernel = torch.stack([torch.exp(-0.5 * ((w * (q - keys[j])) ** 2).sum()) for j in use])
        rows.append((kernel * values[use]).sum() / kernel.sum())
    return torch.stack(rows)


class _Learned(nn.Module):
    """The right module with a switch for each usual mistake."""

    def __init__(self, num_features: int, how: str = "right"):
        super().__init__()
        self.how = how
        start = torch.ones(num_features)
        if how == "plain tensor":
            self.w = start
        else:
            self.w = nn.Parameter(start)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, exclude_self: bool = False) -> Tensor:
        how, w = self.how, self.w
        difference = query[:, None, :] - keys[None, :, :]
        if how == "detached":
            w = w.detach()
        scaled = difference.pow(2) * w if how == "outside the square" else (difference * w).pow(2)
        if how == "divided":
            scaled = (difference / w).pow(2)
        scores = -(1.0 if how == "no half" else 0.5) * scaled.sum(-1)
        if how == "distance not squared":
            scores = -0.5 * (scaled.sum(-1) + 1e-12).sqrt()
        if how == "sum, then square":
            scores = -0.5 * (difference * w).sum(-1).pow(2)
        if how == "mean over features":
            scores = -0.5 * scaled.mean(-1)
        diagonal = torch.eye(len(query), len(keys), dtype=torch.bool)
        if how == "flag inverted":
            exclude_self = not exclude_self and len(query) == len(keys)
        if how == "always":
            exclude_self = len(query) == len(keys)
        if exclude_self and how not in ("never excluded", "after"):
            scores = scores.masked_fill(diagonal, -torch.inf)
        weights = torch.softmax(scores, 0 if how == "columns" else -1)
        if exclude_self and how == "after":
            weights = weights.masked_fill(diagonal, 0.0)
        return weights @ values


def _learned(how: str) -> type[nn.Module]:
    return type("LearnedKernel", (_Learned,), {"__init__": lambda self, num_features: _Learned.__init__(self, num_features, how)})


def _draw_learned(seed: int) -> list[Case]:
    g = generator(seed)
    inputs = {"query": torch.randn(4, 3, generator=g), "keys": torch.randn(6, 3, generator=g),
              "values": torch.randn(6, generator=g), "exclude_self": False}
    same = torch.randn(5, 3, generator=g)
    own = {"query": same, "keys": same, "values": torch.randn(5, generator=g), "exclude_self": True}
    w = {"w": 0.5 + torch.rand(3, generator=g)}
    return [Case("4 queries, 6 points, 3 features", {"init": {"num_features": 3}, "parameters": w, "inputs": inputs},
                 gradients=("w",), shape="(query,)"),
            Case("5 points that may see themselves", {"init": {"num_features": 3}, "parameters": w,
                 "inputs": {**own, "exclude_self": False}}, part="exclude_self", gradients=("w",), shape="(query,)"),
            Case("5 points that must not see themselves", {"init": {"num_features": 3}, "parameters": w, "inputs": own},
                 part="exclude_self", gradients=("w",), shape="(query,)")]


LEARNED = Exercise(
    id="01.6", title="A kernel that learns its width", name="LearnedKernel", kind="module", stars=3, minutes=15,
    signature="LearnedKernel(num_features)(query, keys, values, exclude_self=False) -> (m,)",
    oracle=_kernel_oracle, reference=kernels.LearnedKernel, draw=_draw_learned, parts={"values": 3, "exclude_self": 2},
    twins=(
        Twin("w outside the square", _learned("outside the square"),
             "w multiplies the squared difference. Inside the square it is a scaling of the feature itself, which is what "
             "a projection will do in the next chapters."),
        Twin("divided by w", _learned("divided"),
             "Here w is an inverse width: it multiplies. Dividing makes training blow up when w comes near zero."),
        Twin("factor one half missing", _learned("no half"), "The score is minus one half of the squared, scaled distance."),
        Twin("distance not squared", _learned("distance not squared"),
             "The sum of squares is already the squared distance; taking its root gives another kernel, with a kink at zero."),
        Twin("summed before squaring", _learned("sum, then square"),
             "Differences of opposite sign cancel when they are added first. Square each feature's difference, then add."),
        Twin("mean over the features", _learned("mean over features"),
             "The squared distance is a sum over the features, not their mean."),
        Twin("normalised over the queries", _learned("columns"), "The weights of one query, a row, must sum to 1. Your columns do."),
        Twin("flag the wrong way round", _learned("flag inverted"),
             "exclude_self has the opposite effect: points are left out when they should not be, and seen when they should be left out."),
        Twin("excluded whatever the flag says", _learned("always"),
             "As soon as there are as many queries as keys, the diagonal goes. It should go only when exclude_self is True."),
        Twin("w is not a parameter", _learned("plain tensor"),
             "A plain tensor as an attribute is invisible to the optimiser."),
        Twin("w cut off from the gradient", _learned("detached"), "Nothing may stand between w and the result that stops gradients."),
        Twin("point never excluded", _learned("never excluded"),
             "exclude_self has no effect: each point still predicts itself, and training would drive the width to zero. (A "
             "score of 0 is no "
             "exclusion: it is the largest score this kernel has.)"),
        Twin("excluded after normalising", _learned("after"),
             "The own weight is removed when the shares are already computed, so rows sum to less than 1. Remove it from the scores."),
    ),
)


def _gaussian_scores(query: Tensor, keys: Tensor) -> Tensor:
    return -0.5 * torch.cdist(query.double(), keys.double()).pow(2).float()


def _dot(query: Tensor, keys: Tensor, norm: float = -0.5, power: int = 2, factor: float = 1.0) -> Tensor:
    return factor * (query @ keys.T) + norm * keys.norm(dim=-1) ** power


def _draw_dot(seed: int) -> list[Case]:
    g = generator(seed)
    lengths = 0.3 + 1.5 * torch.rand(6, 1, generator=g)
    args = {"query": torch.randn(4, 3, generator=g), "keys": lengths * torch.randn(6, 3, generator=g)}
    return [Case("4 queries, 6 keys of different length, 3 features", args, shape="(query, key)")]


DOT = Exercise(
    id="01.7", title="Distances without distances", name="dot_product_scores", kind="function", stars=2, minutes=10,
    signature="dot_product_scores(query, keys) -> (m, n)",
    oracle=_gaussian_scores, reference=_dot, draw=_draw_dot, parts={"values": 3}, raw=lambda s: torch.softmax(s.float(), -1),
    compared="compared after a softmax over the keys",
    forbidden=("torch.cdist", "torch.nn.functional.pairwise_distance"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("norm of the keys left out", partial(_dot, norm=0.0),
             "Right only when all keys are equally long. Here they are not: a long key wins by its length, and the distance would "
             "have held that against it. (One number for all keys together is the same as none: the softmax cancels it, like "
             "the query's own term.)"),
        Twin("norm of the keys added", partial(_dot, norm=0.5),
             "Expand the square and look at the sign of the key's own term."),
        Twin("one half missing", partial(_dot, norm=-1.0),
             "The key's own term carries the factor that stands in front of the squared distance."),
        Twin("norm not squared", partial(_dot, norm=-0.5, power=1),
             "The expansion of a square holds the squared length of the key."),
        Twin("softmax already applied", lambda query, keys: torch.softmax(_dot(query, keys), -1),
             "These are weights. The scores are what goes into the softmax."),
        Twin("all signs flipped", partial(_dot, norm=0.5, factor=-1.0),
             "That is the squared distance itself, so the farthest key wins. A score must grow with nearness."),
        Twin("cosine similarity", lambda query, keys: nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(keys, dim=-1).T,
             "Dividing by the lengths throws them away. The distance needs them: nothing is normalised here."),
        Twin("product doubled", partial(_dot, factor=2.0),
             "Multiply the square out and carry the factor one half through all three terms."),
    ),
)
