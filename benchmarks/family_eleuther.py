"""What GPT-Neo and GPT-J each change in GPT's block: a window in every other layer; attention and feed-forward side by side.

Sources: the released code of GPT-Neo (Black et al. 2021) and GPT-J (Wang and Komatsuzaki 2021). GPT-J's rotary positions are those of
chapter 05 and left out here, so that each class makes one change.
"""

from torch import Tensor

from course_utils.models.gpt import GPT, GPTBlock, GPTConfig
from course_utils.models.masks import sliding_window_mask
from course_utils.models.multihead import KeyValueCache
from course_utils.models.transformer import TransformerConfig


class LocalBlock(GPTBlock):
    """GPT's block, but a token sees itself and the ``window - 1`` tokens before it."""

    def __init__(self, config: TransformerConfig, window: int):
        super().__init__(config)
        self.window = window

    def attend(self, x: Tensor, cache: KeyValueCache | None) -> Tensor:
        """Every token looks at the window that ends with it."""
        seen = len(cache) if cache is not None else 0
        mask = sliding_window_mask(x.shape[1], self.window, seen + x.shape[1], device=x.device)
        return self.attention(x, mask=mask, cache=cache)


class ParallelBlock(GPTBlock):
    """``x + Attention(Norm(x)) + FeedForward(Norm(x))`` with one norm for both: ``(batch, n, d_model)`` -> the same."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        del self.norm_2

    def forward(self, x: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        h = self.norm_1(x)
        return x + self.dropout(self.attend(h, cache) + self.feed_forward(h))


def relative(config: GPTConfig, kind: str, window: int = 16) -> GPT:
    """A GPT ("gpt"), one whose second, fourth, … layers see a window ("neo"), or one with parallel blocks ("j")."""
    if kind not in ("gpt", "neo", "j"):
        raise ValueError(f"kind={kind!r} is unknown; choose 'gpt', 'neo' or 'j'")
    if kind == "j" and config.norm_place != "pre":
        raise ValueError(f"parallel blocks need norm_place='pre', got {config.norm_place!r}")
    model = GPT(config)
    for place, old in enumerate(model.blocks):
        if kind == "neo" and place % 2 or kind == "j":
            new = LocalBlock(config.body(), window) if kind == "neo" else ParallelBlock(config.body())
            new.load_state_dict({name: value for name, value in old.state_dict().items() if name in new.state_dict()})
            model.blocks[place] = new
    return model
