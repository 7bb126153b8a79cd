"""Exercises 02.1 and 02.2: a recurrent layer, and additive scores."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _elman_oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    """PyTorch's own layer, which has a second bias; that one is 0 here."""
    x, h, b = inputs["x"], inputs.get("h"), parameters["w.bias"]
    layer = nn.RNN(init["d_in"], init["width"], batch_first=True)
    weights = {"weight_ih_l0": parameters["w.weight"], "weight_hh_l0": parameters["u.weight"], "bias_ih_l0": b,
               "bias_hh_l0": torch.zeros_like(b)}
    return torch.func.functional_call(layer, weights, (x, h if h is None else h[None]))[0]


class _Elman(nn.Module):
    """The recurrent layer with a switch for each usual mistake."""

    def __init__(self, d_in: int, width: int, how: str):
        super().__init__()
        self.how, self.w, self.u = how, nn.Linear(d_in, width), nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, h: Tensor | None = None) -> Tensor:
        how, axis = self.how, 0 if self.how == "batch" else 1
        rows = x.shape[1 - axis]
        if h is None or how == "start ignored" or len(h) != rows:
            h = x.new_zeros(rows, self.u.in_features)
        start, states = h, []
        steps = list(x.unbind(axis))
        for x_t in steps[::-1] if how == "backwards" else steps:
            before = h
            old = {"never updated": start, "cut": h.detach(), "no state": torch.zeros_like(h)}.get(how, h)
            h = self.w(x_t) + self.u(old)
            if how == "tanh inside":
                h = self.w(x_t) + torch.tanh(self.u(old))
            elif how == "sigmoid":
                h = torch.sigmoid(h)
            elif how == "relu":
                h = torch.relu(h)
            elif how == "apart":
                h = torch.tanh(self.w(x_t)) + torch.tanh(self.u(old))
            elif how == "plain state":
                h = torch.tanh(self.w(x_t)) + self.u(old)
            elif how == "state added":
                h = torch.tanh(self.w(x_t) + old)
            elif how != "linear":
                h = torch.tanh(h)
            states.append(before if how == "one late" else h)
        if how == "backwards, put back":
            states = states[::-1]
        if how == "start kept":
            states = [start, *states]
        if how == "last":
            return h
        if how == "side by side":
            return torch.cat(states, -1)
        return torch.stack(states, 0 if how in ("batch", "time first") else 1)


def _elman(how: str) -> type[nn.Module]:
    return type("ElmanRNN", (_Elman,), {"__init__": lambda self, d_in, width: _Elman.__init__(self, d_in, width, how)})


def _draw_elman(seed: int) -> list[Case]:
    g = generator(seed)
    batch, steps, d_in, width = sizes(g, 4)
    shapes = {"w.weight": (width, d_in), "w.bias": (width,), "u.weight": (width, width)}
    parameters = {name: 0.6 * randn(g, *shape) for name, shape in shapes.items()}
    args = {"init": {"d_in": d_in, "width": width}, "parameters": parameters}
    x = randn(g, batch, steps, d_in)
    every = ("x", *shapes)
    return [Case(f"{batch} sequences of {steps} steps, d_in = {d_in}, width = {width}", {**args, "inputs": {"x": x, "h": None}},
                 gradients=every, shape="(batch, step, width)"),
            Case("the same with a state to start from", {**args, "inputs": {"x": x, "h": randn(g, batch, width)}}, part="given start",
                 gradients=(*every, "h"), shape="(batch, step, width)"),
            Case("one sequence of a single step, h left out", {**args, "inputs": {"x": randn(g, 1, 1, d_in)}},
                 shape="(batch, step, width)")]


