"""Exercise 12a.1: less, the same, or more? The oracle does each thing once, in small."""

from functools import cache

import torch

from course_utils.models.bert import Bert, BertConfig
from course_utils.models.zoo.albert import Albert
from course_utils.models.zoo.masked import Deberta

from ..common import Case, Prediction

WORDS = ("less", "same", "more")
RIGHT = {
    "ALBERT, one block for two depths instead of two blocks: parameters": "less",
    "ALBERT, the same: multiplications for a token": "same",
    "ELECTRA, replaced or not instead of hidden words: tokens with a loss of their own": "more",
    "ELECTRA, the generator draws instead of taking its best guess: words that come back unchanged": "less",
    "DistilBERT, temperature 4 instead of 1: the probability of the teacher's best guess": "less",
    "DeBERTa instead of BERT, sixteen equal letters: different states": "less",
}


def _word(before: float, after: float) -> str:
    return WORDS[0] if after < before - 1e-4 else WORDS[2] if after > before + 1e-4 else WORDS[1]


@cache
def measure() -> dict[str, str]:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=20, d_model=12, num_heads=3, d_ff=24, num_layers=2, max_len=16, dropout=0.0, pooler=False, init_std=0.3)
    plain, shared, far = Bert(config).eval(), Albert(config, None), Deberta(config, 8).eval()
    sizes = [sum(p.numel() for p in model.parameters()) for model in (plain, shared)]
    work = [sum(p.numel() for block in model.encoder.blocks for p in block.parameters() if p.dim() == 2) for model in (plain, shared)]
    teacher = torch.tensor([2.0, 1.0, 0.0, -1.0])
    p = teacher.softmax(-1)  # a generator that knows how often it is right
    unchanged = (p.max().item(), p.square().sum().item())
    best = (p.max().item(), (teacher / 4).softmax(-1).max().item())
    with torch.no_grad():
        states = [model(torch.full((1, 16), 7))[0] for model in (plain, far)]
    different = [len({tuple(row) for row in x.round(decimals=3).tolist()}) for x in states]
    return {name: _word(*pair) for name, pair in zip(RIGHT, (sizes, work, (15, 100), unchanged, best, different), strict=True)}


EXERCISE = Prediction(oracle=measure, reference=RIGHT, draw=lambda seed: [Case("your six words", {})], choices=WORDS)
