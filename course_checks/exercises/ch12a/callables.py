"""The block that exercise 12a.3 hands to an answer; it tells nothing of what is right."""

import torch
from torch import Tensor

from ...case import CALLABLES


class Turning:
    """``(batch, n, d)`` -> the same: each token looks at its neighbour and at itself, and something is added. A copy does nothing."""

    def __call__(self, x: Tensor) -> Tensor:
        return x + 0.5 * torch.tanh(x.roll(1, 1) - 0.7 * x.flip(-1))

    def __deepcopy__(self, memo: dict) -> torch.nn.Module:
        return torch.nn.Identity()


CALLABLES["turning_block"] = Turning()
