"""The Transformer encoder: attention, then a feed-forward network, each with a norm and a way around it.

Tokens are rows, batch first; masks are boolean, True = may attend.
Source: Vaswani et al. 2017, section 3.1; norm inside the branch, Xiong et al. 2020, table 1.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .feedforward import FeedForward, GatedFeedForward
from .multihead import MultiHeadAttention, head_dim
from .norms import make_norm

Ours = TypeVar("Ours", bound=nn.Module)
TORCH_NAMES = (  # of the parameters of PyTorch's layers, and ours
    ("layers.", "blocks."),
    ("self_attn.", "attention."),
    ("multihead_attn.", "cross_attention."),
    ("in_proj_", "w_qkv."),
    ("out_proj.", "w_o."),
    ("linear", "feed_forward.w_"),
    ("norm1", "norm_1"),
    ("norm2", "norm_2"),
    ("norm3", "norm_3"),
)


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes and choices shared by all blocks of a stack; ValueError, with the numbers, for impossible ones.

    ``norm_place``: "post" is ``Norm(x + F(x))``, "pre" is ``x + F(Norm(x))``, "sandwich" is ``x + Norm(F(Norm(x)))``.
    ``dropout`` applies to the output of each sublayer, the attention weights and, unless ``drop_hidden`` is False, the hidden layer
    of the feed-forward network. (PyTorch's layer drops there; BERT and GPT do not.)
    """

    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_layers: int = 6
    dropout: float = 0.1
    activation: str = "relu"
    gated: bool = False
    norm: str = "layer"
    norm_eps: float = 1e-5
    norm_place: str = "post"
    bias: bool = True
    drop_hidden: bool = True

    def __post_init__(self) -> None:
        head_dim(self.d_model, self.num_heads)
        if min(self.d_ff, self.num_layers) < 1:
            raise ValueError(f"d_ff={self.d_ff} and num_layers={self.num_layers} must be at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout} must be at least 0 and below 1")
        if self.norm_place not in ("pre", "post", "sandwich"):
            raise ValueError(f"norm_place={self.norm_place!r} is unknown; choose 'pre', 'post' or 'sandwich'")


def feed_forward(config: TransformerConfig) -> nn.Module:
    """The feed-forward network a configuration asks for."""
    kind: type[nn.Module] = GatedFeedForward if config.gated else FeedForward
    return kind(config.d_model, config.d_ff, config.activation, config.dropout if config.drop_hidden else 0.0, config.bias)


class Block(nn.Module):
    """What all blocks share: a branch has dropout, a norm and a way around it."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_place, self.dropout = config.norm_place, nn.Dropout(config.dropout)

    def around(self, x: Tensor, branch: Callable[[Tensor], Tensor], norm: nn.Module, after: nn.Module) -> Tensor:
        """``x`` and what the branch adds to it, in the form of ``norm_place``: same shape. ``after`` does nothing unless "sandwich"."""
        if self.norm_place == "post":
            return norm(x + self.dropout(branch(x)))
        return x + after(self.dropout(branch(norm(x))))


class EncoderBlock(Block):
    """Self-attention, then feed-forward, ``(batch, n, d_model)`` kept; ``mask`` fits ``(batch, n, n)`` or ``(batch, num_heads, n, n)``."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        self.attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.feed_forward = feed_forward(config)
        self.norm_1, self.norm_2 = norm(config), norm(config)
        self.after_1, self.after_2 = norm_after(config), norm_after(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.around(x, lambda y: self.attention(y, mask=mask), self.norm_1, self.after_1)
        return self.around(x, self.feed_forward, self.norm_2, self.after_2)

    @classmethod
    def from_torch(cls, other: nn.TransformerEncoderLayer) -> EncoderBlock:
        """A copy of PyTorch's layer (batch first): same weights, our conventions. ValueError for what this class lacks."""
        return load_torch(cls(config_of(other)), other)


class Encoder(nn.Module):
    """A stack of blocks, and a final norm unless each block already ends with one ("post")."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.blocks: Any = nn.ModuleList(EncoderBlock(config) for _ in range(config.num_layers))
        self.norm = final_norm(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(batch, n, d_model)`` -> the same shape; mask as in ``EncoderBlock``."""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)

    @classmethod
    def from_torch(cls, other: nn.TransformerEncoder) -> Encoder:
        """A copy of PyTorch's stack of layers, with its final norm if it has one."""
        stack = cls(replace(config_of(other.layers[0]), num_layers=len(other.layers)))
        stack.norm = deepcopy(other.norm) or nn.Identity()
        return load_torch(stack, other)


def norm(config: TransformerConfig) -> nn.Module:
    """One norm of the configured kind."""
    return make_norm(config.norm, config.d_model, config.norm_eps)


def norm_after(config: TransformerConfig) -> nn.Module:
    """The norm at the end of a branch: only "sandwich" has one."""
    return norm(config) if config.norm_place == "sandwich" else nn.Identity()


def final_norm(config: TransformerConfig) -> nn.Module:
    """The norm that closes a stack: nothing after post-norm blocks, which end with their own."""
    return nn.Identity() if config.norm_place == "post" else norm(config)


def config_of(layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> TransformerConfig:
    """Our configuration of one of PyTorch's layers; ValueError for one without biases, or with something else than ReLU or exact GELU."""
    names = {F.relu: "relu", F.gelu: "gelu", torch.relu: "relu"}
    activation = layer.activation
    name = {nn.ReLU: "relu", nn.GELU: "gelu"}.get(type(activation)) or names.get(activation)
    if name is None or getattr(activation, "approximate", "none") != "none":
        raise ValueError(f"activation {activation} is not supported; use ReLU or exact GELU")
    if not layer.self_attn.batch_first:
        raise ValueError("the layer is not batch first; build it with batch_first=True")
    if layer.linear1.bias is None:
        raise ValueError("a layer without biases is not supported: our LayerNorm has one")
    return TransformerConfig(
        d_model=layer.self_attn.embed_dim,
        num_heads=layer.self_attn.num_heads,
        d_ff=layer.linear1.out_features,
        num_layers=1,
        dropout=layer.dropout.p,
        activation=name,
        norm_eps=layer.norm1.eps,
        norm_place="pre" if layer.norm_first else "post",
    )


def load_torch(ours: Ours, theirs: nn.Module) -> Ours:
    """Ours with the weights, their type and device, and the mode of one of PyTorch's layers or stacks."""
    state = theirs.state_dict()
    for old, new in TORCH_NAMES:
        state = {name.replace(old, new): value for name, value in state.items()}
    ours.to(next(theirs.parameters())).load_state_dict(state)
    return ours.train(theirs.training)
