"""Exercise 10.6: the best span. The oracle tries every pair."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


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
        case "no lower":
            allowed = ahead < longest
        case "backwards":
            allowed = (ahead <= 0) & (ahead > -longest)
        case "single":
            allowed = ahead == 0
        case "inner only":
            allowed = allowed & (torch.arange(n) > 0)[:, None] if n > 1 else allowed
    scores = start[:, None] + end
    if how == "thousand":
        i, j = divmod(int(scores.masked_fill(~allowed, -1e3).argmax()), n)
        return i, j, float(scores.masked_fill(~allowed, -1e3)[i, j])
    if how == "columns first":
        table = scores.masked_fill(~allowed, -torch.inf)
        j, i = divmod(int(table.argmax()), n)
        return i, j, float(table[i, j])
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
    if how == "zero wins":
        flat = int(scores.masked_fill(~allowed, 0.0).argmax())
        return flat // n, flat % n, float(scores.masked_fill(~allowed, 0.0).max())
    sure = start.log_softmax(0)[i] + end.log_softmax(0)[j]
    return {"open end": (i, j + 1, score), "length": (i, j - i + 1, score), "transposed": (j, i, score), "half": (i, j, score / 2),
            "from one": (i + 1, j + 1, score), "flat": (flat, flat, score), "product": (i, j, float(scores[i, j])),
            "probabilities": (i, j, float(scores[i, j])), "probability": (i, j, float(sure.exp())),
            "log-probability": (i, j, float(sure))}.get(how, (i, j, score))


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
            case("one token in all", "longest", [-2.0], [-3.0], 4),
            case("the very first token", "values", [6.0, 1.0, -1.0, 0.0], [1.5, 2.0, 0.2, -1.0], 2),
            case("just short enough", "longest", [4.0, 0.5, 0.4, 0.2, 0.3], [0.3, 0.2, 3.0, 0.0, 9.0], 3),
            case("two exponentials against one", "values", [3.0, 2.6, -4.0, -4.0], [-4.0, -4.0, 2.6, 3.1], 4),
            case("a good start far behind a good end", "longest", [5.0, 0.1, 0.0, 0.2, 0.0, 4.0, 0.3, 0.0, 0.1],
                 [0.2, 0.5, 4.0, 0.1, 0.0, 0.1, 0.3, 0.0, 5.0], 2),
            case("start and end exchanged would be best", "values", [0.1, 0.4, 3.0, 6.0], [5.0, 4.5, 0.3, 0.2], 4),
            case("scores of about -40,000", "values", [-40_000.0, -39_000.0, -41_000.0], [-40_500.0, -42_000.0, -43_000.0], 3),
            case("scores of about -40,000, at most 1", "longest", [-40_000.0, -39_000.0, -41_000.0], [-40_500.0, -44_000.0, -43_000.0], 1),
            Case("longest = -3", {"start": torch.zeros(3), "end": torch.ones(3), "longest": -3}, part="refusal", rejects=ValueError,
                 mentions=("-3",)),
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
             "If you exchange the two places afterwards, a place that was scored as an end becomes the start. Look for the best pair."),
        Twin("best start, then an end for it", partial(_span, how="greedy start"),
             "The best start may have no good end after it. Compare all pairs at once."),
        Twin("best end, then a start for it", partial(_span, how="greedy end"),
             "The best end may have no good start before it. Compare all pairs at once."),
        Twin("one-token answers excluded", partial(_span, how="longer than one"),
             "An answer of one token starts and ends at the same place; that must be permitted."),
        Twin("only one-token answers", partial(_span, how="single"), "Your spans all have one token: end and start may differ."),
        Twin("one token too long", partial(_span, how="one too many"),
             "A span from i to j has one token more than the difference of the two."),
        Twin("one token too short", partial(_span, how="one too few"), "Spans of exactly the longest permitted length are permitted."),
        Twin("longest ignored", partial(_span, how="no limit"), "Your spans may be longer than permitted: the argument has no effect."),
        Twin("the end may come first", partial(_span, how="both ways"),
             "Your limit holds in both directions; the end must not precede the start."),
        Twin("end before start permitted", partial(_span, how="no lower"),
             "You forbid spans that are too long, but not those that end before they start. The limit has two sides."),
        Twin("forbidden pairs at minus a thousand", partial(_span, how="thousand"),
             "A permitted score may be lower than your number for forbidden pairs. Then a forbidden pair wins. Only one number loses to "
             "all others."),
        Twin("only backwards", partial(_span, how="backwards"),
             "Your permitted pairs have the end before the start: the comparison is turned round."),
        Twin("forbidden pairs multiplied away", partial(_span, how="zeroed"),
             "Multiplied by 0, a forbidden pair beats every permitted one that is negative. Which score loses to all others?"),
        Twin("forbidden pairs score 0", partial(_span, how="zero wins"),
             "Where all permitted scores are negative, a forbidden 0 is the largest number of your table. Which score loses to all "
             "others?"),
        Twin("probability instead of the score", partial(_span, how="probability"),
             "The pair is right. Its score is the plain sum of the two numbers, before any softmax."),
        Twin("log-probability instead of the score", partial(_span, how="log-probability"),
             "The pair is right. Its score is the plain sum; a log-softmax has shifted both numbers."),
        Twin("scores multiplied", partial(_span, how="product"),
             "Logarithms of probabilities add up. The product of two very negative scores is large, though both are bad."),
        Twin("probabilities added", partial(_span, how="probabilities"),
             "A sum of probabilities is high even if only one of the two is good. Add the scores themselves."),
        Twin("places counted from one", partial(_span, how="from one"), "The first token of the passage has the place 0, not 1."),
        Twin("place in the table returned", partial(_span, how="flat"),
             "That number counts the pairs of the table row by row. Take it apart: which row is it in, which column?"),
        Twin("end is exclusive", partial(_span, how="open end"), "Return the place of the answer's last token, not of the one after it."),
        Twin("length instead of end", partial(_span, how="length"),
             "The second number is the place of the last token, not the number of tokens."),
        Twin("column read before row", partial(_span, how="columns first"),
             "A flat index divided by the width of the table gives the row first, and your rows are starts. You take the row for the end."),
        Twin("start and end exchanged in the result", partial(_span, how="transposed"),
             "Rows and columns of your table of pairs are mixed up."),
        Twin("scores of start and end exchanged", partial(_span, how="exchanged"), "You use the scores for the end to find the start."),
        Twin("first token excluded", partial(_span, how="inner only"),
             "Your spans never start at the first token. An answer may well start there."),
        Twin("smallest instead of largest", partial(_span, how="smallest"),
             "You return the pair with the smallest score. Return the largest."),
        Twin("mean instead of sum", partial(_span, how="half"), "The score is the sum of the two, not their mean."),
    ),
)
