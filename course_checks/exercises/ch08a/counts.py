"""Exercise 08a.4: how many numbers a Transformer learns. The oracle counts those of PyTorch's own modules."""

from __future__ import annotations

from functools import cache

from torch import nn

from course_utils.models.sizes import shapes_only

from ...exercise import Case, Exercise, Twin

D, FF, HEADS, LAYERS, VOCAB = 512, 2048, 8, 6, 37_000
NAMES = ("one encoder block", "one decoder block", "cross-attention of all blocks (without its norms)",
         "embeddings and output matrix, nothing shared",
         "the same, all three shared", "the whole model, all three shared")


@cache
def _measure() -> dict[str, int]:
    with shapes_only():
        encoder = nn.TransformerEncoderLayer(D, HEADS, FF)
        decoder = nn.TransformerDecoderLayer(D, HEADS, FF)
        tables = nn.Embedding(VOCAB, D), nn.Embedding(VOCAB, D), nn.Linear(D, VOCAB, bias=False)
    size = [sum(p.numel() for p in module.parameters()) for module in (encoder, decoder, decoder.multihead_attn, *tables)]
    blocks = LAYERS * (size[0] + size[1])
    return dict(zip(NAMES, (size[0], size[1], LAYERS * size[2], sum(size[3:]), size[3], blocks + size[3]), strict=True))


ATTENTION, FEED_FORWARD, NORM, TABLE = 4 * (D * D + D), 2 * D * FF + FF + D, 2 * D, VOCAB * D
ENCODER, DECODER = ATTENTION + FEED_FORWARD + 2 * NORM, 2 * ATTENTION + FEED_FORWARD + 3 * NORM
RIGHT = dict(zip(NAMES, (ENCODER, DECODER, LAYERS * ATTENTION, 3 * TABLE, TABLE, LAYERS * (ENCODER + DECODER) + TABLE), strict=True))


def _with(index: int, value: int) -> dict[str, int]:
    return {**RIGHT, NAMES[index]: value}


def _shifted(**changes: int) -> dict[str, int]:
    """Other sizes of the blocks, and the whole that follows from them."""
    encoder, decoder, cross = (RIGHT[name] + changes.get(key, 0) for name, key in zip(NAMES, ("encoder", "decoder", "cross"), strict=False))
    return {**RIGHT, **dict(zip(NAMES, (encoder, decoder, cross), strict=False)), NAMES[5]: LAYERS * (encoder + decoder) + RIGHT[NAMES[4]]}


