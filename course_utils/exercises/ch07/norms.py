"""Exercises 07.1 and 07.3: LayerNorm by hand, and RMSNorm with its cast."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...checks.exercise import Case, Exercise, Twin, generator
from ..common import randn
from .common import LAYER_NORMS, OTHER_NORMS, OUR_RMS_NORM, RMS_NORMS, fused_layer_norm, fused_rms_norm, spread


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
    return [_layer_case(g, "2 sequences of 3 tokens of width 5", spread(2 * randn(g, 2, 3, 5) + 1)),
            _layer_case(g, "4 tokens of width 6", spread(2 * randn(g, 4, 6) - 1)),
            _layer_case(g, "four axes", spread(randn(g, 2, 3, 4, 5) + 1)),
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
    id="07.1", title="LayerNorm by hand", name="layer_norm", kind="function", stars=1, minutes=10,
    signature="layer_norm(x, weight, bias, eps=1e-5) -> x's shape", oracle=_layer_oracle, reference=_layer,
    draw=_draw_layer, fixed=_fixed_layer, parts={"values": 2, "eps": 1}, forbidden=(*LAYER_NORMS, *OTHER_NORMS),
    twins=(
        Twin("unbiased variance", partial(_layer, how="unbiased"),
             "The squares are averaged over all d features, not over one fewer. PyTorch's own variance and standard deviation divide "
             "by one fewer unless told otherwise."),
        Twin("eps outside the root", partial(_layer, how="outside"),
             "The small number belongs beside the variance, before the root is taken. Outside, it counts differently."),
        Twin("eps outside, variance unbiased", partial(_layer, how="std outside, unbiased"),
             "The ready-made standard deviation is unbiased, and there is no way to get the small number under its root. Work out the "
             "variance first."),
        Twin("no eps, variance unbiased", partial(_layer, how="std alone"),
             "The ready-made standard deviation divides by one feature too few, and without the small number a token whose features are "
             "all equal gives 0/0."),
        Twin("eps squared", partial(_layer, how="eps squared"), "The small number is added to the variance as it is, without squaring it."),
        Twin("no eps", partial(_layer, how="no eps"),
             "A token whose features are all equal has the variance 0; without the small number you divide by 0."),
        Twin("eps as the smallest divisor", partial(_layer, how="floor of the root"),
             "The small number only takes over where the standard deviation is smaller still. It is added to every variance, under the "
             "root."),
        Twin("eps as the smallest variance", partial(_layer, how="floor of the variance"),
             "The small number only takes over where the variance is smaller still. It is added to every variance."),
        Twin("mean square minus squared mean", partial(_layer, how="one pass"),
             "On paper that is the variance. In float32 two large numbers are subtracted and their rounding is left, so centre first and "
             "square then."),
        Twin("mean and variance cut off", partial(_layer, how="constants"),
             "Mean and variance depend on the token as well. Cut off from learning they count as constants, and the gradient is another."),
        Twin("eps argument ignored", partial(_layer, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("divided by the variance", partial(_layer, how="variance"),
             "The centred features are divided by their standard deviation; the root has been forgotten."),
        Twin("divided by the length", partial(_layer, how="length"),
             "The squares must be averaged, not summed: as it is, the output shrinks with the width."),
        Twin("mean not subtracted", partial(_layer, how="not centred"),
             "The features are scaled but not centred. Subtract their mean first."),
        Twin("RMSNorm instead", partial(_layer, how="rms"),
             "Neither the numerator nor the variance is centred. That is another norm, which comes in exercise 07.3."),
        Twin("only centred", partial(_layer, how="only centred"), "The mean is gone, but nothing is divided by the standard deviation."),
        Twin("statistics over the tokens", partial(_layer, how="tokens"),
             "Mean and variance run over the tokens of a sequence. They should run over the features of one token, the last axis."),
        Twin("statistics over the whole sequence", partial(_layer, how="slice"),
             "Mean and variance run over tokens and features together, so that a token's output depends on its neighbours."),
        Twin("statistics over all but the batch", partial(_layer, how="sample"),
             "Every axis but the first is averaged over, tokens and features together. Each token is normalised by itself, along its own "
             "features."),
        Twin("statistics over the batch", partial(_layer, how="batch"),
             "The first axis is averaged over. Every token is normalised by itself, along its own features."),
        Twin("statistics over everything", partial(_layer, how="everything"),
             "One mean for the whole tensor: each token needs its own. Name the axis, and keep it so that the subtraction lines up."),
        Twin("weight left out", partial(_layer, how="no weight"),
             "The learned scale is not used: one factor for each feature, after normalising."),
        Twin("bias left out", partial(_layer, how="no bias"),
             "The learned shift is not used: one number for each feature, added at the end."),
        Twin("shift before scale", partial(_layer, how="shift first"), "First the learned factor, then the learned shift."),
        Twin("weight and bias swapped", partial(_layer, how="swapped"),
             "The weight multiplies and the bias is added; yours change places."),
        Twin("one added to the weight", partial(_layer, how="one plus"),
             "Some models store the factor minus one. This one stores the factor itself."),
    ),
)


def _rms_oracle(x: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Two results, because the engine refuses half precision as the only one."""
    output = fused_rms_norm(x.double(), x.shape[-1:], weight.double(), eps).to(x.dtype)
    divisor = (torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps) ** 0.5
    return output, divisor.float()


