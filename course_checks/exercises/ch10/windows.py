"""Exercise 10.7: windows over a passage that is too long. The oracle goes from piece to piece."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers


def windows(passage: Tensor, room: int, stride: int, answer: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    if not 1 <= stride <= room:
        raise ValueError(f"stride={stride} must lie between 1 and room={room}")
    first, last = answer
    starts = [0]
    while starts[-1] + room < len(passage):
        starts.append(starts[-1] + stride)
    rows = torch.zeros(len(starts), room, dtype=passage.dtype)
    spans = torch.full((len(starts), 2), -1)
    for k, s in enumerate(starts):
        piece = passage[s : s + room]
        rows[k, : len(piece)] = piece
        if s <= first and last < s + room:
            spans[k] = torch.tensor([first - s, last - s])
    return rows, torch.tensor(starts), spans


def oracle(passage: Tensor, room: int, stride: int, answer: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    ids, (first, last), rows, places = passage.tolist(), answer, [], []
    starts = [s for s in range(0, len(ids), stride) if s == 0 or s - stride + room < len(ids)]
    for s in starts:
        inside = range(s, min(s + room, len(ids)))
        rows.append([ids[p] for p in inside] + [0] * (room - len(inside)))
        places.append([inside.index(first), inside.index(last)] if first in inside and last in inside else [-1, -1])
    return torch.tensor(rows), torch.tensor(starts), torch.tensor(places)


def case(label: str, part: str, passage: Tensor, room: int, stride: int, answer: list[int], **more) -> Case:
    return Case(label, {"passage": passage, "room": room, "stride": stride, "answer": answer}, part, shape="(windows, room)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def drawn(label: str, part: str, n: int, room: int, stride: int, place: int) -> Case:
        first = place + int(integers(g, 0, 2))
        return case(label, part, integers(g, 5, 99, n), room, stride, [first, first + 2])

    return [
        drawn("17 pieces, room for 8, stride 3", "windows", 17, 8, 3, 9),
        drawn("25 pieces, room for 7, stride 5", "answer", 25, 7, 5, 4),
        drawn("23 pieces, room for 9, stride 4", "answer", 23, 9, 4, 6),
    ]


def fixed() -> list[Case]:
    return [
        case("a passage that fits", "windows", torch.arange(10, 15), 7, 3, [1, 2]),
        case("exactly full", "windows", torch.arange(10, 24), 6, 4, [12, 13]),
        case("one piece is left over", "windows", torch.arange(10, 25), 6, 4, [1, 2]),
        case("one piece more than room", "windows", torch.arange(10, 17), 6, 2, [5, 6]),
        case("stride 1", "windows", torch.arange(10, 16), 4, 1, [2, 4]),
        case("room for one piece", "answer", torch.arange(10, 13), 1, 1, [1, 1]),
        case("a passage that fills the room", "windows", torch.arange(10, 17), 7, 2, [0, 6]),
        case("an answer that two windows cut in two", "answer", torch.arange(10, 30), 6, 6, [4, 7]),
        case("an answer at the first place of a window", "answer", torch.arange(10, 25), 6, 3, [3, 4]),
        case("an answer at the last place of a window", "answer", torch.arange(10, 25), 6, 3, [7, 8]),
        case("stride 0", "refusal", torch.arange(10, 22), 6, 0, [1, 2], rejects=ValueError, mentions=("0",)),
        case("a stride that leaves gaps", "refusal", torch.arange(10, 22), 5, 8, [1, 2], rejects=ValueError, mentions=("8", "5")),
    ]


EXERCISE = FunctionExercise(right=windows, oracle=oracle, draw=draw, fixed=fixed, outputs=("rows", "starts", "spans"))
