"""Exercises 05.6 and 05.7: what a bias on the scores can say, and rotary positions."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from course_utils.models import positions as reference

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers, randn, sizes

_KEYS = ("i", "j", "j - i", "-|i - j|", "-|i - j|, causal mask", "number by offset, causal mask")


def _biases() -> dict[str, str]:
    """Measured: how the logarithms of the weights change, row constants removed."""
    g, n = generator(4), 6
    scores = torch.randn(n, n, generator=g, dtype=torch.float64)
    i, j = torch.arange(n, dtype=torch.float64)[:, None].expand(n, n), torch.arange(n, dtype=torch.float64).expand(n, n)
    by_offset = torch.randn(2 * n - 1, generator=g, dtype=torch.float64)[(j - i).long() + n - 1]
    everyone, past = torch.ones(n, n, dtype=torch.bool), torch.ones(n, n, dtype=torch.bool).tril()

    def word(bias: Tensor, mask: Tensor) -> str:
        before, after = (torch.log_softmax(s.masked_fill(~mask, -torch.inf), -1) for s in (scores, scores + bias))
        change = after - before
        change = change - change[:, :1]  # key 0 is permitted in every row; a constant a row means nothing
        columns = [change[mask[:, key], key] for key in range(n)]
        if all(c.abs().max() < 1e-9 for c in columns):
            return "nothing"
        return "keys" if all(c.max() - c.min() < 1e-9 for c in columns) else "offset"

    near = -(i - j).abs()
    pairs = ((i, everyone), (j, everyone), (j - i, everyone), (near, everyone), (near, past), (by_offset, past))
    return dict(zip(_KEYS, (word(*pair) for pair in pairs), strict=True))


def _guess(**changes: str) -> dict[str, str]:
    names = dict(zip(("i", "j", "signed", "distance", "causal", "table"), _KEYS, strict=True))
    return {**_biases(), **{names[name]: word for name, word in changes.items()}}


BIASES = Exercise(
    id="05.6", title="Predict: what a bias can say", name="prediction_of_biases", kind="value", stars=3, minutes=8,
    signature="prediction_of_biases: dict of 6 words", oracle=_biases, reference=_biases(), draw=lambda seed: [Case("your six words", {})],
    parts={"values": 2}, choices=("nothing", "keys", "offset"),
    twins=(
        Twin("signed offset taken for relative", _guess(signed="offset", causal="offset"),
             "Write the softmax of row i: what depends on i alone is a common factor of numerator and denominator. What is left of "
             "j - i after that? With a causal mask the distance is a difference too."),
        Twin("causal distance taken for relative", _guess(causal="offset"),
             "With a causal mask no key lies ahead, so the distance is simply i minus j, and i is the same in the whole row."),
        Twin("signed offset alone misjudged", _guess(signed="offset"),
             "A difference splits into a part that is constant along the row, which the softmax ignores, and a part that "
             "depends on the key."),
        Twin("row constants thought visible", _guess(i="offset"),
             "One number added to all scores of a row multiplies numerator and denominator by the same factor."),
        Twin("row constants taken for keys", _guess(i="keys"),
             "One number added to all scores of a row prefers no key to another."),
        Twin("absolute value cancels too", _guess(distance="keys"),
             "The absolute value has a kink at the query, and this kink moves with the query. One number for each key cannot do that."),
        Twin("mask thought to undo everything", _guess(table="keys"),
             "Only something linear in the offset splits into a query's part and a key's part. A free number for each offset does not."),
        Twin("anything with i is relative", _guess(i="offset", signed="offset", causal="offset"),
             "That a formula mentions the query is not enough. The softmax of a row ignores every part that is the same for all its keys."),
        Twin("key positions thought invisible", _guess(j="nothing", signed="nothing", causal="nothing"),
             "The softmax ignores what is constant along a row. A number that grows with the key is not constant: late keys win."),
        Twin("key numbers thought invisible", _guess(j="nothing"),
             "Along a row j runs from key to key, so the softmax sees it: late keys win. Only what is the same for the whole row "
             "vanishes."),
        Twin("difference thought invisible", _guess(signed="nothing"),
             "In the difference only i is the same for the whole row and cancels. The other part, j, is one number for each key."),
        Twin("causal distance thought invisible", _guess(causal="nothing"),
             "With a causal mask the distance is i minus j. Only i is the same for the whole row. The other part is one number for "
             "each key."),
    ),
)


def _rotate_oracle(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    """Each pair is a complex number; multiply it by exp(i p ω)."""
    pairs = torch.complex(x[..., 0::2].double(), x[..., 1::2].double())
    omega = torch.tensor([base ** (-2 * i / x.shape[-1]) for i in range(x.shape[-1] // 2)], dtype=torch.float64)
    turned = pairs * torch.exp(1j * positions.double()[:, None] * omega)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def _rotate(x: Tensor, positions: Tensor, base: float = 10_000.0, how: str = "right") -> Tensor:
    width = x.shape[-1]
    pair = torch.arange(width // 2)
    if how == "base ignored":
        base = 10_000.0
    if how == "counted":
        positions = torch.arange(x.shape[-2])
    if how == "one on":
        positions = positions + 1
    if how == "from the first":
        positions = positions - positions[:1]
    exponent = {"no two": pair / width, "column": 4 * pair / width}.get(how, 2 * pair / width)
    if how == "rounded down":
        exponent = -(-2 * pair // width)
    angle = positions[:, None] * base ** (exponent if how == "upward" else -exponent)
    if how == "one angle":
        angle = positions[:, None].expand(-1, width // 2).float()
    c, s = angle.cos(), angle.sin()
    if how == "backwards":
        s = -s
    if how == "halves":
        a, b = x[..., : width // 2], x[..., width // 2 :]
        return torch.cat([a * c - b * s, a * s + b * c], -1)
    a, b = (x[..., : width // 2], x[..., width // 2 :]) if how == "read in halves" else (x[..., 0::2], x[..., 1::2])
    first, second = a * c - b * s, a * s + b * c
    if how in ("angles in halves", "angle for each column", "partners in halves"):
        angles = torch.cat([angle, angle], -1) if how == "angles in halves" else angle.repeat_interleave(2, -1)
        if how == "angle for each column":
            angles = positions[:, None] * base ** (-torch.arange(width) / width)
        partner = torch.stack([-b, a], -1).flatten(-2)
        if how == "partners in halves":
            partner = torch.cat([-x[..., width // 2 :], x[..., : width // 2]], -1)
        return x * angles.cos() + partner * angles.sin()
    match how:
        case "no minus":
            first = a * c + b * s
        case "overwritten":
            second = first * s + b * c
        case "not interleaved":
            return torch.cat([first, second], -1)
        case "added":
            return x + torch.stack([s, c], -1).flatten(-2)
        case "only cosine":
            first, second = a * c, b * c
    return torch.stack([first, second], -1).flatten(-2)


def _draw_rotate(seed: int) -> list[Case]:
    g = generator(seed)
    batch, heads, n, half = sizes(g, 4, 2, 7)
    half = half if half > 2 else 7
    width = 2 * half  # larger than any of the others
    width += 2 * (width == n)
    x, many = randn(g, n, width), randn(g, batch, heads, n, width)
    places = integers(g, 0, 25, n)
    return [Case(f"{n} tokens of width {width} at positions 0 to {n - 1}", {"x": x, "positions": torch.arange(n)}, gradients=("x",),
                 shape="(token, head_dim)"),
            Case(f"{batch} × {heads} heads, {n} tokens at scattered positions, base 50", {"x": many, "positions": places + 3, "base": 50.0},
                 part="heads", gradients=("x",), shape="(batch, head, token, head_dim)")]


ROTATION = Exercise(
    id="05.7", title="Rotary positions", name="rotate", kind="function", stars=3, minutes=15,
    signature="rotate(x, positions, base=10000.0) -> same shape as x",
    oracle=_rotate_oracle, reference=reference.rope, draw=_draw_rotate, parts={"values": 2, "heads": 2, "bad input": 1},
    forbidden=("course_utils.models.positions.rope",),
    fixed=lambda: [
        Case("one token at position 7", {"x": torch.tensor([[1.0, 0.0, 0.5, -2.0]]), "positions": torch.tensor([7])},
             shape="(token, head_dim)"),
        Case("a single pair, positions in any order, one of them twice", {"x": torch.tensor([[1.0, 0.5], [0.2, -1.0], [2.0, 1.0]]),
             "positions": torch.tensor([9, 2, 9])}, shape="(token, head_dim)"),
        Case("head_dim = 1 leaves an entry without a partner", {"x": torch.ones(3, 1), "positions": torch.arange(3)},
             part="bad input", rejects=ValueError, mentions=("1",)),
        Case("head_dim = 5 leaves an entry without a partner", {"x": torch.ones(3, 5), "positions": torch.arange(3)},
             part="bad input", rejects=ValueError, mentions=("5",))],
    twins=(
        Twin("pairs half a width apart", partial(_rotate, how="halves"),
             "You pair entry i with the entry half a width away. Some checkpoints do so, but this docstring pairs neighbours."),
        Twin("read in halves, written in turn", partial(_rotate, how="read in halves"),
             "You read partners half a width apart but write them side by side. Read neighbours, and write them back to their places."),
        Twin("positions counted from the first", partial(_rotate, how="from the first"),
             "You subtract the first position from all positions. The scores would be the same, but a sequence that goes on with "
             "a cache would start again at 0."),
        Twin("angles laid out in halves", partial(_rotate, how="angles in halves"),
             "Neighbours are paired, but the list of angles is repeated as a whole, so the two partners turn by different angles. "
             "Each angle must come twice before the next one."),
        Twin("an angle for each column", partial(_rotate, how="angle for each column"),
             "Every column has an angle of its own, so the two partners of a pair turn by different angles. That is not a rotation. There "
             "are half as many angles as columns."),
        Twin("frequencies that grow", partial(_rotate, how="upward"),
             "Your later pairs turn faster, by up to thousands of radians in each step. They should turn more and more slowly."),
        Twin("exponents rounded down", partial(_rotate, how="rounded down"),
             "Your exponents are rounded down to whole numbers, so all pairs but the first turn alike. Keep the decimals."),
        Twin("partners from the other half", partial(_rotate, how="partners in halves"),
             "Your angles belong to pairs of neighbours, but your partners are half a width apart. You have mixed two conventions."),
        Twin("turned the other way", partial(_rotate, how="backwards"),
             "The direction is reversed. A model trained this way would work as well, but weights trained the usual way could "
             "not be loaded."),
        Twin("minus sign missing", partial(_rotate, how="no minus"),
             "With both signs positive the map changes lengths. A rotation has one minus."),
        Twin("first entry overwritten too early", partial(_rotate, how="overwritten"),
             "The second entry is computed from the already turned first one. Both need the old values."),
        Twin("pairs not interleaved again", partial(_rotate, how="not interleaved"),
             "The rotation is right, but the first entries of all pairs end up in front. Put partners back side by side."),
        Twin("added instead of turned", partial(_rotate, how="added"),
             "You add a table of sines and cosines to the vectors. Rotary positions multiply: they turn each pair by an angle."),
        Twin("sines left out", partial(_rotate, how="only cosine"),
             "Scaling each entry by a cosine is not a rotation: the partner's part is missing, and the lengths shrink."),
        Twin("one angle for every pair", partial(_rotate, how="one angle"),
             "All pairs turn at the speed of the first. Each pair has its own frequency, lower than that of the pair before."),
        Twin("exponent without the two", partial(_rotate, how="no two"),
             "The frequencies fall too slowly: from pair to pair the exponent advances by two over the width."),
        Twin("exponent doubled", partial(_rotate, how="column"),
             "The frequencies fall too fast, as if every second pair were left out: somewhere the factor two comes in twice."),
        Twin("positions ignored", partial(_rotate, how="counted"),
             "You count the tokens from 0 whatever positions you are given. A cached or shifted sequence starts elsewhere."),
        Twin("positions one too far", partial(_rotate, how="one on"),
             "A token at position 0 must come out unchanged; yours has been turned one step."),
        Twin("base ignored", partial(_rotate, how="base ignored"), "The angles do not depend on the base you are given."),
    ),
)