ELMAN = Exercise(
    id="02.1", title="A recurrent layer", name="ElmanRNN", kind="module", stars=1, minutes=10,
    signature="ElmanRNN(d_in, width)(x, h=None) -> (batch, T, width)", oracle=_elman_oracle, reference=_elman("right"), draw=_draw_elman,
    parts={"values": 3, "given start": 1},
    forbidden=("torch.nn.RNN", "torch.nn.RNNCell", "torch.rnn_tanh", "torch.rnn_tanh_cell",
               "course_utils.models.recurrent.ElmanRNN.forward"),
    twins=(
        Twin("no tanh", _elman("linear"),
             "Without the tanh the whole recurrence is one linear map of the inputs, and its states can grow without limit."),
        Twin("sigmoid instead of tanh", _elman("sigmoid"), "Your states are all positive. The hyperbolic tangent keeps the sign."),
        Twin("ReLU instead of tanh", _elman("relu"),
             "Your states are never negative and have no upper limit. A tanh can be negative and has a limit on both sides."),
        Twin("states laid side by side", _elman("side by side"),
             "The states of all steps are joined along the features. The steps need an axis of their own."),
        Twin("tanh on the state's part only", _elman("tanh inside"), "Add the two parts and the bias first; the tanh goes around the sum."),
        Twin("tanh on the input's part only", _elman("plain state"),
             "The old state's part is added outside the tanh. It belongs in the sum."),
        Twin("a tanh around each part", _elman("apart"),
             "You take the tanh of the input's part and of the state's part and add afterwards, so a state can be larger than 1. Add "
             "both parts first, and take one tanh of the sum."),
        Twin("state never updated", _elman("never updated"),
             "Each step starts from the very first state again, so nothing is remembered. Start from the state of the step before."),
        Twin("no memory at all", _elman("no state"), "The old state plays no part in the new one: this is a layer without recurrence."),
        Twin("old state not multiplied", _elman("state added"),
             "You add the old state as it is. It has to be multiplied by its own matrix first."),
        Twin("given start ignored", _elman("start ignored"),
             "The layer always starts from zero. When a state is handed over, the first step must continue from there."),
        Twin("read from the end", _elman("backwards"), "The steps are taken in reverse. The first state must come from the first input."),
        Twin("states in reverse order", _elman("backwards, put back"),
             "The states are right, but the last one comes first. Keep them in the order of the inputs."),
        Twin("one step late", _elman("one late"), "The state of a step is what comes out of it; you keep what went into it."),
        Twin("only the last state", _elman("last"), "Return the states of all steps: later each of them will be a key."),
        Twin("start among the states", _elman("start kept"),
             "There is one state too many: the state that you start from is not the result of a step."),
        Twin("time axis first", _elman("time first"),
             "The states are right, but the steps are the first axis. The batch must come first."),
        Twin("batch taken for time", _elman("batch"),
             "You step through the batch, so each sentence remembers the sentences before it. Time is the second axis."),
        Twin("steps cut from each other", _elman("cut"),
             "The numbers are right, but the old state is detached: no gradient travels back in time and nothing distant can be learned."),
    ),
)


