"""Exercise 07a.3: batch, layer, instance and group norm differ in the axes they average over. The oracles are PyTorch's four."""

import torch
from torch import Tensor

from .. import common
from ..common import LAYER_NORMS, OTHER_NORMS, Case, FunctionExercise, generator, randn, refusal


def normalise(x: Tensor, kind: str, groups: int = 2, eps: float = 1e-5) -> Tensor:
    axes = {"batch": (0, 1), "layer": (2,), "instance": (1,), "group": (1, 3)}
    if kind not in axes:
        raise ValueError(f"kind={kind!r} is not one of {', '.join(axes)}")
    cut, features = x, x.shape[-1]
    if kind == "group":
        if groups < 1 or features % groups:
            raise ValueError(f"{features} features cannot be cut into {groups} groups")
        cut = x.unflatten(-1, (groups, -1))
    centred = cut - cut.mean(axes[kind], keepdim=True)
    variance = centred.pow(2).mean(axes[kind], keepdim=True)
    return (centred / torch.sqrt(variance + eps)).reshape(x.shape)


def oracle(x: Tensor, kind: str, groups: int = 2, eps: float = 1e-5) -> Tensor:
    """PyTorch's functions want the features second, and its instance norm refuses a single token, whose features are their own means."""
    y = x.double().transpose(1, 2)
    if kind == "layer":
        y = common.fused_layer_norm(x.double(), x.shape[-1:], eps=eps).transpose(1, 2)
    elif kind == "batch":
        y = common.fused_batch_norm(y, None, None, training=True, eps=eps)
    elif kind == "instance":
        y = common.fused_instance_norm(y, eps=eps) if x.shape[1] > 1 else torch.zeros_like(y)
    else:
        y = common.fused_group_norm(y, groups, eps=eps)
    return y.transpose(1, 2).to(x.dtype)


def case(label: str, x: Tensor, kind: str, gradients: tuple[str, ...] = (), **more: float) -> Case:
    return Case(label, {"x": x, "kind": kind, **more}, part=kind, gradients=gradients, shape="(batch, token, feature)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    # In 64ths, over 4 tokens: means are exact, also where a feature hardly differs from token to token.
    x = (64 * (randn(g, 2, 4, 12) + 2 * randn(g, 12))).round() / 64
    small = 0.1 * randn(g, 3, 4, 6)
    return [
        *(case(f"{kind} norm of 2 sequences of 4 tokens with 12 features", x, kind, ("x",)) for kind in KINDS[:3]),
        *(case(f"group norm, 12 features in {n} groups", x, "group", ("x",), groups=n) for n in (3, 4)),
        *(case(f"{kind} norm of small numbers, eps = 0.01", small, kind, eps=0.01) for kind in KINDS),
    ]


def fixed() -> list[Case]:
    g = generator(3)
    x, odd = randn(g, 2, 3, 10), randn(g, 4, 3, 7)
    bad = [refusal(f"10 features in {n} groups", {"x": x, "kind": "group", "groups": n}, "10", str(n)) for n in (4, 0, -5)]
    large = (64 * x).round() / 64 + 100
    return [
        bad[0],
        refusal("kind = 'token'", {"x": x, "kind": "token"}, "token"),
        *bad[1:],
        *(case(f"{kind} norm of an odd number of features, 7", odd, kind) for kind in KINDS[:3]),
        *(case(f"a batch of one: {kind} norm", x[:1], kind) for kind in KINDS),
        *(case(f"sequences of one token: {kind} norm", x[:, :1], kind) for kind in KINDS),
        *(case(f"features around 100: {kind} norm", large, kind) for kind in KINDS),
        *(case(f"group norm, 10 features in {n} groups", x, "group", groups=n) for n in (1, 10)),
        case("5 groups of 2 features", x, "group", groups=5),
    ]


KINDS = ("batch", "layer", "instance", "group")
EXERCISE = FunctionExercise(right=normalise, oracle=oracle, draw=draw, fixed=fixed, forbidden=(*LAYER_NORMS, *OTHER_NORMS))
