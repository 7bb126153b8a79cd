"""Exercise 08a.8: how many numbers a Transformer learns. The oracle counts those of PyTorch's own modules."""

from functools import cache

from torch import nn

from course_utils.models.sizes import shapes_only

from ..common import Case, Prediction

ATTENTION, FEED_FORWARD, NORM, TABLE = 4 * 512**2 + 4 * 512, 2 * 512 * 2048 + 2048 + 512, 2 * 512, 37_000 * 512
RIGHT = {
    "one encoder block": ATTENTION + FEED_FORWARD + 2 * NORM,
    "one decoder block": 2 * ATTENTION + FEED_FORWARD + 3 * NORM,
    "cross-attention of all blocks (without its norms)": 6 * ATTENTION,
    "embeddings and output matrix, nothing shared": 3 * TABLE,
    "the same, all three shared": TABLE,
    "the whole model, all three shared": 6 * (3 * ATTENTION + 2 * FEED_FORWARD + 5 * NORM) + TABLE,
}


@cache
def oracle() -> dict[str, int]:
    with shapes_only():
        encoder, decoder = nn.TransformerEncoderLayer(512, 8, 2048), nn.TransformerDecoderLayer(512, 8, 2048)
        tables = nn.Embedding(37_000, 512), nn.Embedding(37_000, 512), nn.Linear(512, 37_000, bias=False)
    one, other, cross, *ends = (sum(p.numel() for p in m.parameters()) for m in (encoder, decoder, decoder.multihead_attn, *tables))
    return dict(zip(RIGHT, (one, other, 6 * cross, sum(ends), ends[0], 6 * (one + other) + ends[0]), strict=True))


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your six numbers", {})], rtol=1e-7, atol=0.5)
