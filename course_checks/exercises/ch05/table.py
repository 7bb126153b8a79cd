"""Exercises 05.1 to 05.3: the sinusoidal table, the copied listing, the matrix that shifts. Oracles: loops and complex numbers."""

from __future__ import annotations

import cmath
import math
from functools import partial

import torch
from torch import Tensor

from course_utils.models import positions as reference

from ...exercise import Case, Exercise, Twin, generator


def _table_oracle(n: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Entry by entry, from the formula of the paper."""
    rows = []
    for position in range(n):
        row = []
        for pair in range(d_model // 2):
            wave = cmath.exp(1j * position / math.pow(base, 2 * pair / d_model))
            row += [wave.imag, wave.real]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64).reshape(n, d_model).float()


def _table(n: int, d_model: int, base: float = 10_000.0, how: str = "right") -> Tensor:
    column = torch.arange(d_model, dtype=torch.float64)
    pair = column.div(2, rounding_mode="floor")
    exponent = {
        "column": 2 * column / d_model,
        "each column": column / d_model,
        "no two": pair / d_model,
        "rounded up": 2 * ((column + 1) / 2).floor() / d_model,
        "endpoint": pair / max(d_model // 2 - 1, 1),
        "endpoint, NaN": pair / (d_model // 2 - 1),
        "one wavelength": 0 * pair,
        "remainder": 2 * (column % 2) / d_model,
        "sines by column": (2 * column).where(column % 2 == 0, 2 * pair) / d_model,
        "upward": -2 * pair / d_model,
        "doubled": 4 * pair / d_model,
        "from one": 2 * (pair + 1) / d_model,
    }.get(how, 2 * pair / d_model)
    if how == "fixed base":
        base = 10_000.0
    if how == "endpoint, error":
        exponent = math.log(base) / (d_model // 2 - 1) * pair / math.log(base)
    angle = torch.arange(n, dtype=torch.float64)[:, None] / base**exponent
    if how == "counted from one":
        angle = angle + 1 / base**exponent
    if how in ("turns", "degrees"):
        angle = angle * {"turns": 2 * math.pi, "degrees": math.pi / 180}[how]
    even = column % 2 == 0
    if how == "swapped":
        even = ~even
    if how == "halves":
        angle = torch.cat([angle[:, 0::2], angle[:, 1::2]], dim=1)
        even = column < d_model // 2
    if how == "only sine":
        even = torch.ones_like(even)
    if how == "halves by column":
        even = column < d_model // 2
    result = torch.where(even, angle.sin(), torch.zeros_like(angle) if how == "no cosines" else angle.cos()).float()
    if how == "first row only":
        result[1:] = 0
    if how == "front half only":
        result[:, d_model // 2 :] = 0
    return result.mT if how == "transposed" else result


def _draw_table(seed: int) -> list[Case]:
    g = generator(seed)
    n, half = (int(torch.randint(low, high, (), generator=g)) for low, high in ((7, 14), (3, 9)))
    base = 50.0 + 100 * torch.rand((), generator=g).item()
    return [Case(f"{n} positions, d_model = {2 * half}", {"n": n, "d_model": 2 * half}, shape="(position, d_model)"),
            Case(f"the same with base {base:.0f}", {"n": n, "d_model": 2 * half, "base": base}, part="base",
                 shape="(position, d_model)")]


_COLUMN = ("You use the number of the column instead of the number of its pair. A sine and its cosine must share one wavelength. "
           "So columns 0 and 1 have one exponent, and columns 2 and 3 have the next.")
_HALVES = "Your sines fill the front half and the cosines the back half. In the formula they alternate, column by column."
_ENDPOINT = "You spread the exponents so that the last is exactly 1. In the paper's formula the last exponent is one step below 1."
_ONE_PAIR = ("You divide by the number of gaps between the pairs. With a single pair this number is 0. Divide "
             "by the number of pairs.")
_ONE_WAVELENGTH = ("All your pairs turn at the speed of the first, as if every exponent were 0. A division with a double slash cuts "
                   "the decimals off.")
_SWAPPED = "Even columns are sines and odd columns are cosines: the row of position 0 must be 0, 1, 0, 1 and so on."
_NO_TWO = "Your wavelengths reach only the root of the base. The exponent runs from 0 to nearly 1, in steps of two over the width."

TABLE = Exercise(
    id="05.1", title="The sinusoidal table", name="sinusoidal", kind="function", stars=2, minutes=10,
    signature="sinusoidal(n, d_model, base=10000.0) -> (n, d_model)",
    oracle=_table_oracle, reference=reference.sinusoidal, draw=_draw_table, parts={"values": 2, "base": 1, "bad input": 1},
    forbidden=("course_utils.models.positions.sinusoidal",),
    fixed=lambda: [
        Case("a single position", {"n": 1, "d_model": 6}, shape="(position, d_model)"),
        Case("d_model = 2", {"n": 5, "d_model": 2}, shape="(position, d_model)"),
        Case("300 positions", {"n": 300, "d_model": 4}, shape="(position, d_model)"),
        Case("more columns than positions", {"n": 3, "d_model": 34}, shape="(position, d_model)"),
        Case("the same with base 7", {"n": 3, "d_model": 34, "base": 7.0}, part="base", shape="(position, d_model)"),
        Case("d_model = 1 is a column without a partner", {"n": 4, "d_model": 1}, part="bad input", rejects=ValueError, mentions=("1",)),
        Case("d_model = 7 has a column without a partner", {"n": 4, "d_model": 7}, part="bad input", rejects=ValueError, mentions=("7",)),
    ],
    twins=(
        Twin("column used as pair index", partial(_table, how="column"), _COLUMN),
        Twin("a wavelength for every column", partial(_table, how="each column"),
             "Every column has its own wavelength. A sine and its cosine must share one wavelength: they are the two coordinates of a "
             "point on a circle."),
        Twin("exponent without the two", partial(_table, how="no two"), _NO_TWO),
        Twin("factor two counted twice", partial(_table, how="doubled"),
             "Partners share a wavelength now, but the exponent runs to almost 2 instead of 1: a count of columns in steps of two "
             "already contains the factor two."),
        Twin("exponent runs to exactly one", partial(_table, how="endpoint"), _ENDPOINT),
        Twin("exponent runs to one, a single pair fails", partial(_table, how="endpoint, error"), _ONE_PAIR),
        Twin("exponent runs to one, a single pair is NaN", partial(_table, how="endpoint, NaN"), _ONE_PAIR),
        Twin("one wavelength for all pairs", partial(_table, how="one wavelength"), _ONE_WAVELENGTH),
        Twin("angles taken for degrees", partial(_table, how="degrees"),
             "You convert the angles from degrees, which makes them about 57 times too small. They are in radians already."),
        Twin("pairs counted from one", partial(_table, how="from one"),
             "The first pair has the exponent 0, so its angle grows by 1 at each position. Yours starts with the next exponent."),
        Twin("positions counted from one", partial(_table, how="counted from one"),
             "Positions count from 0 here, so the first row must be 0, 1, 0, 1 and so on."),
        Twin("sine and cosine swapped", partial(_table, how="swapped"), _SWAPPED),
        Twin("sines first, cosines after", partial(_table, how="halves"), _HALVES),
        Twin("sines only", partial(_table, how="only sine"),
             "Every column is a sine. Without its cosine a sine does not tell the rising half of a wave from the falling half."),
        Twin("frequencies that grow", partial(_table, how="upward"),
             "Your later pairs turn faster, by up to thousands of radians in each step. Divide the position by the power of the base."),
        Twin("base ignored", partial(_table, how="fixed base"),
             "Another base gives the same table. You use the number 10000 itself somewhere, or you keep a result of an earlier call."),
        Twin("angles in whole turns", partial(_table, how="turns"),
             "Your angles are 2π times too large. The formula has no π: the first pair turns by 1 radian at each position."),
        Twin("cosines left at zero", partial(_table, how="no cosines"),
             "Every second column of yours is still zero. The cosines belong there."),
        Twin("positions as columns", partial(_table, how="transposed"),
             "Tokens are rows in this course: one row for each position, one column for each dimension."),
    ),
)


def _draw_listing(seed: int) -> list[Case]:
    g = generator(seed)
    n, half = (int(torch.randint(low, high, (), generator=g)) for low, high in ((7, 14), (3, 9)))
    return [Case(f"{n} positions, d_model = {2 * half}", {"n": n, "d_model": 2 * half}, shape="(position, d_model)")]


LISTING = Exercise(
    id="05.2", title="Find the bug: a table many people copied", name="positional_encoding", kind="function", stars=2, minutes=8,
    signature="positional_encoding(n, d_model) -> (n, d_model)",
    oracle=_table_oracle, reference=_table, draw=_draw_listing, parts={"values": 2},
    forbidden=("course_utils.models.positions.sinusoidal",),
    fixed=lambda: [Case("a single position", {"n": 1, "d_model": 6}, shape="(position, d_model)"),
                   Case("d_model = 2", {"n": 5, "d_model": 2}, shape="(position, d_model)"),
                   Case("more columns than positions", {"n": 3, "d_model": 34}, shape="(position, d_model)"),
                   Case("100 positions", {"n": 100, "d_model": 6}, shape="(position, d_model)")],
    twins=(
        Twin("still the handed-out bug", partial(_table, how="column"),
             "Write down the exponents of the first four columns and compare them with the formula.", untouched=True),
        Twin("a wavelength for every column", partial(_table, how="each column"),
             "The exponents now have the right size, but the two columns of a pair still differ. They must share one exponent."),
        Twin("exponent without the two", partial(_table, how="no two"), _NO_TWO),
        Twin("factor two counted twice", partial(_table, how="doubled"),
             "Partners share a wavelength now, but the exponent runs to almost 2 instead of 1: a count of columns in steps of two "
             "already contains the factor two."),
        Twin("pair index rounded up", partial(_table, how="rounded up"),
             "You pair column 1 with column 2. The partners are 0 and 1, then 2 and 3: round the other way."),
        Twin("sine and cosine swapped", partial(_table, how="swapped"), _SWAPPED),
        Twin("positions counted from one", partial(_table, how="counted from one"),
             "The wavelengths are right now, but positions count from 0: the first row must be 0, 1, 0, 1 and so on."),
        Twin("remainder used as pair index", partial(_table, how="remainder"),
             "The remainder says only whether a column is even or odd, 0 or 1. To number the pairs you need the quotient of that "
             "division."),
        Twin("one wavelength for all pairs", partial(_table, how="one wavelength"), _ONE_WAVELENGTH),
        Twin("sines still by column", partial(_table, how="sines by column"),
             "The cosines are right. The sines still use the number of the column instead of the number of the pair."),
        Twin("only 0 after the first row", partial(_table, how="first row only"),
             "From position 1 on everything is 0. Either your loop ends after its first round (look how far the `return` is indented), "
             "or your table is a tensor of whole numbers, which cuts the decimals off."),
        Twin("only the front half filled", partial(_table, how="front half only"),
             "The back half of your columns is still 0: the loop over the columns ends half-way. It must reach the last column, not "
             "stop at the number of pairs."),
        Twin("front half sines, back half cosines", partial(_table, how="halves"), _HALVES),
        Twin("half-and-half by position of column", partial(_table, how="halves by column"),
             "The exponents are paired now, but one half of the table has the sines and the other the cosines. They should alternate."),
    ),
)


def _shift_oracle(k: float, d_model: int, base: float = 10_000.0) -> Tensor:
    """Column c of the matrix is what the map does to the unit vector c: multiply cos + i sin by exp(i k ω)."""
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for column in range(d_model):
        pair = column // 2
        turn = cmath.exp(1j * k * math.pow(base, -2 * pair / d_model))
        moved = (1j if column % 2 == 0 else 1) * turn  # the sine is the imaginary part
        matrix[2 * pair, column], matrix[2 * pair + 1, column] = moved.imag, moved.real
    return matrix.float()


def _shift(k: float, d_model: int, base: float = 10_000.0, how: str = "right") -> Tensor:
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    if how == "fixed base":
        base = 10_000.0
    if how == "size of k":
        k = abs(k)
    omega = base ** (-2 * pair / d_model)
    if how == "no two":
        omega = base ** (-pair / d_model)
    if how == "doubled":
        omega = base ** (-4 * pair / d_model)
    if how == "omega one":
        omega = torch.ones_like(omega)
    if how == "inverse":
        omega = 1 / omega
    if how == "rounded down":
        omega = base ** (-2 * pair // d_model)
    if how == "rolled":
        return torch.eye(d_model).roll(k, dims=0)
    c, s = (k * omega).cos(), (k * omega).sin()
    if how == "back":
        s = -s
    if how == "no minus":
        block = [c, s, s, c]
    elif how == "mirror":
        block = [c, s, s, -c]
    elif how == "exchanged":
        block = [s, c, -c, s]
    elif how == "diagonal":
        block = [c, torch.zeros_like(c), torch.zeros_like(c), c]
    else:
        block = [c, s, -s, c]
    if how == "one block":
        block = [torch.cat([b[:1], torch.full_like(b[1:], float(i in (0, 3)))]) for i, b in enumerate(block)]
    if how == "halves":
        quarters = [torch.diag(b) for b in block]
        return torch.cat([torch.cat(quarters[:2], 1), torch.cat(quarters[2:], 1)]).float()
    return torch.block_diag(*torch.stack(block, -1).reshape(-1, 2, 2)).float()


def _draw_shift(seed: int) -> list[Case]:
    g = generator(seed)
    k, half = (int(torch.randint(low, high, (), generator=g)) for low, high in ((4, 10), (3, 9)))
    shape = "(d_model, d_model)"
    return [Case(f"a shift by {k}, d_model = {2 * half}", {"k": k, "d_model": 2 * half}, shape=shape),
            Case(f"a shift by {-k} with base 100", {"k": -k, "d_model": 2 * half, "base": 100.0}, shape=shape)]


SHIFT = Exercise(
    id="05.3", title="The matrix that shifts", name="shift_matrix", kind="function", stars=2, minutes=12,
    signature="shift_matrix(k, d_model, base=10000.0) -> (d_model, d_model)",
    oracle=_shift_oracle, reference=_shift, draw=_draw_shift, parts={"values": 3},
    forbidden=("course_utils.models.positions.shift_matrix",),
    fixed=lambda: [Case(f"a shift by {k}, d_model = {d_model}", {"k": k, "d_model": d_model}, shape="(d_model, d_model)")
                   for k, d_model in ((0, 6), (-3, 2), (5, 64))],
    twins=(
        Twin("shifts backwards", partial(_shift, how="back"),
             "Your matrix takes position p to p minus k. Either the signs of the two sines are exchanged, or the matrix is transposed."),
        Twin("one angle for every pair", partial(_shift, how="omega one"),
             "All your pairs turn by k radians. That is right only for the first pair: each pair has its own frequency."),
        Twin("minus sign missing", partial(_shift, how="no minus"),
             "With both sines positive a block is no rotation and changes lengths. One addition formula has a minus in it."),
        Twin("minus at a cosine", partial(_shift, how="mirror"),
             "The second row of each block has the wrong signs, so a block mirrors instead of turning. Even a shift by 0 changes "
             "something. The minus belongs to a sine."),
        Twin("columns rolled instead of pairs turned", partial(_shift, how="rolled"),
             "Rolling an identity moves entries to other columns. The next position has its numbers in the same columns: a shift turns "
             "each pair by an angle, k times its frequency."),
        Twin("exponents rounded down", partial(_shift, how="rounded down"),
             "Your exponents are rounded down to whole numbers, so all pairs but the first turn alike. Keep the decimals."),
        Twin("sine and cosine exchanged", partial(_shift, how="exchanged"),
             "A shift by 0 must change nothing, so the diagonal must be 1 at angle 0. Which of the two functions is that?"),
        Twin("sines left out", partial(_shift, how="diagonal"),
             "A diagonal matrix scales each column on its own. To move along a circle the sine needs its cosine."),
        Twin("columns paired across halves", partial(_shift, how="halves"),
             "You pair column i with the one half a width away. In this table the partners are neighbours."),
        Twin("only the first pair turned", partial(_shift, how="one block"),
             "One block is right, the rest is the identity. Every pair needs a block of its own."),
        Twin("exponent doubled", partial(_shift, how="doubled"),
             "Your frequencies fall too fast, as if every second pair were left out: the number of a column already counts "
             "in steps of two."),
        Twin("base ignored", partial(_shift, how="fixed base"), "The angles do not depend on the base you are given."),
        Twin("sign of k lost", partial(_shift, how="size of k"),
             "A negative k gives the same matrix as a positive k. But only the cosines are equal for both; the sines change their sign."),
        Twin("frequencies inverted", partial(_shift, how="inverse"),
             "You turn by k divided by the frequency. The slow pairs at the back must turn by less than k radians."),
        Twin("exponent without the two", partial(_shift, how="no two"),
             "Each frequency is the root of what it should be: the exponent advances by two over the width from pair to pair."),
    ),
)
