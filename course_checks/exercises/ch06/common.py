"""What the exercises of this chapter share."""

from collections.abc import Callable

import torch
from torch import Tensor

MASKS = "course_utils.models.masks."
ATTENDS = "True where a query may attend"  # what is compared


def boolean(mask: Tensor) -> Tensor:
    """What is compared: numbers in place of booleans count as different."""
    return mask.double() if mask.dtype == torch.bool else mask.nan_to_num(neginf=-9.0).double() + 20


def by_rule(n: int, m: int, rule: Callable[[int, int], bool]) -> Tensor:
    """A mask (n, m), entry by entry."""
    return torch.tensor([[bool(rule(i, j)) for j in range(m)] for i in range(n)]).reshape(n, m)
