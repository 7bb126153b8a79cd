"""The Transformer encoder: attention, then a feed-forward network, each with a norm and a way around it.

Tokens are rows, batch first; masks are boolean, True = may attend.
Source: Vaswani et al. 2017, section 3.1; norm inside the branch, Xiong et al. 2020, table 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .dropout import Dropout
from .feedforward import FeedForward, GatedFeedForward
from .multihead import MultiHeadAttention, head_dim
from .norms import make_norm


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
    kind = GatedFeedForward if config.gated else FeedForward
    return kind(config.d_model, config.d_ff, config.activation, config.dropout if config.drop_hidden else 0.0, config.bias)


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a way around it and a norm: ``(batch, n, d_model)`` -> the same shape.

    ``mask``: broadcastable to ``(batch, n, n)``, or ``(batch, num_heads, n, n)``.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_place = config.norm_place
        self.attention = MultiHeadAttention(config.d_model, config.num_heads, config.bias, config.dropout)
        self.feed_forward = feed_forward(config)
        self.norm_1, self.norm_2 = norm(config), norm(config)
        self.after_1, self.after_2 = norm_after(config), norm_after(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_place == "post":
            x = self.norm_1(x + self.dropout(self.attention(x, mask=mask)))
            return self.norm_2(x + self.dropout(self.feed_forward(x)))
        x = x + self.after_1(self.dropout(self.attention(self.norm_1(x), mask=mask)))
        return x + self.after_2(self.dropout(self.feed_forward(self.norm_2(x))))

    @classmethod
    def from_torch(cls, other: nn.TransformerEncoderLayer) -> EncoderBlock:
        """A copy of PyTorch's layer (batch first): same weights, our conventions. ValueError for what this class lacks."""
        block = cls(config_of(other))
        block.attention = MultiHeadAttention.from_torch(other.self_attn)
        copy_into(block.feed_forward.w_1, other.linear1)
        copy_into(block.feed_forward.w_2, other.linear2)
        copy_into(block.norm_1, other.norm1)
        copy_into(block.norm_2, other.norm2)
        return block.to(other.linear1.weight).train(other.training)


class Encoder(nn.Module):
    """A stack of blocks, and a final norm unless each block already ends with one ("post")."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(config.num_layers))
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
        stack.blocks = nn.ModuleList(EncoderBlock.from_torch(layer) for layer in other.layers)
        stack.norm = copied_norm(other.norm)
        return stack.train(other.training)


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
    """Our configuration of one of PyTorch's layers; ValueError where it has something else than ReLU or exact GELU."""
    names = {F.relu: "relu", F.gelu: "gelu", torch.relu: "relu"}
    activation = layer.activation
    name = {nn.ReLU: "relu", nn.GELU: "gelu"}.get(type(activation)) or names.get(activation)
    if name is None or getattr(activation, "approximate", "none") != "none":
        raise ValueError(f"activation {activation} is not supported; use ReLU or exact GELU")
    if not layer.self_attn.batch_first:
        raise ValueError("the layer is not batch first; build it with batch_first=True")
    attention = layer.self_attn
    return TransformerConfig(
        d_model=attention.embed_dim,
        num_heads=attention.num_heads,
        d_ff=layer.linear1.out_features,
        num_layers=1,
        dropout=layer.dropout.p,
        activation=name,
        norm_eps=layer.norm1.eps,
        norm_place="pre" if layer.norm_first else "post",
        bias=layer.linear1.bias is not None,
    )


@torch.no_grad()
def copy_into(ours: nn.Module, theirs: nn.Module) -> None:
    """Copy weight and bias; ValueError when only one of the two has a bias or the shapes differ."""
    left, right = dict(ours.named_parameters()), dict(theirs.named_parameters())
    if {n: p.shape for n, p in left.items()} != {n: p.shape for n, p in right.items()}:
        raise ValueError(f"parameters differ: {[(n, tuple(p.shape)) for n, p in right.items()]} into {sorted(left)}")
    for name, parameter in left.items():
        parameter.copy_(right[name])


def copied_norm(norm: nn.Module | None) -> nn.Module:
    """A copy of a final LayerNorm, or nothing."""
    if norm is None:
        return nn.Identity()
    copy = nn.LayerNorm(norm.normalized_shape, norm.eps, norm.elementwise_affine, bias=norm.bias is not None).to(norm.weight)
    copy_into(copy, norm)
    return copy
