"""Exercise 00.7: the names of the boxes in the picture of the Transformer."""

from __future__ import annotations

from ...exercise import Case, Exercise, Twin

NAMES = dict(zip("ABCDEFGHIJL", (
    "source", "target", "encoder", "decoder", "last encoder layer", "self-attention", "add & norm", "feed-forward",
    "masked self-attention", "attention to the encoder", "values"), strict=True))


def _with(**changes: str) -> dict[str, str]:
    return NAMES | changes


def _exchanged(*pairs: str) -> dict[str, str]:
    """The right names with those of two letters exchanged, for each pair such as "CD"."""
    names = dict(NAMES)
    for one, other in pairs:
        names[one], names[other] = NAMES[other], NAMES[one]
    return names


BOXES = Exercise(
    id="00.7", title="Label the boxes", name="labels_of_boxes", kind="value", stars=1, minutes=5,
    signature="labels_of_boxes: dict of 11 names", choices=tuple(NAMES.values()),
    oracle=lambda: dict(NAMES), reference=dict(NAMES), draw=lambda seed: [Case("your eleven names", {})],
    parts={"values": 2},
    twins=(
        Twin("encoder and decoder exchanged", _exchanged("CD"),
             "Look at what goes in: one of the two reads the source sentence, the other also reads what has been written so far."),
        Twin("encoder and decoder exchanged everywhere", _exchanged("CD", "FI"),
             "The stack that reads the source is finished before anything is written. Which of the two hands something to the other?"),
        Twin("source and target exchanged", _exchanged("AB"),
             "The source goes in, the target comes out: follow the arrows of level 1."),
        Twin("masked and plain attention exchanged", _exchanged("FI"),
             "A mask hides the tokens that come later. Which of the two stacks writes, and so must not see them?"),
        Twin("which attention reads the encoder", _exchanged("IJ"),
             "One of the two parts gets an arrow from the other stack. The other part sees only tokens of its own stack."),
        Twin("plain attention reads the encoder", _exchanged("FJ"),
             "F is in the stack that reads the source and gets nothing from the other stack. The arrow between the stacks ends elsewhere."),
        Twin("norm and feed-forward exchanged", _exchanged("GH"),
             "One of these two comes after every other part, and a residual line ends at it. Something is added there."),
        Twin("attention and feed-forward exchanged", _exchanged("FH"),
             "In each layer tokens first look at each other; then each token is worked on by itself."),
        Twin("the last layer taken for the whole stack", _with(E="encoder"),
             "E is only one of six boxes. The arrow to the decoder begins at this one."),
        Twin("values taken for the source", _with(L="source"),
             "Three tensors go into attention. Two are multiplied with each other; L is the third, which is mixed by the weights."),
    ),
)
