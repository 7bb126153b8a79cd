"""Exercise 11a.9: six numbers about bytes, rows, bits and shares. The oracle measures them."""

from functools import cache

import torch

from course_utils.models.gpt import GPT, GPT2
from course_utils.models.sizes import shapes_only
from course_utils.text.bpe import ByteBPE

from ..common import Case, Prediction

RIGHT = {
    "tokens that a byte-level BPE without merges makes of “naïve café”": 12,
    "targets in one pass over 16 windows of 64 inputs": 1024,
    "targets if only the last row of each window is used": 16,
    "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token": 4.0,
    "of ten parameters of a block, how many are in its feed-forward network": 6.66,
    "of ten parameters of GPT-2 small, how many are in the token embedding": 3.10,
}


@cache
def oracle() -> dict[str, float]:
    tokens = len(ByteBPE([]).encode("naïve café"))
    ids = torch.zeros(16, 65, dtype=torch.long)
    rows, last = ids[:, 1:].numel(), ids[:, -1:].numel()
    bits = -torch.zeros(1024).softmax(0)[0].log2().item() / 2.5
    with shapes_only():
        model = GPT(GPT2["small"])
    size, block, inner = (sum(p.numel() for p in part.parameters()) for part in (model, model.blocks[0], model.blocks[0].feed_forward))
    return dict(zip(RIGHT, (tokens, rows, last, bits, 10 * inner / block, 10 * model.token.weight.numel() / size), strict=True))


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your six numbers", {})], rtol=0.0, atol=0.5)
