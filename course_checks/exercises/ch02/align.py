"""Exercises 02.3 and 02.4: one step of alignment with a bug, then attention as a module."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _step_oracle(state: Tensor, annotations: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Sentence by sentence, in double precision, with the softmax written out."""
    contexts, shares = [], []
    for s, rows in zip(state.double(), annotations.double(), strict=True):
        power = torch.stack([torch.exp(torch.dot(v.double(), torch.tanh(w_s.double().T.mv(s) + w_h.double().T.mv(h)))) for h in rows])
        shares.append(power / power.sum())
        contexts.append(sum(share * h for share, h in zip(shares[-1], rows, strict=True)))
    return torch.stack(contexts).float(), torch.stack(shares).float()


def _step(state: Tensor, annotations: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor, how: str = "right") -> tuple[Tensor, Tensor]:
    scores = torch.tanh((state @ w_s)[:, None] + annotations @ w_h) @ v
    if how == "linear":
        scores = ((state @ w_s)[:, None] + annotations @ w_h) @ v
    match how:
        case "batch":
            weights = torch.softmax(scores, 0)
        case "everything":
            weights = torch.softmax(scores.flatten(), 0).view_as(scores)
        case "raw":
            weights = scores
        case "twice":
            weights = torch.softmax(torch.softmax(scores, -1), -1)
        case "shares of raw":
            weights = scores / scores.sum(-1, keepdim=True)
        case "batch divided":
            weights = torch.softmax(scores, 0) / len(scores)
        case "batch, then rows":
            weights = torch.softmax(scores, 0)
            weights = weights / weights.sum(-1, keepdim=True)
        case "single 1":
            weights = torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)
        case "scaled":
            weights = torch.softmax(scores / math.sqrt(len(v)), -1)
        case "power":
            weights = torch.exp(scores)
        case "negated":
            weights = torch.softmax(-scores, -1)
        case "sigmoid":
            weights = torch.sigmoid(scores)
        case _:
            weights = torch.softmax(scores, -1)
    context = (weights[:, :, None] * annotations).sum(1)
    if how == "mean":
        context = annotations.mean(1)
    if how == "best":
        context = annotations[torch.arange(len(scores)), scores.argmax(-1)]
    if how == "averaged":
        context = (weights[:, :, None] * annotations).mean(1)
    return context, weights


def _draw_step(seed: int) -> list[Case]:
    g = generator(seed)
    batch, steps, d_state, d_h, d_attn = sizes(g, 5, 2, 9)
    args = {"w_s": 0.5 * randn(g, d_state, d_attn), "w_h": 0.5 * randn(g, d_h, d_attn), "v": randn(g, d_attn)}
    every = ("state", "annotations", "w_s", "w_h", "v")

    def case(label: str, batch: int, **more) -> Case:
        return Case(label, {"state": randn(g, batch, d_state), "annotations": randn(g, batch, steps, d_h), **args},
                    shape="(batch, width)", **more)

    return [case(f"{batch} sentences of {steps} words", batch, gradients=every), case("a batch of one sentence", 1)]


