"""Exercise 11a.3: cut a row of ids into windows and their targets. The oracle walks over lists."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import IGNORED


def _oracle(ids: Tensor, size: int, stride: int) -> tuple[Tensor, Tensor]:
    row, inputs, targets, start = ids.tolist(), [], [], 0
    while True:
        given, wanted = [], []
        for place in range(start, start + size):
            there = place + 1 < len(row)
            given.append(row[place] if there else 0)
            wanted.append(row[place + 1] if there else IGNORED)
        inputs.append(given)
        targets.append(wanted)
        if start + size >= len(row) - 1:
            return torch.tensor(inputs), torch.tensor(targets)
        start += stride


def cut(ids: Tensor, size: int, stride: int, how: str = "right") -> tuple[Tensor, Tensor]:
    """Inputs and targets, or what ``how`` makes of them."""
    if how == "no stride":
        stride = size
    if how == "one by one":
        stride = 1
    if how == "chunks":
        stride = size + 1
    n = len(ids) - 1
    starts = [0]
    while starts[-1] + size < n:
        starts.append(starts[-1] + stride)
    if how == "drop last":
        starts = [s for s in starts if s + size <= n] or starts[:1]
    if how == "all starts":
        starts = list(range(0, n, stride))
    if how == "one more":
        starts.append(starts[-1] + stride)
    if how == "moved back":
        starts[-1] = max(0, min(starts[-1], n - size))
    if how == "chunks":
        starts = [s for s in starts if s < n] or starts[:1]
    inputs = torch.full((len(starts), size), IGNORED if how == "minus in inputs" else 0)
    targets = torch.full((len(starts), size), 0 if how == "zero in targets" else IGNORED)
    for row, start in enumerate(starts):
        length = max(0, min(size, n - start))
        given, wanted = ids[start:start + length], ids[start + 1:start + length + 1]
        if how == "late input":
            given = ids[start:start + size]
        match how:
            case "not shifted":
                wanted = given
            case "two ahead":
                wanted = torch.cat([ids[start + 2:start + length + 2], ids.new_full((1,), IGNORED)])[:length]
            case "rolled":
                wanted = given.roll(-1)
            case "same twice":
                wanted = torch.cat([given, given.new_zeros(size - length)])
            case "rolled with its filling":
                wanted = torch.cat([given, given.new_zeros(size - length)]).roll(-1)
            case "inside":
                given, wanted = ids[start:start + size][:-1][:length], ids[start + 1:start + size]
            case "no target across":
                wanted = torch.cat([given[1:], given.new_full((1,), IGNORED)])[:length]
            case "padded in front":
                inputs[row, size - length:], targets[row, size - length:] = given, wanted
                continue
            case "mask the known" if row:
                wanted = wanted.clone()
                wanted[: max(0, size - stride)] = IGNORED
            case "last target only":
                wanted = torch.where(torch.arange(length) == length - 1, wanted, IGNORED)
        inputs[row, :len(given)], targets[row, :len(wanted)] = given, wanted
    return inputs, targets


def _reference(ids: Tensor, size: int, stride: int) -> tuple[Tensor, Tensor]:
    if not 1 <= stride <= size:
        raise ValueError(f"stride={stride} must lie between 1 and size={size}")
    if len(ids) < 2:
        raise ValueError(f"{len(ids)} token leaves nothing to predict; at least 2 are needed")
    return cut(ids, size, stride)


def _case(g: torch.Generator, n: int, size: int, stride: int, part: str, note: str = "") -> Case:
    return Case(f"{n} tokens, size {size}, stride {stride}{note}", {"ids": torch.randint(1, 90, (n,), generator=g), "size": size,
                                                                   "stride": stride}, part=part, shape="(windows, size)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, 13, 4, 4, "side by side"), _case(g, 12, 4, 4, "a short window", ": the last window is short"),
            _case(g, 14, 5, 2, "overlapping"), _case(g, 15, 5, 3, "overlapping", ": the last window is short")]


def _fixed() -> list[Case]:
    g = generator(3)
    return [_case(g, 3, 5, 5, "edges", ": one short window"), _case(g, 2, 4, 3, "edges"),
            _case(g, 6, 5, 1, "edges", ": one window is enough"),
            Case("stride 6 with size 5 would skip tokens", {"ids": torch.arange(12), "size": 5, "stride": 6}, part="refusal",
                 rejects=ValueError, mentions=("6", "5")),
            _case(g, 2, 1, 1, "edges"),
            Case("stride 0 with size 5", {"ids": torch.arange(4), "size": 5, "stride": 0}, part="refusal", rejects=ValueError,
                 mentions=("0", "5")),
            Case("stride -2 with size 5", {"ids": torch.arange(4), "size": 5, "stride": -2}, part="refusal", rejects=ValueError,
                 mentions=("-2", "5")),
            Case("a single token", {"ids": torch.tensor([3]), "size": 5, "stride": 5}, part="refusal", rejects=ValueError, mentions=("1",))]


WINDOWS = Exercise(
    id="11a.3", title="Windows and their targets", name="windows", kind="function", stars=2, minutes=15,
    signature="windows(ids, size, stride) -> inputs, targets", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"side by side": 1, "a short window": 1, "overlapping": 2, "edges": 1, "refusal": 1}, outputs=("inputs", "targets"),
    twins=(
        Twin("each token predicts itself", partial(cut, how="not shifted"),
             "The target of a position is the token after it. Yours is the token itself, which the model has just read."),
        Twin("inputs returned twice", partial(cut, how="same twice"),
             "Your inputs and targets are the same. The target of a position is the token after it, and -100 where there is none."),
        Twin("shifted by two", partial(cut, how="two ahead"), "Your targets are two places ahead of the inputs. One place is right."),
        Twin("the window rolled round", partial(cut, how="rolled"),
             "The target of a window's last position is the token behind the window, not the window's first token."),
        Twin("rolled with its filling", partial(cut, how="rolled with its filling"),
             "Rolling brings a window's first token, or the filling, to its end. The last target is the token behind the window."),
        Twin("input and target inside one window", partial(cut, how="inside"),
             "You cut a window and shift inside it, so one position is lost. For `size` inputs you have to cut one token more."),
        Twin("last target of a window missing", partial(cut, how="no target across"),
             "The last position of a window has a target too: the first token behind the window."),
        Twin("last short window dropped", partial(cut, how="drop last"),
             "The tokens at the end never become targets: the last window may be short."),
        Twin("last window moved back", partial(cut, how="moved back"),
             "You move the last window back until it is full. Here it starts where the stride puts it, and is filled up."),
        Twin("windows that add nothing", partial(cut, how="all starts"),
             "Stop as soon as every token but the first has been a target. Your last windows hold nothing new, or nothing at all."),
        Twin("one empty window too many", partial(cut, how="one more"),
             "You make one window more than needed. Stop as soon as the last token has been a target."),
        Twin("stride ignored", partial(cut, how="no stride"),
             "Your windows stand side by side. Each begins a stride after the one before, which may be less than its size."),
        Twin("stride of one", partial(cut, how="one by one"), "Your windows advance token by token; the stride is an argument."),
        Twin("a token between the windows lost", partial(cut, how="chunks"),
             "You cut pieces one token longer than a window, so the first token of every later piece is never a target. Neighbouring "
             "pieces share a token."),
        Twin("targets filled up with 0", partial(cut, how="zero in targets"),
             "A 0 is a token like any other, and would be learned. Missing targets get the number that the loss ignores."),
        Twin("inputs filled up with the ignored number", partial(cut, how="minus in inputs"),
             "The inputs are looked up in a table, which has no row for a negative number. Fill them up with 0."),
        Twin("filled up in front", partial(cut, how="padded in front"),
             "You fill up a short window at its front. Fill it up at its end instead."),
        Twin("last token stays an input", partial(cut, how="late input"),
             "The very last token has no target, so it is not an input either: that place is filled with 0."),
        Twin("repeated targets ignored", partial(cut, how="mask the known"),
             "You ignore targets that an earlier window had. That is right if each token is to be scored once. Here keep all targets."),
        Twin("only the last target kept", partial(cut, how="last target only"),
             "You keep only the last target of a window. Every position has a target, and the model learns from all of them."),
    ),
)
