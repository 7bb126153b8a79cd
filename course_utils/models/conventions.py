"""The same tensors as PyTorch, Hugging Face and FlashAttention want them, and the results brought back.

The course's own: masks are boolean and True may attend; batch first, tokens are rows, heads in front of the tokens.
"""

import copy
import inspect
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from .masks import additive

MASKS = {  # the first one, and the first layout, are the course's
    "True attends": "masks in which True may attend",
    "True hides": "masks in which True hides, as attn_mask and key_padding_mask of nn.MultiheadAttention",
    "1 attends": "masks of numbers, 1 where it may attend and 0 where not, as Hugging Face's attention_mask",
    "additive": "masks of 0 and minus infinity that are added to the scores",
}
LAYOUTS = {
    "(batch, n, d)": "the layout (batch, n, d)",
    "(n, batch, d)": "tokens first, (n, batch, d), as nn.MultiheadAttention and nn.RNN have them by default",
    "(batch, heads, n, head_dim)": "always four axes, (batch, heads, n, head_dim), as F.scaled_dot_product_attention is mostly called",
    "(batch, n, heads, head_dim)": "heads behind the tokens, (batch, n, heads, head_dim), as in FlashAttention and JAX",
    "halves": "columns i and i + d/2 as a pair, as in Hugging Face's rotate_half",
    "(out, in)": "weights of shape (out, in), as nn.Linear keeps them",
}
OURS, (USUAL, FIRST, FOUR, FLASH, HALVES, TURNED) = next(iter(MASKS)), LAYOUTS


class Translated:
    """``func``, written for another convention, called in the course's: ``Translated(f, mask="True hides")(query=…, mask=…)``.

    ``tokens`` names the arguments that have the layout, ``results`` says of each result whether it has it ("tokens"), is weights
    ("weights") or neither (""), ``masks`` names the arguments that are masks where they are booleans; with ``makes_mask`` the results are.
    Where the names of its parameters are others, ``func`` gets the arguments in the order in which they come. It may be a class of
    modules: what it makes is then translated.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        mask: str = OURS,
        layout: str = USUAL,
        tokens: Collection[str] = (),
        results: Sequence[str] = (),
        masks: Collection[str] = ("mask",),
        makes_mask: bool = False,
    ):
        self.func, self.mask, self.layout, self.tokens, self.results = func, mask, layout, tokens, results
        self.masks, self.makes_mask = masks, makes_mask
        self.lead: tuple[int, ...] = ()  # the axes before tokens and features, in the course ...
        self.inside: tuple[int, ...] = ()  # ... and for func

    def __call__(self, **given: Any) -> Any:
        if isinstance(self.func, type):
            made = self._called(given)
            if isinstance(made, torch.nn.Module):
                inner = copy.copy(self)
                inner.func, made.forward = made.forward, inner
            return made
        first = next((given[name] for name in self.tokens if isinstance(given.get(name), Tensor)), torch.zeros(0, 0))
        self.lead = first.shape[: -2 if first.is_floating_point() else -1]
        self.inside = (math.prod(self.lead),) if self.layout == FIRST else (*self.lead, *(1,) * (2 - len(self.lead)))
        for name, value in given.items():
            if isinstance(value, Tensor) and name in self.tokens:
                given[name] = self._there(value)
            elif isinstance(value, Tensor) and name in self.masks and value.dtype is torch.bool:
                given[name] = self._masked(value)
        value = self._called(given)
        several = type(value) in (tuple, list)
        back = map(self._back, value if several else [value], [*self.results, *[""] * 9])
        return type(value)(back) if several else next(back)

    def _called(self, given: dict[str, Any]) -> Any:
        try:
            inspect.signature(self.func).bind(**given)
        except (TypeError, ValueError):  # other names
            return self.func(*given.values())
        return self.func(**given)

    def _there(self, x: Tensor) -> Tensor:
        if self.layout == HALVES:
            return torch.cat([x[..., 0::2], x[..., 1::2]], -1)
        if self.layout == TURNED or not x.is_floating_point():
            return x.mT
        return self._swapped(x.reshape(*self.inside, *x.shape[-2:]))

    def _swapped(self, x: Tensor) -> Tensor:
        axis = {FIRST: 0, FLASH: 1}.get(self.layout, 9)
        return x if x.dim() < axis + 3 else x.transpose(axis, axis + 1)

    def _masked(self, mask: Tensor) -> Tensor:
        if self.layout in (FIRST, FOUR, FLASH) and mask.dim() == len(self.lead) + 2 > 2:
            mask = mask.expand(*self.lead, *mask.shape[-2:]).reshape(*self.inside, *mask.shape[-2:])
        elif self.layout in (FOUR, FLASH):
            mask = mask[None, None]
        return dict(zip(MASKS, (mask, ~mask, mask.float(), additive(mask)), strict=True))[self.mask]

    def _back(self, x: Any, what: str) -> Any:
        """A result as the course wants it; what has another shape or other numbers than it should stays as it is."""
        if not isinstance(x, Tensor):
            return x
        if self.makes_mask and self.mask != OURS:
            shown, hidden = {"True hides": (x == 0, x == 1), "additive": (x == 0, x < -3e38)}.get(self.mask, (x == 1, x == 0))
            return shown if (shown | hidden).all() else x
        if what and self.layout == HALVES and x.dim() and x.shape[-1] % 2 == 0:
            return torch.stack(x.chunk(2, -1), -1).flatten(-2)
        x = self._swapped(x) if what == "tokens" else x
        return x.reshape(*self.lead, *x.shape[-2:]) if what and x.dim() > 2 and x.shape[:-2] == self.inside else x