def _rms(x: Tensor, weight: Tensor, eps: float = 1e-6, how: str = "right") -> tuple[Tensor, Tensor]:
    wide = x if how == "no cast" else x.float()
    axis = {"tokens": -2, "everything": tuple(range(x.dim()))}.get(how, -1) if x.dim() > 1 else -1
    if how == "one for all":
        scale = (wide.square().mean() + eps).sqrt().expand(*x.shape[:-1], 1)
        return (wide / scale).to(x.dtype) * weight, scale
    if how == "centred":
        wide = wide - wide.mean(-1, keepdim=True)
    square = wide.square().mean(axis, keepdim=True)
    if how == "constants":
        square = square.detach()
    if how == "eps ignored":
        eps = 1e-6
    if how == "widened late":
        square = x.square().float().mean(axis, keepdim=True)
    match how:
        case "variance":
            square = wide.var(-1, keepdim=True, correction=0)
        case "sum":
            square = wide.square().sum(-1, keepdim=True)
        case "one fewer":
            square = square * x.shape[-1] / (x.shape[-1] - 1)
        case "mean absolute":
            square = wide.abs().mean(-1, keepdim=True).square()
        case "printed":
            normal = (wide - wide.mean(-1, keepdim=True)) / (square + eps).sqrt()
            return normal.to(x.dtype) * weight, (square + eps).sqrt().float()
    scale = {"outside": square.sqrt() + eps, "no root": square + eps, "no eps": square.sqrt()}.get(how, (square + eps).sqrt())
    normal = wide / scale
    if how == "stays wide":
        return normal * weight.float(), scale
    if how == "divided in half":
        normal = x / scale.to(x.dtype)
    normal = normal.half() if how == "always half" else normal.to(x.dtype)
    if how == "divisor narrowed":
        scale = scale.to(x.dtype)
    scale = scale if how in ("no cast", "divisor narrowed") else scale.float()
    scale = {"bare divisor": square.sqrt(), "factor": 1 / scale, "divisor without root": square + eps}.get(how, scale)
    return normal if how == "no weight" else normal * (1 + weight if how == "one plus" else weight), scale


def _half(t: Tensor) -> Tensor:
    """Three axes, the half precision case: in hundredths, for it is coarse, and with the size of the type."""
    if t.dim() != 3:
        return t
    return torch.cat([t.double().flatten() / 100, torch.tensor([float(t.element_size())], dtype=torch.float64)])


def _case_rms(g: torch.Generator, label: str, x: Tensor, part: str = "values", **more: float) -> Case:
    return Case(label, {"x": x, "weight": 1 + 0.5 * randn(g, x.shape[-1]), **more}, part=part, gradients=("x", "weight"),
                shape="(…, d_model)")


def _draw_rms(seed: int) -> list[Case]:
    g = generator(seed)
    powers = torch.tensor([1.0, 2.0, 0.5, 1.0, 4.0, 0.25, 2.0])
    return [_case_rms(g, "2 sequences of 3 × 4 tokens of width 5", randn(g, 2, 3, 4, 5) + 1),
            _case_rms(g, "4 tokens of width 6", 2 * randn(g, 4, 6) - 1),
            _case_rms(g, "small tokens, eps = 0.01", 0.1 * randn(g, 3, 5), "eps", eps=0.01),
            Case("large numbers in half precision", {"x": (400 * randn(g, 2, 3, 7)).half(), "weight": powers.half()}, part="half precision",
                 shape="(batch, token, d_model)")]


