"""Exercises 04.1 to 04.3: the shapes, and the two changes of shape between tokens and heads."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from course_utils.models import multihead

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _shapes(n: int = 5, m: int = 7, d_model: int = 12, h: int = 3, d_k: int = 4, d_v: int = 6) -> dict[str, list[int]]:
    """Multiply matrices of ones and read the shapes off: a wrong size would not multiply."""
    x, memory = torch.ones(n, d_model), torch.ones(m, d_model)
    w_q, w_k, w_v = torch.ones(d_model, d_k), torch.ones(d_model, d_k), torch.ones(d_model, d_v)
    weights = torch.softmax((x @ w_q) @ (memory @ w_k).T, -1)
    head = weights @ (memory @ w_v)
    side = torch.cat([head] * h, dim=-1)
    w_o = torch.ones(side.shape[-1], d_model)
    found = {"W_Q of one head": w_q, "W_V of one head": w_v, "weights of one head": weights, "output of one head": head,
             "all heads side by side": side, "W_O": w_o, "output": side @ w_o}
    return {name: list(tensor.shape) for name, tensor in found.items()}


def _but(**changes: list[int]) -> dict[str, list[int]]:
    names = {"q": "W_Q of one head", "v": "W_V of one head", "weights": "weights of one head", "head": "output of one head",
             "side": "all heads side by side", "o": "W_O", "out": "output"}
    return {**_shapes(), **{names[short]: shape for short, shape in changes.items()}}


SHAPES = Exercise(
    id="04.1", title="Predict: seven shapes", name="prediction_of_shapes", kind="value", stars=1, minutes=6,
    signature="prediction_of_shapes: dict of 7 shapes", oracle=_shapes, reference=_shapes(), parts={"values": 2},
    draw=lambda seed: [Case("your seven shapes", {})],
    twins=(
        Twin("d_k where d_v belongs in W_O", _but(o=[12, 12]),
             "Mixed values are laid side by side, so the number of rows of W_O is the number of heads times the width of a value."),
        Twin("d_k taken for the width throughout", _but(v=[12, 4], head=[5, 4], side=[5, 12], o=[12, 12]),
             "The width of a query matters only in the dot product. Everything after the weights has the width of the values."),
        Twin("projections transposed", _but(q=[4, 12], v=[6, 12], o=[12, 18]),
             "Tokens are rows and multiply from the left. So a matrix has one row for each number that goes in and one column for each "
             "number that comes out."),
        Twin("weights transposed", _but(weights=[7, 5]), "A row of the weights belongs to a query, a column to a key."),
        Twin("self-attention assumed", _but(weights=[5, 5]),
             "The keys come from another sequence here, and it has seven tokens."),
        Twin("as many outputs as keys", _but(head=[7, 6], side=[7, 18], out=[7, 12]),
             "Each query gets one mixture. The number of keys disappears when the values are mixed."),
        Twin("heads stacked under each other", _but(side=[15, 6]),
             "Heads are laid side by side for each token: the features grow, the tokens stay as they are."),
        Twin("heads added up", _but(side=[5, 6], o=[6, 12]),
             "Nothing is added before the output projection. Concatenating three heads makes a token three times as wide as one head."),
        Twin("W_O with the rows of one head", _but(o=[6, 12]),
             "The output projection is applied to all heads side by side, not to a single head."),
        Twin("values as wide as keys", _but(v=[12, 4]),
             "You gave the values the width of queries and keys. A value is not multiplied by a query, so it has its own width: d_v."),
        Twin("a row of the head for each key", _but(head=[7, 6]),
             "A head mixes the values for every query, so its output has a row for each query. The keys are summed over."),
        Twin("head as wide as the keys", _but(head=[5, 4]),
             "The output of a head is a mixture of values, so it is as wide as a value. The width of the keys matters only in the scores."),
        Twin("heads of width d_k side by side", _but(side=[5, 12]),
             "You laid three heads of width d_k side by side. But a head hands on mixed values, so each head has d_v columns."),
        Twin("heads of width d_k side by side, W_O to match", _but(side=[5, 12], o=[12, 12]),
             "You counted d_k columns for each head. But a head hands on mixed values, so each head has d_v columns, and W_O needs one "
             "row for each of them."),
        Twin("an output row for each key", _but(out=[7, 12]),
             "The output has one row for each query. The other sequence gives only the keys and values, not the number of rows."),
        Twin("output as wide as the heads", _but(out=[5, 18]),
             "The output projection brings every token back to the width of the model, so that layers can be stacked."),
    ),
)


def _loop_split(x: Tensor, num_heads: int) -> Tensor:
    width = x.shape[-1] // num_heads
    return torch.stack([x[..., head * width : (head + 1) * width] for head in range(num_heads)], dim=1)


def _split(x: Tensor, num_heads: int, how: str) -> Tensor:
    batch, n, d_model = x.shape
    width = d_model // num_heads
    match how:
        case "straight" | "straight, but refusing":
            if how == "straight, but refusing":
                multihead.head_dim(d_model, num_heads)
            return x.reshape(batch, num_heads, n, width)
        case "dealt":
            return x.reshape(batch, n, width, num_heads).permute(0, 3, 1, 2)
        case "not swapped":
            return x.reshape(batch, n, num_heads, width)
        case "features first":
            return x.reshape(batch, n, num_heads, width).permute(0, 2, 3, 1)
        case "heads first":
            return x.reshape(batch, n, num_heads, width).permute(2, 0, 1, 3)
        case "swapped before":
            return x.transpose(1, 2).reshape(batch, num_heads, n, width)
        case "batch mixed":
            return x.transpose(0, 1).reshape(batch, n, num_heads, width).transpose(1, 2)
        case "straight, then swapped":
            return x.reshape(batch, num_heads, n, width).transpose(1, 2)
        case "merged batch":
            return x.reshape(batch, n, num_heads, width).transpose(1, 2).reshape(batch * num_heads, n, width)
    raise ValueError(how)


def _split_case(g: torch.Generator, batch: int, n: int, heads: int, width: int, label: str, part: str = "values") -> Case:
    return Case(label, {"x": randn(g, batch, n, heads * width), "num_heads": heads}, part=part, gradients=("x",),
                shape="(batch, head, token, head_dim)")


def _draw_split(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, heads, width = sizes(g, 4, 2, 6)
    return [_split_case(g, batch, n, heads, width, f"{batch} sequences, {n} tokens, width {heads * width}, {heads} heads")]


SPLIT = Exercise(
    id="04.2", title="Find the bug: heads made of tokens", name="split_heads", kind="function", stars=2, minutes=10,
    signature="split_heads(x, num_heads) -> (batch, num_heads, n, head_dim)", oracle=_loop_split, reference=multihead.split_heads,
    draw=_draw_split, parts={"values": 2, "edges": 1, "bad input": 1}, forbidden=("course_utils.models.multihead.split_heads",),
    fixed=lambda: [
        _split_case(generator(1), 3, 1, 2, 4, "sequences of one token", "edges"),
        _split_case(generator(2), 2, 3, 1, 5, "one head", "edges"),
        _split_case(generator(4), 1, 7, 2, 3, "a batch of one", "edges"),
        _split_case(generator(3), 1, 4, 6, 1, "as many heads as features", "edges"),
        Case("width 30 for 4 heads", {"x": torch.ones(2, 3, 30), "num_heads": 4}, part="bad input", rejects=ValueError,
             mentions=("30", "4")),
        Case("width 3 for 7 heads", {"x": torch.ones(2, 7, 3), "num_heads": 7}, part="bad input", rejects=ValueError,
             mentions=("3", "7")),
        Case("width 10 for 4 heads, 4 tokens", {"x": torch.ones(1, 4, 10), "num_heads": 4}, part="bad input", rejects=ValueError,
             mentions=("10", "4"))],
    twins=(
        Twin("still the handed-out bug", partial(_split, how="straight"),
             "Split a small tensor that counts 0, 1, 2, … and look at head 0: from how many tokens do its numbers come?",
             untouched=True),
        Twin("refuses, but still cuts tokens", partial(_split, how="straight, but refusing"),
             "You refuse a width that does not divide, but the bug is still there: a head gets numbers of one or a few tokens, where it "
             "should get a few features of every token. Cut the last axis first, into heads and features."),
        Twin("features dealt out like cards", partial(_split, how="dealt"),
             "Head 0 gets features that are not neighbours. A head is a group of neighbours: cut the last axis with the heads as the "
             "outer of the two new axes."),
        Twin("heads left behind the tokens", partial(_split, how="not swapped"),
             "The features are cut correctly, but the axes of tokens and heads have not changed places. Attention works on the last two."),
        Twin("features before tokens", partial(_split, how="features first"),
             "Inside a head tokens are the rows and features the columns. Yours are the other way round."),
        Twin("heads before the batch", partial(_split, how="heads first"),
             "The batch stays in front; the heads come second."),
        Twin("swapped before cutting", partial(_split, how="swapped before"),
             "You exchange tokens and features first and then cut across both. Cut the feature axis while it is still the last one."),
        Twin("cut straight, then swapped", partial(_split, how="straight, then swapped"),
             "The swap is in the right place, but the cut before it still mixes tokens. Only the last axis should be cut, and the "
             "heads come after the tokens there."),
        Twin("batch and tokens swapped", partial(_split, how="batch mixed"),
             "The first axis is the batch and must stay where it is. Your sequences now mix tokens of different sentences."),
        Twin("heads merged into the batch", partial(_split, how="merged batch"),
             "The numbers are in the right order, but batch and heads share one axis. Four axes are asked for."),
    ),
)


def _loop_merge(x: Tensor) -> Tensor:
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)


def _merge(x: Tensor, how: str) -> Tensor:
    batch, heads, n, width = x.shape
    match how:
        case "straight":
            return x.reshape(batch, n, heads * width)
        case "dealt":
            return x.permute(0, 2, 3, 1).reshape(batch, n, heads * width)
        case "wrong pair":
            return x.transpose(2, 3).reshape(batch, n, heads * width)
        case "sum":
            return x.sum(1)
        case "mean":
            return x.mean(1)
        case "under":
            return x.reshape(batch, heads * n, width)
        case "features first":
            return x.permute(0, 1, 3, 2).reshape(batch, heads * width, n)
        case "batch":
            return x.transpose(0, 1).reshape(batch, n, heads * width)
        case "heads and features":
            return x.transpose(1, 3).flatten(2)
        case "reversed":
            return x.flip(1).transpose(1, 2).reshape(batch, n, heads * width)
    raise ValueError(how)


def _merge_case(g: torch.Generator, batch: int, heads: int, n: int, width: int, label: str, part: str = "values") -> Case:
    return Case(label, {"x": randn(g, batch, heads, n, width)}, part=part, gradients=("x",), shape="(batch, token, num_heads·d_v)")


def _draw_merge(seed: int) -> list[Case]:
    g = generator(seed)
    batch, heads, n, width = sizes(g, 4)
    return [_merge_case(g, batch, heads, n, width, f"{batch} sequences, {heads} heads, {n} tokens, d_v = {width}")]


MERGE = Exercise(
    id="04.3", title="Heads side by side", name="merge_heads", kind="function", stars=1, minutes=6,
    signature="merge_heads(x) -> (batch, n, num_heads·d_v)", oracle=_loop_merge, reference=multihead.merge_heads,
    draw=_draw_merge, parts={"values": 2, "edges": 1}, forbidden=("course_utils.models.multihead.merge_heads",),
    fixed=lambda: [_merge_case(generator(1), 3, 2, 1, 4, "sequences of one token", "edges"),
                   _merge_case(generator(2), 2, 1, 3, 5, "one head", "edges"),
                   _merge_case(generator(3), 1, 4, 2, 3, "a batch of one", "edges")],
    twins=(
        Twin("reshaped without swapping back", partial(_merge, how="straight"),
             "The numbers of one row now come from several tokens instead of one. Let heads and tokens change places before "
             "you lay anything side by side."),
        Twin("features dealt out like cards", partial(_merge, how="dealt"),
             "Each token has its own numbers, but the heads alternate. All features of head 0 must come first, then those of head 1."),
        Twin("the wrong pair of axes swapped", partial(_merge, how="wrong pair"),
             "You exchanged tokens and features. But heads and features must become neighbours, in this order."),
        Twin("heads added up", partial(_merge, how="sum"),
             "The sum no longer shows what each head gave. The heads keep their own columns; the output projection mixes them afterwards."),
        Twin("heads averaged", partial(_merge, how="mean"),
             "An average gives every head the same weight. The heads keep their own columns; the output projection mixes them afterwards."),
        Twin("heads under each other", partial(_merge, how="under"),
             "You made the sequence longer. The number of tokens must stay the same; each token becomes wider."),
        Twin("features before tokens", partial(_merge, how="features first"),
             "The numbers are right, but the matrix is transposed: tokens should be rows."),
        Twin("batch and heads swapped", partial(_merge, how="batch"),
             "You exchanged the batch with the heads, so sentences are mixed. The batch stays in front; swap heads and tokens."),
        Twin("heads and features swapped", partial(_merge, how="heads and features"),
             "You swapped heads and features, so tokens and heads were joined. Swap heads and tokens instead."),
        Twin("heads in reverse order", partial(_merge, how="reversed"),
             "The last head comes first in your result. Keep the order, or the output projection multiplies the wrong rows."),
    ),
)
