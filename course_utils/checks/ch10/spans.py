"""Exercises 10.6 and 10.7: the best span, and windows over a passage that is too long. The oracles try everything."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ..exercise import Case, Exercise, Twin, generator


def _span_oracle(start: Tensor, end: Tensor, longest: int) -> tuple[int, int, float]:
    n = len(start)
    every = [(float(start[i].double() + end[j].double()), i, j) for i in range(n) for j in range(i, min(n, i + longest))]
    score, i, j = max(every)
    return i, j, score


def _span(start: Tensor, end: Tensor, longest: int, how: str = "right") -> tuple[int, int, float]:
    n = len(start)
    if longest < 1:
        raise ValueError(f"longest={longest} must be at least 1")
    if how == "exchanged":
        start, end = end, start
    ahead = torch.arange(n) - torch.arange(n)[:, None]  # (start, end)
    allowed = (ahead >= 0) & (ahead < longest)
    match how:
        case "independent":
            i, j = int(start.argmax()), int(end.argmax())
            return i, j, float(start[i] + end[j])
        case "greedy start":
            i = int(start.argmax())
            j = i + int(end[i:i + longest].argmax())
            return i, j, float(start[i] + end[j])
        case "greedy end":
            j = int(end.argmax())
            low = max(0, j - longest + 1)
            i = low + int(start[low:j + 1].argmax())
            return i, j, float(start[i] + end[j])
        case "sorted":
            i, j = sorted((int(start.argmax()), int(end.argmax())))
            return i, j, float(start[i] + end[j])
        case "longer than one":
            allowed = (ahead > 0) & (ahead < longest) if longest > 1 and n > 1 else allowed
        case "one too many":
            allowed = (ahead >= 0) & (ahead <= longest)
        case "one too few":
            allowed = (ahead >= 0) & (ahead < max(1, longest - 1))
        case "no limit":
            allowed = ahead >= 0
        case "both ways":
            allowed = ahead.abs() < longest
        case "backwards":
            allowed = (ahead <= 0) & (ahead > -longest)
        case "single":
            allowed = ahead == 0
        case "inner only":
            allowed = allowed & (torch.arange(n) > 0)[:, None] if n > 1 else allowed
    scores = start[:, None] + end
    if how == "product":
        scores = start[:, None] * end
    if how == "probabilities":
        scores = start.softmax(0)[:, None] + end.softmax(0)
    if how == "zeroed":
        flat = int((scores * allowed).argmax())
    elif how == "smallest":
        flat = int(scores.masked_fill(~allowed, torch.inf).argmin())
    else:
        flat = int(scores.masked_fill(~allowed, -torch.inf).argmax())
    i, j = flat // n, flat % n
    score = float(start[i] + end[j])
    return {"open end": (i, j + 1, score), "length": (i, j - i + 1, score), "transposed": (j, i, score),
            "half": (i, j, score / 2), "product": (i, j, float(scores[i, j])), "probabilities": (i, j, float(scores[i, j]))}.get(
                how, (i, j, score))


def _draw_span(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, part: str, n: int, longest: int, shift: float = 0.0) -> Case:
        return Case(label, {"start": 1.5 * torch.randn(n, generator=g) + shift, "end": 1.5 * torch.randn(n, generator=g) + shift,
                            "longest": longest}, part=part)

    return [case("9 tokens, any length", "values", 9, 9), case("12 tokens, all scores negative", "values", 12, 12, -6.0),
            case("11 tokens, at most 3", "longest", 11, 3), case("14 tokens, at most 5", "longest", 14, 5)]


def _fixed_span() -> list[Case]:
    def case(label: str, part: str, start: list[float], end: list[float], longest: int) -> Case:
        return Case(label, {"start": torch.tensor(start), "end": torch.tensor(end), "longest": longest}, part=part)

    return [case("the best end lies before the best start", "values", [0.5, 2.0, 0.1, 0.3, 5.0, 1.0], [0.2, 4.5, 0.4, 1.0, 0.6, 3.0], 6),
            case("one token is the answer", "values", [0.0, 4.0, 1.0], [0.5, 3.0, 1.2], 3),
            case("one token in all", "values", [-2.0], [-3.0], 4),
            case("the very first token", "values", [6.0, 1.0, -1.0, 0.0], [1.5, 2.0, 0.2, -1.0], 2),
            case("just short enough", "longest", [4.0, 0.5, 0.4, 0.2, 0.3], [0.3, 0.2, 3.0, 0.0, 9.0], 3),
            case("two exponentials against one", "values", [3.0, 2.6, -4.0, -4.0], [-4.0, -4.0, 2.6, 3.1], 4),
            Case("longest = 0", {"start": torch.zeros(3), "end": torch.zeros(3), "longest": 0}, part="refusal", rejects=ValueError,
                 mentions=("0",))]


SPAN = Exercise(
    id="10.6", title="The best span", name="best_span", kind="function", stars=2, minutes=10,
    signature="best_span(start, end, longest) -> i, j, score", oracle=_span_oracle, reference=_span, draw=_draw_span, fixed=_fixed_span,
    parts={"values": 2, "longest": 1, "refusal": 1}, outputs=("start", "end", "score"),
    forbidden=("course_utils.models.bert.best_span",),
    twins=(
        Twin("start and end chosen independently", partial(_span, how="independent"),
             "The best start and the best end, each for itself, may lie in the wrong order. Look for the best pair."),
        Twin("start and end chosen independently, then sorted", partial(_span, how="sorted"),
             "Exchanging the two numbers afterwards makes a start of what was scored as an end. Look for the best pair."),
        Twin("best start, then an end for it", partial(_span, how="greedy start"),
             "The best start may have no good end behind it. All pairs compete at once."),
        Twin("best end, then a start for it", partial(_span, how="greedy end"),
             "The best end may have no good start before it. All pairs compete at once."),
        Twin("one-token answers excluded", partial(_span, how="longer than one"),
             "An answer of one token starts and ends at the same place; that must be permitted."),
        Twin("only one-token answers", partial(_span, how="single"), "Your spans all have one token: end and start may differ."),
        Twin("one token too long", partial(_span, how="one too many"),
             "A span from i to j has one token more than the difference of the two."),
        Twin("one token too short", partial(_span, how="one too few"), "Spans of exactly the longest permitted length are permitted."),
        Twin("longest ignored", partial(_span, how="no limit"), "Spans longer than permitted win in yours: the argument has no effect."),
        Twin("the end may come first", partial(_span, how="both ways"),
             "Your limit holds in both directions; the end must not precede the start."),
        Twin("only backwards", partial(_span, how="backwards"),
             "Your permitted pairs have the end before the start: the comparison is turned round."),
        Twin("forbidden pairs scored 0", partial(_span, how="zeroed"),
             "A forbidden pair with the score 0 beats every permitted one that is negative. Which score loses to all others?"),
        Twin("scores multiplied", partial(_span, how="product"),
             "Logarithms of probabilities add up. A product makes a good pair of two bad scores."),
        Twin("probabilities added", partial(_span, how="probabilities"),
             "Adding probabilities rewards one sure end with any start. The scores themselves are added."),
        Twin("end is exclusive", partial(_span, how="open end"), "The answer's last token itself is asked for, not the one behind it."),
        Twin("length instead of end", partial(_span, how="length"),
             "The second number is the place of the last token, not the number of tokens."),
        Twin("start and end exchanged in the result", partial(_span, how="transposed"),
             "Rows and columns of your table of pairs are mixed up."),
        Twin("scores of start and end exchanged", partial(_span, how="exchanged"), "You use the scores for the end to find the start."),
        Twin("first token excluded", partial(_span, how="inner only"),
             "Nothing is said here against the first token; it may be an answer."),
        Twin("smallest instead of largest", partial(_span, how="smallest"),
             "The pair with the smallest score comes out; the largest is asked for."),
        Twin("mean instead of sum", partial(_span, how="half"), "The score is the sum of the two, not their mean."),
    ),
)


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
    rows = torch.where(inside, passage[places.clamp_max(n - 1)], -1 if how == "padded -1" else 0)
    if how == "edge repeated":
        rows = passage[places.clamp_max(n - 1)]
    whole = (first >= starts) & (last < starts + room)
    whole = {"open end": (first >= starts) & (last < starts + room - 1), "start inside": (first >= starts) & (first < starts + room),
             "end inside": (last >= starts) & (last < starts + room), "strict start": (first > starts) & (last < starts + room),
             "touching": (last >= starts) & (first < starts + room)}.get(how, whole)
    spans = torch.stack([first - starts, last - starts], 1)
    if how in ("start inside", "end inside", "touching"):
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
             "Here the stride is how far a window lies behind the one before, not how much the two share."),
        Twin("no overlap", partial(_windows, how="no overlap"), "Your windows stand side by side; they start a stride apart."),
        Twin("the rest is dropped", partial(_windows, how="last missing"),
             "The end of the passage stands in no window: the last one may be shorter and is padded."),
        Twin("windows behind the end", partial(_windows, how="too many"),
             "Once a window reaches the end of the passage, further ones bring nothing new."),
        Twin("last window pulled back", partial(_windows, how="last pulled back"),
             "Your last window is moved so that it is full. The docstring keeps the distance and pads."),
        Twin("places counted from one", partial(_windows, how="counted from one"),
             "Your windows start one too far to the right: the first piece of the passage has the place 0."),
        Twin("only one window", partial(_windows, how="one window"), "That is truncation: whatever stands further back is never read."),
        Twin("order turned round", partial(_windows, how="ends"), "The windows come from the last to the first in yours."),
        Twin("padded with the wrong number", partial(_windows, how="padded -1"),
             "Padding has the id 0 here, as everywhere in this chapter."),
        Twin("last piece repeated", partial(_windows, how="edge repeated"), "Behind the passage comes padding, not its last piece again."),
        Twin("places counted in the passage", partial(_windows, how="absolute"),
             "The model sees a window and counts its places from 0. Take off where the window starts."),
        Twin("end behind the answer", partial(_windows, how="exclusive"),
             "The second number is the place of the answer's last piece itself."),
        Twin("half an answer at the end counts", partial(_windows, how="start inside"),
             "A window that holds only the beginning of the answer does not hold the answer."),
        Twin("half an answer at the start counts", partial(_windows, how="end inside"),
             "A window that holds only the end of the answer does not hold the answer."),
        Twin("any contact counts", partial(_windows, how="touching"),
             "A window counts in yours when it touches the answer. It must hold all of it."),
        Twin("last place of a window excluded", partial(_windows, how="open end"),
             "The answer may end at the very last place of a window."),
        Twin("first place of a window excluded", partial(_windows, how="strict start"),
             "The answer may start at the very first place of a window."),
        Twin("absent answers marked 0", partial(_windows, how="zeros"),
             "Place 0 is a place like any other here. What is not there gets the mark from the docstring."),
        Twin("absent answers not marked", partial(_windows, how="unchecked"),
             "Windows without the answer carry places outside themselves. Mark them as the docstring says."),
        Twin("only the first window counts", partial(_windows, how="first only"),
             "Where windows overlap, several may hold the whole answer, and each of them gets its places."),
        Twin("windows numbered", partial(_windows, how="window numbers"),
             "You return the numbers of the windows. Their first places in the passage are what leads back."),
    ),
)
