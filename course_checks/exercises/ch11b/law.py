"""Exercise 11b.2: how badly a law of two terms fits. The oracle goes point by point in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator

huber_loss = F.huber_loss  # kept here: nothing is forbidden, but an answer may shadow it


def _oracle(parameters: Tensor, sizes: Tensor, tokens: Tensor, losses: Tensor, delta: float) -> Tensor:
    a, b, e, alpha, beta = parameters.double().unbind()
    total = torch.zeros((), dtype=torch.double)
    for n, d, measured in zip(sizes.tolist(), tokens.tolist(), losses.tolist(), strict=True):
        terms = torch.stack([e, a - alpha * math.log(n), b - beta * math.log(d)])
        top = terms.max().detach()
        error = top + torch.exp(terms - top).sum().log() - math.log(measured)
        total = total + (error.square() / 2 if error.abs() <= delta else delta * (error.abs() - delta / 2))
    return total.float()


def _law(parameters: Tensor, sizes: Tensor, tokens: Tensor, losses: Tensor, delta: float, how: str = "right") -> Tensor:
    a, b, e, alpha, beta = parameters
    x, y, measured = sizes.log(), tokens.log(), losses.log()
    if how == "axes":
        x, y = y, x
    if how == "exponents":
        alpha, beta = beta, alpha
    if how == "sign":
        alpha, beta = -alpha, -beta
    if how == "scale":
        a, b, e = (p.log() for p in (a, b, e))
    first, second, rest = a - alpha * x, b - beta * y, e.expand(len(sizes))
    if how == "bare sizes":
        first, second = a - alpha * sizes, b - beta * tokens
    if how == "exponent outside":
        first, second = alpha * (a - x), beta * (b - y)
    terms = torch.stack([first, second] if how == "no floor" else [first, second, rest])
    predicted = torch.logsumexp(terms, 0)
    match how:
        case "overflow":
            predicted = (e.exp() + a.exp() / sizes**alpha + b.exp() / tokens**beta).log()
        case "sum of logs":
            predicted = terms.sum(0)
        case "floor outside":
            predicted = terms[:2].logsumexp(0) + rest
        case "floor bare":
            predicted = (e + first.exp() + second.exp()).log()
        case "base ten":
            predicted, measured = predicted / math.log(10), measured / math.log(10)
        case "no logs":
            predicted, measured = predicted.exp(), losses
        case "half logs":
            measured = losses
        case "relative":
            predicted, measured = predicted.exp() / losses, torch.ones_like(losses)
    error = predicted - measured
    inside, outside = error.square() / 2, delta * (error.abs() - delta / 2)
    match how:
        case "squares":
            each = error.square()
        case "half squares":
            each = error.square() / 2
        case "absolute":
            each = error.abs()
        case "delta one":
            each = huber_loss(error, torch.zeros_like(error), reduction="none")
        case "smooth":
            each = torch.where(error.abs() <= delta, inside, outside) / delta
        case "no half":
            each = torch.where(error.abs() <= delta, error.square(), delta * (2 * error.abs() - delta))
        case "jump":
            each = torch.where(error.abs() <= delta, inside, delta * error.abs())
        case "inside out":
            each = torch.where(error.abs() <= delta, outside, inside)
        case "one-sided":
            each = torch.where(error <= delta, inside, outside)
        case "summed first":
            error = error.sum()
            each = torch.where(error.abs() <= delta, error.square() / 2, delta * (error.abs() - delta / 2))[None]
        case _:
            each = torch.where(error.abs() <= delta, inside, outside)
    total = {"mean": each.mean, "each": lambda: each, "cut": lambda: each.sum().detach()}.get(how, each.sum)()
    return total


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, points: int, delta: float) -> Case:
        sizes, tokens = (5 * 40 ** torch.rand(points, generator=g) for _ in range(2))
        start = torch.tensor([1.6, 2.1, 0.35, 0.31, 0.42]) * (0.9 + 0.2 * torch.rand(5, generator=g))
        a, b, e, alpha, beta = start
        losses = e.exp() + a.exp() / sizes**alpha + b.exp() / tokens**beta
        shift = delta * torch.linspace(-3.0, 4.0, points)[torch.randperm(points, generator=g)]  # within delta and beyond it, either side
        return Case(label, {"parameters": start, "sizes": sizes, "tokens": tokens, "losses": losses * shift.exp(), "delta": delta},
                    gradients=("parameters",), shape="()")

    return [case("9 points, delta 0.08", 9, 0.08), case("6 points, delta 0.2", 6, 0.2)]


def _fixed() -> list[Case]:
    n, d = torch.tensor([1e9, 4e9, 2e10]), torch.tensor([3e10, 2e10, 5e11])
    far = torch.tensor([115.0, 118.0, 0.6, 5.0, 4.6])
    return [Case("one point, near", {"parameters": torch.tensor([1.5, 2.0, 0.4, 0.3, 0.4]), "sizes": torch.tensor([30.0]),
                                     "tokens": torch.tensor([70.0]), "losses": torch.tensor([4.6]), "delta": 0.3},
                 gradients=("parameters",), shape="()"),
            Case("ln A = 115: e to this power overflows", {"parameters": far, "sizes": n, "tokens": d,
                                                           "losses": torch.tensor([2.0, 3.0, 2.5]), "delta": 0.1},
                 part="edges", gradients=("parameters",), shape="()")]


LAW = Exercise(
    id="11b.2", title="How badly a law fits", name="law_loss", kind="function", stars=2, minutes=15,
    signature="law_loss(parameters, sizes, tokens, losses, delta) -> ()", oracle=_oracle, reference=_law, draw=_draw, fixed=_fixed,
    parts={"values": 3, "edges": 1}, rtol=1e-3, atol=1e-6,
    twins=(
        Twin("mean instead of sum", partial(_law, how="mean"),
             "You average over the points. The sum is asked for, and the next cell shows what the difference has done."),
        Twin("no sum at all", partial(_law, how="each"), "You return one number for each point. Their sum is asked for."),
        Twin("squares for every point", partial(_law, how="squares"),
             "A square lets one bad point pull as hard as a hundred good ones. Beyond delta the function goes on in a straight line."),
        Twin("half squares for every point", partial(_law, how="half squares"),
             "Within delta this is right. Beyond it the function goes on in a straight line."),
        Twin("absolute errors", partial(_law, how="absolute"),
             "A straight line has a corner at 0. Within delta the function is half a square."),
        Twin("delta left at 1", partial(_law, how="delta one"), "You do not use the given delta. By default, PyTorch's function takes 1."),
        Twin("smooth absolute error", partial(_law, how="smooth"),
             "PyTorch's smooth_l1_loss is the same function divided by its threshold. Huber's has slope delta in the straight part."),
        Twin("half forgotten", partial(_law, how="no half"), "Your result is twice as large as it should be. The square has to be halved."),
        Twin("jump at delta", partial(_law, how="jump"),
             "At delta your straight line and your square have different heights. Subtract a number so that they meet there."),
        Twin("square and line exchanged", partial(_law, how="inside out"),
             "You use the straight line for small errors and the square for large ones."),
        Twin("sign of the error forgotten", partial(_law, how="one-sided"),
             "Large negative errors go through the square as well. Compare the error's size with delta."),
        Twin("errors added before Huber", partial(_law, how="summed first"),
             "Errors of different signs cancel in yours. Each point goes through the function by itself."),
        Twin("losses without logarithm", partial(_law, how="no logs"),
             "You compare the losses themselves. The error is a difference of logarithms, so that it counts in per cent."),
        Twin("logarithm on one side", partial(_law, how="half logs"),
             "You take the logarithm of the law's loss only. Take it of the measured loss too."),
        Twin("relative errors", partial(_law, how="relative"),
             "The ratio less 1 is near the difference of the logarithms, but not the same."),
        Twin("logarithms to base ten", partial(_law, how="base ten"), "The parameters are natural logarithms. Use them for the error too."),
        Twin("logarithms added", partial(_law, how="sum of logs"),
             "A sum of logarithms is the logarithm of a product. The law first adds its three parts and then takes the logarithm."),
        Twin("parameters taken as they are", partial(_law, how="scale"),
             "The first three parameters are logarithms already: of A, of B and of E."),
        Twin("floor taken as it is", partial(_law, how="floor bare"), "The third parameter is the logarithm of E as well."),
        Twin("floor added to the logarithm", partial(_law, how="floor outside"),
             "E belongs to the sum of the three parts. Its logarithm added to the logarithm of the other two multiplies them by E."),
        Twin("sizes without logarithm", partial(_law, how="bare sizes"),
             "The logarithm of N to the power of -alpha is -alpha times ln N. You multiply alpha by N itself."),
        Twin("exponent times the factor too", partial(_law, how="exponent outside"),
             "Only N has an exponent. Yours raises A to the power of alpha as well."),
        Twin("floor left out", partial(_law, how="no floor"), "You leave out E, the part that no size and no amount of text removes."),
        Twin("exponents exchanged", partial(_law, how="exponents"), "The fourth parameter belongs to the sizes, the fifth to the tokens."),
        Twin("sizes and tokens exchanged", partial(_law, how="axes"), "A and alpha go with the sizes, B and beta with the tokens."),
        Twin("losses that grow", partial(_law, how="sign"), "Your loss grows with the size. N and D belong in the denominators."),
        Twin("exponential that overflows", partial(_law, how="overflow"),
             "A itself can be too large for a number of 32 bits while its part of the loss is small. Stay in logarithms: torch.logsumexp."),
        Twin("loss without gradient", partial(_law, how="cut"),
             "The number is right, but cut off from the parameters, so nothing could be fitted with it."),
    ),
)
