"""Exercise 11b.1: a power law fitted in logarithms. The oracle solves the normal equations by ``torch.linalg.lstsq`` in doubles."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(sizes: Tensor, losses: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x, y = sizes.double().log(), losses.double().log()
    design = torch.stack([torch.ones_like(x), x], dim=1)
    start, slope = torch.linalg.lstsq(design, y[:, None], driver="gelsd").solution[:, 0]
    left = (y - design @ torch.stack([start, slope])).square().sum()
    return start.exp().float(), -slope.float(), (1 - left / (y - y.mean()).square().sum()).float()


def _fit(sizes: Tensor, losses: Tensor, how: str = "right") -> tuple[Tensor, Tensor, Tensor]:
    a, b = sizes.double(), losses.double()
    x, y = a.log(), b.log()
    match how:
        case "ten":
            x, y = a.log10(), b.log10()
        case "no logarithms":
            x, y = a, b
        case "half":
            y = b
        case "other half":
            x = a
        case "swapped":
            x, y = y, x
    dx, dy = x - x.mean(), y - y.mean()
    slope = (dx * dy).sum() / (dx * dx).sum()
    match how:
        case "ends":
            first, last = x.argmin(), x.argmax()
            slope = (y[last] - y[first]) / (x[last] - x[first])
        case "as given":
            slope = (y[-1] - y[0]) / (x[-1] - x[0])
        case "steps":
            order = x.argsort()
            slope = (y[order].diff() / x[order].diff()).mean()
        case "origin":
            slope = (x * y).sum() / (x * x).sum()
        case "mixed divisors":
            slope = slope * len(x) / (len(x) - 1)
        case "correlation":
            slope = (dx * dy).sum() / ((dx * dx).sum() * (dy * dy).sum()).sqrt()
    start = torch.zeros_like(slope) if how == "origin" else y.mean() - slope * x.mean()
    if how == "intercept sign":
        start = y.mean() + slope * x.mean()
    if how == "first point":
        start = y[0] - slope * x[0]
    r2 = 1 - (y - start - slope * x).square().sum() / (dy * dy).sum()
    if how == "signed root":
        r2 = r2.sqrt() * slope.sign()
    if how == "adjusted":
        r2 = 1 - (1 - r2) * (len(x) - 1) / (len(x) - 2)
    if how == "root":
        r2 = r2.sqrt()
    if how == "two divisors":
        r2 = 1 - (y - start - slope * x).square().mean() / y.var()
    if how == "unexplained":
        r2 = 1 - r2
    scale = 10**start if how == "ten" else start if how in ("not undone", "half") else start.exp()
    if how == "e for ten":
        start10 = (y.mean() - slope * x.mean()) / math.log(10)
        scale = start10.exp()
    if how == "raw r2":
        r2 = 1 - (b - scale * a**slope).square().sum() / (b - b.mean()).square().sum()
    exponent = slope if how == "sign" else -slope
    if how == "swapped":
        exponent, scale = -1 / slope, (-start / slope).exp()
    if how == "height of the means":
        scale = y.mean().exp()
    if how == "line exchanged":
        scale, exponent = slope.exp(), -start
    return tuple(t.float() for t in (scale, exponent, r2))


def _reference(sizes: Tensor, losses: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if len(sizes) != len(losses) or len(sizes) < 2:
        raise ValueError(f"{len(sizes)} sizes and {len(losses)} losses: as many of both are needed, and at least 2")
    if min(sizes.min(), losses.min()) <= 0:
        raise ValueError(f"the smallest size is {sizes.min():g}, the smallest loss {losses.min():g}: both must be positive")
    return _fit(sizes, losses)


def _draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for points, exponent, noise in ((4, 0.3, 0.05), (6, 0.15, 0.04), (5, 0.6, 0.1)):
        sizes = (1 + torch.arange(points) * 1.1 + 0.4 * torch.rand(points, generator=g)).exp()
        losses = (3 + 4 * torch.rand((), generator=g)) * sizes**-exponent * (noise * torch.randn(points, generator=g)).exp()
        order = torch.randperm(points, generator=g)
        cases.append(Case(f"{points} sizes in any order, exponent near {exponent}", {"sizes": sizes[order], "losses": losses[order]},
                          shape="()"))
    return cases


def _fixed() -> list[Case]:
    sizes = torch.tensor([1.0, 10.0, 100.0, 1000.0])
    return [Case("exactly 8 · N^-0.5", {"sizes": sizes, "losses": 8 * sizes**-0.5}, shape="()"),
            Case("a loss that rises", {"sizes": sizes[:3], "losses": torch.tensor([2.0, 2.5, 4.0])}, part="edges", shape="()"),
            Case("two points, largest first", {"sizes": torch.tensor([50.0, 5.0]), "losses": torch.tensor([1.2, 3.0])}, part="edges",
                 shape="()"),
            Case("a size of 0", {"sizes": torch.tensor([0.0, 4.0, 9.0]), "losses": torch.tensor([3.0, 2.0, 1.5])}, part="edges",
                 rejects=ValueError, mentions=("0",)),
            Case("a loss of 0", {"sizes": torch.tensor([2.0, 4.0, 9.0]), "losses": torch.tensor([3.0, 0.0, 1.5])}, part="edges",
                 rejects=ValueError, mentions=("0",)),
            Case("a loss of -1.5", {"sizes": torch.tensor([2.0, 4.0, 9.0]), "losses": torch.tensor([3.0, 2.0, -1.5])}, part="edges",
                 rejects=ValueError, mentions=("-1.5",)),
            Case("a size of -7", {"sizes": torch.tensor([2.0, -7.0, 9.0]), "losses": torch.tensor([3.0, 2.0, 1.5])}, part="edges",
                 rejects=ValueError, mentions=("-7",)),
            Case("one point", {"sizes": torch.tensor([7.0]), "losses": torch.tensor([3.0])}, part="edges", rejects=ValueError,
                 mentions=("1",))]


POWER_LAW = Exercise(
    id="11b.1", title="Fit a power law", name="fit_power_law", kind="function", stars=2, minutes=12,
    signature="fit_power_law(sizes, losses) -> scale, exponent, r2", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 3, "edges": 1}, outputs=("scale", "exponent", "r2"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("line through the numbers themselves", partial(_fit, how="no logarithms"),
             "You fit a line to sizes and losses as they are. A power law is a straight line only between their logarithms."),
        Twin("two divisors in r2", partial(_fit, how="two divisors"),
             "In r2 you divide the errors by the number of points and the variance by one less, as PyTorch does. Use the same divisor for "
             "both."),
        Twin("sign of the exponent", partial(_fit, how="sign"),
             "The slope of the line is negative when the loss falls. The exponent is defined with a minus sign in front of it."),
        Twin("scale still a logarithm", partial(_fit, how="not undone"),
             "The line meets the axis at the logarithm of the scale. Undo the logarithm."),
        Twin("base ten undone with e", partial(_fit, how="e for ten"),
             "You take logarithms to the base 10, but undo them with e. The exponent does not depend on the base, but the scale does."),
        Twin("only the loss in logarithms", partial(_fit, how="other half"),
             "A straight line in log loss over the plain size is an exponential. A power law is straight when both axes are logarithms."),
        Twin("only the size in logarithms", partial(_fit, how="half"),
             "The loss itself, drawn over the log of the size, is bent for a power law. Take logarithms of both."),
        Twin("the axes exchanged", partial(_fit, how="swapped"),
             "You predict the sizes from the losses. With noise this gives another line. Predict the losses from the sizes."),
        Twin("first and last point only", partial(_fit, how="ends"),
             "The slope between the two ends ignores what lies between. Least squares uses all points."),
        Twin("first and last point as given", partial(_fit, how="as given"),
             "That slope ignores all other entries, and the points come in any order. Least squares uses all of them."),
        Twin("mean slope of the pieces", partial(_fit, how="steps"),
             "The mean of the slopes from point to point is not the slope of the best line, which lets distant points weigh more."),
        Twin("line through the origin", partial(_fit, how="origin"),
             "Your line goes through the origin, so the scale is 1. Fit both a start and a slope."),
        Twin("covariance and variance divided differently", partial(_fit, how="mixed divisors"),
             "One of your sums is divided by the number of points, the other by one less. In the slope both divisors must cancel."),
        Twin("correlation for slope", partial(_fit, how="correlation"),
             "The correlation lies between minus one and one. The slope is the covariance over the variance of the sizes."),
        Twin("intercept with the wrong sign", partial(_fit, how="intercept sign"),
             "The best line goes through the two means. Follow it from there back to size 1, and check the sign in front of the slope."),
        Twin("height at the means", partial(_fit, how="height of the means"),
             "Your scale is the height of the line at the mean of the sizes' logarithms. Follow the slope from there to size 1."),
        Twin("slope and start exchanged", partial(_fit, how="line exchanged"),
             "Your line is right, but its slope went into the scale and its start into the exponent. Which of them "
             "does your function return first?"),
        Twin("line through the first point", partial(_fit, how="first point"),
             "The slope is right, but your line goes through the first point. The best line goes through the means."),
        Twin("fit measured in raw losses", partial(_fit, how="raw r2"),
             "Scale and exponent are right. The quality is asked for in logarithms, where the line was fitted."),
        Twin("correlation instead of its square", partial(_fit, how="root"),
             "Scale and exponent are right. The share of the variance that the line explains is the square of what you return."),
        Twin("correlation with its sign", partial(_fit, how="signed root"),
             "You return the correlation, which is negative where the loss falls. The share of the variance is its square."),
        Twin("share adjusted for the number of points", partial(_fit, how="adjusted"),
             "You correct the share for the number of points, which statisticians do. The plain share is asked for."),
        Twin("unexplained share", partial(_fit, how="unexplained"),
             "You return the share that the line does not explain. Return the share that it explains."),
    ),
)
