"""Exercise 07a.3: batch, layer, instance and group norm differ in the axes they average over."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import LAYER_NORMS, OTHER_NORMS, fused_batch_norm, fused_group_norm, fused_instance_norm, fused_layer_norm, randn


def _oracle(x: Tensor, kind: str, groups: int = 2, eps: float = 1e-5) -> Tensor:
    """PyTorch's functions want the features second."""
    return _double_oracle(x.double(), kind, groups, eps).to(x.dtype)


def _double_oracle(x: Tensor, kind: str, groups: int, eps: float) -> Tensor:
    if kind == "layer":
        return fused_layer_norm(x, x.shape[-1:], eps=eps)
    y = x.transpose(1, 2)
    if kind == "batch":
        return fused_batch_norm(y, None, None, training=True, eps=eps).transpose(1, 2)
    if kind == "instance":
        if x.shape[1] == 1:  # PyTorch refuses a single token: its features are their own means
            return torch.zeros_like(x)
        return fused_instance_norm(y, eps=eps).transpose(1, 2)
    return fused_group_norm(y, groups, eps=eps).transpose(1, 2)


def _four(x: Tensor, kind: str, groups: int = 2, eps: float = 1e-5, how: str = "right") -> Tensor:
    if kind not in ("batch", "layer", "instance", "group"):
        raise ValueError(f"kind={kind!r} is none of batch, layer, instance, group")
    if kind == "group" and (groups < 1 or x.shape[-1] % groups):
        raise ValueError(f"{x.shape[-1]} features do not make {groups} groups")
    if how == "two groups":
        groups = 2
    if how == "eps ignored":
        eps = 1e-5
    if how == "layer and instance swapped":
        kind = {"layer": "instance", "instance": "layer"}.get(kind, kind)
    axes = {"batch": (0, 1), "layer": (2,), "instance": (1,), "group": (1, 3)}[kind]
    changed = {"layer over the sequence": ("layer", (1, 2)), "batch over samples only": ("batch", (0,)),
               "batch over features": ("batch", (0, 2)), "batch over the features of a token": ("batch", (2,)),
               "batch over a sample": ("batch", (1, 2)), "batch over tokens only": ("batch", (1,)),
               "instance over the batch": ("instance", (0,)), "instance over batch and tokens": ("instance", (0, 1)),
               "instance over the features": ("instance", (2,)), "layer over the tokens": ("layer", (1,)),
               "group over tokens and groups": ("group", (1, 2)), "group over the groups": ("group", (2,)),
               "group over tokens only": ("group", (1,)), "batch over everything": ("batch", (0, 1, 2)),
               "instance over both": ("instance", (1, 2)), "group per token": ("group", (3,)), "group with batch": ("group", (0, 1, 3))}
    if how in changed and changed[how][0] == kind:
        axes = changed[how][1]
    shaped = x
    if kind == "group":
        shaped = x.unflatten(-1, (groups, -1))
        if how == "sizes":
            shaped = x.unflatten(-1, (-1, groups))
        if how == "dealt":
            shaped = x.unflatten(-1, (-1, groups)).mT
        if how == "flat":
            shaped, axes = x.reshape(len(x), groups, -1), (2,)
        if how == "group is layer":
            shaped, axes = x, (2,)
        if how == "group is one group":
            shaped, axes = x, (1, 2)
    mean = shaped.mean(axes, keepdim=True)
    variance = shaped.var(axes, keepdim=True, correction=1 if how == "unbiased" else 0)
    scale = 1.0 if how == "only centred" else variance.sqrt() + eps if how == "outside" else (variance + eps).sqrt()
    normal = (shaped - mean) / scale
    if kind == "group" and how == "dealt":
        normal = normal.mT
    return normal.reshape(x.shape)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    # In 64ths, over 4 tokens: means are exact, also where a feature hardly differs from token to token.
    x, shape = (64 * (randn(g, 2, 4, 12) + 2 * randn(g, 12))).round() / 64, "(batch, token, feature)"
    cases = [Case(f"{kind} norm of 2 sequences of 4 tokens with 12 features", {"x": x, "kind": kind}, part=kind, gradients=("x",),
                  shape=shape) for kind in ("batch", "layer", "instance")]
    more = [Case(f"group norm, 12 features in {n} groups", {"x": x, "kind": "group", "groups": n}, part="group",
                 gradients=("x",), shape=shape) for n in (3, 4)]
    small = 0.1 * randn(g, 3, 4, 6)
    return cases + more + [Case(f"{kind} norm of small numbers, eps = 0.01", {"x": small, "kind": kind, "eps": 0.01}, part=kind,
                           shape=shape) for kind in ("batch", "layer", "instance", "group")]


def _fixed() -> list[Case]:
    g = generator(3)
    x, odd = randn(g, 2, 3, 10), randn(g, 4, 3, 7)
    return [Case("10 features in 4 groups", {"x": x, "kind": "group", "groups": 4}, part="bad input", rejects=ValueError,
                 mentions=("10", "4")),
            Case("kind = 'token'", {"x": x, "kind": "token"}, part="bad input", rejects=ValueError, mentions=("token",)),
            *(Case(f"10 features in {n} groups", {"x": x, "kind": "group", "groups": n}, part="bad input", rejects=ValueError,
                   mentions=("10", str(n))) for n in (0, -5)),
            *(Case(f"{kind} norm of an odd number of features, 7", {"x": odd, "kind": kind}, part=kind, shape="(batch, token, feature)")
              for kind in ("batch", "layer", "instance")),
            *(Case(f"a batch of one: {kind} norm", {"x": x[:1], "kind": kind}, part=kind, shape="(batch, token, feature)")
              for kind in ("batch", "layer", "instance", "group")),
            *(Case(f"sequences of one token: {kind} norm", {"x": x[:, :1], "kind": kind}, part=kind, shape="(batch, token, feature)")
              for kind in ("batch", "layer", "instance", "group")),
            *(Case(f"features around 100: {kind} norm", {"x": (64 * x).round() / 64 + 100, "kind": kind}, part=kind,
                   shape="(batch, token, feature)")
              for kind in ("batch", "layer", "instance", "group")),
            *(Case(f"group norm, 10 features in {n} groups", {"x": x, "kind": "group", "groups": n}, part="group",
                   shape="(batch, token, feature)") for n in (1, 10)),
            Case("5 groups of 2 features", {"x": x, "kind": "group", "groups": 5}, part="group", shape="(batch, token, feature)")]


