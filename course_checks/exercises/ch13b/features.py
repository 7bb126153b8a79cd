"""Exercise 13b.1: Fourier features. The oracle goes through points and frequencies with Python's numbers."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _oracle(x: Tensor, frequencies: Tensor) -> Tensor:
    rows, root = [], math.sqrt(len(frequencies))
    for point in x.double().tolist():
        angles = [math.fsum(a * b for a, b in zip(point, w, strict=True)) for w in frequencies.double().tolist()]
        rows.append([math.cos(a) / root for a in angles] + [math.sin(a) / root for a in angles])
    return torch.tensor(rows)


def _features(x: Tensor, frequencies: Tensor, how: str = "right") -> Tensor:
    (n, d), m = x.shape, len(frequencies)
    if how == "unit points":
        x = x / x.norm(dim=1, keepdim=True)
    if how == "unit frequencies":
        frequencies = frequencies / frequencies.norm(dim=1, keepdim=True)
    angle = x @ (frequencies if how == "not transposed" else frequencies.mT)
    match how:
        case "two pi":
            angle = 2 * math.pi * angle
        case "degrees":
            angle = torch.deg2rad(angle)
        case "scaled":
            angle = angle / math.sqrt(d)
        case "distance":
            angle = torch.cdist(x, frequencies)
        case "negative":
            angle = -angle
        case "size":
            angle = angle.abs()
        case "root inside":
            angle = angle / math.sqrt(m)
        case "first coordinate":
            angle = x[:, :1] * frequencies[:, 0]
        case "not summed":
            angle = (x[:, None] * frequencies).flatten(1)
        case "exchanged":
            angle = angle.mT
    cosines, sines = angle.cos(), angle.sin()
    match how:
        case "inside":
            cosines, sines = x.cos() @ frequencies.mT, x.sin() @ frequencies.mT
        case "exponentials":
            cosines, sines = angle.exp(), (-angle).exp()
        case "cosines twice":
            sines = cosines
        case "sines divided":
            cosines = cosines * math.sqrt(m)
        case "cosines divided":
            sines = sines * math.sqrt(m)
        case "angles":
            cosines, sines = angle, angle
        case "squares":
            cosines, sines = cosines.square(), sines.square()
    pair = (sines, cosines) if how == "sines first" else (cosines, sines)
    features = torch.cat(pair, -1)
    match how:
        case "cosines alone":
            features = cosines
        case "sines alone":
            features = sines
        case "added":
            features = cosines + sines
        case "interleaved":
            features = torch.stack(pair, -1).flatten(1)
        case "below":
            features = torch.cat(pair, 0)
    under = {"m": m * m, "none": 1, "root inside": 1, "2 m": 2 * m, "d": d, "n": n, "half": m / 2}.get(how, m)
    return features / math.sqrt(under)


def _reference(x: Tensor, frequencies: Tensor) -> Tensor:
    if x.shape[1] != frequencies.shape[1]:
        raise ValueError(f"points of width {x.shape[1]}, frequencies of width {frequencies.shape[1]}")
    return _features(x, frequencies)


def _case(g: torch.Generator, n: int, d: int, m: int, part: str = "values", width: int | None = None, **more) -> Case:
    return Case(f"{n} points of width {d}, {m} frequencies" + (f" of width {width}" if width else ""),
                {"x": randn(g, n, d), "frequencies": randn(g, m, width or d)}, part=part, shape="(n, 2 m)", **more)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, *sizes(g, 3)), _case(g, *sizes(g, 3)), _case(g, *sizes(g, 3, 3, 10))]


def _fixed() -> list[Case]:
    g = generator(31)
    return [_case(g, 1, 4, 6, "edges"), _case(g, 5, 1, 3, "edges"), _case(g, 4, 3, 1, "edges"),
            *(_case(g, n, d, m, "refusal", width, rejects=ValueError, mentions=(str(d), str(width)))
              for n, d, m, width in ((4, 3, 6, 5), (4, 7, 3, 2), (3, 1, 6, 5), (6, 4, 3, 1)))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_features, how=how), hint)


FEATURES = Exercise(
    id="13b.1", title="Cosines and sines as features", name="fourier_features", kind="function", stars=2, minutes=10,
    signature="fourier_features(x, frequencies) -> features (n, 2 m)", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 1, "refusal": 1}, outputs=("features",),
    forbidden=("course_utils.models.features.fourier",),
    twins=(
        _twin("divided by m", "m", "You divide the features by the number of frequencies. A dot product multiplies two features, so it is "
              "divided by this number twice."),
        _twin("never divided", "none", "Your dot products are sums over the frequencies. They have to be means, so divide the features."),
        _twin("root of all features", "2 m", "You divide by the root of the number of features. Cosine and sine of one frequency together "
              "make one term of the mean, so count the frequencies."),
        _twin("random-phase factor", "half", "Your features are too large by the root of two. That factor belongs to cosines with a random "
              "phase, which have no sines beside them."),
        _twin("root of the width", "d", "You divide by the root of the width of the points. The mean runs over the frequencies."),
        _twin("root of the number of points", "n", "You divide by the root of the number of points. The mean runs over the frequencies."),
        _twin("cosines alone", "cosines alone", "Your features are the cosines alone. The cosine of a difference needs the product of the "
              "sines as well."),
        _twin("sines alone", "sines alone", "Your features are the sines alone. The cosine of a difference needs the product of the "
              "cosines as well."),
        _twin("cosines twice", "cosines twice", "Both halves of your features are cosines. The second half belongs to the sines."),
        _twin("cosine plus sine", "added", "You add each sine to its cosine. They have to stay two features, side by side."),
        _twin("sines first", "sines first", "The dot products are right, but the order is not: the cosines come first, then the sines."),
        _twin("cosine and sine by turns", "interleaved", "The dot products are right, but the order is not: first come all cosines, then "
              "all sines."),
        _twin("sines below the cosines", "below", "You put the sines below the cosines, as if they were further points. They are further "
              "features of the same points."),
        _twin("whole turns", "two pi", "You multiply the angle by two pi. Here the dot product itself is the angle, in radians."),
        _twin("angles in degrees", "degrees", "You treat the dot product as an angle in degrees. It is already an angle in radians."),
        _twin("divided like scores", "scaled", "You divide the dot products by the root of the width, as attention does with its scores. "
              "Here the dot product itself is the angle."),
        _twin("root inside the angle", "root inside", "You divide the angles by the root of the number of frequencies. The root belongs to "
              "the cosines and sines, and the angle stays as it is."),
        _twin("sines alone divided", "sines divided", "You divide the sines by the root, but not the cosines. Both halves need it: look "
              "where the brackets close."),
        _twin("cosines alone divided", "cosines divided", "You divide the cosines by the root, but not the sines. Both halves need it."),
        _twin("frequencies not transposed", "not transposed", "A product of matrices joins the columns of the first with the rows of the "
              "second. Points and frequencies both have their coordinates in the columns."),
        _twin("a row for each frequency", "exchanged", "Your rows belong to the frequencies. There has to be one row for each point."),
        _twin("coordinates not added up", "not summed", "You take a cosine for each coordinate by itself. One frequency makes one angle: "
              "the products of all coordinates are added first."),
        _twin("first coordinate alone", "first coordinate", "Your angle uses the first coordinate alone. The dot product runs over all "
              "coordinates of the point."),
        _twin("distance for dot product", "distance", "Your angle is the distance between point and frequency. It has to be their dot "
              "product."),
        _twin("cosine before the product", "inside", "You take cosine and sine of the points and multiply afterwards. The product comes "
              "first, and the cosine is taken of the result."),
        _twin("exponential features", "exponentials", "You take exponentials, which are features of another kind. Cosines and sines are "
              "asked for."),
        _twin("angles themselves", "angles", "You return the angles. Their cosines and sines are wanted."),
        _twin("sines turned round", "negative",
             "All your sines have the wrong sign. The dot products are the same, but the features themselves are compared."),
        _twin("sign of the angle lost", "size", "You drop the sign of the angle. The cosine stays the same, but the sine changes."),
        _twin("squared features", "squares", "You square the features. They are multiplied with each other only later, in the dot "
              "product."),
        _twin("points made unit", "unit points", "You divide the points by their lengths. How far apart two points are has to count."),
        _twin("frequencies made unit", "unit frequencies", "You divide the frequencies by their lengths. Their lengths say how narrow the "
              "kernel is, so they have to stay."),
    ),
)