BUG = Exercise(
    id="02.3", title="Find the bug: sentences that know each other", name="align_step", kind="function", stars=2, minutes=8,
    signature="align_step(state, annotations, w_s, w_h, v) -> context, weights", oracle=_step_oracle, reference=_step, draw=_draw_step,
    parts={"values": 2}, outputs=("context", "weights"),
    twins=(
        Twin("still the handed-out bug", partial(_step, how="batch"),
             "Add up the weights of one sentence. Then hand in a batch of one sentence and look at its weights.", untouched=True),
        Twin("softmax over everything", partial(_step, how="everything"),
             "All sentences now share one softmax, so the weights of one sentence sum to less than 1. Each sentence needs a sum of 1."),
        Twin("divided by the batch", partial(_step, how="batch divided"),
             "Dividing does not undo a softmax over sentences: a word is still compared with words of other sentences."),
        Twin("rows mended after a softmax over the batch", partial(_step, how="batch, then rows"),
             "Your rows sum to 1 now, but the softmax before them still compares the sentences of the batch with each other. Dividing "
             "afterwards does not undo that: the softmax itself has to run over the words."),
        Twin("a single 1 as weights", partial(_step, how="single 1"),
             "Your weights are a single 1 and zeros, so only the best word counts. Soft alignment gives every word a share: without "
             "shares, no gradient reaches the scores."),
        Twin("no softmax", partial(_step, how="raw"),
             "You use the raw scores as weights, but they can be negative and have any sum. Take their softmax."),
        Twin("scores divided by their sum", partial(_step, how="shares of raw"),
             "Scores can be negative and can sum to nearly zero. They become shares only through the exponential."),
        Twin("sigmoid instead of softmax", partial(_step, how="sigmoid"),
             "Every word is now judged on its own, and the weights can have any sum. The words have to compete."),
        Twin("exponentials not divided", partial(_step, how="power"),
             "The exponentials are right, but they are shares only after a division by their sum over the sentence."),
        Twin("sign of the scores flipped", partial(_step, how="negated"),
             "The word with the lowest score gets the most weight. A high score must mean a large share."),
        Twin("softmax applied twice", partial(_step, how="twice"),
             "The second softmax sees numbers between 0 and 1 and makes the weights nearly equal."),
        Twin("scaled by a root", partial(_step, how="scaled"),
             "You divide the scores by a root, which makes the weights too flat. The additive score has no such division."),
        Twin("tanh lost", partial(_step, how="linear"),
             "The axis is right now, but the tanh is missing. Without it the weights do not depend on the state."),
        Twin("plain mean as context", partial(_step, how="mean"),
             "The weights are right, but your context ignores them and takes a plain mean."),
        Twin("best word only", partial(_step, how="best"),
             "The context is the one annotation with the largest weight. Soft alignment mixes all, so that a gradient gets through."),
        Twin("mixed, then divided again", partial(_step, how="averaged"),
             "The weights sum to 1 already; averaging the weighted annotations divides by the number of words once too often."),
    ),
)


def _module_oracle(init: dict, parameters: dict, inputs: dict) -> tuple[Tensor, Tensor]:
    """Query by query with only the permitted keys, in double precision."""
    w_q, w_k, v = (parameters[f"{name}.weight"].double() for name in ("w_q", "w_k", "v"))
    query, key, value = (inputs[name].double() for name in ("query", "key", "value"))
    shape = (len(query), query.shape[1], key.shape[1])
    mask = torch.ones(shape, dtype=torch.bool) if inputs.get("mask") is None else inputs["mask"].expand(shape)
    outputs, weights = [], []
    for b in range(shape[0]):
        for i in range(shape[1]):
            use = mask[b, i].nonzero().flatten()
            scores = torch.tanh(w_q.mv(query[b, i]) + key[b, use] @ w_k.T) @ v[0]
            power = torch.exp(scores - scores.max())
            share = power / power.sum()
            outputs.append(share @ value[b, use])
            weights.append(torch.zeros(shape[2], dtype=torch.double).index_add(0, use, share))
    return torch.stack(outputs).view(*shape[:2], -1).float(), torch.stack(weights).view(shape).float()


class _Module(nn.Module):
    """Additive attention with a switch for each usual mistake."""

    def __init__(self, d_query: int, d_key: int, d_attn: int, how: str):
        super().__init__()
        self.how = how
        self.w_q, self.w_k = nn.Linear(d_query, d_attn, bias=False), nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        how = self.how
        q, k = self.w_q(query)[:, :, None], self.w_k(key)[:, None]
        hidden = {"linear": q + k, "product": torch.tanh(q * k), "apart": torch.tanh(q) + torch.tanh(k)}.get(how, torch.tanh(q + k))
        scores = self.v(hidden).squeeze() if how == "squeezed" else self.v(hidden).squeeze(-1)
        if how == "tanh last":
            scores = torch.tanh(self.v(q + k).squeeze(-1))
        if how == "scaled":
            scores = scores / math.sqrt(k.shape[-1])
        if how == "detached":
            scores = scores.detach()
        if mask is not None and how not in ("ignored", "after", "after, divided", "added"):
            hidden_pairs = mask if how == "inverted" else ~mask
            scores = scores.masked_fill(hidden_pairs, {"zero": 0.0, "finite": -100.0}.get(how, -torch.inf))
        if mask is not None and how == "infinity times zero":
            scores = scores + (~mask).float() * -torch.inf
        if mask is not None and how == "added":
            scores = scores + mask.float()
        weights = torch.softmax(scores, -2 if how == "queries" else -1)
        if how == "overflow":
            weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        if how == "queries":
            weights = weights.nan_to_num()
        if mask is not None and how in ("after", "after, divided"):
            weights = weights * mask
            weights = weights / weights.sum(-1, keepdim=True) if how == "after, divided" else weights
        return weights @ (key if how == "keys" else value), weights


