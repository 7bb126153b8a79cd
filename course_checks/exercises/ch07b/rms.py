"""Exercise 07b.1: RMSNorm with its cast."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import LAYER_NORMS, OUR_RMS_NORM, RMS_NORMS, fused_rms_norm, randn


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
    id="07b.1", formerly="07.3", title="RMSNorm with its cast", name="rms_norm", kind="function", stars=2, minutes=10,
    signature="rms_norm(x, weight, eps=1e-6) -> output, divisor", outputs=("output", "divisor"),
    oracle=_rms_oracle, reference=_rms, draw=_draw_rms, fixed=_fixed_rms,
    parts={"values": 2, "eps": 1, "half precision": 1}, forbidden=(*RMS_NORMS, *LAYER_NORMS, OUR_RMS_NORM), atol=1e-4, raw=_half,
    compared="for input in half precision the output is compared coarsely, but its type too",
    twins=(
        Twin("LayerNorm instead", partial(_rms, how="centred"), "You subtract the mean. RMSNorm does not subtract anything."),
        Twin("mean subtracted on top only", partial(_rms, how="printed"),
             "The divisor is right, but something is subtracted from the numerator. That form is widely copied, and wrong."),
        Twin("divided by the standard deviation", partial(_rms, how="variance"),
             "The variance is the mean square after centring. RMSNorm takes the mean square of the features as they are."),
        Twin("squares summed", partial(_rms, how="sum"), "Take the root of the *mean* of the squares: a sum grows with the width."),
        Twin("one feature too few counted", partial(_rms, how="one fewer"),
             "The squares are averaged over all features. You divide by one fewer."),
        Twin("mean of absolute values", partial(_rms, how="mean absolute"),
             "The root of the mean of squares is not the mean of the absolute values."),
        Twin("root forgotten", partial(_rms, how="no root"), "You divide by the mean square. Its root is missing."),
        Twin("eps outside the root", partial(_rms, how="outside"), "The small number is added under the root, beside the mean square."),
        Twin("no eps", partial(_rms, how="no eps"), "A token of zeros leads to 0/0. That is what the small number is for."),
        Twin("eps argument ignored", partial(_rms, how="eps ignored"),
             "The default for the small number is used even when the caller passes another one."),
        Twin("divisor cut off", partial(_rms, how="constants"),
             "The divisor depends on the token as well. You cut it out of the gradient, as if it were a constant, so that is wrong."),
        Twin("divided in half precision", partial(_rms, how="divided in half"),
             "You convert the divisor to half precision before you divide, and a small one is rounded far too much. Divide in "
             "float32, then convert the result."),
        Twin("over the tokens", partial(_rms, how="tokens"),
             "Your mean runs over the tokens. Each token should be normalised along its own features."),
        Twin("over everything", partial(_rms, how="everything"), "You use one divisor for the whole tensor. Every token needs its own."),
        Twin("one divisor for all tokens", partial(_rms, how="one for all"),
             "All tokens are divided by the same number. Each needs its own, computed from its own features."),
        Twin("weight left out", partial(_rms, how="no weight"), "The learned factor of each feature is not used."),
        Twin("one added to the weight", partial(_rms, how="one plus"),
             "Some models store the factor minus one. This one stores the factor itself."),
        Twin("squares taken in half precision", partial(_rms, how="no cast"),
             "In half precision the square of 300 is infinite already. Convert the numbers to float32 before you square them."),
        Twin("squared before widening", partial(_rms, how="widened late"),
             "You convert to float32 after squaring. That is too late: in half precision the square of 300 is infinite already."),
        Twin("divisor without eps", partial(_rms, how="bare divisor"),
             "The output is right. The divisor that you return lacks the small number: return what you divided by."),
        Twin("factor instead of divisor", partial(_rms, how="factor"),
             "The output is right. But your second result is the factor that you multiply by, one over the divisor."),
        Twin("mean square instead of divisor", partial(_rms, how="divisor without root"),
             "The output is right. But your second result is the mean square; the divisor is its root."),
        Twin("result left in float32", partial(_rms, how="stays wide"),
             "The numbers are right, but they come back in a wider type than the input. The next layer expects the type of the input."),
        Twin("always narrowed to half", partial(_rms, how="always half"),
             "You round float32 input to half precision as well. Convert the result to the type of the input, whatever that is."),
        Twin("divisor narrowed too", partial(_rms, how="divisor narrowed"),
             "The output has the type of the input, as it should. But the divisor should stay as it was computed, in float32."),
    ),
)