def _scores_oracle(query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    """Pair by pair, feature by feature, in double precision."""
    q, k, w_q, w_k, v = (t.double() for t in (query, key, w_q, w_k, v))
    batches = []
    for b in range(len(q)):
        rows = [torch.stack([torch.dot(v, torch.tanh(w_q.T.mv(q_i) + w_k.T.mv(k_j))) for k_j in k[b]]) for q_i in q[b]]
        batches.append(torch.stack(rows))
    return torch.stack(batches).float()


def _scores(query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor, how: str = "right") -> Tensor:
    q, k = (query @ w_q)[:, :, None, :], (key @ w_k)[:, None, :, :]
    match how:
        case "linear":
            return (q + k) @ v
        case "tanh last":
            return torch.tanh((q + k) @ v)
        case "apart":
            return (torch.tanh(q) + torch.tanh(k)) @ v
        case "product":
            return torch.tanh(q * k) @ v
        case "sigmoid":
            return torch.sigmoid(q + k) @ v
        case "relu":
            return torch.relu(q + k) @ v
        case "no v":
            return torch.tanh(q + k).sum(-1)
        case "mean":
            return torch.tanh(q + k) @ v / len(v)
        case "difference":
            return torch.tanh(q - k) @ v
        case "swapped":
            return (torch.tanh(q + k) @ v).mT
        case "scaled":
            return torch.tanh(q + k) @ v / math.sqrt(len(v))
        case "softmax":
            return torch.softmax(torch.tanh(q + k) @ v, -1)
        case "dot":
            return (query @ w_q * v) @ (key @ w_k).mT
        case "repeated alike":
            q, k = (query @ w_q).repeat(1, key.shape[1], 1), (key @ w_k).repeat(1, query.shape[1], 1)
            return (torch.tanh(q + k) @ v).view(query.shape[0], query.shape[1], key.shape[1])
        case "reshaped":
            return (torch.tanh(q + k) @ v).mT.reshape(query.shape[0], query.shape[1], key.shape[1])
    return torch.tanh(q + k) @ v


def _draw_scores(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, m, d_query, d_key, d_attn = sizes(g, 6, 2, 9)
    args = {"w_q": 0.5 * randn(g, d_query, d_attn), "w_k": 0.5 * randn(g, d_key, d_attn), "v": randn(g, d_attn)}
    key, every = randn(g, batch, m, d_key), ("query", "key", "w_q", "w_k", "v")
    return [Case(f"{batch} × {n} queries of width {d_query}, {m} keys of width {d_key}, d_attn = {d_attn}",
                 {"query": randn(g, batch, n, d_query), "key": key, **args}, gradients=every, shape="(batch, query, key)"),
            Case("one query, as in a step of a decoder", {"query": randn(g, batch, 1, d_query), "key": key, **args}, part="one query",
                 shape="(batch, query, key)")]


def _fixed_scores() -> list[Case]:
    g = generator(1)
    args = {"w_q": 0.5 * randn(g, 5, 4), "w_k": 0.5 * randn(g, 6, 4), "v": randn(g, 4)}
    return [Case(f"a batch of one, {n} queries, {m} keys", {"query": randn(g, 1, n, 5), "key": randn(g, 1, m, 6), **args},
                 shape="(batch, query, key)") for n, m in ((7, 2), (2, 7))]


SCORES = Exercise(
    id="02.2", title="Additive scores", name="additive_scores", kind="function", stars=2, minutes=10,
    signature="additive_scores(query, key, w_q, w_k, v) -> (batch, n, m)", oracle=_scores_oracle, reference=_scores, draw=_draw_scores,
    fixed=_fixed_scores,
    parts={"values": 3, "one query": 1}, forbidden=("course_utils.models.recurrent.AdditiveAttention.scores",),
    twins=(
        Twin("no tanh", partial(_scores, how="linear"),
             "Without the tanh a score is a sum of something about the query and something about the key. The softmax over keys "
             "cancels the first, so all queries would get the same weights."),
        Twin("tanh around each part", partial(_scores, how="apart"),
             "Each part has its own tanh, so query and key never meet in a nonlinear function. Add the parts first."),
        Twin("tanh after v", partial(_scores, how="tanh last"),
             "The tanh must come before the vector v sums the features; afterwards it only squeezes a finished score."),
        Twin("product instead of sum", partial(_scores, how="product"),
             "This score is called additive: the two projected vectors are added."),
        Twin("a dot product", partial(_scores, how="dot"),
             "That is a multiplicative score, with v as weights of its terms. Here you need the tanh of the sum of both projections."),
        Twin("difference instead of sum", partial(_scores, how="difference"),
             "The projected key is added to the projected query, not subtracted."),
        Twin("sigmoid instead of tanh", partial(_scores, how="sigmoid"),
             "The nonlinear function in this score is the hyperbolic tangent, which keeps the sign."),
        Twin("ReLU instead of tanh", partial(_scores, how="relu"),
             "The nonlinear function in this score is the hyperbolic tangent, which is bounded on both sides."),
        Twin("features summed without v", partial(_scores, how="no v"),
             "All hidden features count the same here. The vector v weighs them."),
        Twin("query and key axes swapped", partial(_scores, how="swapped"),
             "Rows belong to queries, columns to keys. Yours are the other way round."),
        Twin("reshaped into place", partial(_scores, how="reshaped"),
             "You compute the scores with keys as rows and then reshape them: the entries now belong to the wrong pairs."),
        Twin("queries and keys repeated alike", partial(_scores, how="repeated alike"),
             "You repeat queries and keys in the same order: query 0 meets key 0, query 1 meets key 1, and so on. In one of the "
             "two, each row has to be repeated before the next row comes, so that query 0 meets every key first."),
        Twin("scaled by a root", partial(_scores, how="scaled"),
             "You divide the scores, but the additive score is not divided. The root belongs to the dot products of the next chapter."),
        Twin("mean over the features", partial(_scores, how="mean"),
             "The vector v sums the features with its weights. You also divide this sum by the number of features."),
        Twin("softmax already applied", partial(_scores, how="softmax"), "These are weights. Scores are what goes into the softmax."),
    ),
)
