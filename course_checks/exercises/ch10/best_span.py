"""Exercise 10.3: the best span. The oracle tries every pair."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn


def best_span(start: Tensor, end: Tensor, longest: int) -> tuple[int, int, float]:
    n = len(start)
    ahead = torch.arange(n) - torch.arange(n)[:, None]
    allowed = (ahead >= 0) & (ahead < longest)
    scores = start[:, None] + end
    table = scores.masked_fill(~allowed, -torch.inf)
    i, j = divmod(int(table.argmax()), n)
    return i, j, float(table[i, j])


def oracle(start: Tensor, end: Tensor, longest: int) -> tuple[int, int, float]:
    a, b = start.double(), end.double()
    score, i, j = max((float(a[i] + b[j]), i, j) for i in range(len(a)) for j in range(len(b)) if 0 <= j - i < longest)
    return i, j, score


def case(label: str, part: str, start: Tensor | list[float], end: Tensor | list[float], longest: int) -> Case:
    return Case(label, {"start": torch.as_tensor(start), "end": torch.as_tensor(end), "longest": longest}, part)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case("9 tokens, any length", "values", 1.5 * randn(g, 9), 1.5 * randn(g, 9), 9),
        case("12 tokens, all scores negative", "values", 1.5 * randn(g, 12) - 6.0, 1.5 * randn(g, 12) - 6.0, 12),
        case("11 tokens, at most 3", "longest", 1.5 * randn(g, 11), 1.5 * randn(g, 11), 3),
        case("14 tokens, at most 5", "longest", 1.5 * randn(g, 14), 1.5 * randn(g, 14), 5),
    ]


def fixed() -> list[Case]:
    low = [-40_000.0, -39_000.0, -41_000.0]
    far, behind = [5.0, 0.1, 0.0, 0.2, 0.0, 4.0, 0.3, 0.0, 0.1], [0.2, 0.5, 4.0, 0.1, 0.0, 0.1, 0.3, 0.0, 5.0]
    return [
        case("the best end lies before the best start", "values", [0.5, 2.0, 0.1, 0.3, 5.0, 1.0], [0.2, 4.5, 0.4, 1.0, 0.6, 3.0], 6),
        case("one token is the answer", "values", [0.0, 4.0, 1.0], [0.5, 3.0, 1.2], 3),
        case("one token in all", "longest", [-2.0], [-3.0], 4),
        case("the very first token", "values", [6.0, 1.0, -1.0, 0.0], [1.5, 2.0, 0.2, -1.0], 2),
        case("just short enough", "longest", [4.0, 0.5, 0.4, 0.2, 0.3], [0.3, 0.2, 3.0, 0.0, 9.0], 3),
        case("two exponentials against one", "values", [3.0, 2.6, -4.0, -4.0], [-4.0, -4.0, 2.6, 3.1], 4),
        case("a good start far behind a good end", "longest", far, behind, 2),
        case("start and end exchanged would be best", "values", [0.1, 0.4, 3.0, 6.0], [5.0, 4.5, 0.3, 0.2], 4),
        case("scores of about -40,000", "values", low, [-40_500.0, -42_000.0, -43_000.0], 3),
        case("scores of about -40,000, at most 1", "longest", low, [-40_500.0, -44_000.0, -43_000.0], 1),
    ]


OURS = ("course_utils.models.bert.best_span",)
EXERCISE = FunctionExercise(right=best_span, oracle=oracle, draw=draw, fixed=fixed, outputs=("start", "end", "score"), forbidden=OURS)
