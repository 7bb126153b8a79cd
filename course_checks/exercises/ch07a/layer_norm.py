"""Exercise 07a.1: LayerNorm by hand."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import LAYER_NORMS, OTHER_NORMS, fused_layer_norm, randn


def _spread(x: Tensor) -> Tensor:
    """The features of every token moved apart until their standard deviation is 0.6: where the epsilon stands has cases of its own."""
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return mean + (x - mean) * (0.6 / std).clamp(min=1)


def _layer_oracle(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    return fused_layer_norm(x.double(), x.shape[-1:], weight.double(), bias.double(), eps).float()


def _layer(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5, how: str = "right") -> Tensor:
    axes = {"tokens": (-2,), "slice": (-2, -1), "everything": tuple(range(x.dim())), "batch": (0,),
            "sample": tuple(range(1, x.dim())) or (0,)}.get(how, (-1,))
    mean = x.mean(axes, keepdim=True)
    variance = ((x - mean) ** 2).mean(axes, keepdim=True)
    if how == "constants":
        mean, variance = mean.detach(), variance.detach()
    if how == "one pass":
        variance = (x**2).mean(axes, keepdim=True) - mean**2
    if how == "unbiased":
        variance = variance * x.shape[-1] / (x.shape[-1] - 1)
    if how == "eps ignored":
        eps = 1e-5
    centred = x if how == "not centred" else x - mean
    match how:
        case "outside" | "std outside, unbiased":
            scale = variance.sqrt() + eps
        case "variance":
            scale = variance + eps
        case "eps squared":
            scale = (variance + eps**2).sqrt()
        case "no eps":
            scale = variance.sqrt()
        case "floor of the root":
            scale = variance.sqrt().clamp(min=eps)
        case "floor of the variance":
            scale = variance.clamp(min=eps).sqrt()
        case "rms":
            scale, centred = (x.square().mean(-1, keepdim=True) + eps).sqrt(), x
        case "length":
            scale = ((x - mean).square().sum(-1, keepdim=True) + eps).sqrt()
        case "only centred":
            scale = 1.0
        case _:
            scale = (variance + eps).sqrt()
    if how in ("std alone", "std outside, unbiased"):
        scale = x.std(-1, keepdim=True) + (eps if how == "std outside, unbiased" else 0)
    normal = centred / scale
    match how:
        case "no weight":
            return normal + bias
        case "no bias":
            return normal * weight
        case "shift first":
            return (normal + bias) * weight
        case "swapped":
            return normal * bias + weight
        case "one plus":
            return normal * (1 + weight) + bias
    return normal * weight + bias


def _layer_case(g: torch.Generator, label: str, x: Tensor, part: str = "values", **more: float) -> Case:
    d = x.shape[-1]
    args = {"x": x, "weight": 1 + 0.5 * randn(g, d), "bias": 0.5 * randn(g, d), **more}
    return Case(label, args, part=part, gradients=("x", "weight", "bias"), shape="(…, d_model)")


def _draw_layer(seed: int) -> list[Case]:
    g = generator(seed)
    draws = ((64 * randn(g, 2, 3, 8)).round() / 64 for _ in range(10_000))  # 8 features in 64ths: exact means
    large = next(x for x in draws if x.var(-1).min() > 0.4)
    return [_layer_case(g, "2 sequences of 3 tokens of width 5", _spread(2 * randn(g, 2, 3, 5) + 1)),
            _layer_case(g, "4 tokens of width 6", _spread(2 * randn(g, 4, 6) - 1)),
            _layer_case(g, "four axes", _spread(randn(g, 2, 3, 4, 5) + 1)),
            _layer_case(g, "features around 100", large + 100),
            _layer_case(g, "tokens of small variance, eps = 0.01", 0.1 * randn(g, 2, 3, 5), "eps", eps=0.01)]


def _fixed_layer() -> list[Case]:
    g = generator(5)
    alike = torch.full((2, 3, 5), 2.0)
    alike[0, 1] = randn(g, 5)
    weight, bias = 1 + 0.5 * randn(g, 5), 0.5 * randn(g, 5)
    return [_layer_case(g, "one token of one sequence", randn(g, 1, 1, 5) + 1),
            _layer_case(g, "a single token, one axis", randn(g, 5) + 1),
            _layer_case(g, "tokens of tiny variance, eps = 0.01", 0.003 * randn(g, 2, 4, 6), "eps", eps=0.01),
            Case("tokens whose features are all equal", {"x": alike, "weight": weight, "bias": bias}, part="eps",
                 shape="(batch, token, d_model)")]


LAYER_NORM = Exercise(
    id="07a.1", formerly="07.1", title="LayerNorm by hand", name="layer_norm", kind="function", stars=1, minutes=10,
    signature="layer_norm(x, weight, bias, eps=1e-5) -> x's shape", oracle=_layer_oracle, reference=_layer,
    draw=_draw_layer, fixed=_fixed_layer, parts={"values": 2, "eps": 1}, forbidden=(*LAYER_NORMS, *OTHER_NORMS),
    twins=(
        Twin("unbiased variance", partial(_layer, how="unbiased"),
             "The squares are averaged over all d features, not over one fewer. PyTorch's own variance and standard deviation divide "
             "by one fewer unless told otherwise."),
        Twin("eps outside the root", partial(_layer, how="outside"),
             "You add the small number after the root. It should be added to the variance, before the root is taken."),
        Twin("eps outside, variance unbiased", partial(_layer, how="std outside, unbiased"),
             "The ready-made standard deviation divides by one fewer, and you cannot add the small number under its root. Compute the "
             "variance first."),
        Twin("no eps, variance unbiased", partial(_layer, how="std alone"),
             "The ready-made standard deviation divides by one fewer than the number of features. And without the small number, a token "
             "whose features are all equal gives 0/0."),
        Twin("eps squared", partial(_layer, how="eps squared"), "The small number is added to the variance as it is, without squaring it."),
        Twin("no eps", partial(_layer, how="no eps"),
             "A token whose features are all equal has the variance 0; without the small number you divide by 0."),
        Twin("eps as the smallest divisor", partial(_layer, how="floor of the root"),
             "You use the small number only where the standard deviation is smaller than it. It should be added to every variance, "
             "under the root."),
        Twin("eps as the smallest variance", partial(_layer, how="floor of the variance"),
             "You use the small number only where the variance is smaller than it. It should be added to every variance."),
        Twin("mean square minus squared mean", partial(_layer, how="one pass"),
             "On paper that is the variance. In float32 you subtract two large numbers, and mostly their rounding errors remain. Centre "
             "first, then square."),
        Twin("mean and variance cut off", partial(_layer, how="constants"),
             "Mean and variance depend on the token as well. You cut them out of the gradient, as if they were constants, so it is wrong."),
        Twin("eps argument ignored", partial(_layer, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("divided by the variance", partial(_layer, how="variance"),
             "The centred features are divided by their standard deviation; the root has been forgotten."),
        Twin("divided by the length", partial(_layer, how="length"),
             "The squares must be averaged, not summed. With a sum, wider tokens get smaller outputs."),
        Twin("mean not subtracted", partial(_layer, how="not centred"),
             "The features are scaled but not centred. Subtract their mean first."),
        Twin("RMSNorm instead", partial(_layer, how="rms"),
             "Neither the numerator nor the variance is centred. That is another norm, which comes in exercise 07b.1."),
        Twin("only centred", partial(_layer, how="only centred"), "You subtract the mean but do not divide by the standard deviation."),
        Twin("statistics over the tokens", partial(_layer, how="tokens"),
             "Mean and variance run over the tokens of a sequence. They should run over the features of one token, the last axis."),
        Twin("statistics over the whole sequence", partial(_layer, how="slice"),
             "Mean and variance run over tokens and features together, so a token's output depends on its neighbours. It should not."),
        Twin("statistics over all but the batch", partial(_layer, how="sample"),
             "Every axis but the first is averaged over, tokens and features together. Each token is normalised by itself, along its own "
             "features."),
        Twin("statistics over the batch", partial(_layer, how="batch"),
             "The first axis is averaged over. Every token is normalised by itself, along its own features."),
        Twin("statistics over everything", partial(_layer, how="everything"),
             "You take one mean for the whole tensor, but each token needs its own. Name the axis, and keep it so that the shapes fit."),
        Twin("weight left out", partial(_layer, how="no weight"),
             "You do not use the learned scale. It is one factor for each feature and comes after normalising."),
        Twin("bias left out", partial(_layer, how="no bias"),
             "You do not use the learned shift. It is one number for each feature and is added at the end."),
        Twin("shift before scale", partial(_layer, how="shift first"), "You add the learned shift too early. Multiply by the "
             "learned factor first."),
        Twin("weight and bias swapped", partial(_layer, how="swapped"),
             "The weight multiplies and the bias is added. You have exchanged them."),
        Twin("one added to the weight", partial(_layer, how="one plus"),
             "Some models store the factor minus one. This one stores the factor itself."),
    ),
)
