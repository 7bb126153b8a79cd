"""Exercise 07a.4: the encoder block. The oracle is PyTorch's own, with the same parameters."""

import torch
from torch import Tensor, nn

from course_utils.models.multihead import MultiHeadAttention

from ..common import ModuleExercise
from .block_cases import draw, fixed, left_by_chance, oracle


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_place: str = "pre", dropout: float = 0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_place = norm_place

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(torch.relu(self.linear1(x)))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_place == "pre":
            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
        return self.norm2(x + self.dropout(self.feed_forward(x)))


COMPARED = "where dropout is left to chance, how many values a token can take is compared"
OURS = ("torch.nn.TransformerEncoderLayer.forward",)
EXERCISE = ModuleExercise(right=EncoderBlock, oracle=oracle, draw=draw, fixed=fixed, forbidden=OURS, raw=left_by_chance, compared=COMPARED)
