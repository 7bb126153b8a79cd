"""Exercise 13a.1: two partial softmaxes become one. The oracle goes through the rows in double precision with Python's numbers."""

import math

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn

State = tuple[Tensor, Tensor, Tensor]


def merge(a: State, b: State) -> State:
    (m_a, s_a, o_a), (m_b, s_b, o_b) = a, b
    m = torch.maximum(m_a, m_b)
    shift = m.masked_fill(m == -torch.inf, 0.0)
    x = (m_a - shift).exp()
    y = (m_b - shift).exp()
    s = x * s_a + y * s_b
    o = x[:, None] * o_a + y[:, None] * o_b
    return m, s, o


def oracle(a: list[Tensor], b: list[Tensor]) -> State:
    m, s, o = [], [], []
    for ma, sa, oa, mb, sb, ob in zip(*(x.tolist() for x in (*a, *b)), strict=True):
        m.append(max(ma, mb))
        x, y = (math.exp(z - m[-1]) if z > -math.inf else 0.0 for z in (ma, mb))
        s.append(x * sa + y * sb)
        o.append([x * p + y * q for p, q in zip(oa, ob, strict=True)])
    return torch.tensor(m), torch.tensor(s), torch.tensor(o)


def draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for n, d, shift in ((5, 3, 0.0), (4, 6, 1.0), (7, 2, -1.0)):
        a, b = ([1.5 * randn(g, n) + far, 1 + 3 * torch.rand(n, generator=g), randn(g, n, d)] for far in (0.0, shift))
        cases.append(Case(f"{n} rows, values of width {d}", {"a": a, "b": b}, shape="(n,), (n,), (n, d_v)"))
    return cases


def fixed() -> list[Case]:
    g = generator(5)

    def some(n: int, shift: float = 0.0) -> list[Tensor]:
        return [randn(g, n) + shift, 1 + torch.rand(n, generator=g), randn(g, n, 4)]

    def rows(m: list[float], s: list[float], o: list[float]) -> list[Tensor]:
        return [torch.tensor(m), torch.tensor(s), torch.tensor(o)[:, None].repeat(1, 4)]

    nothing = rows([-math.inf] * 3, [0.0] * 3, [0.0] * 3)
    mixed = rows([0.5, -math.inf, 1.0], [1.2, 0.0, 2.0], [1.0, 0.0, -2.0])
    other = rows([-math.inf, -math.inf, 0.3], [0.0, 0.0, 1.5], [0.0, 0.0, 3.0])
    return [
        Case("one row", {"a": some(1), "b": some(1)}, part="values"),
        Case("scores in the hundreds", {"a": some(3, 400.0), "b": some(3, 401.0)}, part="edges"),
        Case("scores far below 0", {"a": some(3, -500.0), "b": some(3, -501.0)}, part="edges"),
        Case("the second piece is empty", {"a": some(3), "b": nothing}, part="empty"),
        Case("the first piece is empty", {"a": nothing, "b": some(3)}, part="empty"),
        Case("both pieces are empty in one row", {"a": mixed, "b": nothing}, part="empty"),
        Case("both pieces are empty in one row, and one in another", {"a": mixed, "b": other}, part="empty"),
        Case("both pieces are empty", {"a": nothing, "b": nothing}, part="empty"),
    ]


FORBIDDEN = ("course_utils.models.online.merge_states",)
EXERCISE = FunctionExercise(right=merge, oracle=oracle, draw=draw, fixed=fixed, outputs=("m", "s", "o"), forbidden=FORBIDDEN)
