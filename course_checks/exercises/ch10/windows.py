"""Exercise 10.7: windows over a passage that is too long. The oracle goes from piece to piece."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _windows_oracle(passage: Tensor, room: int, stride: int, answer: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    ids, first, last = passage.tolist(), *answer
    starts = [0]
    while starts[-1] + room < len(ids):
        starts.append(starts[-1] + stride)
    rows = [(ids[s:s + room] + [0] * room)[:room] for s in starts]
    places = []
    for s in starts:
        inside = [p for p in range(s, min(s + room, len(ids)))]
        places.append([inside.index(first), inside.index(last)] if first in inside and last in inside else [-1, -1])
    return torch.tensor(rows), torch.tensor(starts), torch.tensor(places)


def _windows(passage: Tensor, room: int, stride: int, answer: list[int], how: str = "right") -> tuple[Tensor, Tensor, Tensor]:
    if not 1 <= stride <= room:
        raise ValueError(f"stride={stride} must lie between 1 and room={room}")
    n, (first, last) = len(passage), answer
    step = {"overlap": max(1, room - stride), "no overlap": room}.get(how, stride)
    count = 1 + max(0, -((room - n) // step))
    starts = torch.arange(count) * step
    match how:
        case "last missing":
            starts = starts[starts + room <= n] if n >= room else starts
        case "too many":
            starts = torch.arange(0, n, step)
        case "one piece left":
            starts = starts[starts + room - step + 1 < n] if n > room + 1 else starts[:1]
        case "one more":
            starts = torch.arange(1 + max(0, (n - room) // step + 1)) * step
        case "last pulled back":
            starts = torch.minimum(starts, torch.tensor(max(0, n - room)))
        case "one window":
            starts = starts[:1]
        case "ends":
            starts = torch.flip(starts, [0])
        case "counted from one":
            return _windows(passage, room, stride, answer)[0], starts + 1, _windows(passage, room, stride, answer)[2]
    places = starts[:, None] + torch.arange(room)  # (window, place)
    inside = places < n
    rows = torch.where(inside, passage[places.clamp_max(n - 1)], {"padded -1": -1, "padded -100": -100}.get(how, 0))
    if how == "edge repeated":
        rows = passage[places.clamp_max(n - 1)]
    if how == "pads in front":
        rows = torch.stack([row.roll(int((~real).sum())) for row, real in zip(rows, inside, strict=True)])
    whole = (first >= starts) & (last < starts + room)
    whole = {"open end": (first >= starts) & (last < starts + room - 1), "start inside": (first >= starts) & (first < starts + room),
             "one place more": (first >= starts) & (last <= starts + room),
             "end inside": (last >= starts) & (last < starts + room), "strict start": (first > starts) & (last < starts + room),
             "touching": (last >= starts) & (first < starts + room)}.get(how, whole)
    spans = torch.stack([first - starts, last - starts], 1)
    if how == "touching":
        spans = spans.clamp(0, room - 1)
    if how == "absolute":
        spans = torch.tensor([[first, last]]).expand(len(starts), 2)
    if how == "exclusive":
        spans = spans + torch.tensor([0, 1])
    spans = torch.where(whole[:, None], spans, 0 if how == "zeros" else -1)
    if how == "first only":
        keep = torch.cumsum(whole.long(), 0) == 1
        spans = torch.where((whole & keep)[:, None], spans, -1)
    if how == "unchecked":
        spans = torch.stack([first - starts, last - starts], 1)
    if how == "window numbers":
        starts = torch.arange(len(starts))
    return rows, starts, spans


def _draw_windows(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, part: str, n: int, room: int, stride: int, answer: list[int]) -> Case:
        passage = torch.randint(5, 99, (n,), generator=g)
        return Case(label, {"passage": passage, "room": room, "stride": stride, "answer": answer}, part=part, shape="(windows, room)")

    def near(place: int, length: int = 3) -> list[int]:
        first = place + int(torch.randint(0, 2, (1,), generator=g))
        return [first, first + length - 1]

    return [case("17 pieces, room for 8, stride 3", "windows", 17, 8, 3, near(9)),
            case("25 pieces, room for 7, stride 5", "answer", 25, 7, 5, near(4)),
            case("23 pieces, room for 9, stride 4", "answer", 23, 9, 4, near(6))]


def _fixed_windows() -> list[Case]:
    def case(label: str, part: str, n: int, room: int, stride: int, answer: list[int], **more) -> Case:
        return Case(label, {"passage": torch.arange(10, 10 + n), "room": room, "stride": stride, "answer": answer}, part=part,
                    shape="(windows, room)", **more)

    return [case("a passage that fits", "windows", 5, 7, 3, [1, 2]), case("exactly full", "windows", 14, 6, 4, [12, 13]),
            case("one piece is left over", "windows", 15, 6, 4, [1, 2]), case("one piece more than room", "windows", 7, 6, 2, [5, 6]),
            case("stride 1", "windows", 6, 4, 1, [2, 4]), case("room for one piece", "answer", 3, 1, 1, [1, 1]),
            case("a passage that fills the room", "windows", 7, 7, 2, [0, 6]),
            case("an answer that two windows cut in two", "answer", 20, 6, 6, [4, 7]),
            case("an answer at the first place of a window", "answer", 15, 6, 3, [3, 4]),
            case("an answer at the last place of a window", "answer", 15, 6, 3, [7, 8]),
            case("stride 0", "refusal", 12, 6, 0, [1, 2], rejects=ValueError, mentions=("0",)),
            case("a stride that leaves gaps", "refusal", 12, 5, 8, [1, 2], rejects=ValueError, mentions=("8", "5"))]


WINDOWS = Exercise(
    id="10.7", title="Windows over a long passage", name="windows", kind="function", stars=3, minutes=18,
    signature="windows(passage, room, stride, answer) -> rows (windows, room), starts (windows,), spans (windows, 2)",
    oracle=_windows_oracle, reference=_windows, draw=_draw_windows, fixed=_fixed_windows,
    parts={"windows": 2, "answer": 2, "refusal": 1}, outputs=("rows", "starts", "spans"),
    twins=(
        Twin("stride taken for the overlap", partial(_windows, how="overlap"),
             "Here the stride is the distance from the start of one window to the next, not how much the two share."),
        Twin("no overlap", partial(_windows, how="no overlap"),
             "Each of your windows starts where the one before it ends. The distance between two starts should be the stride."),
        Twin("the rest is dropped", partial(_windows, how="last missing"),
             "None of your windows contains the end of the passage. The last one may be shorter and is padded."),
        Twin("last single piece left out", partial(_windows, how="one piece left"),
             "When exactly one piece is left over, no window of yours holds it. It needs a window as well, most of it padding."),
        Twin("windows behind the end", partial(_windows, how="too many"),
             "Once a window reaches the end of the passage, further ones bring nothing new."),
        Twin("one more window behind a full one", partial(_windows, how="one more"),
             "A window that ends exactly where the passage ends has reached the end. Nothing is left for another."),
        Twin("padding in front", partial(_windows, how="pads in front"), "A short window begins with its pieces; the padding goes behind."),
        Twin("last window pulled back", partial(_windows, how="last pulled back"),
             "Your last window is moved so that it is full. The docstring keeps the distance and pads."),
        Twin("places counted from one", partial(_windows, how="counted from one"),
             "The starts that you return are one too large: the first piece of the passage has the place 0."),
        Twin("only one window", partial(_windows, how="one window"), "That is truncation: nothing after the first window is ever read."),
        Twin("order turned round", partial(_windows, how="ends"), "You return the windows from the last to the first."),
        Twin("padded with the wrong number", partial(_windows, how="padded -1"),
             "Padding has the id 0 here, as everywhere in this chapter."),
        Twin("padded with -100", partial(_windows, how="padded -100"),
             "A pad is a token, and its id is 0 here. The number -100 marks labels that the loss skips."),
        Twin("last piece repeated", partial(_windows, how="edge repeated"), "After the passage comes padding, not its last piece again."),
        Twin("places counted in the passage", partial(_windows, how="absolute"),
             "The model sees a window and counts its places from 0. Subtract the start of the window."),
        Twin("end behind the answer", partial(_windows, how="exclusive"),
             "The second number is the place of the answer's last piece itself."),
        Twin("half an answer at the end counts", partial(_windows, how="start inside"),
             "A window that holds only the beginning of the answer does not hold the answer."),
        Twin("half an answer at the start counts", partial(_windows, how="end inside"),
             "A window that holds only the end of the answer does not hold the answer."),
        Twin("any contact counts", partial(_windows, how="touching"),
             "You count a window that only touches the answer. It must contain the whole answer."),
        Twin("one place behind the window counted", partial(_windows, how="one place more"),
             "You let the answer end one place after the window. Count from its start: how many places does the window have?"),
        Twin("last place of a window excluded", partial(_windows, how="open end"),
             "The answer may end at the very last place of a window."),
        Twin("first place of a window excluded", partial(_windows, how="strict start"),
             "The answer may start at the very first place of a window."),
        Twin("absent answers marked 0", partial(_windows, how="zeros"),
             "Place 0 is a place like any other here. What is not there gets the mark from the docstring."),
        Twin("absent answers not marked", partial(_windows, how="unchecked"),
             "Your windows without the answer get places that are not in them. Mark them as the docstring says."),
        Twin("only the first window counts", partial(_windows, how="first only"),
             "Where windows overlap, several may hold the whole answer, and each of them gets its places."),
        Twin("windows numbered", partial(_windows, how="window numbers"),
             "You return the numbers of the windows. Return the place in the passage where each one starts."),
    ),
)
