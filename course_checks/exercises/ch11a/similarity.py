"""Exercise 11a.8: GPT-1's similarity head. The oracle reads pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Registered, Twin, generator
from .callables import VOCAB, WIDTH, causal_reader

START, DELIMITER, EXTRACT = VOCAB - 3, VOCAB - 2, VOCAB - 1


def _oracle(read: Callable, a: Tensor, b: Tensor, start: int, delimiter: int, extract: int, weight: Tensor, bias: Tensor) -> Tensor:
    rows = []
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        ends = [causal_reader(torch.tensor([[start, *x, delimiter, *y, extract]]))[0, -1] for x, y in ((one, other), (other, one))]
        rows.append(weight @ (ends[0] + ends[1]) + bias)
    return torch.stack(rows)


def _similar(read: Callable, a: Tensor, b: Tensor, start: int, delimiter: int, extract: int, weight: Tensor, bias: Tensor,
             how: str = "right") -> Tensor:
    def one(token: int) -> Tensor:
        return torch.full((len(a), 1), token)

    def vector(x: Tensor, y: Tensor) -> Tensor:
        parts = [one(start), x, one(delimiter), y, one(extract)]
        match how:
            case "no start":
                parts = parts[1:]
            case "no delimiter":
                parts = [parts[0], x, y, parts[4]]
            case "no extract":
                parts = parts[:4]
            case "exchanged":
                parts = [one(start), x, one(extract), y, one(delimiter)]
            case "start last":
                parts = [one(extract), x, one(delimiter), y, one(start)]
            case "delimiter behind":
                parts = [one(start), x, one(delimiter), y, one(delimiter), one(extract)]
            case "start again":
                parts = [one(start), x, one(delimiter), one(start), y, one(extract)]
            case "extract twice":
                parts = [one(start), x, one(extract), y, one(extract)]
            case "read apart":
                return read(torch.cat([one(start), x, one(extract)], 1))[:, -1]
        hidden = read(torch.cat(parts, 1))
        at = {"first": 0, "delimiter's": x.shape[1] + 1, "twice the first": 2 * a.shape[1] + 2}.get(how, -1)
        return hidden.mean(1) if how == "mean" else hidden.amax(1) if how == "max" else hidden[:, at]

    if how == "bare texts":
        return (read(a)[:, -1] * read(b)[:, -1]) @ weight.T + bias

    with torch.set_grad_enabled(how != "no gradients"):
        there, back = vector(a, b), vector(b, a)
    match how:
        case "flipped":
            back = read(torch.cat([one(start), a, one(delimiter), b, one(extract)], 1).flip(1))[:, -1]
        case "one order":
            return there @ weight.T + bias
        case "other order":
            return back @ weight.T + bias
        case "same twice":
            back = there
        case "bias twice":
            return (there + back) @ weight.T + 2 * bias
        case "no bias":
            return (there + back) @ weight.T
        case "average":
            there, back = there / 2, back / 2
        case "difference":
            back = -back
        case "product":
            return (there * back) @ weight.T + bias
        case "larger":
            return torch.maximum(there, back) @ weight.T + bias
        case "probabilities":
            return ((there + back) @ weight.T + bias).softmax(-1)
    return (there + back) @ weight.T + bias


def _case(g: torch.Generator, label: str, batch: int, n: int, m: int, classes: int, part: str, same: bool = False,
          read: str = "causal_reader") -> Case:
    a, b = (torch.randint(0, START, (batch, size), generator=g) for size in (n, m))
    return Case(label, {"read": Registered(read), "a": a, "b": a.clone() if same else b, "start": START, "delimiter": DELIMITER,
                        "extract": EXTRACT, "weight": torch.randn(classes, WIDTH, generator=g), "bias": torch.randn(classes, generator=g)},
                part=part, gradients=("weight", "bias"), shape="(batch, classes)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "3 pairs of 4 and 5 tokens, 2 classes", 3, 4, 5, 2, "values"),
            _case(g, "2 pairs of 7 and 4 tokens, 5 classes", 2, 7, 4, 5, "values")]


def _fixed() -> list[Case]:
    g = generator(12)
    return [_case(g, "a model that is to be trained as well", 2, 3, 5, 4, "values", read="trained_reader"),
            _case(g, "one token each", 1, 1, 1, 2, "edges"), _case(g, "a text compared with itself", 2, 3, 3, 4, "edges", same=True)]


SIMILARITY = Exercise(
    id="11a.8", title="Similar in either order", name="similarity", kind="function", stars=2, minutes=12,
    signature="similarity(read, a, b, start, delimiter, extract, weight, bias) -> (batch, classes)", oracle=_oracle, reference=_similar,
    draw=_draw, fixed=_fixed, parts={"values": 3, "edges": 1},
    twins=(
        Twin("start and extract exchanged", partial(_similar, how="start last"),
             "The row begins with the extract token and ends with the start token. It should be the other way round."),
        Twin("equally long texts assumed", partial(_similar, how="twice the first"),
             "You compute the place of the extract token as if both texts were equally long. Take the last place of the row."),
        Twin("texts read alone and multiplied", partial(_similar, how="bare texts"),
             "You read each text alone and multiply. Read both in one row with the special tokens, in either order, and add up."),
        Twin("one order only", partial(_similar, how="one order"),
             "You read the pair in one order only. Similarity does not depend on the order: read the pair the other way round too."),
        Twin("only the other order", partial(_similar, how="other order"), "Only the second text followed by the first is read; both "
             "orders are asked for."),
        Twin("the same order twice", partial(_similar, how="same twice"), "You add the vector of one order to itself. Exchange the texts."),
        Twin("whole row turned round", partial(_similar, how="flipped"),
             "You turn the whole row round: each text is read backwards, and the last place is the start token. Only the texts change "
             "places."),
        Twin("bias added twice", partial(_similar, how="bias twice"),
             "You apply the linear layer to each order and add the results, so that its bias counts twice. Add the vectors first."),
        Twin("bias forgotten", partial(_similar, how="no bias"), "The linear layer consists of a matrix and a bias; the bias is missing."),
        Twin("average instead of sum", partial(_similar, how="average"), "The two vectors are added; yours are averaged."),
        Twin("difference instead of sum", partial(_similar, how="difference"),
             "A difference changes its sign when the texts change places. The sum does not."),
        Twin("product instead of sum", partial(_similar, how="product"),
             "The product is symmetric too, but here the two vectors are added."),
        Twin("larger entry instead of sum", partial(_similar, how="larger"),
             "The maximum is symmetric too, but here the two vectors are added."),
        Twin("probabilities returned", partial(_similar, how="probabilities"),
             "Scores are asked for; the loss does the softmax itself."),
        Twin("model read without gradients", partial(_similar, how="no gradients"),
             "You switch the gradients off while the model reads. The numbers are right, but only the linear layer could learn; the model "
             "is trained along with it."),
        Twin("start token missing", partial(_similar, how="no start"), "Each row begins with the start token; yours begins with the text."),
        Twin("delimiter missing", partial(_similar, how="no delimiter"),
             "Without a delimiter nobody can tell where the first text ends and the second begins."),
        Twin("vector of the last word", partial(_similar, how="no extract"),
             "You use the vector of the last word. Either extract is missing, or you look one place too early. The vector of the extract "
             "token is needed."),
        Twin("delimiter and extract exchanged", partial(_similar, how="exchanged"),
             "The delimiter stands between the texts, and extract at the very end."),
        Twin("a delimiter behind the second text", partial(_similar, how="delimiter behind"),
             "The delimiter stands between two texts. Behind the second there is none."),
        Twin("start repeated", partial(_similar, how="start again"),
             "You put a second start token before the second text. One row has one start token."),
        Twin("extract used as delimiter", partial(_similar, how="extract twice"),
             "You use extract in place of the delimiter. Extract occurs only once, at the end."),
        Twin("texts read apart", partial(_similar, how="read apart"),
             "You read each text alone, so neither can look at the other. Put both into one row."),
        Twin("vector of the start token", partial(_similar, how="first"),
             "In a causal model the first position has read nothing but itself. Which one has read everything?"),
        Twin("vector of the delimiter", partial(_similar, how="delimiter's"),
             "You take the vector of the delimiter, which has read only the first text. Take one that has read both."),
        Twin("mean over the positions", partial(_similar, how="mean"),
             "You average all positions. The paper takes the vector of the extract token alone."),
        Twin("maximum over the positions", partial(_similar, how="max"),
             "You take the largest entry over all positions. The paper takes the vector of the extract token alone."),
    ),
)
