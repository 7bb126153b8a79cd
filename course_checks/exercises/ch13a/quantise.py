"""Exercise 13a.5: a quantiser for rows or groups. The oracle goes through the groups one by one with Python's numbers."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(x: Tensor, bits: int, group: int | None = None) -> tuple[Tensor, Tensor]:
    group, top = group or x.shape[1], 2 ** (bits - 1) - 1
    codes, scales = [], []
    for row in x.double().tolist():
        codes.append([])
        scales.append([])
        for start in range(0, len(row), group):
            part = row[start: start + group]
            largest = max(map(abs, part))
            scales[-1].append(largest / top if largest else 1.0)
            codes[-1] += [float(round(y / scales[-1][-1])) for y in part]
    return torch.tensor(codes), torch.tensor(scales)


def _quantise(x: Tensor, bits: int, group: int | None = None, how: str = "right") -> tuple[Tensor, Tensor]:
    rows, columns = x.shape
    group = columns if group is None or how == "rows" else group
    top = {"levels": 2 ** (bits - 1), "unsigned": 2**bits - 1, "eight bits": 127, "bits": bits}.get(how, 2 ** (bits - 1) - 1)
    parts = x.reshape(rows, -1, group)
    if how == "every so many-th":
        parts = x.reshape(rows, group, -1).mT
    if how == "turned":
        parts = x.T.reshape(rows, -1, group)
    size = {"no abs": parts.amax(-1), "mean": parts.abs().mean(-1), "deviation": parts.square().mean(-1).sqrt(),
            "abs of the largest": parts.amax(-1).abs(), "range": (parts.amax(-1) - parts.amin(-1)) / 2,
            "smallest": parts.abs().amin(-1)}.get(how, parts.abs().amax(-1))
    match how:
        case "tensor":
            size = size.max().expand_as(size)
        case "columns":
            size = size.amax(0, keepdim=True).expand_as(size)
        case "row for all groups":
            size = size.amax(1, keepdim=True).expand_as(size)
        case "from the smallest":
            low, scale = parts.amin(-1, keepdim=True), (parts.amax(-1) - parts.amin(-1)) / (2**bits - 1)
            scale = torch.where(scale != 0, scale, 1.0)
            return ((parts - low) / scale[..., None]).round().reshape(rows, columns), scale
        case "zeros":
            return (parts / (size / top)[..., None]).round().reshape(rows, columns), size / top
    scale = size / top
    if how == "all ones" and (scale == 0).any():
        scale = torch.ones_like(scale)
    if how == "at least 1":
        scale = scale.clamp_min(1.0)
    if how == "tiny is zero":
        scale = torch.where(scale < 1e-5, 0.0, scale)
    scale = torch.where(scale != 0, scale, 0.0 if how == "zero scale" else 1.0)
    y = parts / torch.where(scale != 0, scale, 1.0)[..., None]
    codes = {"down": y.floor(), "cut": y.trunc(), "unrounded": y, "up": y.ceil()}.get(how, y.round())
    if how == "restored":
        codes = y.round() * scale[..., None]
    codes = (codes.mT if how == "every so many-th" else codes).reshape(rows, columns)
    if how == "turned":
        codes = codes.reshape(columns, rows).T
    if how == "bytes":
        codes = ((codes + 128) % 256 - 128)  # what a whole number of eight bits makes of it
    if how == "inverse":
        scale = 1 / scale
    if how == "shifted":
        codes = codes + top
    return codes, scale


def _reference(x: Tensor, bits: int, group: int | None = None) -> tuple[Tensor, Tensor]:
    if x.shape[1] % (group or x.shape[1]):
        raise ValueError(f"{x.shape[1]} columns and groups of {group}")
    return _quantise(x, bits, group)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(rows: int, columns: int, bits: int, group: int | None, part: str) -> Case:
        while True:
            x = torch.randn(rows, columns, generator=g) * (0.3 + 2 * torch.rand(rows, 1, generator=g))
            x = x - 0.3 * x.abs().amax(1, keepdim=True)  # the largest size of most groups is negative
            parts = x.double().unflatten(1, (-1, group or columns))
            y = parts / parts.abs().amax(-1, keepdim=True) * (2 ** (bits - 1) - 1)
            if ((y - y.floor() - 0.5).abs() > 1e-3).all():  # no number lies so near the middle that rounding errors decide
                break
        return Case(f"({rows}, {columns}), {bits} bits, " + (f"groups of {group}" if group else "rows"),
                    {"x": x, "bits": bits} | ({"group": group} if group else {}), part=part, shape="(rows, columns), (rows, groups)")

    return [case(5, 12, 4, None, "rows"), case(3, 10, 6, None, "rows"), case(4, 12, 4, 3, "groups"), case(6, 20, 5, 4, "groups"),
            case(2, 15, 3, 5, "groups")]


def _fixed() -> list[Case]:
    g = generator(9)
    x = torch.randn(3, 12, generator=g)
    zeros = x.clone()
    zeros[1, 4:8] = 0
    return [Case("a group of zeros", {"x": zeros, "bits": 4, "group": 4}, part="edges"),
            Case("a row of zeros", {"x": torch.cat([x[:1], 0 * x[:1]]), "bits": 8}, part="edges"),
            Case("tiny numbers", {"x": 1e-6 * x, "bits": 5, "group": 6}, part="edges"),
            Case("twelve bits", {"x": x, "bits": 12}, part="rows"),
            Case("two bits", {"x": x, "bits": 2, "group": 6}, part="groups"),
            *(Case(f"12 columns, groups of {group}", {"x": x, "bits": 4, "group": group}, part="refusal", rejects=ValueError,
                   mentions=("12", str(group))) for group in (5, 24))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_quantise, how=how), hint)


QUANTISE = Exercise(
    id="13a.5", title="Numbers of few bits", name="to_few_bits", kind="function", stars=2, minutes=12,
    signature="to_few_bits(x, bits, group=None) -> codes (rows, columns), scale (rows, groups)", oracle=_oracle, reference=_reference,
    draw=_draw, fixed=_fixed, parts={"rows": 2, "groups": 2, "edges": 1, "refusal": 1}, outputs=("codes", "scale"),
    forbidden=("course_utils.models.quantise.quantise",),
    twins=(
        _twin("one scale for the matrix", "tensor", "All of your rows share one scale. Each group has its own largest number."),
        _twin("one scale for each column", "columns", "Your scales are shared along the columns. A group lies in one row."),
        _twin("groups ignored", "rows", "You use one scale for the whole row, whatever group was asked for."),
        _twin("every so many-th number", "every so many-th", "Each of your groups takes numbers at regular distances. A group holds "
              "neighbours."),
        _twin("negative numbers forgotten", "no abs", "You take the largest number. A negative one may be larger in size."),
        _twin("mean size", "mean", "You take the mean size of a group. Larger numbers then do not fit. Even the largest one has to fit."),
        _twin("root mean square", "deviation",
             "You take a typical size of a group. Larger numbers then do not fit. Even the largest one has to fit."),
        _twin("half of the range", "range", "You take half of the distance from smallest to largest. The grid is symmetric around 0, so "
              "the largest size counts."),
        _twin("smallest size", "smallest", "You take the smallest size of a group; the largest one has to fit."),
        _twin("one level too many", "levels", "Your largest whole number is one too large. With four bits and a sign it is 7, not 8."),
        _twin("no bit for the sign", "unsigned", "One bit is needed for the sign, which halves the largest whole number."),
        _twin("always eight bits", "eight bits", "Your largest whole number is that of eight bits, whatever was asked for."),
        _twin("bits taken for the largest number", "bits", "The number of bits is not the largest whole number: each bit doubles it."),
        _twin("rounded down", "down", "You round down; the nearest whole number is asked for."),
        _twin("rounded up", "up", "You round up; the nearest whole number is asked for."),
        _twin("decimals cut off", "cut", "You cut decimals off, which rounds towards 0; the nearest whole number is asked for."),
        _twin("not rounded", "unrounded", "Your codes are not whole numbers: the rounding is missing."),
        _twin("multiplied back", "restored", "You return the restored numbers. Codes are the whole numbers before that."),
        _twin("scale upside down", "inverse", "Codes times scale must give the numbers. Your scale is the inverse of the right one."),
        _twin("codes moved above zero", "shifted", "Your codes begin at 0. Here they have a sign, and 0 stays 0."),
        _twin("zeros divided by zero", "zeros",
             "In a group of zeros the scale is 0, and 0 divided by 0 gives nan. Such a group has the scale 1."),
        _twin("scale of zeros is zero", "zero scale", "The scale of a group of zeros is 1 by agreement; yours is 0 or close "
              "to it."),
        _twin("one scale for all groups", "row for all groups", "You use the largest number of the row for all of its groups. Each group "
              "has a largest number of its own."),
        _twin("size of the largest number", "abs of the largest", "You look for the largest number and take its absolute value "
              "afterwards. A negative number of larger size is overlooked."),
        _twin("smallest number subtracted", "from the smallest", "You subtract the smallest number and begin at 0. Here the whole numbers "
              "have a sign, and 0 stays 0."),
        _twin("neighbours of a column", "turned", "Your groups run down the columns of the matrix. A group holds neighbours of a row."),
        _twin("scales below one raised", "at least 1",
             "You raise every scale below 1 to 1. Only a group of zeros has the scale 1 by agreement. Other groups keep their own, however "
             "small."),
        _twin("one group of zeros for all", "all ones", "One group of zeros sets all of your scales to 1. Only its own scale is 1."),
        _twin("tiny numbers taken for zeros", "tiny is zero", "You treat groups of very small numbers as if they were zeros. Only a "
              "group in which every number is exactly 0 has the scale 1."),
        _twin("codes kept in eight bits", "bytes", "Your codes are whole numbers of eight bits, which end at 127. A float tensor is asked "
              "for, and more than eight bits may be wanted."),
    ),
)