def _module(how: str) -> type[nn.Module]:
    return type("AdditiveAttention", (_Module,), {
        "__init__": lambda self, d_query, d_key, d_attn: _Module.__init__(self, d_query, d_key, d_attn, how)})


def _draw_module(seed: int) -> list[Case]:
    g = generator(seed)
    n, m, d_query, d_key, d_attn, d_v = sizes(g, 6, 3, 9)
    args = _module_parameters(g, d_query, d_key, d_attn)
    inputs = {"query": randn(g, 2, n, d_query), "key": randn(g, 2, m, d_key), "value": randn(g, 2, m, d_v)}
    padding = torch.arange(m) < torch.tensor([m - 1, 1])[:, None, None]
    pairs = torch.rand(2, n, m, generator=g) < 0.5
    pairs[..., 1] |= ~pairs.any(-1)
    pairs[..., -1] &= ~pairs.all(-1)
    every = (*args["parameters"], "query", "key", "value")

    def case(label: str, mask: Tensor | None, part: str = "mask", **more) -> Case:
        return Case(label, {**args, "inputs": {**inputs, "mask": mask}}, part=part, shape="(batch, query, d_v)", **more)

    one = {"query": randn(g, 2, 1, d_query), "key": inputs["key"], "value": randn(g, 2, m, d_v), "mask": padding}
    return [case(f"2 × {n} queries, {m} keys, widths {d_query} and {d_key}, values of width {d_v}", None, "values", gradients=every),
            case("padded sources: a mask of shape (batch, 1, key)", padding, gradients=every),
            case("a mask of its own for every query", pairs),
            case("a mask of shape (query, key) for the whole batch", pairs[1]),
            Case("one query and padded sources", {**args, "inputs": one}, part="mask", shape="(batch, query, d_v)")]


def _module_parameters(g: torch.Generator, d_query: int, d_key: int, d_attn: int) -> dict:
    parameters = {"w_q.weight": 0.5 * randn(g, d_attn, d_query), "w_k.weight": 0.5 * randn(g, d_attn, d_key),
                  "v.weight": randn(g, 1, d_attn)}
    return {"init": {"d_query": d_query, "d_key": d_key, "d_attn": d_attn}, "parameters": parameters}


def _fixed_module() -> list[Case]:
    """A batch of one; and scores of about a million, where only the two lowest keys of each query may be seen."""
    g = generator(8)
    args = _module_parameters(g, 4, 5, 6)
    inputs = {"query": randn(g, 2, 2, 4), "key": randn(g, 2, 7, 5), "value": randn(g, 2, 7, 3)}
    steep = {**args["parameters"], "v.weight": 3e5 * args["parameters"]["v.weight"]}
    w_q, w_k, v = steep.values()
    scores = (torch.tanh((inputs["query"] @ w_q.T)[:, :, None] + (inputs["key"] @ w_k.T)[:, None]) @ v.T)[..., 0]
    lowest = scores <= scores.kthvalue(2, dim=-1, keepdim=True).values
    alone = {"query": randn(g, 1, 3, 4), "key": randn(g, 1, 2, 5), "value": randn(g, 1, 2, 1)}
    return [Case("a batch of one, values of width 1, mask left out", {**args, "inputs": alone}, shape="(batch, query, d_v)"),
            Case("2 × 2 queries and masks of shape (query, key)", {**args, "inputs": {**inputs, "mask": lowest[1]}}, part="mask",
                 shape="(batch, query, d_v)"),
            Case("scores of about a million, mask left out", {**args, "parameters": steep, "inputs": inputs}, shape="(batch, query, d_v)"),
            Case("scores of about a million, the largest hidden", {**args, "parameters": steep, "inputs": {**inputs, "mask": lowest}},
                 part="mask", shape="(batch, query, d_v)")]


