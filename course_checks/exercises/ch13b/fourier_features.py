"""Exercise 13b.1: Fourier features. The oracle goes through points and frequencies with Python's numbers."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def fourier_features(x: Tensor, frequencies: Tensor) -> Tensor:
    if x.shape[1] != frequencies.shape[1]:
        raise ValueError(f"points of width {x.shape[1]}, frequencies of width {frequencies.shape[1]}")
    angles = x @ frequencies.T
    features = torch.cat([angles.cos(), angles.sin()], 1)
    return features / len(frequencies) ** 0.5


def oracle(x: Tensor, frequencies: Tensor) -> Tensor:
    rows, root = [], math.sqrt(len(frequencies))
    for point in x.double().tolist():
        angles = [math.fsum(a * b for a, b in zip(point, w, strict=True)) for w in frequencies.double().tolist()]
        rows.append([math.cos(a) / root for a in angles] + [math.sin(a) / root for a in angles])
    return torch.tensor(rows)


def case(g: torch.Generator, n: int, d: int, m: int, *, part: str = "values", width: int = 0, **more) -> Case:
    label = f"{n} points of width {d}, {m} frequencies" + (f" of width {width}" if width else "")
    return Case(label, {"x": randn(g, n, d), "frequencies": randn(g, m, width or d)}, part, shape="(n, 2 m)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(g, *sizes(g, 3)), case(g, *sizes(g, 3)), case(g, *sizes(g, 3, 3, 10))]


def fixed() -> list[Case]:
    g = generator(31)
    edges = [case(g, n, d, m, part="edges") for n, d, m in ((1, 4, 6), (5, 1, 3), (4, 3, 1))]
    bad = ((4, 3, 6, 5), (4, 7, 3, 2), (3, 1, 6, 5), (6, 4, 3, 1))
    return edges + [case(g, n, d, m, part="refusal", width=w, rejects=ValueError, mentions=(str(d), str(w))) for n, d, m, w in bad]


OURS = ("course_utils.models.features.fourier",)
EXERCISE = FunctionExercise(right=fourier_features, oracle=oracle, draw=draw, fixed=fixed, outputs=("features",), forbidden=OURS)
