"""Exercise 12a.4: what each change counts for. The oracle builds the models and counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch

from ...checks.exercise import Case, Exercise, Twin
from ...models.bert import Bert, BertConfig
from ...models.sizes import shapes_only
from ...models.zoo.albert import Albert, NarrowEmbeddings
from ...models.zoo.deberta import distance_index

NAMES = ("ALBERT base: weights in its factorised token table, 30,000 × 128 and 128 × 768",
         "multiplications in the blocks of ALBERT base, as a percentage of BERT base's",
         "a shared weight, used at three depths, gets 2, −1 and 8 there: its gradient",
         "right answers in SOP, half of the pairs swapped, in percent, by a judge who sees only which words occur",
         "100 tokens, 15 chosen, the generator guesses 4 right: labelled “replaced”",
         "of these 100, tokens with a loss of their own in ELECTRA",
         "of these 100, tokens with a loss of their own in BERT",
         "DistilBERT as a percentage of BERT base, in parameters",
         "different scores a DeBERTa query gives to 9 equal words beyond its largest distance, all on its left")


@cache
def _measure() -> dict[str, float]:
    config = BertConfig(vocab_size=30_000)
    with shapes_only():
        narrow = NarrowEmbeddings(config, 128)
        blocks = [Bert(BertConfig(num_layers=3)).encoder.blocks, Albert(replace(config, num_layers=3)).encoder.blocks]
        bodies = [Bert(BertConfig(num_layers=layers)) for layers in (1, 2)]
        pooler = sum(p.numel() for p in bodies[0].pooler.parameters())
        table = narrow.narrow.token.weight.numel() + narrow.widen.weight.numel()
    work = [sum(p.numel() for block in stack for p in block.parameters() if p.dim() == 2) for stack in blocks]  # as often as used
    weight = torch.ones((), requires_grad=True)
    (2 * weight - weight + 8 * weight).backward()
    chosen, guessed = torch.arange(100) < 15, torch.arange(100) < 4
    one, two = (sum(p.numel() for p in body.parameters()) for body in bodies)  # all blocks have the same size
    distil, whole = one + 5 * (two - one) - pooler, one + 11 * (two - one)
    far = distance_index(20, 4)[19, :9].unique().numel()
    values = (table, 100 * work[1] / work[0], weight.grad.item(), 50, int((chosen & ~guessed).sum()), len(chosen), int(chosen.sum()),
              100 * (distil - 2 * 768) / whole, far)
    return dict(zip(NAMES, map(float, values), strict=True))


RIGHT = dict(zip(NAMES, (30_000 * 128 + 128 * 768, 100, 9, 50, 11, 100, 15, 60.6, 1), strict=True))


def _with(*changes: tuple[int, float]) -> dict[str, float]:
    return {**RIGHT, **{NAMES[index]: value for index, value in changes}}


PREDICT = Exercise(
    id="12a.4", title="Predict: what a change counts for", name="prediction", kind="value", stars=1, minutes=8,
    signature="prediction: dict of 9 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.0, atol=0.7,
    draw=lambda seed: [Case("your nine numbers", {})],
    twins=(
        Twin("the full table", _with((0, 30_000 * 768)), "That is the table before it was factorised. Two smaller ones take its place."),
        Twin("the matrix that widens left out", _with((0, 30_000 * 128)), "The narrow vectors are made wide by a second matrix."),
        Twin("work shrinks with the weights", _with((1, 100 / 12)), "One block is stored. How often is it used for each token?"),
        Twin("no block costs less", _with((1, 10)), "One block is stored. How often is it used for each token?"),
        Twin("mean instead of sum", _with((2, 3)), "Each use adds its part to the gradient. Nothing is averaged."),
        Twin("first depth alone", _with((2, 2)), "The weight is used at each depth, and each use has its say, not the first alone."),
        Twin("last depth alone", _with((2, 8)), "The weight is used at each depth, and each use has its say, not the last alone."),
        Twin("sizes added", _with((2, 11)), "You dropped the sign of one part. Gradients add up with their signs."),
        Twin("swapping changes the words", _with((3, 100)), "Swapping two sentences leaves the set of words the same."),
        Twin("swapped is always missed", _with((3, 0)),
             "Half of the pairs are swapped. A judge who cannot tell them from the others still has a coin."),
        Twin("chosen means replaced", _with((4, 15)), "Where the generator guessed the original, nothing was replaced."),
        Twin("right guesses are the replaced ones", _with((4, 4)), "A right guess leaves the token as it was."),
        Twin("ELECTRA's loss on chosen tokens", _with((5, 15)), "The discriminator is asked about each token, chosen or not."),
        Twin("ELECTRA's loss on replaced tokens", _with((5, 11)),
             "To say “original” of an original is an answer too. The discriminator is asked about each token."),
        Twin("BERT's loss everywhere", _with((6, 100)),
             "BERT reads all tokens and is asked about the chosen ones. (Its weights are updated through all of them.)"),
        Twin("BERT asked only under [MASK]", _with((6, 12)),
             "That counts the tokens that became [MASK]. The chosen ones that stayed or changed are asked for as well."),
        Twin("40 instead of 60 percent", _with((7, 39.4)), "That is what was saved. How much is left?"),
        Twin("half of the layers, half of the weights", _with((7, 50)),
             "Half of the blocks are gone, but the token table, a fifth of BERT base, is as large as before."),
        Twin("one score for each distance", _with((8, 9)), "Beyond the largest distance all distances share a row of the table."),
        Twin("no score beyond the largest distance", _with((8, 0)), "Far words are not hidden. They share the last row of the table."),
    ),
)
