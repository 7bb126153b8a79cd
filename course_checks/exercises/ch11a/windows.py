"""Exercise 11a.7: cut a row of ids into windows and their targets. The oracle walks over lists."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, refusal


def windows(ids: Tensor, size: int, stride: int) -> tuple[Tensor, Tensor]:
    if not 1 <= stride <= size:
        raise ValueError(f"stride={stride} must lie between 1 and size={size}")
    if len(ids) < 2:
        raise ValueError(f"{len(ids)} token leaves nothing to predict; at least 2 are needed")
    n = len(ids) - 1
    starts = [0]
    while starts[-1] + size < n:
        starts.append(starts[-1] + stride)
    given, wanted = ids[:-1], ids[1:]
    inputs = torch.full((len(starts), size), 0)
    targets = torch.full((len(starts), size), -100)
    for k, start in enumerate(starts):
        piece, target = given[start : start + size], wanted[start : start + size]
        inputs[k, : len(piece)] = piece
        targets[k, : len(target)] = target
    return inputs, targets


def oracle(ids: Tensor, size: int, stride: int) -> tuple[Tensor, Tensor]:
    row, last = ids.tolist(), len(ids) - 1
    starts = [start for start in range(0, last, stride) if start == 0 or start - stride + size < last]
    places = [range(start, min(start + size, last)) for start in starts]
    inputs = [[row[place] for place in there] + [0] * (size - len(there)) for there in places]
    targets = [[row[place + 1] for place in there] + [-100] * (size - len(there)) for there in places]
    return torch.tensor(inputs), torch.tensor(targets)


def case(g: torch.Generator, n: int, size: int, stride: int, part: str, note: str = "") -> Case:
    args = {"ids": integers(g, 1, 90, n), "size": size, "stride": stride}
    return Case(f"{n} tokens, size {size}, stride {stride}{note}", args, part, shape="(windows, size)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, 13, 4, 4, "side by side"),
        case(g, 12, 4, 4, "a short window", ": the last window is short"),
        case(g, 14, 5, 2, "overlapping"),
        case(g, 15, 5, 3, "overlapping", ": the last window is short"),
    ]


def fixed() -> list[Case]:
    g = generator(3)
    four = {"ids": torch.arange(4), "size": 5}
    return [
        case(g, 3, 5, 5, "edges", ": one short window"),
        case(g, 2, 4, 3, "edges"),
        case(g, 6, 5, 1, "edges", ": one window is enough"),
        refusal("stride 6 with size 5 would skip tokens", {"ids": torch.arange(12), "size": 5, "stride": 6}, "6", "5", part="refusal"),
        case(g, 2, 1, 1, "edges"),
        refusal("stride 0 with size 5", four | {"stride": 0}, "0", "5", part="refusal"),
        refusal("stride -2 with size 5", four | {"stride": -2}, "-2", "5", part="refusal"),
        refusal("a single token", {"ids": torch.tensor([3]), "size": 5, "stride": 5}, "1", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=windows, oracle=oracle, draw=draw, fixed=fixed, outputs=("inputs", "targets"))
