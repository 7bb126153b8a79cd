"""Exercise 13a.6: a quantiser for rows or groups. The oracle goes through the groups one by one with Python's numbers."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal


def to_few_bits(x: Tensor, bits: int, group: int | None = None) -> tuple[Tensor, Tensor]:
    rows, columns = x.shape
    group = columns if group is None else group
    if columns % group:
        raise ValueError(f"{columns} columns and groups of {group}")
    top = 2 ** (bits - 1) - 1
    parts = x.reshape(rows, -1, group)
    size = parts.abs().amax(-1)
    scale = torch.where(size == 0, 1.0, size / top)
    codes = (parts / scale[..., None]).round()
    return codes.reshape(rows, columns), scale


def oracle(x: Tensor, bits: int, group: int | None = None) -> tuple[Tensor, Tensor]:
    group, top = group or x.shape[1], 2 ** (bits - 1) - 1
    codes, scales = [], []
    for part in x.double().reshape(-1, group).tolist():
        largest = max(map(abs, part))
        scales.append(largest / top if largest else 1.0)
        codes.append([float(round(y / scales[-1])) for y in part])
    return torch.tensor(codes).reshape(x.shape), torch.tensor(scales).reshape(len(x), -1)


def case(g: torch.Generator, rows: int, columns: int, bits: int, group: int | None = None) -> Case:
    while True:
        x = torch.randn(rows, columns, generator=g) * (0.3 + 2 * torch.rand(rows, 1, generator=g))
        x = x - 0.3 * x.abs().amax(1, keepdim=True)  # the largest size of most groups is negative
        parts = x.double().unflatten(1, (-1, group or columns))
        y = parts / parts.abs().amax(-1, keepdim=True) * (2 ** (bits - 1) - 1)
        if ((y - y.floor() - 0.5).abs() > 1e-3).all():  # no number lies so near the middle that rounding errors decide
            break
    args = {"x": x, "bits": bits} | ({"group": group} if group else {})
    label = f"({rows}, {columns}), {bits} bits, " + (f"groups of {group}" if group else "rows")
    return Case(label, args, part="groups" if group else "rows", shape="(rows, columns), (rows, groups)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(g, 5, 12, 4), case(g, 3, 10, 6), case(g, 4, 12, 4, 3), case(g, 6, 20, 5, 4), case(g, 2, 15, 3, 5)]


def fixed() -> list[Case]:
    x = torch.randn(3, 12, generator=generator(9))
    zeros = x.clone()
    zeros[1, 4:8] = 0
    return [
        Case("a group of zeros", {"x": zeros, "bits": 4, "group": 4}, part="edges"),
        Case("a row of zeros", {"x": torch.cat([x[:1], 0 * x[:1]]), "bits": 8}, part="edges"),
        Case("tiny numbers", {"x": 1e-6 * x, "bits": 5, "group": 6}, part="edges"),
        Case("twelve bits", {"x": x, "bits": 12}, part="rows"),
        Case("two bits", {"x": x, "bits": 2, "group": 6}, part="groups"),
        *(refusal(f"12 columns, groups of {n}", {"x": x, "bits": 4, "group": n}, "12", str(n), part="refusal") for n in (5, 24)),
    ]


FORBIDDEN = ("course_utils.models.quantise.quantise",)
OUTPUTS = ("codes", "scale")
EXERCISE = FunctionExercise(right=to_few_bits, oracle=oracle, draw=draw, fixed=fixed, outputs=OUTPUTS, forbidden=FORBIDDEN)
