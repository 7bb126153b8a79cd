"""Exercise 09.4: which tokens are hidden, and how. All random numbers are handed in; the oracle is a loop over single tokens."""

import torch
from torch import Tensor

from ...case import Case, generator
from ...exercise import FunctionExercise
from ..common import IGNORED, integers

MASK = 4


def mask_tokens(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int):
    selected = chance < 0.15
    selected = selected & ~special
    first, second = 0.8, 0.9
    decision = fate
    masked, random = selected & (decision < first), selected & (decision >= first) & (decision < second)
    inputs = ids.masked_fill(masked, mask_id)
    inputs = torch.where(random, anything, inputs)
    labels = ids.masked_fill(~selected, IGNORED)
    return (inputs, labels)


def _oracle(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    shown, asked = [], []
    for row in zip(ids.tolist(), special.tolist(), chance.tolist(), fate.tolist(), anything.tolist(), strict=True):
        for token, is_special, selected, decision, other in zip(*row, strict=True):
            if is_special or selected >= 0.15:
                shown.append(token)
                asked.append(IGNORED)
                continue
            asked.append(token)
            shown.append(mask_id if decision < 0.8 else other if decision < 0.9 else token)
    return torch.tensor(shown).reshape(ids.shape), torch.tensor(asked).reshape(ids.shape)


def _args(g: torch.Generator, batch: int, n: int) -> dict:
    ids = integers(g, 5, 40, batch, n)
    special = torch.zeros(batch, n, dtype=torch.bool)
    ids[:, 0], special[:, 0] = 2, True
    for row in range(batch):
        end = n - 1 - 2 * row
        ids[row, end], ids[row, end + 1 :], special[row, end:] = 3, 0, True
    chance = torch.rand(batch, n, generator=g)
    chance = torch.where(torch.rand(batch, n, generator=g) < 0.55, 0.15 * chance, chance)  # many selected, so that a draw shows everything
    fate = torch.rand(batch, n, generator=g)
    fate = torch.where(torch.rand(batch, n, generator=g) < 0.6, 0.65 + 0.35 * fate, fate)
    return {"ids": ids, "special": special, "chance": chance, "fate": fate, "anything": integers(g, 41, 60, batch, n), "mask_id": MASK}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case("2 inputs of 60 tokens", _args(g, 2, 60)), Case("3 inputs of 50 tokens, more padding", _args(g, 3, 50))]


def _fixed() -> list[Case]:
    row = lambda *values: torch.tensor([values])  # noqa: E731
    double = lambda *values: torch.tensor([values], dtype=torch.float64)  # noqa: E731  float32 has no 0.9: the one it has is smaller
    edges = {
        "ids": row(2, 7, 8, 9, 10, 11, 3),
        "special": row(True, False, False, False, False, False, True),
        "mask_id": 29,
        "chance": double(0.0, 0.0, 0.15, 0.1499, 0.149, 0.02, 0.01),
        "fate": double(0.5, 0.79, 0.5, 0.8, 0.91, 0.9, 0.5),
        "anything": row(30, 31, 32, 33, 34, 36, 35),
    }
    quiet = {**edges, "chance": torch.full((1, 7), 0.5)}
    return [Case("numbers at the thresholds; [MASK] has the id 29", edges), Case("nothing is selected", quiet)]


EXERCISE = FunctionExercise(
    file=__file__,
    right=mask_tokens,
    oracle=_oracle,
    draw=_draw,
    fixed=_fixed,
    outputs=("inputs", "labels"),
    forbidden=("course_utils.text.pretraining.mask_tokens",),
)
