"""Exercise 10.1: what four heads add to BERT-base. The oracle counts on modules of that size, not by formula."""

from functools import cache

from torch import nn

from course_utils.models.bert import BASE, Bert, SequenceClassifier, SpanClassifier, TokenClassifier, freeze
from course_utils.models.sizes import shapes_only

from ..common import Case, Prediction

D = BASE.d_model
BLOCK, POOLER = 12 * D * D + 13 * D, D * D + D
TABLES = (BASE.vocab_size + BASE.max_len + 2) * D + 2 * D
PAIR, TAGS = 2 * D + 2, 9 * D + 9
RIGHT = {
    "output layer for 2 classes": PAIR,
    "output layer for 9 tags": TAGS,
    "output layer for start and end": PAIR,
    "the whole 2-class model, pooler included": TABLES + 12 * BLOCK + POOLER + PAIR,
    "trained when embeddings and 11 of 12 blocks are frozen, 2 classes": BLOCK + POOLER + PAIR,
}


@cache
def oracle() -> dict[str, int]:
    def count(module: nn.Module, trained: bool = False) -> int:
        return sum(p.numel() for p in module.parameters() if p.requires_grad or not trained)

    with shapes_only():
        body = Bert(BASE)
        pair, tags, span = SequenceClassifier(body, 2), TokenClassifier(body, 9), SpanClassifier(body)
        counts = [count(pair.output), count(tags.output), count(span.output), count(pair)]
        freeze(body, 11)
        return dict(zip(RIGHT, [*counts, count(pair, trained=True)], strict=True))


EXERCISE = Prediction(oracle=oracle, reference=RIGHT, draw=lambda seed: [Case("your five numbers", {})], rtol=0.0, atol=0.5)
