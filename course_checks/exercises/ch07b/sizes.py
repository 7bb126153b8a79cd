"""Exercise 07b.3: predict what the layers weigh. The oracle counts on modules, not by formula."""

from torch import nn

from course_utils.models.sizes import shapes_only

from ..common import Case, Prediction


def oracle() -> dict[str, int]:
    with shapes_only():
        layers = nn.Linear(512, 2048, bias=False), nn.Linear(2048, 512, bias=False)
        block = nn.TransformerEncoderLayer(768, 12, 3072)
    plain = sum(layer.weight.numel() for layer in layers)
    return {
        "weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases": plain,
        "width of a SwiGLU layer with as many weights, rounded down": max(r for r in range(1, 4096) if r * 512 * 3 <= plain),
        "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256": min(
            r for r in range(256, 20_000, 256) if 3 * r >= 2 * 4 * 4096
        ),
        "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms": sum(p.numel() for p in block.parameters()),
    }


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your four numbers", {})], rtol=1e-9, atol=0.01)
