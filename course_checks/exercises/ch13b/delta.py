"""Exercise 13b.4: the delta rule, handed out with three faults. The oracle solves one triangular system for all pairs together."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _oracle(keys: Tensor, values: Tensor, strength: float = 1.0) -> Tensor:
    k, v = torch.nn.functional.normalize(keys.double(), dim=1), values.double()
    mixed = torch.eye(len(k), dtype=torch.double) + strength * (k @ k.T).tril(-1)  # what a pair meets of the pairs before it
    return (k.T @ torch.linalg.solve_triangular(mixed, strength * v, upper=False)).float()


def _memory(keys: Tensor, values: Tensor, strength: float = 1.0, unit: bool = True, first: bool = True, erased: bool = True,
            how: str = "right") -> Tensor:
    lengths = {"columns": keys.norm(dim=0), "all": keys.norm(), "squared": keys.square().sum(1, keepdim=True),
               "sizes": keys.abs().sum(1, keepdim=True), "largest": keys.abs().amax(1, keepdim=True),
               "longest": keys.norm(dim=1).max(), "total": keys.sum(1, keepdim=True), "width": keys.shape[1]**0.5,
               "long alone": keys.norm(dim=1, keepdim=True).clamp_min(1),
               "values alone": 1.0}.get(how, keys.norm(dim=1, keepdim=True) if unit else 1.0)
    raw, keys = keys, keys.softmax(1) if how == "softmax" else keys / lengths
    if how == "zero as one":
        strength = strength or 1.0
    if how in ("last left out", "first alone"):
        raw, keys, values = (x[:-1] if how == "last left out" and len(x) > 1 else x[:1] for x in (raw, keys, values))
    if how in ("values too", "values alone"):
        values = values / values.norm(dim=1, keepdim=True)
    if how == "reversed":
        raw, keys, values = raw.flip(0), keys.flip(0), values.flip(0)
    write = {"erased alone": 1.0, "no strength": 1.0, "write squared": strength**2, "both squared": strength**2}.get(how, strength)
    erase = {"no strength": 1.0, "both squared": strength**2, "erase squared": strength**2}.get(how, strength if erased else 1.0)
    if how == "never erased":
        erase = 0.0
    matrix, last = torch.zeros(keys.shape[1], values.shape[1]), 0 * torch.outer(keys[0], values[0])
    for long, k, v in zip(raw, keys, values, strict=True):
        writer, asker = long if how == "raw write" else k, long if how == "raw read" else k
        new = matrix + torch.outer(writer, write * v)
        known = asker @ (matrix if first else new)
        if how == "previous pair":
            known = k @ last
        last = torch.outer(k, v)
        match how:
            case "decay":
                matrix = (1 - strength) * matrix + torch.outer(k, write * v)
            case "row":
                matrix = matrix * (1 - strength * k.square())[:, None] + torch.outer(k, write * v)
            case "last alone":
                matrix = torch.outer(k, write * v)
            case "added":
                matrix = new + torch.outer(k, erase * known)
            case "turned round":
                matrix = matrix - torch.outer(k, strength * (v - known))
            case "replaced":
                matrix = torch.outer(k, strength * (v - known))
            case "outer transposed":
                matrix = matrix + torch.outer(strength * (v - known), k)
            case _:
                matrix = new - torch.outer(writer, erase * known)
    return {"mean": matrix / len(keys), "transposed": matrix.mT}.get(how, matrix)


def _case(g: torch.Generator, n: int, d: int, d_v: int, strength: float | None = None, part: str = "values", twice: bool = False) -> Case:
    keys = randn(g, n, d) * (0.5 + 1.5 * torch.rand(n, 1, generator=g)) + 0.4  # of several lengths, and not at right angles
    if twice:
        keys[-1] = 1.7 * keys[0]
    given = "left out" if strength is None else strength
    return Case(f"{n} pairs, d = {d}, d_v = {d_v}, strength {given}" + (", the first key comes twice" if twice else ""),
                {"keys": keys, "values": randn(g, n, d_v)} | ({} if strength is None else {"strength": strength}), part=part,
                shape="(d, d_v)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, *sizes(g, 3, 3, 9), 0.5), _case(g, *sizes(g, 3, 3, 9), 0.8), _case(g, *sizes(g, 3, 3, 9), 0.3)]


def _fixed() -> list[Case]:
    g = generator(34)
    return [_case(g, 5, 4, 3, None, "strength 1"), _case(g, 4, 6, 5, 1.0, "strength 1", True), _case(g, 7, 3, 4, None, "strength 1"),
            _case(g, 1, 4, 3, 0.6, "edges"), _case(g, 6, 5, 2, 0.4, "edges", True), _case(g, 4, 1, 3, 0.7, "edges"),
            _case(g, 3, 4, 1, 0.7, "edges"), _case(g, 5, 3, 4, 0.0, "edges")]


_BUGS = {"unit": False, "first": False, "erased": False}


def _twin(name: str, hint: str, **kept) -> Twin:
    return Twin(name, partial(_memory, **kept), hint)


BUG = Exercise(
    id="13b.4", title="Find the bugs: a memory that replaces", name="delta_memory", kind="function", stars=2, minutes=12,
    signature="delta_memory(keys, values, strength=1.0) -> matrix (d, d_v)", oracle=_oracle, reference=_memory, draw=_draw, fixed=_fixed,
    parts={"values": 2, "strength 1": 1, "edges": 1}, outputs=("matrix",), forbidden=("course_utils.models.linear_attention.remember",),
    twins=(
        Twin("still the handed-out bugs", partial(_memory, **_BUGS),
             "Write one pair by hand, with a key of length 2, and ask for it. Which of the three steps comes too early or is missing?",
             untouched=True),
        _twin("keys and order left", "What is erased has its strength now. But the keys keep their lengths, and the new value is erased "
              "along with the old one.", unit=False, first=False),
        _twin("keys and strength left", "The order is right now. But the keys keep their lengths, and what is erased does not get the "
              "strength.", unit=False, erased=False),
        _twin("order and strength left", "The keys are right now. But the new value is erased along with the old one, and what is erased "
              "does not get the strength.", first=False, erased=False),
        _twin("keys not made unit", "Order and strength are right now. But a key of length 2 still counts twice as much as it should, when "
              "you write and when you ask.", unit=False),
        _twin("asked after writing", "You ask the matrix after the new value is in it. So part of the new value is erased again.",
              first=False),
        _twin("erased with full strength", "What is erased does not get the strength. With strength one half, half of the old value has to "
              "stay.", erased=False),
        _twin("plain sum", "You write each pair and erase nothing. What the matrix knew of the key has to be taken away.",
              how="never erased"),
        _twin("everything fades", "You make the whole matrix smaller. Only what lies in the direction of the key may be erased.",
              how="decay"),
        _twin("rows made smaller", "You make each row smaller by itself. What has to go is the answer to the key, which all rows give "
              "together.", how="row"),
        _twin("last pair alone", "Your matrix holds the last pair alone. What other keys have written has to stay.", how="last alone"),
        _twin("old value added", "You add what was known already. It has to be taken away, so that the new value replaces it.",
              how="added"),
        _twin("known from the pair before", "You erase what the pair before has written. What is known comes from the whole matrix.",
              how="previous pair"),
        _twin("values made unit too", "You divide the values by their lengths as well. Write the values as they are.", how="values too"),
        _twin("values in place of keys", "You divide the values by their lengths, and the keys keep theirs. It has to be the other way "
              "round.", how="values alone"),
        _twin("columns made unit", "You divide each column by its length. A key is a row, so each row has a length of its own.",
              how="columns"),
        _twin("one length for all keys", "You divide all keys by the same number. Each key has a length of its own.", how="all"),
        _twin("squared length", "You divide by the square of the length. The length is its root.", how="squared"),
        _twin("sum of sizes", "You divide by the sum of the absolute values. The length is the root of the sum of the squares.",
              how="sizes"),
        _twin("largest number made one",
             "You divide each key by its largest absolute value. The length is the root of the sum of the squares.", how="largest"),
        _twin("unit for writing alone", "You ask with the key as it came and write with the key of length one. Both need the same key.",
              how="raw read"),
        _twin("unit for asking alone", "You ask with the key of length one and write with the key as it came. Both need the same key.",
              how="raw write"),
        _twin("written with full strength", "You multiply what is erased by the strength, but not what is written. Both need it.",
              how="erased alone"),
        _twin("strength left out", "Your strength has no effect. With strength one half, the answer moves only half of the way.",
              how="no strength"),
        _twin("strength twice when erasing", "What is erased gets the strength twice. Once is enough, as for what is written.",
              how="erase squared"),
        _twin("strength twice when writing", "What is written gets the strength twice. Once is enough, as for what is erased.",
              how="write squared"),
        _twin("strength twice in both places", "Your strength counts twice. With strength one half, the answer has to move half of the "
              "way, not a quarter.", how="both squared"),
        _twin("strength 0 taken for none", "Python takes a strength of 0 for false, so you use 1 instead. With strength 0 nothing is "
              "written.",
              how="zero as one"),
        _twin("one length, the longest", "You divide all keys by the longest length. Each key has a length of its own.", how="longest"),
        _twin("sum of the numbers", "You divide by the sum of the numbers, in which signs cancel. The length is the root of the sum of "
              "their squares.", how="total"),
        _twin("root of the width", "You divide by the root of the width, which is the same for all keys. The length comes from the "
              "numbers of the key.", how="width"),
        _twin("softmax of the key", "You take a softmax of the key, which changes its direction. Only its length may change.",
              how="softmax"),
        _twin("short keys left short", "You shorten long keys and leave short ones as they are. Every key gets length one.",
              how="long alone"),
        _twin("difference turned round", "You write what is known minus the value. The value comes first, so that the answer moves "
              "towards it.", how="turned round"),
        _twin("matrix replaced", "Your matrix holds the last difference alone. It has to be added to what is already there.",
              how="replaced"),
        _twin("outer product transposed", "Your outer product has one row for each number of the value. The rows belong to the key.",
              how="outer transposed"),
        _twin("last pair left out", "Your matrix is right, except that the last pair is missing.", how="last left out"),
        _twin("first pair alone", "Your matrix holds the first pair alone. See whether the function returns inside the loop.",
              how="first alone"),
        _twin("order of pairs reversed", "You begin with the last pair. A later pair has to replace an earlier one.", how="reversed"),
        _twin("divided by the number of pairs", "You take a mean over the pairs at the end. Return the matrix itself, undivided.",
              how="mean"),
        _twin("matrix transposed", "Your matrix has one row for each number of a value. It has to have one for each number of a key.",
              how="transposed"),
    ),
)