MODULE = Exercise(
    id="02.4", title="Additive attention as a module", name="AdditiveAttention", kind="module", stars=3, minutes=15,
    signature="AdditiveAttention(d_query, d_key, d_attn)(query, key, value, mask=None) -> output, weights",
    oracle=_module_oracle, reference=_module("right"), draw=_draw_module, fixed=_fixed_module,
    parts={"values": 3, "mask": 2}, outputs=("output", "weights"),
    forbidden=("course_utils.models.recurrent.AdditiveAttention.forward", "course_utils.models.recurrent.AdditiveAttention.scores"),
    twins=(
        Twin("no tanh", _module("linear"), "Without the tanh the query cancels in the softmax: every query gets the same weights."),
        Twin("tanh around each part", _module("apart"),
             "You apply the tanh to query and key separately and then add, so the query cancels in the softmax. Add first."),
        Twin("tanh after v", _module("tanh last"),
             "The tanh must come before v sums the features; afterwards it only squeezes a finished score."),
        Twin("product instead of sum", _module("product"), "The two projected vectors should be added before the tanh, not multiplied."),
        Twin("scaled by a root", _module("scaled"),
             "You divide the scores by a root, which makes the weights too flat. The additive score has no such division."),
        Twin("softmax over the queries", _module("queries"),
             "Each query divides its attention among the keys, and the keys are the last axis of the scores."),
        Twin("keys mixed, not values", _module("keys"),
             "You mix the keys. They only decide the weights; mix the values, which may have another width."),
        Twin("weights cut off from training", _module("detached"),
             "The numbers are right, but no gradient passes through the weights: the alignment would never be learned."),
        Twin("mask ignored", _module("ignored"),
             "The result is the same with and without the mask: padding takes its share of the weights."),
        Twin("mask inverted", _module("inverted"), "You hide the words and show the padding. True means “may attend”."),
        Twin("mask applied after the softmax", _module("after"),
             "The forbidden weights are gone, but the others no longer sum to 1. The mask belongs to the scores."),
        Twin("masked after the softmax, divided again", _module("after, divided"),
             "Where a forbidden key has taken all the weight, masking leaves a row of zeros, and 0 divided by 0 is NaN. Exclude forbidden "
             "keys before the softmax: mask the scores."),
        Twin("infinity times zero", _module("infinity times zero"),
             "Where attention is permitted you compute 0 times infinity, and that is NaN. Put minus infinity only where the mask forbids "
             "attention; no multiplication is needed for that."),
        Twin("every axis of length 1 squeezed", _module("squeezed"),
             "Your squeeze removes every axis of length 1, so a single query or a single sentence loses its axis too. Only the last axis, "
             "the one that v leaves behind, should go."),
        Twin("masked scores set to a number", _module("finite"),
             "A score of, say, -100 is small only while the others are larger. Where the permitted scores are lower still, the forbidden "
             "keys win. Only minus infinity is below everything."),
        Twin("exponentials out of range", _module("overflow"),
             "The exponentials of large scores are too large for float32, and those of very low scores are too small. A softmax in "
             "one step subtracts the largest score first."),
        Twin("mask added to the scores", _module("added"),
             "Adding a boolean mask adds 1 where attention is permitted and 0 where it is not. That forbids nothing."),
        Twin("masked scores set to 0", _module("zero"),
             "A score of 0 is an ordinary score; its exponential is 1. Only minus infinity gives the weight 0."),
    ),
)
