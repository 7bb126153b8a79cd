"""Exercises 02.5 and 02.6: receptive fields, and how costs grow with the length of the sequence."""

from __future__ import annotations

import random
from functools import partial
from math import prod

import torch
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin


def _field_oracle(kernels: list[int], dilations: list[int]) -> int:
    """Stack the convolutions and count the inputs on which one output depends."""
    x = torch.ones(1, 1, 400, dtype=torch.double, requires_grad=True)
    y = x
    for kernel, dilation in zip(kernels, dilations, strict=True):
        y = F.conv1d(y, torch.ones(1, 1, kernel, dtype=torch.double) / kernel, dilation=dilation)
    if y is x:
        return 1
    (gradient,) = torch.autograd.grad(y[0, 0, 0], x)
    return int(gradient.nonzero()[:, -1].max()) + 1


def _field(kernels: list[int], dilations: list[int], how: str = "right") -> int:
    pairs = list(zip(kernels, dilations, strict=False))
    match how:
        case "sum":
            return sum(k * d for k, d in pairs)
        case "no one":
            return sum((k - 1) * d for k, d in pairs)
        case "one too many":
            return 1 + sum(k * d for k, d in pairs)
        case "no dilation":
            return 1 + sum(k - 1 for k, _ in pairs)
        case "span":
            return 1 + sum(k * d - 1 for k, d in pairs)
        case "product":
            return prod(k * d for k, d in pairs)
        case "widest":
            return max((1 + (k - 1) * d for k, d in pairs), default=1)
        case "first":
            return 1 + len(pairs) * (kernels[0] - 1) * dilations[0] if pairs else 1
        case "halves":
            return 1 + sum(2 * (k // 2) * d for k, d in pairs)
        case "one side":
            return 1 + sum((k - 1) * d // 2 for k, d in pairs)
        case "holes":
            return 1 + sum((k - 1) * (d - 1) for k, d in pairs)
        case "compounded":
            return 1 + sum((k - 1) * prod(dilations[: i + 1]) for i, (k, _) in enumerate(pairs))
        case "kernel 3":
            return 1 + sum(2 * d for _, d in pairs)
        case "last":
            return 1 + (pairs[-1][0] - 1) * pairs[-1][1] if pairs else 1
        case "inputs hit":
            hit = {0}
            for k, d in pairs:
                hit = {place + tap * d for place in hit for tap in range(k)}
            return len(hit)
        case "first missed":
            return 1 + sum((k - 1) * d for k, d in pairs[1:])
        case "stride":
            total, jump = 1, 1
            for k, d in pairs:
                total, jump = total + (k - 1) * jump, jump * d
            return total
    return 1 + sum((k - 1) * d for k, d in pairs)


def _checked_field(kernels: list[int], dilations: list[int]) -> int:
    if len(kernels) != len(dilations):
        raise ValueError(f"{len(kernels)} kernels but {len(dilations)} dilations")
    return _field(kernels, dilations)


def _draw_field(seed: int) -> list[Case]:
    draw = random.Random(seed)
    depth = 3 + seed % 2
    kernels, dilated, dilations = draw.sample([2, 4, 5, 6, 7], depth), draw.sample([4, 2, 5, 6], depth), [2, 3, 5, 4][:depth]
    return [Case(f"kernels {kernels}, no dilation", {"kernels": kernels, "dilations": [1] * depth}),
            Case(f"kernels {dilated}, dilations {dilations}", {"kernels": dilated, "dilations": dilations}, part="dilation")]


FIELD = Exercise(
    id="02.5", title="How far a stack of convolutions sees", name="receptive_field", kind="function", stars=1, minutes=8,
    signature="receptive_field(kernels, dilations) -> int", oracle=_field_oracle, reference=_checked_field, draw=_draw_field,
    fixed=lambda: [Case("a single layer with kernel 1", {"kernels": [1], "dilations": [1]}),
                   Case("no layer at all", {"kernels": [], "dilations": []}),
                   Case("2 kernels but 3 dilations", {"kernels": [3, 5], "dilations": [1, 2, 4]}, part="bad input", rejects=ValueError,
                        mentions=("2", "3")),
                   Case("3 kernels but 2 dilations", {"kernels": [3, 5, 7], "dilations": [1, 1]}, part="bad input", rejects=ValueError,
                        mentions=("3", "2")),
                   Case("no kernel but 1 dilation", {"kernels": [], "dilations": [2]}, part="bad input", rejects=ValueError,
                        mentions=("0", "1"))],
    parts={"values": 1, "dilation": 1, "bad input": 1},
    twins=(
        Twin("kernels added up", partial(_field, how="sum"),
             "Kernels of consecutive layers overlap by one position. Start from the one position you look from and count what each "
             "layer adds."),
        Twin("own position forgotten", partial(_field, how="no one"),
             "You count only the positions that the layers add. Count the position you start from as well."),
        Twin("each layer adds its whole kernel", partial(_field, how="one too many"),
             "A kernel has one tap on the position you already see. How many new ones does it bring?"),
        Twin("dilation ignored", partial(_field, how="no dilation"),
             "A dilation spreads the taps of a kernel, so that it reaches farther."),
        Twin("dilation applied to every tap", partial(_field, how="span"),
             "Between the taps of a kernel there is one gap fewer than there are taps. Only the gaps are widened by the dilation."),
        Twin("kernels multiplied", partial(_field, how="product"),
             "Layers without stride add to the field; they do not multiply it. Draw two layers of kernel 3 and count."),
        Twin("widest layer only", partial(_field, how="widest"),
             "Depth counts too: each layer looks at what the layer below has gathered already."),
        Twin("every layer like the first", partial(_field, how="first"),
             "The layers differ; each adds according to its own kernel and dilation."),
        Twin("kernels taken for odd", partial(_field, how="halves"),
             "You add half a kernel on each side, rounded. That is right only for odd kernels. Count all taps except one."),
        Twin("one side only", partial(_field, how="one side"),
             "You count how far a kernel reaches to one side. Count the whole stretch, from the first input to the last."),
        Twin("first layer left out", partial(_field, how="first missed"),
             "A stack of one layer already sees its whole kernel: the first layer adds to the field like every other."),
        Twin("dilation taken for stride", partial(_field, how="stride"),
             "A dilation widens the gaps of its own layer only. Only a stride would multiply everything above it."),
        Twin("dilations multiplied from layer to layer", partial(_field, how="compounded"),
             "You multiply the dilations of all layers so far. A layer's steps are as wide as its own dilation says, whatever the layers "
             "below do."),
        Twin("only the holes counted", partial(_field, how="holes"),
             "You count the inputs that a dilation skips, so a layer without dilation adds nothing. Count how far a kernel reaches, taps "
             "and gaps together."),
        Twin("every kernel taken for 3", partial(_field, how="kernel 3"),
             "Every layer adds as much as a kernel of 3 would. Use the kernels that you are given: they differ."),
        Twin("only the last layer counts", partial(_field, how="last"),
             "Your result comes from the last layer alone: each layer overwrites what the layers before it have found. Each layer should "
             "add to it."),
        Twin("skipped inputs left out", partial(_field, how="inputs hit"),
             "You count the inputs that are really looked at. The field is the whole stretch from the first to the last of them, holes "
             "included."),
    ),
)


def _growth_word(small: int, large: int) -> str:
    """The word for how a count grows when the sequence becomes 8 times as long."""
    if small == large:
        return "constant"
    ratio = large / small
    return "log n" if ratio < 2.5 else "n" if ratio < 12 else "n squared"


def _layers(n: int, dilated: bool) -> int:
    """Layers of kernel 3 until an output at one end depends on the input at the other end, by following the taps."""
    reach, layers = 0, 0
    while reach < n - 1:
        reach, layers = reach + 2 * (3**layers if dilated else 1), layers + 1
    return layers


def _count(n: int) -> dict[str, int]:
    recurrent_path = recurrent_steps = 0
    for position in range(n):
        recurrent_steps += 1  # each state waits for the one before
        recurrent_path += position > 0
    pairs = sum(1 for _ in range(n) for _ in range(n))
    return {"recurrent layer: steps that wait for each other": recurrent_steps, "recurrent layer: path, first to last": recurrent_path,
            "convolutions, kernel 3: path, first to last": _layers(n, False), "dilations 1, 3, 9, …: path, first to last": _layers(n, True),
            "self-attention: path, first to last": 1, "self-attention: scores to compute": pairs}


def _growth() -> dict[str, str]:
    small, large = _count(64), _count(512)
    return {name: _growth_word(small[name], large[name]) for name in small}


_RIGHT = _growth()
_KEYS = tuple(_RIGHT)


def _but(position: int, word: str) -> dict[str, str]:
    return {**_RIGHT, _KEYS[position]: word}


GROWTH = Exercise(
    id="02.6", title="Predict: what grows with the length", name="prediction", kind="value", stars=2, minutes=6,
    signature="prediction: dict of 6 words", choices=("constant", "log n", "n", "n squared"), oracle=_growth, reference=_RIGHT,
    draw=lambda seed: [Case("your six words", {})], parts={"values": 2},
    twins=(
        Twin("recurrence taken for parallel", _but(0, "constant"),
             "A state needs the state before it. How many of them have to be finished before the last can start?"),
        Twin("recurrent path taken for short", _but(1, "constant"),
             "The first word reaches the last state only through all the states between, gates or not."),
        Twin("convolution sees everything at once", _but(2, "constant"),
             "A kernel of 3 sees its neighbours. Count the layers until a message has crossed the whole sequence."),
        Twin("undilated taken for dilated", _but(2, "log n"),
             "Without dilation each layer adds the same two positions, however deep the stack is."),
        Twin("dilation gains nothing", _but(3, "n"),
             "With growing dilation each layer triples what is seen. How often can you triple before you reach the whole length?"),
        Twin("dilation sees everything at once", _but(3, "constant"),
             "Each layer triples what is seen, and a longer sequence needs a few layers more."),
        Twin("attention walks from word to word", _but(4, "n"),
             "A query is compared with every key directly; no other position lies on the way."),
        Twin("constant path taken for constant work", _but(5, "constant"),
             "The path is short because every pair has a score of its own. Count the pairs."),
        Twin("one score a word", _but(5, "n"), "Every word asks every word: count the pairs, not the words."),
        Twin("each state waits for all others", _but(0, "n squared"),
             "A state waits only for the one before it. Count the states in this chain, not the pairs of positions."),
        Twin("recurrent path through all pairs", _but(1, "n squared"),
             "On its way a message passes each state once, from one to the next. Count those steps, not the pairs of positions."),
        Twin("work taken for the path", _but(4, "n squared"),
             "That many scores are computed. The path asks how many steps lie between the first token and the last, and any two tokens "
             "meet directly."),
        Twin("attention path is n squared", {**_RIGHT, _KEYS[4]: "n squared", _KEYS[5]: "n"},
             "You have mixed up the length of a path with the number of scores. Which of the two counts pairs?"),
    ),
)
