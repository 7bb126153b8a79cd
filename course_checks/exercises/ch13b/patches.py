"""Exercise 13b.6: images as sequences of squares. The oracle is PyTorch's unfold in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, sizes


def patches(images: Tensor, size: int) -> Tensor:
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height} x {width} pixels, squares of {size}")
    rows, columns = height // size, width // size
    cut = images.reshape(batch, rows, size, columns, size)
    cut = cut.transpose(2, 3)
    return cut.reshape(batch, rows * columns, size * size)


def oracle(images: Tensor, size: int) -> Tensor:
    return F.unfold(images.double()[:, None], size, stride=size).mT.float()


def case(g: torch.Generator, batch: int, height: int, width: int, size: int, part: str = "values", **more) -> Case:
    args = {"images": randn(g, batch, height, width), "size": size}
    label = f"{batch} images of {height} x {width}, squares of {size}"
    return Case(label, args, part, shape="(batch, tokens, size * size)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    cases = []
    for size, batch in ((2, 3), (3, 2), (2, 5)):
        rows, columns = sizes(g, 2, 2, 6)
        cases.append(case(g, batch, size * rows, size * columns, size))
    return cases


def fixed() -> list[Case]:
    g = generator(36)
    shapes = ((1, 4, 6, 2), (2, 3, 5, 1), (3, 4, 4, 4), (2, 3, 12, 3), (2, 8, 2, 2), (4, 6, 6, 2))
    bad = ((9, 15, 4), (8, 10, 4), (10, 8, 4), (6, 12, 5), (3, 7, 8))
    edges = [case(g, *shape, "edges") for shape in shapes]
    return edges + [case(g, 2, *shape, "refusal", rejects=ValueError, mentions=tuple(map(str, shape))) for shape in bad]


OURS = ("course_utils.models.patches.patches",)
EXERCISE = FunctionExercise(right=patches, oracle=oracle, draw=draw, fixed=fixed, outputs=("squares",), forbidden=OURS)
