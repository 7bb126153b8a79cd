"""Exercise 12a.4: less, the same, or more? The oracle does each thing once, in small."""

from __future__ import annotations

from functools import cache
from random import Random

import torch

from course_utils.models.bert import Bert, BertConfig
from course_utils.models.zoo.albert import Albert
from course_utils.models.zoo.masked import Deberta
from course_utils.models.zoo.sparse import window_mask
from course_utils.text.noise import corrupt_spans

from ...exercise import Case, Exercise, Twin

NAMES = ("ALBERT, one block for two depths instead of two blocks: parameters",
         "ALBERT, the same: multiplications for a token",
         "ELECTRA, replaced or not instead of hidden words: tokens with a loss of their own",
         "ELECTRA, the generator draws instead of taking its best guess: words that come back unchanged",
         "ALBERT, neighbours swapped instead of in order: similarity for a judge who only sees which words occur",
         "DistilBERT, temperature 4 instead of 1: the probability of the teacher's best guess",
         "DeBERTa without late positions instead of BERT, sixteen equal letters: different states",
         "T5, as many tokens hidden, in spans of three instead of one by one: length of the target",
         "BigBird's window, a text twice as long: pairs for a token in the middle")
WORDS = ("less", "same", "more")


def _word(before: float, after: float) -> str:
    return WORDS[0] if after < before - 1e-4 else WORDS[2] if after > before + 1e-4 else WORDS[1]


@cache
def _measure() -> dict[str, str]:
    """Each pair of numbers, before and after."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=20, d_model=12, num_heads=3, d_ff=24, num_layers=2, max_len=16, dropout=0.0, pooler=False, init_std=0.3)
    plain, shared, far = Bert(config).eval(), Albert(config, None), Deberta(config, 8).eval()
    sizes = [sum(p.numel() for p in model.parameters()) for model in (plain, shared)]
    work = [sum(p.numel() for block in model.encoder.blocks for p in block.parameters() if p.dim() == 2) for model in (plain, shared)]
    teacher = torch.tensor([2.0, 1.0, 0.0, -1.0])
    p = teacher.softmax(-1)  # a generator that knows how often it is right
    with torch.no_grad():
        states = [model(torch.full((1, 16), 7))[0] for model in (plain, far)]
    different = [len({tuple(row) for row in x.round(decimals=3).tolist()}) for x in states]
    targets = [len(corrupt_spans(range(40), range(100, 110), Random(0), 0.15, mean)[1]) for mean in (1.0, 3.0)]
    middle = [int(window_mask(m, 3)[m // 2].sum()) for m in (32, 64)]
    bag = lambda first, second: len(set(first) & set(second))  # noqa: E731
    pairs = (sizes, work, (15, 100), (p.max().item(), p.square().sum().item()), (bag("abc", "bcd"), bag("bcd", "abc")),
             (p.max().item(), (teacher / 4).softmax(-1).max().item()), different, targets, middle)
    return {name: _word(*pair) for name, pair in zip(NAMES, pairs, strict=True)}


RIGHT = dict(zip(NAMES, ("less", "same", "more", "less", "same", "less", "less", "less", "same"), strict=True))


def _but(place: int, word: str) -> dict[str, str]:
    return {**RIGHT, NAMES[place]: word}


PREDICT = Exercise(
    id="12a.4", title="Predict: less, the same, or more", name="prediction", kind="value", stars=1, minutes=8,
    signature="prediction: dict of 9 words", choices=WORDS, oracle=_measure, reference=RIGHT, parts={"values": 3},
    draw=lambda seed: [Case("your nine words", {})],
    twins=(
        Twin("shared weights stored twice", _but(0, "same"), "A block that is used twice is stored once."),
        Twin("sharing adds weights", _but(0, "more"), "Nothing new is stored: one of the two blocks is gone."),
        Twin("work shrinks with the weights", _but(1, "less"), "One block is stored. How often does each token go through it?"),
        Twin("sharing costs work", _but(1, "more"), "Each token goes through as many blocks as before, of the same size."),
        Twin("chosen tokens alone are asked", _but(2, "same"), "BERT asks about the hidden words. Of which words does ELECTRA ask?"),
        Twin("fewer lessons in ELECTRA", _but(2, "less"), "One word in seven is hidden. ELECTRA asks about each word it reads."),
        Twin("drawing takes the best guess", _but(3, "same"),
             "The best guess is the most probable word. Drawing takes it only as often as its probability says."),
        Twin("drawing is right more often", _but(3, "more"),
             "Nothing is right more often than the most probable word. Drawing sometimes takes another one."),
        Twin("swapping changes the words", _but(4, "less"), "Swapped neighbours have the same words as before. What can the judge see?"),
        Twin("swapping makes spans alike", _but(4, "more"),
             "The two spans have the same words in common as before. Only their order differs."),
        Twin("softening sharpens", _but(5, "more"),
             "Dividing logits brings them nearer to each other. What does the softmax make of that?"),
        Twin("softening leaves the best alone", _but(5, "same"),
             "The best guess stays the best. Its lead shrinks, because all logits move towards each other."),
        Twin("equal letters told apart", _but(6, "same"),
             "Where would DeBERTa learn the place of a letter? Without positions at its input, equal letters see equal neighbours."),
        Twin("distances tell letters apart", _but(6, "more"),
             "Distances weigh the neighbours, but all neighbours are equal: every mean of equal values is the same."),
        Twin("sentinels not counted", _but(7, "same"), "The number of hidden tokens stays the same. How many sentinels announce them?"),
        Twin("longer spans, longer target", _but(7, "more"), "Each span has one sentinel, however long it is. How many spans are there?"),
        Twin("window grows with the text", _but(8, "more"), "A window keeps its width, whatever the length of the text."),
        Twin("window shared by more tokens", _but(8, "less"), "Every token has a window of its own, of the same width as before."),
    ),
)
