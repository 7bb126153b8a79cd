"""Exercises 01.6 and 01.7: a kernel that learns its width, and scores without distances."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _kernel_oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    """Query by query, in double precision; the points that must not be seen are really left out."""
    if inputs is None:
        return "w 1"
    w, query, keys, values = parameters["w"], inputs["query"], inputs["keys"], inputs["values"]
    rows = []
    for i, q in enumerate(query):
        use = [j for j in range(len(keys)) if not (inputs.get("exclude_self", False) and i == j)]
        exponents = torch.stack([-0.5 * ((w.double() * (q - keys[j])) ** 2).sum() for j in use])
        kernel = torch.exp(exponents - exponents.max())
        rows.append((kernel * values[use]).sum() / kernel.sum())
    return torch.stack(rows).float()


class _Learned(nn.Module):
    """The right module with a switch for each usual mistake."""

    def __init__(self, num_features: int, how: str = "right"):
        super().__init__()
        self.how = how
        start = {"random": torch.randn(num_features), "zeros": torch.zeros(num_features)}.get(how, torch.ones(num_features))
        if how == "plain tensor":
            self.w = start
        else:
            self.w = nn.Parameter(start)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, exclude_self: bool = False) -> Tensor:
        how, w = self.how, self.w
        difference = query[:, None, :] - keys[None, :, :]
        if how == "detached":
            w = w.detach()
        if how == "negative as 0":
            w = w.clamp(min=0)
        scaled = difference.pow(2) * w if how == "outside the square" else (difference * w).pow(2)
        if how == "divided":
            scaled = (difference / w).pow(2)
        scores = {"no half": -1.0, "sign": 0.5}.get(how, -0.5) * scaled.sum(-1)
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
            if how == "same place":
                diagonal = (difference == 0).all(-1)
            if how == "infinity times zero":
                scores = scores - torch.inf * diagonal.float()
            scores = scores.masked_fill(diagonal, -100.0 if how == "finite" else -torch.inf)
        if how == "unsafe":
            return scores.exp() @ values / scores.exp().sum(-1)
        weights = torch.softmax(scores, 0 if how == "columns" else -1)
        if exclude_self and how == "after":
            weights = weights.masked_fill(diagonal, 0.0)
        return weights @ values


def _learned(how: str) -> type[nn.Module]:
    return type("LearnedKernel", (_Learned,), {"__init__": lambda self, num_features: _Learned.__init__(self, num_features, how)})


def _draw_learned(seed: int) -> list[Case]:
    g = generator(seed)
    d, m, n, p = sizes(g, 4)
    inputs = {"query": randn(g, m, d), "keys": randn(g, n, d), "values": randn(g, n), "exclude_self": False}
    same = randn(g, p, d)
    own = {"query": same, "keys": same, "values": randn(g, p)}
    module = {"init": {"num_features": d}, "parameters": {"w": 0.5 + torch.rand(d, generator=g)}}
    return [Case(f"{m} queries, {n} points, {d} features", {**module, "inputs": inputs}, gradients=("w",), shape="(query,)"),
            Case(f"{p} points that may see themselves", {**module, "inputs": {**own, "exclude_self": False}}, part="exclude_self",
                 gradients=("w",), shape="(query,)"),
            Case("the same, exclude_self left out of the call", {**module, "inputs": own}, part="exclude_self", shape="(query,)"),
            Case(f"{p} points that must not see themselves", {**module, "inputs": {**own, "exclude_self": True}},
                 part="exclude_self", gradients=("w",), shape="(query,)")]


def _fixed_learned() -> list[Case]:
    keys = torch.tensor([[0.0, 0.0], [1.0, 0.5], [1.0, 0.5], [2.0, 3.0]])
    own = {"query": keys, "keys": keys, "values": torch.tensor([0.0, 5.0, 1.0, 4.0]), "exclude_self": True}
    far = {**own, "query": torch.tensor([[0.8, 0.2], [60.0, 70.0], [-90.0, 0.0]]), "exclude_self": False}

    def case(label: str, w: float, inputs: dict, part: str = "exclude_self") -> Case:
        parameters = {"w": torch.tensor([w, 1.1 * w])}
        return Case(label, {"init": {"num_features": 2}, "parameters": parameters, "inputs": inputs}, part=part, shape="(query,)")

    apart = {**own, "query": keys[[0, 1, 3]], "keys": keys[[0, 1, 3]], "values": own["values"][[0, 1, 3]]}
    return [Case("how a new module starts", {"init": {"num_features": 2}, "parameters": {}, "inputs": None}),
            case("a negative w", -0.8, {**apart, "exclude_self": False}, "values"),
            case("two of three queries far from every point", 1.0, far, "values"),
            case("two points at the same place", 0.8, own),
            case("points far apart for a large w", 1e5, apart)]


LEARNED = Exercise(
    id="01.6", title="A kernel that learns its width", name="LearnedKernel", kind="module", stars=3, minutes=15,
    signature="LearnedKernel(num_features)(query, keys, values, exclude_self=False) -> (n,)",
    oracle=_kernel_oracle, reference=_learned("right"), draw=_draw_learned, fixed=_fixed_learned,
    parts={"values": 3, "exclude_self": 2},
    forbidden=("course_utils.models.kernels.LearnedKernel.forward", "course_utils.models.kernels.LearnedKernel.weights"),
    twins=(
        Twin("w outside the square", _learned("outside the square"),
             "w multiplies the squared difference. Inside the square it is a scaling of the feature itself, which is what "
             "a projection will do in the next chapters."),
        Twin("divided by w", _learned("divided"),
             "Here w is an inverse width: it multiplies. Dividing makes training blow up when w comes near zero."),
        Twin("factor one half missing", _learned("no half"), "The score is minus one half of the squared, scaled distance."),
        Twin("sign of the score", _learned("sign"), "Your weights grow with the distance: far points win. A near point must score higher."),
        Twin("far queries give 0/0", _learned("unsafe"),
             "Far from every point each kernel value rounds to zero, and zero divided by zero is NaN. A softmax of the scores stays "
             "finite."),
        Twin("distance not squared", _learned("distance not squared"),
             "The sum of squares is already the squared distance; taking its root gives another kernel, with a kink at zero."),
        Twin("summed before squaring", _learned("sum, then square"),
             "Differences of opposite sign cancel when they are added first. Square each feature's difference, then add."),
        Twin("mean over the features", _learned("mean over features"),
             "The squared distance is a sum over the features, not their mean."),
        Twin("normalised over the queries", _learned("columns"), "Your columns sum to 1. The weights of one query, a row, must do so."),
        Twin("flag the wrong way round", _learned("flag inverted"),
             "exclude_self has the opposite effect: points are left out when they should not be, and seen when they should be left out."),
        Twin("excluded whatever the flag says", _learned("always"),
             "You exclude the diagonal whenever there are as many queries as keys. Exclude it only when exclude_self is True."),
        Twin("random start of w", _learned("random"),
             "w scales a distance: let each feature start at 1, as the task says."),
        Twin("a negative w counts as 0", _learned("negative as 0"),
             "You cut a negative w off at 0, and then its feature plays no part any more. w is squared, so a negative one should count "
             "like a positive one."),
        Twin("start at 0", _learned("zeros"), "At 0 all distances are 0, and so is the gradient of w: it would stay there. Start at 1."),
        Twin("w is not a parameter", _learned("plain tensor"),
             "A plain tensor as an attribute is invisible to the optimiser."),
        Twin("w cut off from the gradient", _learned("detached"), "Between w and the result, nothing may stop the gradient."),
        Twin("point never excluded", _learned("never excluded"),
             "exclude_self has no effect: each point still predicts itself, and training would drive the width to zero. (A "
             "score of 0 excludes nothing: it is the largest score that this kernel has.)"),
        Twin("excluded with a finite score", _learned("finite"),
             "When all neighbours are far away, their scores can be below any number that you choose. Then the point gets weight "
             "from itself again. Only minus infinity is below everything."),
        Twin("every point at distance 0 excluded", _learned("same place"),
             "Two measurements at the same place are two points. Leave out the point itself, by its number, and not every point at "
             "its place."),
        Twin("infinity times zero", _learned("infinity times zero"),
             "Off the diagonal you compute infinity times zero, which is NaN. Put minus infinity only where it belongs."),
        Twin("excluded after normalising", _learned("after"),
             "You remove a point's own weight after the shares are computed, so the rows sum to less than 1. Mask its score instead."),
    ),
)


def _gaussian_scores(query: Tensor, keys: Tensor) -> Tensor:
    return -0.5 * torch.cdist(query.double(), keys.double()).pow(2).float()


def _dot(query: Tensor, keys: Tensor, norm: float = -0.5, power: int = 2, factor: float = 1.0) -> Tensor:
    return factor * (query @ keys.T) + norm * keys.norm(dim=-1) ** power


def _draw_dot(seed: int) -> list[Case]:
    g = generator(seed)
    m, n, d = sizes(g, 3)
    lengths = 0.3 + 1.5 * torch.rand(n, 1, generator=g)
    args = {"query": randn(g, m, d), "keys": lengths * randn(g, n, d)}
    return [Case(f"{m} queries, {n} keys of different length, {d} features", args, shape="(query, key)")]


def _fixed_dot() -> list[Case]:
    g = generator(2)
    return [Case("6 queries, 2 keys, one of them 20 times as long", {"query": randn(g, 6, 3), "keys": torch.tensor([[1.0], [20.0]])
                 * randn(g, 2, 3)}, shape="(query, key)"),
            Case("one query, one feature", {"query": torch.tensor([[0.7]]), "keys": torch.tensor([[-1.0], [0.4], [2.0]])},
                 shape="(query, key)")]


DOT = Exercise(
    id="01.7", title="Distances without distances", name="dot_product_scores", kind="function", stars=2, minutes=10,
    signature="dot_product_scores(query, keys) -> (n, m)",
    oracle=_gaussian_scores, reference=_dot, draw=_draw_dot, fixed=_fixed_dot, parts={"values": 3},
    raw=lambda s: torch.softmax(s.float(), -1), compared="compared after a softmax over the keys",
    forbidden=("torch.cdist", "torch.nn.functional.pairwise_distance", "torch.dist"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("norm of the keys left out", partial(_dot, norm=0.0),
             "This is right only when all keys are equally long. Here they are not, and a long key wins by its length alone, although "
             "it may be far away. (One number for all keys together is the same as none: the softmax cancels it, like "
             "the query's own term.)"),
        Twin("norm of the keys added", partial(_dot, norm=0.5),
             "Expand the square and look at the sign of the key's own term."),
        Twin("one half missing", partial(_dot, norm=-1.0),
             "The key's own term needs the same factor that the squared distance has."),
        Twin("one half missing in both terms", partial(_dot, norm=-1.0, factor=2.0),
             "That is minus the squared distance, without the one half in front of it."),
        Twin("divided by the root of d", lambda query, keys: _dot(query, keys) / query.shape[-1] ** 0.5,
             "That is the scaling of a later chapter. The distance here is taken as it is."),
        Twin("norm not squared", partial(_dot, norm=-0.5, power=1),
             "Expand the square: it contains the squared length of the key."),
        Twin("softmax already applied", lambda query, keys: torch.softmax(_dot(query, keys), -1),
             "These are weights. The scores are what goes into the softmax."),
        Twin("all signs flipped", partial(_dot, norm=0.5, factor=-1.0),
             "That is half the squared distance, so the farthest key wins. A near key must get a higher score."),
        Twin("cosine similarity", lambda query, keys: nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(keys, dim=-1).T,
             "Dividing by the lengths throws them away. The distance needs them: nothing is normalised here."),
        Twin("product doubled", partial(_dot, factor=2.0),
             "Multiply the square out and carry the factor one half through all three terms."),
        Twin("product halved", partial(_dot, norm=-0.5, factor=0.5),
             "You halve the dot product as well. Multiply the square out: the mixed term comes twice, which cancels the one half. "
             "Only the key's own term keeps it."),
        Twin("mean of the squares", lambda query, keys: query @ keys.T - 0.5 * keys.pow(2).mean(-1),
             "You take the mean of a key's squares. Its squared length is their sum, so with many features yours is far too small."),
        Twin("squared after the sum", lambda query, keys: query @ keys.T - 0.5 * keys.sum(-1).pow(2),
             "You add the features up and then square the sum. For the squared length, square each feature first and then add."),
        Twin("keys made equally long", lambda query, keys: query @ nn.functional.normalize(keys, dim=-1).T,
             "You make all keys equally long, but the distance depends on how long they are. Leave them as they are and let the length "
             "come in as a term of its own."),
    ),
)