def _fixed_rms() -> list[Case]:
    g = generator(4)
    x = randn(g, 3, 5)
    x[1] = 0.0
    tiny = (torch.randint(1, 8, (2, 3, 5), generator=g) * 2.0**-24).half()
    return [Case("tiny numbers in half precision", {"x": tiny, "weight": torch.tensor([1.0, 2.0, 0.5, 1.0, 4.0]).half(), "eps": 1e-20},
                 part="half precision", shape="(batch, token, d_model)"),
            _case_rms(g, "features around 300", randn(g, 3, 7) + 300), _case_rms(g, "one sequence of one token", randn(g, 1, 1, 6) - 1),
            Case("a token of zeros", {"x": x, "weight": 1 + 0.5 * randn(g, 5)}, part="eps", shape="(token, d_model)"),
            Case("a single token, one axis", {"x": randn(g, 6) + 1, "weight": 1 + 0.5 * randn(g, 6)}, shape="(d_model,)")]


RMS_NORM = Exercise(
    id="07.3", title="RMSNorm with its cast", name="rms_norm", kind="function", stars=2, minutes=10,
    signature="rms_norm(x, weight, eps=1e-6) -> output, divisor", outputs=("output", "divisor"),
    oracle=_rms_oracle, reference=_rms, draw=_draw_rms, fixed=_fixed_rms,
    parts={"values": 2, "eps": 1, "half precision": 1}, forbidden=(*RMS_NORMS, *LAYER_NORMS, OUR_RMS_NORM), atol=1e-4, raw=_half,
    compared="where half precision comes in it is compared coarsely, its type included",
    twins=(
        Twin("LayerNorm instead", partial(_rms, how="centred"), "The mean is subtracted. RMSNorm leaves it where it is."),
        Twin("mean subtracted on top only", partial(_rms, how="printed"),
             "The divisor is right, but something is subtracted from the numerator. That form is widely copied, and wrong."),
        Twin("divided by the standard deviation", partial(_rms, how="variance"),
             "The variance is the mean square after centring. Here the mean square of the features themselves is wanted."),
        Twin("squares summed", partial(_rms, how="sum"), "Root of the *mean* of the squares: the sum grows with the width."),
        Twin("one feature too few counted", partial(_rms, how="one fewer"),
             "The squares are averaged over all features, without taking one off."),
        Twin("mean of absolute values", partial(_rms, how="mean absolute"),
             "The root of the mean of squares is not the mean of the absolute values."),
        Twin("root forgotten", partial(_rms, how="no root"), "You divide by the mean square. Its root is missing."),
        Twin("eps outside the root", partial(_rms, how="outside"), "The small number is added under the root, beside the mean square."),
        Twin("no eps", partial(_rms, how="no eps"), "A token of zeros leads to 0/0. That is what the small number is for."),
        Twin("eps argument ignored", partial(_rms, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("divisor cut off", partial(_rms, how="constants"),
             "The divisor depends on the token as well. Cut off from learning it counts as a constant, and the gradient is another."),
        Twin("divided in half precision", partial(_rms, how="divided in half"),
             "You narrow the divisor before you divide, and a small one is rounded by far too much. Divide in float32, then narrow "
             "what comes out."),
        Twin("over the tokens", partial(_rms, how="tokens"),
             "The mean runs over the tokens. Each token is to be normalised along its own features."),
        Twin("over everything", partial(_rms, how="everything"), "One divisor for the whole tensor: every token needs its own."),
        Twin("one divisor for all tokens", partial(_rms, how="one for all"),
             "All tokens are divided by the same number. Each needs its own, made of its own features."),
        Twin("weight left out", partial(_rms, how="no weight"), "The learned factor of each feature is not used."),
        Twin("one added to the weight", partial(_rms, how="one plus"),
             "Some models store the factor minus one. This one stores the factor itself."),
        Twin("squares taken in half precision", partial(_rms, how="no cast"),
             "In half precision the square of 300 is infinite already. Widen the numbers before you square them."),
        Twin("squared before widening", partial(_rms, how="widened late"),
             "You widen the squares. By then it is too late: in half precision the square of 300 is infinite already."),
        Twin("divisor without eps", partial(_rms, how="bare divisor"),
             "The output is right. The divisor that you return lacks the small number: return what you divided by."),
        Twin("factor instead of divisor", partial(_rms, how="factor"),
             "The output is right. As the second result you return what you multiply with, one over the divisor."),
        Twin("mean square instead of divisor", partial(_rms, how="divisor without root"),
             "The output is right. As the second result you return the mean square; its root is what divides."),
        Twin("result left in float32", partial(_rms, how="stays wide"),
             "The numbers are right, but they come back wider than they came in. The next layer expects the type of the input."),
        Twin("always narrowed to half", partial(_rms, how="always half"),
             "What came in as float32 is rounded to half precision on the way. Narrow to the type of the input, whichever that is."),
        Twin("divisor narrowed too", partial(_rms, how="divisor narrowed"),
             "The output has the type of the input, as it should; the divisor stays as it was computed, in float32."),
    ),
)
