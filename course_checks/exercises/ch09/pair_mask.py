"""Exercise 09.8: who may look at whom in a pair. The oracle asks for one query and one key at a time."""

import torch
from torch import Tensor

from ...case import Case, generator, refusal
from ...exercise import FunctionExercise

KINDS = ("everything", "own text", "own text, [CLS] all")


def pair_mask(segments: Tensor, real: Tensor, kind: str) -> Tensor:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown; choose one of {KINDS}")
    same = segments[:, :, None] == segments[:, None, :]
    first = torch.zeros_like(same)
    first[:, 0] = True
    together = same | (kind == KINDS[0]) | (first if kind == KINDS[2] else torch.zeros_like(same))
    keys, queries = real[:, None, :], real[:, :, None]
    return together & keys & queries


def _oracle(segments: Tensor, real: Tensor, kind: str) -> Tensor:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown")
    batch, n = segments.shape
    found = torch.zeros(batch, n, n, dtype=torch.bool)
    for row in range(batch):
        for query in range(n):
            for key in range(n):
                together = bool(segments[row, query] == segments[row, key]) or kind == KINDS[0] or (query == 0 and kind == KINDS[2])
                found[row, query, key] = together and bool(real[row, query]) and bool(real[row, key])
    return found


def _batch(g: torch.Generator, lengths: list[tuple[int, int]]) -> dict[str, Tensor]:
    """Pairs of these lengths, padded by one more place than the longest needs; pads have segment 0, as in the course."""
    n = max(map(sum, lengths)) + 1
    segments, real = torch.zeros(len(lengths), n, dtype=torch.long), torch.zeros(len(lengths), n, dtype=torch.bool)
    for row, (first, second) in enumerate(lengths):
        segments[row, first : first + second], real[row, : first + second] = 1, True
    return {"segments": segments, "real": real}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    lengths = [tuple(int(torch.randint(low, high, (), generator=g)) for low, high in ((3, 6), (2, 5))) for _ in range(3)]
    lengths[1] = (lengths[0][0] + 1, lengths[0][1] + 1)
    parts = {KINDS[0]: "everything", KINDS[1]: "own text", KINDS[2]: "[CLS]"}
    return [Case(f"3 pairs, {kind}", {**_batch(g, lengths), "kind": kind}, part=parts[kind], shape="(batch, query, key)") for kind in KINDS]


def _fixed() -> list[Case]:
    g = generator(8)
    single = _batch(g, [(4, 0)])
    return [
        Case("one text and no second one", {**single, "kind": KINDS[1]}, part="own text"),
        Case(
            "one pair without a pad, [CLS] sees all",
            {"segments": torch.tensor([[0, 0, 0, 1, 1]]), "real": torch.ones(1, 5).bool(), "kind": KINDS[2]},
            part="[CLS]",
        ),
        refusal("a kind that does not exist", {**single, "kind": "nobody"}, "nobody", part="refusal"),
    ]


EXERCISE = FunctionExercise(file=__file__, right=pair_mask, oracle=_oracle, draw=_draw, fixed=_fixed)
