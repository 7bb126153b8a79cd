"""Exercise 09.8: who may look at whom in a pair. The oracle asks for one query and one key at a time."""

import itertools

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, refusal

KINDS = {"everything": "everything", "own text": "own text", "own text, [CLS] all": "[CLS]"}  # and the part of the exercise


def pair_mask(segments: Tensor, real: Tensor, kind: str) -> Tensor:
    if kind not in ("everything", "own text", "own text, [CLS] all"):
        raise ValueError(f"there is no mask of the kind {kind!r}")
    may = segments[:, :, None] == segments[:, None, :]  # (batch, query, key)
    if kind == "everything":
        may = torch.ones_like(may)
    if kind == "own text, [CLS] all":
        may[:, 0] = True
    return may & real[:, :, None] & real[:, None, :]


def oracle(segments: Tensor, real: Tensor, kind: str) -> Tensor:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown")
    batch, n = segments.shape
    found = torch.zeros(batch, n, n, dtype=torch.bool)
    for row, query, key in itertools.product(range(batch), range(n), range(n)):
        own = bool(segments[row, query] == segments[row, key])
        together = own or kind == "everything" or (query == 0 and kind == "own text, [CLS] all")
        found[row, query, key] = together and bool(real[row, query]) and bool(real[row, key])
    return found


def pairs(lengths: list[tuple[int, int]]) -> dict:
    """Pairs of these lengths, padded by one more place than the longest needs; pads have segment 0, as in the course."""
    n = max(map(sum, lengths)) + 1
    segments, real = torch.zeros(len(lengths), n, dtype=torch.long), torch.zeros(len(lengths), n, dtype=torch.bool)
    for row, (first, second) in enumerate(lengths):
        segments[row, first : first + second], real[row, : first + second] = 1, True
    return {"segments": segments, "real": real}


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    (a, b), _, last = ((int(torch.randint(3, 6, (), generator=g)), int(torch.randint(2, 5, (), generator=g))) for _ in range(3))
    three = pairs([(a, b), (a + 1, b + 1), last])
    return [Case(f"3 pairs, {kind}", three | {"kind": kind}, part, shape="(batch, query, key)") for kind, part in KINDS.items()]


def fixed() -> list[Case]:
    single = pairs([(4, 0)])
    full = {"segments": torch.tensor([[0, 0, 0, 1, 1]]), "real": torch.ones(1, 5).bool(), "kind": "own text, [CLS] all"}
    return [
        Case("one text and no second one", single | {"kind": "own text"}, "own text"),
        Case("one pair without a pad, [CLS] sees all", full, "[CLS]"),
        refusal("a kind that does not exist", single | {"kind": "nobody"}, "nobody", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=pair_mask, oracle=oracle, draw=draw, fixed=fixed)
