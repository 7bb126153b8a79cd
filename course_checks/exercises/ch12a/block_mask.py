"""Exercise 12a.8: a block-sparse mask. The oracle asks of every pair of tokens whether one of the three reasons lets it pass."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator, refusal


def block_mask(n: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Tensor:
    if n % block:
        raise ValueError(f"n={n} is not a multiple of block={block}")
    place = torch.arange(n // block)
    distance = place[:, None] - place
    small = distance.abs() <= reach
    small[chosen] = True
    small[:, chosen] = True
    for a, b in extra:
        small[a, b] = True
    mask = small.repeat_interleave(block, 0).repeat_interleave(block, 1)
    return mask


def oracle(n: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Tensor:
    blocks = [i // block for i in range(n)]
    return torch.tensor([[abs(a - b) <= reach or a in chosen or b in chosen or [a, b] in extra for b in blocks] for a in blocks])


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, m: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Case:
        label = f"{m} blocks of {block}, reach {reach}, global {chosen}, extra {extra}"
        return Case(label, arguments(block_mask, m * block, block, reach, chosen, extra), part, shape="(n, n)")

    a, b = (int(x) for x in torch.randint(0, 2, (2,), generator=g))
    return [
        case("window", 9, 3 - a, 1, [], []),
        case("window", 10 + a, 3, 4, [], []),
        case("global", 8 + b, 3, 1, [3 + a, 6], []),
        case("extra", 9, 2 + b, 1, [8 * a], [[2, 6], [3, 5 + a], [7, 4]]),
        case("extra", 9, 2, 2, [], [[1 + a, 6], [8, 2 + b]]),
    ]


def fixed() -> list[Case]:
    return [
        refusal("11 tokens in blocks of 4", arguments(block_mask, 11, 4, 1, [], []), "11", "4", part="refusal"),
        Case("a single block", arguments(block_mask, 3, 3, 1, [0], []), "global", shape="(n, n)"),
    ]


EXERCISE = FunctionExercise(right=block_mask, oracle=oracle, draw=draw, fixed=fixed)
