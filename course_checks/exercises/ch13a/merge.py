"""Exercise 13a.1: two partial softmaxes become one. The oracle goes through the rows in double precision with Python's numbers."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator

State = tuple[Tensor, Tensor, Tensor]


def _oracle(a: list[Tensor], b: list[Tensor]) -> State:
    m, s, o = [], [], []
    for ma, sa, oa, mb, sb, ob in zip(*(x.tolist() for x in (*a, *b)), strict=True):
        m.append(max(ma, mb))
        x, y = (math.exp(z - m[-1]) if z > -math.inf else 0.0 for z in (ma, mb))
        s.append(x * sa + y * sb)
        o.append([x * p + y * q for p, q in zip(oa, ob, strict=True)])
    return torch.tensor(m), torch.tensor(s), torch.tensor(o)


def _merge(a: list[Tensor], b: list[Tensor], how: str = "right") -> State:
    (ma, sa, oa), (mb, sb, ob) = a, b
    m = torch.maximum(ma, mb)
    if how == "minimum":
        m = torch.minimum(ma, mb)
    if how == "all rows":
        m = m.max().expand_as(m)
    if how == "sum of maxima":
        m = ma + mb
    if how == "log-sum-exp":
        m = torch.logaddexp(ma, mb)
    if how == "finite":
        m = m.clamp_min(-1e9)
    if how == "as a whole":  # only pieces without any key are handled
        if ma.isinf().all():
            return mb, sb, ob
        if mb.isinf().all():
            return ma, sa, oa
    safe = m if how in ("nan", "half mended", "as a whole") else m.masked_fill(m.isinf(), 0.0)
    x, y = (ma - safe).exp(), (mb - safe).exp()
    match how:
        case "swapped":
            x, y = y, x
        case "to the other":
            x, y = (ma - mb.masked_fill(mb.isinf(), 0.0)).exp(), torch.ones_like(y)
        case "upside down":
            x, y = (safe - ma).exp(), (safe - mb).exp()
        case "no factors":
            x = y = torch.ones_like(x)
        case "first kept":
            x = torch.ones_like(x)
        case "second kept":
            y = torch.ones_like(y)
        case "base 2":
            x, y = 2 ** (ma - safe), 2 ** (mb - safe)
        case "relative to 0":
            x, y = ma.exp() / safe.exp(), mb.exp() / safe.exp()
        case "the first maximum":
            m, x, y = ma, torch.ones_like(x), (mb - ma.masked_fill(ma.isinf(), 0.0)).exp()
    s, o = x * sa + y * sb, x[:, None] * oa + y[:, None] * ob
    match how:
        case "o unscaled":
            o = oa + ob
        case "s unscaled":
            s = sa + sb
        case "normalised":
            o = o / s.masked_fill(s == 0, 1.0)[:, None]
        case "logarithm":
            s = s.log()
        case "first alone":
            return ma, sa, oa
        case "mean":
            o = o / 2
        case "first values":
            o = x[:, None] * oa
        case "empty is 0":
            return safe, s, o
        case "half mended":
            s = s.nan_to_num(0.0)
    return m, s, o


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def state(n: int, d: int, shift: float = 0.0) -> list[Tensor]:
        return [1.5 * torch.randn(n, generator=g) + shift, 1 + 3 * torch.rand(n, generator=g), torch.randn(n, d, generator=g)]

    return [Case(f"{n} rows, values of width {d}", {"a": state(n, d), "b": state(n, d, shift)}, shape="(n,), (n,), (n, d_v)")
            for n, d, shift in ((5, 3, 0.0), (4, 6, 1.0), (7, 2, -1.0))]


def _fixed() -> list[Case]:
    g = generator(5)

    def some(n: int, shift: float = 0.0) -> list[Tensor]:
        return [torch.randn(n, generator=g) + shift, 1 + torch.rand(n, generator=g), torch.randn(n, 4, generator=g)]

    nothing = [torch.full((3,), -torch.inf), torch.zeros(3), torch.zeros(3, 4)]
    mixed = [torch.tensor([0.5, -torch.inf, 1.0]), torch.tensor([1.2, 0.0, 2.0]), torch.tensor([[1.0] * 4, [0.0] * 4, [-2.0] * 4])]
    other = [torch.tensor([-torch.inf, -torch.inf, 0.3]), torch.tensor([0.0, 0.0, 1.5]), torch.tensor([[0.0] * 4, [0.0] * 4, [3.0] * 4])]
    return [Case("one row", {"a": some(1), "b": some(1)}, part="values"),
            Case("scores in the hundreds", {"a": some(3, 400.0), "b": some(3, 401.0)}, part="edges"),
            Case("scores far below 0", {"a": some(3, -500.0), "b": some(3, -501.0)}, part="edges"),
            Case("the second piece is empty", {"a": some(3), "b": nothing}, part="empty"),
            Case("the first piece is empty", {"a": nothing, "b": some(3)}, part="empty"),
            Case("both pieces are empty in one row", {"a": mixed, "b": nothing}, part="empty"),
            Case("both pieces are empty in one row, and one in another", {"a": mixed, "b": other}, part="empty"),
            Case("both pieces are empty", {"a": nothing, "b": nothing}, part="empty")]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_merge, how=how), hint)


MERGE = Exercise(
    id="13a.1", title="Merge two partial softmaxes", name="merge", kind="function", stars=2, minutes=10,
    signature="merge(a, b) -> m (n,), s (n,), o (n, d_v)", oracle=_oracle, reference=_merge, draw=_draw, fixed=_fixed,
    parts={"values": 2, "edges": 1, "empty": 1}, outputs=("m", "s", "o"), forbidden=("course_utils.models.online.merge_states",),
    twins=(
        _twin("nothing and nothing", "nan",
             "If both pieces are empty, you subtract minus infinity from minus infinity, and this gives nan. In such rows subtract 0."),
        _twin("weighted sums not rescaled", "o unscaled", "You bring the sums to the common maximum, but not the sums weighted with the "
              "values. They were computed relative to the same old maxima."),
        _twin("sums not rescaled", "s unscaled", "You bring the weighted sums to the common maximum, but not the plain sums."),
        _twin("nothing rescaled", "no factors", "The two pieces were computed relative to different maxima, so their sums cannot simply be "
              "added."),
        _twin("first piece not rescaled", "first kept", "The first piece needs a factor too: the second one may hold the larger score."),
        _twin("second piece not rescaled", "second kept", "The second piece needs a factor too: the first one may hold the larger score."),
        _twin("factors exchanged", "swapped", "Each piece gets the factor that belongs to its own maximum; yours are exchanged."),
        _twin("factors upside down", "upside down", "Your factors grow where they should shrink. A piece with a smaller maximum counts "
              "less after merging."),
        _twin("relative to the other piece", "to the other",
             "You bring the first piece to the maximum of the second, but return the larger maximum. Use one maximum for both."),
        _twin("smaller maximum", "minimum", "Your common maximum is the smaller one of the two. Exponentials then overflow."),
        _twin("one maximum for all rows", "all rows", "Each row has its own maximum; you take one for all rows together."),
        _twin("maxima added", "sum of maxima", "The largest score of both pieces is one of the two maxima and not their sum."),
        _twin("already divided", "normalised", "You divide the weighted sums by the sums. A state holds them undivided, so that it can be "
              "merged again."),
        _twin("logarithm of the sum", "logarithm", "You return the logarithm of the sums. The state holds the sums themselves."),
        _twin("powers of two", "base 2", "You use powers of two. The sums consist of powers of e, and so must the factors."),
        _twin("second piece forgotten", "first alone", "Your result is the first piece. The second piece has keys as well."),
        _twin("weighted sums halved", "mean", "The weighted sums are added up; you take their mean."),
        _twin("second weighted sums forgotten", "first values", "Your weighted sums are those of the first piece. The second piece has "
              "values as well."),
        _twin("nothing has maximum 0", "empty is 0", "Where both pieces are empty, you return 0 as the maximum. Subtract 0, but return "
              "minus infinity. Otherwise a later piece is merged wrongly."),
        _twin("finite number for minus infinity", "finite", "You put a very negative number in the place of minus infinity and return it. "
              "A row without any key has minus infinity as its maximum."),
        _twin("only the sums of nothing mended", "half mended",
             "Where both pieces are empty, you mend the sums, but the weighted sums are nan as well."),
        _twin("nothing only as a whole", "as a whole", "You look for pieces in which all rows are empty. Both pieces may be empty in "
              "one row and hold keys in the next one."),
        _twin("exponentials of the maxima themselves", "relative to 0", "You take the exponentials of the maxima themselves, and those "
              "overflow. Only differences of maxima are small enough."),
        _twin("log-sum-exp of the maxima", "log-sum-exp", "You join the maxima by a log-sum-exp. The new maximum is simply the larger one "
              "of the two."),
        _twin("relative to the first piece", "the first maximum", "Your result is always relative to the maximum of the first piece. The "
              "second one may hold the larger score, and then exponentials overflow."),
    ),
)
