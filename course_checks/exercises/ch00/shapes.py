"""Exercises 00.1, 00.4 and 00.5: predict shapes, all dot products of a batch, and the wrong mean."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _shapes() -> dict[str, list[int]]:
    """Read off real tensors: two sentences, five tokens, eight features."""
    x, layer = torch.zeros(2, 5, 8), torch.nn.Linear(8, 3)
    results = {"x[0]": x[0], "x.mean(dim=1)": x.mean(dim=1), "layer(x)": layer(x), "x @ x.mT": x @ x.mT}
    return {name: list(result.shape) for name, result in results.items()}


def _shapes_with(**changes: list[int]) -> dict[str, list[int]]:
    keys = dict(zip(("first", "mean", "layer", "product"), _shapes(), strict=True))
    return {**_shapes(), **{keys[name]: shape for name, shape in changes.items()}}


SHAPES = Exercise(
    id="00.1", title="Predict: shapes", name="prediction_of_shapes", kind="value", stars=1, minutes=4,
    signature="prediction_of_shapes: dict of 4 shapes", oracle=_shapes, reference=_shapes(),
    draw=lambda seed: [Case("your four shapes", {})],
    parts={"values": 2},
    twins=(
        Twin("mean over the sentences", _shapes_with(mean=[5, 8]),
             "dim counts from 0: axis 0 is the batch, axis 1 the tokens. The axis that is averaged over disappears."),
        Twin("averaged axis kept", _shapes_with(mean=[2, 1, 8]), "A mean removes its axis, unless it is asked to keep it with length 1."),
        Twin("layer applied to the tokens", _shapes_with(layer=[2, 3, 8]),
             "A linear layer works on the last axis, the features, and leaves the others alone."),
        Twin("product of features", _shapes_with(product=[2, 8, 8]),
             "Rows times columns: 5 tokens on the left meet 5 tokens on the right, and the 8 features are summed over."),
        Twin("product mixes the batch", _shapes_with(product=[2, 5, 2, 5]),
             "The leading axes are a batch: each sentence is multiplied with itself only."),
        Twin("indexing keeps the axis", _shapes_with(first=[1, 5, 8]), "Indexing with one number removes the axis; a slice would keep it."),
        Twin("index on the last axis", _shapes_with(first=[2, 5]),
             "A single index counts along the first axis: it picks one sentence, and that sentence keeps its tokens and features."),
        Twin("index on the middle axis", _shapes_with(first=[2, 8]),
             "A single index counts along the first axis, the batch: it picks one sentence. You have picked one token of every sentence."),
        Twin("mean over the features", _shapes_with(mean=[2, 5]),
             "You have averaged the features away. Axes are counted from 0, so axis 1 is that of the tokens."),
        Twin("matrix of the layer", _shapes_with(layer=[3, 8]),
             "This is the shape of the layer's own matrix. The question is what comes out when the layer is applied to x."),
        Twin("matrix of the layer, transposed", _shapes_with(layer=[8, 3]),
             "These are the widths that the layer was built with, not the shape of what comes out when it is applied to x."),
        Twin("product entry by entry", _shapes_with(product=[2, 5, 8]),
             "That would be the product entry by entry. In a matrix product the 8 features are summed over and disappear."),
    ),
)


# ---- 00.4 All dot products ---------------------------------------------------------------------------------

def _loop_scores(query: Tensor, key: Tensor) -> Tensor:
    return torch.stack([torch.stack([torch.stack([(q * k).sum() for k in keys]) for q in queries])
                        for queries, keys in zip(query, key, strict=True)])


def _all_scores(query: Tensor, key: Tensor, how: str = "right") -> Tensor:
    match how:
        case "swapped":
            return key @ query.mT
        case "reshaped":
            return query @ key.reshape(key.shape[0], key.shape[2], key.shape[1])
        case "reversed":
            return query @ key.permute(2, 1, 0)
        case "first sentence":
            return query @ key[0].T
        case "summed":
            return torch.einsum("bnd,bmd->nm", query, key)
        case "sum of features":
            return (query[:, :, None, :] + key[:, None, :, :]).sum(-1)
        case "not summed":
            return query[:, :, None, :] * key[:, None, :, :]
        case "all keys":
            return torch.einsum("bnd,cmd->bnm", query, key)
        case "softmax":
            return torch.softmax(query @ key.mT, -1)
        case "cosines":
            return torch.nn.functional.normalize(query, dim=-1) @ torch.nn.functional.normalize(key, dim=-1).mT
    return query @ key.mT


def _draw_scores(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, m, d = sizes(g, 4)
    args = {"query": randn(g, batch, n, d), "key": randn(g, batch, m, d)}
    return [Case(f"{batch} sentences, {n} queries, {m} keys, {d} features", args, gradients=("query", "key"), shape="(batch, query, key)")]


def _fixed_scores() -> list[Case]:
    g = generator(3)
    return [Case("one sentence of one token", {"query": torch.ones(1, 1, 3), "key": torch.ones(1, 2, 3)}, shape="(batch, query, key)"),
            Case("one sentence, more queries than keys", {"query": randn(g, 1, 6, 3), "key": randn(g, 1, 2, 3)},
                 shape="(batch, query, key)")]


SCORES = Exercise(
    id="00.4", title="All dot products", name="all_scores", kind="function", stars=1, minutes=5,
    signature="all_scores(query, key) -> (batch, n, m)", oracle=_loop_scores, reference=_all_scores, draw=_draw_scores,
    parts={"values": 2}, fixed=_fixed_scores,
    twins=(
        Twin("query and key swapped", partial(_all_scores, how="swapped"),
             "Rows belong to the queries, columns to the keys. Yours are the other way round."),
        Twin("reshaped instead of transposed", partial(_all_scores, how="reshaped"),
             "A reshape pours the same numbers into other rows. You need to swap two axes instead."),
        Twin("all axes reversed", partial(_all_scores, how="reversed"),
             "You have moved the batch axis as well. Swap only the last two axes."),
        Twin("every sentence against the first", partial(_all_scores, how="first sentence"),
             "Only the keys of the first sentence are used. Each sentence has keys of its own."),
        Twin("summed over the batch", partial(_all_scores, how="summed"),
             "Two sentences have been added together: the batch axis must stay."),
        Twin("features added instead of multiplied", partial(_all_scores, how="sum of features"),
             "A dot product multiplies feature by feature and then adds up the products."),
        Twin("products not summed", partial(_all_scores, how="not summed"),
             "The products are there, feature by feature; they still have to be summed."),
        Twin("keys of all sentences added up", partial(_all_scores, how="all keys"),
             "You multiply each query with the keys of all sentences and add up the results. A sentence should meet only its own keys: "
             "query and key share the batch axis."),
        Twin("softmax of the dot products", partial(_all_scores, how="softmax"),
             "Your rows sum to 1: these are the dot products after a softmax. Here only the dot products themselves are asked for."),
        Twin("cosines instead of dot products", partial(_all_scores, how="cosines"),
             "All your numbers lie between -1 and 1: you have divided by the lengths of the vectors, which makes cosines. A dot product "
             "leaves the lengths in."),
    ),
)


# ---- 00.5 Find the bug -------------------------------------------------------------------------------------

def _mean_loop(x: Tensor) -> Tensor:
    return torch.stack([sum(token for token in sentence) / len(sentence) for sentence in x])


def _sentence_vector(x: Tensor, how: str = "right") -> Tensor:
    match how:
        case "batch":
            return x.mean(dim=0)
        case "features":
            return x.mean(dim=2)
        case "kept":
            return x.mean(dim=1, keepdim=True)
        case "everything":
            return x.mean()
        case "sum":
            return x.sum(dim=1)
        case "maximum":
            return x.amax(dim=1)
        case "last":
            return x[:, -1]
        case "first":
            return x[:, 0]
        case "last left out":
            return x[:, :-1].mean(dim=1)
        case "batch, transposed":
            return x.transpose(1, 2).mean(dim=0)
        case "halved":
            share = 0.5 ** torch.arange(x.shape[1] - 1, -1, -1)
            share[1:] *= 0.5
            return share @ x
        case "first left out":
            return x[:, 1:].sum(dim=1) / max(x.shape[1] - 1, 1)
        case "n - 1":
            return x.sum(dim=1) / max(x.shape[1] - 1, 1)
    return x.mean(dim=1)


def _draw_mean(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d = sizes(g, 3)
    return [Case(f"{batch} sentences, {n} tokens, {d} features", {"x": randn(g, batch, n, d)}, gradients=("x",), shape="(batch, d)")]


def _fixed_mean() -> list[Case]:
    silent = randn(generator(5), 2, 4, 3)
    silent[0, 1], silent[1, 3] = 0.0, 0.0
    return [Case("sentences of one token", {"x": torch.arange(8.0).reshape(2, 1, 4)}, shape="(batch, d)"),
            Case("a batch of one sentence", {"x": randn(generator(4), 1, 3, 5)}, shape="(batch, d)"),
            Case("a token whose features are all 0 counts too", {"x": silent}, shape="(batch, d)")]


MEAN = Exercise(
    id="00.5", title="Find the bug: the wrong mean", name="sentence_vector", kind="function", stars=1, minutes=4,
    signature="sentence_vector(x) -> (batch, d)", oracle=_mean_loop, reference=_sentence_vector, parts={"values": 2},
    draw=_draw_mean, fixed=_fixed_mean,
    twins=(
        Twin("still the handed-out bug", partial(_sentence_vector, how="batch"),
             "Print the shape of the result for two sentences of five tokens. Which axis has disappeared?", untouched=True),
        Twin("mean over the features", partial(_sentence_vector, how="features"),
             "The features have been averaged away; they are what should remain."),
        Twin("averaged axis kept", partial(_sentence_vector, how="kept"), "The numbers are right, but an axis of length 1 has stayed."),
        Twin("mean of everything", partial(_sentence_vector, how="everything"),
             "You get one number for all sentences. Say over which axis the mean should run."),
        Twin("sum instead of mean", partial(_sentence_vector, how="sum"), "A sum grows with the length of the sentence; a mean does not."),
        Twin("largest instead of mean", partial(_sentence_vector, how="maximum"),
             "That takes the largest entry of each feature. All tokens should count alike."),
        Twin("divided by n - 1", partial(_sentence_vector, how="n - 1"),
             "You divide the sum by one less than the number of tokens. A mean divides by the number of tokens itself."),
        Twin("first token left out", partial(_sentence_vector, how="first left out"),
             "You leave out the first token of each sentence. Axes and tokens are counted from 0."),
        Twin("last token left out", partial(_sentence_vector, how="last left out"),
             "You leave out the last token of each sentence. A slice or a range stops before the number at its end."),
        Twin("first token only", partial(_sentence_vector, how="first"),
             "You take only the first token. The other tokens of the sentence should count as well."),
        Twin("later tokens count more", partial(_sentence_vector, how="halved"),
             "The tokens do not count alike: each step halves the weight of everything before it, so the last tokens decide. Add up all "
             "tokens first and divide once."),
        Twin("other axes swapped, mean over the batch", partial(_sentence_vector, how="batch, transposed"),
             "Swapping tokens and features leaves the batch in front, and you still average over it: the sentences are mixed. Average "
             "over the tokens instead."),
        Twin("last token only", partial(_sentence_vector, how="last"),
             "You take only the last token. The other tokens of the sentence should count as well."),
    ),
)