def _no_refusal(x: Tensor, kind: str, groups: int = 2, eps: float = 1e-5) -> Tensor:
    if kind == "group" and (groups < 1 or x.shape[-1] % groups):
        return torch.zeros_like(x)
    return _four(x, kind if kind != "token" else "layer", groups, eps, "layer over the sequence")


FOUR = Exercise(
    id="07a.3", formerly="07.2", title="Four norms, one line of difference", name="normalise", kind="function", stars=2, minutes=12,
    signature="normalise(x, kind, groups=2, eps=1e-5) -> (batch, token, feature)", oracle=_oracle, reference=_four,
    draw=_draw, fixed=_fixed,
    parts={"batch": 1, "layer": 1, "instance": 1, "group": 1, "bad input": 1}, forbidden=(*LAYER_NORMS, *OTHER_NORMS),
    twins=(
        Twin("layer norm over the sequence", _no_refusal,
             "Your layer norm averages over tokens and features together. In a Transformer each token is normalised by itself."),
        Twin("layer and instance norm swapped", partial(_four, how="layer and instance swapped"),
             "Layer norm averages over the features of one token; instance norm over the tokens of one feature."),
        Twin("batch norm over samples only", partial(_four, how="batch over samples only"),
             "Batch norm has one mean for each feature. It averages over the tokens as well as over the samples."),
        Twin("batch norm over features", partial(_four, how="batch over features"),
             "Batch norm keeps the features apart. Which two axes remain to be averaged over?"),
        Twin("batch norm over one token", partial(_four, how="batch over the features of a token"),
             "Your batch norm averages over the features of a token, which is layer norm. Batch norm keeps the features apart and "
             "averages over everything else."),
        Twin("batch norm over a sample", partial(_four, how="batch over a sample"),
             "Your batch norm keeps the samples apart and mixes the features. It should keep the features apart and mix the samples."),
        Twin("batch norm over tokens only", partial(_four, how="batch over tokens only"),
             "Batch norm has one mean for each feature. It averages over the samples as well as over the tokens."),
        Twin("instance norm over the batch", partial(_four, how="instance over the batch"),
             "Your instance norm averages over the samples. Each sample is an instance, and only its own tokens are averaged over."),
        Twin("instance norm mixes the samples", partial(_four, how="instance over batch and tokens"),
             "Your instance norm averages over tokens and samples, which is batch norm. Each sample has means of its own."),
        Twin("instance norm over one token", partial(_four, how="instance over the features"),
             "Your instance norm averages over the features of a token, which is layer norm. Instance norm keeps the features apart."),
        Twin("layer norm over the tokens", partial(_four, how="layer over the tokens"),
             "Your layer norm averages over the tokens of a feature, which is instance norm. Layer norm treats each token by itself."),
        Twin("groups mixed with each other", partial(_four, how="group over tokens and groups"),
             "You average over the axis of the groups and keep the members of a group apart. Keep the groups apart instead."),
        Twin("mean over the groups alone", partial(_four, how="group over the groups"),
             "You average over the axis of the groups. Keep that axis, and average over the tokens and over the members of a group."),
        Twin("members of a group apart", partial(_four, how="group over tokens only"),
             "You average over the tokens only, which is instance norm. The members of a group should share one mean."),
        Twin("batch norm over everything", partial(_four, how="batch over everything"),
             "You take one mean for the whole tensor. Batch norm has one mean for each feature."),
        Twin("instance norm over features too", partial(_four, how="instance over both"),
             "Instance norm has a mean for each feature of each sample: only the tokens are averaged over."),
        Twin("groups token by token", partial(_four, how="group per token"),
             "Within a sample, group norm averages over the features of a group *and* over the tokens."),
        Twin("groups across the batch", partial(_four, how="group with batch"),
             "Group norm never mixes samples; yours averages over the batch."),
        Twin("number and size of groups swapped", partial(_four, how="sizes"),
             "The argument says how many groups there are, and you made groups of that many features."),
        Twin("features dealt out like cards", partial(_four, how="dealt"),
             "A group is a run of neighbouring features. You deal them out to the groups one by one."),
        Twin("sample cut up straight", partial(_four, how="flat"),
             "You flatten a whole sample before you cut it, so that a group holds some tokens with all their features. Cut only the "
             "feature axis."),
        Twin("groups argument ignored", partial(_four, how="two groups"),
             "You always make two groups. How many there are is an argument; two is only its default."),
        Twin("eps argument ignored", partial(_four, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("group norm ignores its groups", partial(_four, how="group is layer"),
             "Your group norm is layer norm: the groups play no part."),
        Twin("one group for all features", partial(_four, how="group is one group"),
             "All features share one mean, however many groups were asked for."),
        Twin("unbiased variance", partial(_four, how="unbiased"), "The squares are averaged over all entries, not over one fewer."),
        Twin("only centred", partial(_four, how="only centred"),
             "The mean is subtracted, but nothing is divided by the standard deviation."),
        Twin("eps outside the root", partial(_four, how="outside"), "The small number is added to the variance, before the root."),
    ),
)
