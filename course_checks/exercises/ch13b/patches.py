"""Exercise 13b.6: images as sequences of squares. The oracle is PyTorch's unfold in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _oracle(images: Tensor, size: int) -> Tensor:
    return F.unfold(images.double()[:, None], size, stride=size).mT.float()


def _patches(images: Tensor, size: int, how: str = "right") -> Tensor:
    batch, height, width = images.shape
    rows, columns = height // size, width // size
    images = images[:, : rows * size, : columns * size]
    match how:
        case "plain reshape":
            return images.reshape(batch, rows * columns, size * size)
        case "strips":
            return images.reshape(batch, rows, size * columns * size)
        case "transposed":
            images, rows, columns = images.mT, columns, rows
        case "exchanged":
            rows, columns = columns, rows
        case "overlapping":
            return F.unfold(images[:, None], size).mT
        case "mirrored":
            images = images.flip(2)
    cut = images.reshape(batch, rows, size, columns, size).transpose(2, 3)  # (batch, rows, columns, size, size)
    match how:
        case "downwards":
            cut = cut.transpose(1, 2)
        case "pixels downwards":
            cut = cut.mT
        case "strided":
            cut = images.reshape(batch, size, rows, size, columns).permute(0, 2, 4, 1, 3)
        case "batch inside":
            cut = cut.permute(1, 2, 0, 3, 4)
        case "bottom first":
            cut = cut.flip(1)
        case "right first":
            cut = cut.flip(2)
        case "divided by size":
            cut = images.reshape(batch, size, rows, size, columns).transpose(2, 3)
            return cut.reshape(batch, size * size, rows * columns)
        case "snake":
            cut = torch.stack([row.flip(1) if i % 2 else row for i, row in enumerate(cut.unbind(1))], 1)
        case "numbers":
            cut = cut / 255
        case "centred":
            cut = cut - cut.mean((-2, -1), keepdim=True)
    tokens = cut.reshape(batch, rows * columns, size * size)
    match how:
        case "grid kept":
            tokens = cut.flatten(3)
        case "squares kept":
            tokens = cut.reshape(batch, rows * columns, size, size)
        case "batch flattened":
            tokens = tokens.flatten(0, 1)
        case "tokens last":
            tokens = tokens.mT
        case "batch behind":
            tokens = tokens.transpose(0, 1)
        case "last reshaped":
            tokens = tokens.mT.reshape(tokens.shape)
        case "mean":
            tokens = tokens.mean(-1)
        case "corner":
            tokens = tokens[..., :1]
        case "one image":
            tokens = tokens[:1]
        case "one square":
            tokens = tokens[:, :1]
    return tokens


def _reference(images: Tensor, size: int) -> Tensor:
    _, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height} x {width} pixels, squares of {size}")
    return _patches(images, size)


def _case(g: torch.Generator, batch: int, height: int, width: int, size: int, part: str = "values", **more) -> Case:
    return Case(f"{batch} images of {height} x {width}, squares of {size}", {"images": randn(g, batch, height, width), "size": size},
                part=part, shape="(batch, tokens, size * size)", **more)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    cases = []
    for size, batch in ((2, 3), (3, 2), (2, 5)):
        rows, columns = sizes(g, 2, 2, 6)
        cases.append(_case(g, batch, size * rows, size * columns, size))
    return cases


def _fixed() -> list[Case]:
    g = generator(36)
    return [_case(g, 1, 4, 6, 2, "edges"), _case(g, 2, 3, 5, 1, "edges"), _case(g, 3, 4, 4, 4, "edges"), _case(g, 2, 3, 12, 3, "edges"),
            _case(g, 2, 8, 2, 2, "edges"), _case(g, 4, 6, 6, 2, "edges"),
            *(_case(g, 2, height, width, size, "refusal", rejects=ValueError, mentions=(str(height), str(width), str(size)))
              for height, width, size in ((9, 15, 4), (8, 10, 4), (10, 8, 4), (6, 12, 5), (3, 7, 8)))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_patches, how=how), hint)


PATCHES = Exercise(
    id="13b.6", title="An image as a sequence of squares", name="patches", kind="function", stars=2, minutes=10,
    signature="patches(images, size) -> squares (batch, tokens, size * size)", oracle=_oracle, reference=_reference, draw=_draw,
    fixed=_fixed, parts={"values": 3, "edges": 1, "refusal": 1}, outputs=("squares",),
    forbidden=("course_utils.models.patches.patches",),
    twins=(
        _twin("plain reshape", "plain reshape", "Your tokens are pieces of the pixel rows, one after the other. A square takes pixels from "
              "several rows, so the two axes inside a square have to be brought together before they are joined."),
        _twin("squares column by column", "downwards", "Your squares run from top to bottom first. They have to run from left to right "
              "first."),
        _twin("pixels column by column", "pixels downwards", "The squares are in order, but the pixels in them run from top to bottom "
              "first."),
        _twin("image transposed", "transposed", "Both squares and pixels run from top to bottom first, as if height and width were "
              "exchanged."),
        _twin("rows and columns exchanged", "exchanged", "You cut the height into as many pieces as the width should have. Count the "
              "squares along each edge again."),
        _twin("pixels far apart", "strided", "A token of yours collects pixels at regular distances. Split each axis into which square "
              "first and which pixel second."),
        _twin("batch mixed", "batch inside", "Your tokens mix the images. The axis of the batch has to stay in front."),
        _twin("overlapping squares", "overlapping", "Your squares begin at every pixel and overlap. The next one begins where the last one "
              "ended."),
        _twin("strips for squares", "strips", "You cut the height alone, so your tokens are strips as wide as the image. Cut the "
              "width as well."),
        _twin("bottom row first", "bottom first", "Your rows of squares begin at the bottom. Reading order begins at the top."),
        _twin("right square first", "right first", "Your squares run from right to left. Reading order begins on the left."),
        _twin("mirrored image", "mirrored", "Your images are mirrored: squares and pixels run from right to left."),
        _twin("every other row backwards", "snake", "You list every other row of squares backwards. Each row begins on the left."),
        _twin("grid kept", "grid kept", "Your squares are still in a grid. A sequence has one axis for all squares."),
        _twin("squares not flattened", "squares kept", "The pixels of a square still have two axes. A token is one row of numbers."),
        _twin("batch flattened", "batch flattened", "All images have become one sequence. Each image needs its own."),
        _twin("tokens in the last axis", "tokens last", "Your last two axes are exchanged: tokens come first, and then their pixels."),
        _twin("batch behind the squares", "batch behind", "Your first axis counts squares and your second one images. The batch stays in "
              "front."),
        _twin("exchanged axes reshaped", "last reshaped", "Your numbers are in the wrong order: for each pixel, all squares follow. A "
              "reshape cannot mend this. Exchange the axes, so that the squares come first."),
        _twin("size taken for a number", "divided by size", "You cut each edge into as many pieces as the size says. The size is the edge "
              "of one square, in pixels."),
        _twin("mean of a square", "mean", "You return one mean for each square. All of its pixels are wanted."),
        _twin("corner of a square", "corner", "You return the first pixel of each square. All of its pixels are wanted."),
        _twin("first image alone", "one image", "You cut only the first image of the batch. Cut all of them."),
        _twin("first square alone", "one square", "You return the first square of each image. All of them are wanted."),
        _twin("pixels divided by 255", "numbers", "You divide the pixels by the largest brightness. They have to stay as they are."),
        _twin("mean taken away", "centred", "You subtract the mean of each square from its pixels. The pixels have to stay as they are."),
    ),
)