BIASES = 4 * D + FF + D
COUNTS = Exercise(
    id="08a.4", title="Predict: what a Transformer weighs", name="prediction_of_weights", kind="value", stars=2, minutes=12,
    signature="prediction_of_weights: dict of 6 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=1e-7, atol=0.5,
    draw=lambda seed: [Case("your six numbers", {})],
    twins=(
        Twin("biases forgotten", _shifted(encoder=-BIASES, decoder=-BIASES - 4 * D, cross=-LAYERS * 4 * D),
             "Each of the linear layers has a bias here, as long as its output."),
        Twin("biases and norms forgotten", _shifted(encoder=-BIASES - 4 * D, decoder=-BIASES - 10 * D, cross=-LAYERS * 4 * D),
             "Only the matrices are counted. Every linear layer has a bias, and every LayerNorm two vectors."),
        Twin("biases of attention forgotten", _shifted(encoder=-4 * D, decoder=-8 * D, cross=-LAYERS * 4 * D),
             "The four projections of an attention have biases here, as in PyTorch."),
        Twin("norms forgotten", _shifted(encoder=-4 * D, decoder=-6 * D),
             "Each LayerNorm has two vectors. An encoder block has two norms, "
             "a decoder block three."),
        Twin("too few vectors of the norms", _shifted(encoder=-2 * D, decoder=-3 * D),
             "Each sub-layer has a LayerNorm of its own, and each LayerNorm a weight and a bias, two vectors."),
        Twin("two norms in the decoder block", _shifted(decoder=-2 * D), "The decoder block has three sub-layers, and a norm for each."),
        Twin("one attention in the decoder block", _shifted(decoder=-4 * D * D - 4 * D),
             "A decoder block has two attentions, one for its own words and one for the source."),
        Twin("decoder block taken for an encoder block", _shifted(decoder=RIGHT[NAMES[0]] - RIGHT[NAMES[1]]),
             "The decoder block has one more attention between self-attention and the feed-forward layer, with its own norm."),
        Twin("output projection forgotten", _shifted(encoder=-D * D - D, decoder=-2 * (D * D + D), cross=-LAYERS * (D * D + D)),
             "An attention has four projections: queries, keys, values, and the one that mixes the heads."),
        Twin("projections counted per head", _shifted(encoder=3 * D * (HEADS - 1) * D, decoder=6 * D * (HEADS - 1) * D,
                                                      cross=LAYERS * 3 * D * (HEADS - 1) * D),
             "The heads share the width: eight projections to 64 features weigh as much as one to 512."),
        Twin("cross-attention of one block", _with(2, RIGHT[NAMES[2]] // LAYERS),
             "All six decoder blocks read the source, each with weights "
             "of its own."),
        Twin("cross-attention with its norm", _with(2, RIGHT[NAMES[2]] + LAYERS * NORM),
             "The third entry asks for the attention alone; its LayerNorm is a module of its own."),
        Twin("cross-attention without biases", _with(2, RIGHT[NAMES[2]] - LAYERS * 4 * D),
             "The four projections of an attention have biases here, as in PyTorch."),
        Twin("output with a bias", _with(3, 3 * TABLE + VOCAB), "The output layer has no bias here: three matrices and nothing else."),
        Twin("closing norms counted", _with(5, RIGHT[NAMES[5]] + 2 * NORM),
             "In the post form no norm closes a stack: the last block has normalised its output already."),
        Twin("output matrix forgotten", _with(3, 2 * VOCAB * D), "Nothing shared means three matrices: source, target, and the output."),
        Twin("sharing two of three", _with(4, 2 * VOCAB * D), "When all three are shared, one matrix is left."),
        Twin("embeddings left out of the whole", _with(5, RIGHT[NAMES[5]] - RIGHT[NAMES[4]]),
             "The whole model also contains the shared table of embeddings, once."),
        Twin("nothing shared in the whole", _with(5, RIGHT[NAMES[5]] - RIGHT[NAMES[4]] + RIGHT[NAMES[3]]),
             "The last entry asks for the model with one shared matrix."),
        Twin("one stack in the whole", _with(5, LAYERS * RIGHT[NAMES[1]] + RIGHT[NAMES[4]]),
             "Both stacks belong to the model, and each has six blocks."),
        Twin("encoder stack alone in the whole", _with(5, LAYERS * ENCODER + TABLE),
             "The six blocks of the encoder and the table are there; the six of the decoder are missing."),
        Twin("rounded number of the paper", _with(5, 65_000_000),
             "The paper gives a rounded number. Count the parameters one by one, with the vocabulary that is given here."),
        Twin("cross-attention in the encoder too", _with(2, 2 * LAYERS * ATTENTION),
             "Only the six decoder blocks read the source. The encoder blocks read nothing but the source itself, with self-attention."),
        Twin("encoder block without biases", _with(0, ENCODER - BIASES),
             "The biases of the linear layers are missing: four in attention and two in the feed-forward part."),
        Twin("decoder block without biases", _with(1, DECODER - BIASES - 4 * D),
             "The biases of the linear layers are missing: four in each attention and two in the feed-forward part."),
        Twin("one norm in the encoder block", _with(0, ENCODER - NORM),
             "You are 1,024 short, which is one LayerNorm: each of the two sub-layers has its own."),
        Twin("encoder block without norms", _with(0, ENCODER - 2 * NORM),
             "The two LayerNorms of the block are missing, with a weight and a bias each."),
        Twin("third norm forgotten", _with(1, DECODER - NORM),
             "You are 1,024 short, which is one LayerNorm: a decoder block has three sub-layers, and a norm for each."),
        Twin("three projections in the encoder block", _with(0, ENCODER - D * D - D),
             "You are one linear layer of width 512 short. Attention has a fourth projection, the one that mixes the heads."),
        Twin("encoder attention times its heads", _with(0, ENCODER + (HEADS - 1) * ATTENTION),
             "You counted the attention once for every head. The heads share out the width of the same four projections; more heads add "
             "nothing."),
    ),
)
