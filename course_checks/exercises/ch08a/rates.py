"""Exercise 08a.7: the learning rate of the paper."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers


def _oracle(step: Tensor, d_model: int, warmup: int) -> Tensor:
    def rate(s: int) -> float:  # in words: a line up to step `warmup`, then down with the root
        peak = (d_model * warmup) ** -0.5
        return peak * s / warmup if s <= warmup else peak * (warmup / s) ** 0.5
    return torch.tensor([rate(s) for s in step.tolist()])


def _noam(step: Tensor, d_model: int, warmup: int, how: str = "right") -> Tensor:
    if (step < 1).any():
        raise ValueError(f"step {int(step.min())} is below 1")
    s = step.float() + {"from zero": -1.0, "one ahead": 1.0}.get(how, 0.0)
    if how == "width of the paper":
        d_model = 512
    if how == "warm-up of the paper":
        warmup = 4000
    up, down = s * warmup**-1.5, s.clamp_min(1e-9)**-0.5
    match how:
        case "whole numbers":
            return (d_model**-0.5 * torch.minimum(up, down)).to(step.dtype)
        case "no width":
            return torch.minimum(up, down)
        case "width up":
            return d_model**0.5 * torch.minimum(up, down)
        case "whole width":
            return torch.minimum(up, down) / d_model
        case "max":
            return d_model**-0.5 * torch.maximum(up, down)
        case "up only":
            return d_model**-0.5 * up
        case "down only":
            return d_model**-0.5 * down
        case "up too steep":
            return d_model**-0.5 * torch.minimum(s * warmup**-0.5, down)
        case "up too flat":
            return d_model**-0.5 * torch.minimum(s / warmup**2, down)
        case "kept":
            return d_model**-0.5 * torch.minimum(up, torch.full_like(s, warmup**-0.5))
        case "linear to one":
            return d_model**-0.5 * torch.minimum(s / warmup, down)
        case "down with the step":
            return d_model**-0.5 * torch.minimum(up, warmup**0.5 / s)
        case "root restarted":
            return d_model**-0.5 * torch.where(s < warmup, up, (s - warmup + 1).clamp_min(1)**-0.5)
    return d_model**-0.5 * torch.minimum(up, down)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    early, late = integers(g, 2, 390, 3), integers(g, 500, 9_000, 4)
    return [Case("d_model = 512, warmup = 400", {"step": torch.cat([torch.tensor([1, 400]), early, late]), "d_model": 512, "warmup": 400},
                 shape="(steps,)"),
            Case("d_model = 48, warmup = 10", {"step": integers(g, 1, 40, 7), "d_model": 48, "warmup": 10}, shape="(steps,)")]


def _fixed() -> list[Case]:
    return [Case("the paper: d_model = 1024, warmup = 4000", {"step": torch.tensor([4000, 1, 100_000]), "d_model": 1024,
                                                       "warmup": 4000},
                 shape="(steps,)"),
            Case("a single step, warmup = 1", {"step": torch.tensor([1]), "d_model": 16, "warmup": 1}, shape="(steps,)"),
            Case("steps 3, 5, -3 and 7: the third is below 1", {"step": torch.tensor([3, 5, -3, 7]), "d_model": 64, "warmup": 5},
                 part="refusal", rejects=ValueError, mentions=("-3",)),
            Case("step 0", {"step": torch.tensor([3, 0, 7]), "d_model": 64, "warmup": 5}, part="refusal", rejects=ValueError,
                 mentions=("0",))]


RATES = Exercise(
    id="08a.7", title="The learning rate of the paper", name="noam_rate", kind="function", stars=1, minutes=6,
    signature="noam_rate(step, d_model, warmup) -> (steps,)", oracle=_oracle, reference=_noam, draw=_draw, fixed=_fixed,
    parts={"values": 2, "refusal": 1}, atol=1e-9, forbidden=("course_utils.training.schedules.noam",),
    twins=(
        Twin("rates cut to whole numbers", partial(_noam, how="whole numbers"),
             "All your rates are 0. The steps are whole numbers, and a rate that is converted to a whole number loses everything after the "
             "point."),
        Twin("one step ahead", partial(_noam, how="one ahead"),
             "The first step has the number 1 already; you add one more, and your curve is a step early."),
        Twin("width written out", partial(_noam, how="width of the paper"),
             "The width of the paper's base model is used whatever the caller asks for."),
        Twin("warm-up written out", partial(_noam, how="warm-up of the paper"),
             "The paper's 4000 steps of warm-up are used whatever the caller asks for."),
        Twin("the larger of the two", partial(_noam, how="max"), "You take the larger of the two expressions; take the smaller."),
        Twin("width left out", partial(_noam, how="no width"),
             "Your rate does not depend on the width: a factor in front is missing."),
        Twin("grows with the width", partial(_noam, how="width up"), "Wider models get a smaller rate: mind the sign of the exponent."),
        Twin("divided by the whole width", partial(_noam, how="whole width"),
             "The root of the width is missing: the exponent is one half."),
        Twin("never goes down", partial(_noam, how="up only"), "You use only the rising line, which never stops rising."),
        Twin("no warm-up", partial(_noam, how="down only"), "You use only the falling curve, so the first step gets the largest rate."),
        Twin("the line rises too steeply", partial(_noam, how="up too steep"),
             "At the step called warmup both expressions must be equal. Which exponent of warmup makes them so?"),
        Twin("the line rises too slowly", partial(_noam, how="up too flat"),
             "Put the step called warmup into both expressions: they must be equal there."),
        Twin("the line goes to one", partial(_noam, how="linear to one"),
             "At the step called warmup the line should reach the falling curve, whose height there is the inverse root of warmup."),
        Twin("constant after the warm-up", partial(_noam, how="kept"),
             "After the warm-up the rate falls with the inverse root of the step."),
        Twin("root counted from the peak", partial(_noam, how="root restarted"),
             "The falling curve counts all steps from the first one on. Yours starts again after the warm-up."),
        Twin("falls with the step itself", partial(_noam, how="down with the step"),
             "The rate falls with the root of the step, more slowly than yours."),
        Twin("steps counted from zero", partial(_noam, how="from zero"), "The first step has the number 1; your curve is one step late."),
    ),
)
