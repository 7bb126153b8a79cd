"""Exercise 12a.4: less, the same, or more? The oracle does each thing once, in small."""

from functools import cache
from random import Random

import torch

from course_utils.models.bert import Bert, BertConfig
from course_utils.models.zoo.albert import Albert
from course_utils.models.zoo.masked import Deberta
from course_utils.models.zoo.sparse import window_mask
from course_utils.text.noise import corrupt_spans

from ..common import Case, Prediction

WORDS = ("less", "same", "more")
RIGHT = {
    "ALBERT, one block for two depths instead of two blocks: parameters": "less",
    "ALBERT, the same: multiplications for a token": "same",
    "ELECTRA, replaced or not instead of hidden words: tokens with a loss of their own": "more",
    "ELECTRA, the generator draws instead of taking its best guess: words that come back unchanged": "less",
    "ALBERT, neighbours swapped instead of in order: similarity for a judge who only sees which words occur": "same",
    "DistilBERT, temperature 4 instead of 1: the probability of the teacher's best guess": "less",
    "DeBERTa without late positions instead of BERT, sixteen equal letters: different states": "less",
    "T5, as many tokens hidden, in spans of three instead of one by one: length of the target": "less",
    "BigBird's window, a text twice as long: pairs for a token in the middle": "same",
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
    common = (len(set("abc") & set("bcd")), len(set("bcd") & set("abc")))
    best = (p.max().item(), (teacher / 4).softmax(-1).max().item())
    with torch.no_grad():
        states = [model(torch.full((1, 16), 7))[0] for model in (plain, far)]
    different = [len({tuple(row) for row in x.round(decimals=3).tolist()}) for x in states]
    targets = [len(corrupt_spans(range(40), range(100, 110), Random(0), 0.15, mean)[1]) for mean in (1.0, 3.0)]
    middle = [int(window_mask(m, 3)[m // 2].sum()) for m in (32, 64)]
    pairs = (sizes, work, (15, 100), unchanged, common, best, different, targets, middle)
    return {name: _word(*pair) for name, pair in zip(RIGHT, pairs, strict=True)}


EXERCISE = Prediction(oracle=measure, reference=RIGHT, draw=lambda seed: [Case("your nine words", {})], choices=WORDS)
