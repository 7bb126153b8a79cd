"""Exercise 09.3: which tokens are hidden, and how. All random numbers are handed in; the oracle is a loop over single tokens."""

import torch
from torch import Tensor

from ..common import IGNORED, Case, FunctionExercise, generator, integers


def mask_tokens(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    selected = (chance < 0.15) & ~special
    masked = selected & (fate < 0.8)
    other = selected & (fate >= 0.8) & (fate < 0.9)
    inputs = torch.where(masked, mask_id, ids)
    inputs = torch.where(other, anything, inputs)
    labels = torch.where(selected, ids, -100)
    return inputs, labels


def oracle(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    shown, asked = ids.clone(), torch.full_like(ids, IGNORED)
    for at in ((~special) & (chance < 0.15)).nonzero().tolist():
        place = tuple(at)
        asked[place] = ids[place]
        shown[place] = mask_id if fate[place] < 0.8 else anything[place] if fate[place] < 0.9 else ids[place]
    return shown, asked


def arguments(g: torch.Generator, batch: int, n: int) -> dict:
    ids, special = integers(g, 5, 40, batch, n), torch.zeros(batch, n, dtype=torch.bool)
    ids[:, 0], special[:, 0] = 2, True
    for row in range(batch):
        end = n - 1 - 2 * row
        ids[row, end], ids[row, end + 1 :], special[row, end:] = 3, 0, True
    chance = torch.rand(batch, n, generator=g)
    chance = torch.where(torch.rand(batch, n, generator=g) < 0.55, 0.15 * chance, chance)  # many selected, so that a draw shows everything
    fate = torch.rand(batch, n, generator=g)
    fate = torch.where(torch.rand(batch, n, generator=g) < 0.6, 0.65 + 0.35 * fate, fate)
    return {"ids": ids, "special": special, "chance": chance, "fate": fate, "anything": integers(g, 41, 60, batch, n), "mask_id": 4}


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case("2 inputs of 60 tokens", arguments(g, 2, 60)), Case("3 inputs of 50 tokens, more padding", arguments(g, 3, 50))]


def fixed() -> list[Case]:
    edges = {
        "ids": torch.tensor([[2, 7, 8, 9, 10, 11, 3]]),
        "special": torch.tensor([[1, 0, 0, 0, 0, 0, 1]]).bool(),
        "mask_id": 29,
        "chance": torch.tensor([[0.0, 0.0, 0.15, 0.1499, 0.149, 0.02, 0.01]]),
        "fate": torch.tensor([[0.5, 0.79, 0.5, 0.8, 0.91, 0.9001, 0.5]]),
        "anything": torch.tensor([[30, 31, 32, 33, 34, 36, 35]]),
    }
    quiet, fate = edges | {"chance": torch.full((1, 7), 0.5)}, [[0.5, 0.9, 0.5, 0.81, 0.9, 0.91, 0.5]]
    last = edges | {"chance": torch.full((1, 7), 0.1), "fate": torch.tensor(fate, dtype=torch.double)}  # the 0.9 of float32 is smaller
    return [
        Case("numbers at the last threshold, in double precision", last),
        Case("numbers at the thresholds; [MASK] has the id 29", edges),
        Case("nothing is selected", quiet),
    ]


NAMES, FORBIDDEN = ("inputs", "labels"), ("course_utils.text.pretraining.mask_tokens",)
EXERCISE = FunctionExercise(right=mask_tokens, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=FORBIDDEN)
