"""Exercise 13b.3: causal linear attention in chunks. The oracle goes from row to row in double precision, without a state."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn, sizes


def _oracle(query: Tensor, key: Tensor, value: Tensor, size: int) -> Tensor:
    q, k, v = query.double(), key.double(), value.double()
    rows = []
    for t in range(len(q)):
        weights = torch.stack([torch.dot(q[t], k[s]) for s in range(t + 1)])
        rows.append((weights / weights.sum()) @ v[: t + 1])
    return torch.stack(rows).float()


def _chunks(query: Tensor, key: Tensor, value: Tensor, size: int, how: str = "right") -> Tensor:
    if how == "features again":
        query, key = F.elu(query) + 1, F.elu(key) + 1
    zeros = key.new_zeros(key.shape[1], value.shape[1]), key.new_zeros(key.shape[1])
    written, counted, before, outputs = *zeros, zeros, []
    parts = list(zip(query.split(size), key.split(size), value.split(size), strict=True))
    if how == "short chunk dropped" and len(query) % size and len(parts) > 1:
        parts = parts[:-1]
    for q, k, v in parts:
        dot = k @ q.mT if how == "exchanged" else q @ k.mT
        inside = {"no triangle": dot, "strict": dot.tril(-1), "upper": dot.triu(), "diagonal": dot.tril().triu()}.get(how, dot.tril())
        if how == "fixed triangle":
            inside = dot * torch.ones(size, size).tril()
        if how == "softmax":
            inside = dot.masked_fill(dot.tril() == 0, -torch.inf).softmax(-1)
        new, count = k.mT @ v, k.sum().expand(k.shape[1]) if how == "one number" else k.sum(0)
        state, number = (written + new, counted + count) if how == "written first" else (written, counted)
        if how == "late":
            state, number = before
        if how == "everything":
            state, number, inside = key.mT @ value, key.sum(0), torch.zeros_like(inside)
        near, far = inside @ v, q @ state
        below, beneath = (dot if how == "triangle above" else inside).sum(-1), q @ (counted + count if how == "counted first" else number)
        match how:
            case "no state":
                far, beneath = torch.zeros_like(far), torch.zeros_like(beneath)
            case "past uncounted":
                far = torch.zeros_like(far)
            case "chunk's sum":
                beneath = torch.zeros_like(beneath)
            case "state's sum":
                below = torch.zeros_like(below)
            case "no inside":
                near, below = torch.zeros_like(near), torch.zeros_like(below)
            case "tokens counted":
                below, beneath = torch.arange(1.0, len(q) + 1), sum(map(len, outputs)) * torch.ones(len(q))
            case "largest row":
                below = below.amax().expand_as(below)
        output = (near + far) / (below + beneath if how == "flat sum" else (below + beneath)[:, None])
        shares = [near / below[:, None], far / beneath.clamp_min(1e-30)[:, None]]
        match how:
            case "not divided":
                output = near + far
            case "divided apart":
                output = shares[0] + shares[1]
            case "mean of parts":
                output = (shares[0] + shares[1]) / 2 if outputs else shares[0]
            case "chunk divided alone":
                output = shares[0] + far
        outputs.append(output)
        before = written, counted
        match how:
            case "previous chunk":
                written, counted = new, count
            case "count not added":
                written, counted = written + new, count
            case "sum not added":
                written, counted = new, counted + count
            case "last token":
                written, counted = written + torch.outer(k[-1], v[-1]), counted + k[-1]
            case "decay":
                written, counted = 0.9 * written + new, 0.9 * counted + count
            case "query written":
                written, counted = written + q.mT @ v, counted + q.sum(0)
            case _:
                written, counted = written + new, counted + count
    if how == "stacked":
        return torch.stack(outputs)
    if how == "short chunk empty" and len(query) % size:
        outputs[-1] = torch.zeros_like(outputs[-1])
    return torch.cat(outputs, 1 if how == "side by side" else 0)


def _reference(query: Tensor, key: Tensor, value: Tensor, size: int) -> Tensor:
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    return _chunks(query, key, value, size)


def _case(g: torch.Generator, n: int, r: int, d_v: int, size: int, part: str = "values", **more) -> Case:
    q, k = (torch.exp(randn(g, n, r) - 0.5) for _ in range(2))
    return Case(f"{n} tokens in chunks of {size}", {"query": q, "key": k, "value": randn(g, n, d_v), "size": size}, part=part,
                shape="(n, d_v)", **more)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    (r, d_v), (r2, d_v2), (r3, d_v3) = (sizes(g, 2, 2, 9) for _ in range(3))
    return [_case(g, 14, r, d_v, 4), _case(g, 11, r2, d_v2, 3), _case(g, 12, r3, d_v3, 4)]


def _fixed() -> list[Case]:
    g = generator(33)
    return [_case(g, 5, 4, 3, 1, "edges"), _case(g, 5, 3, 2, 9, "edges"), _case(g, 6, 4, 2, 6, "edges"), _case(g, 1, 4, 3, 2, "edges"),
            _case(g, 7, 1, 3, 3, "edges"), _case(g, 9, 4, 1, 2, "edges"),
            *(_case(g, 6, 3, 4, size, "refusal", rejects=ValueError, mentions=(str(size),)) for size in (0, -2))]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_chunks, how=how), hint)


CHUNKS = Exercise(
    id="13b.3", title="Causal linear attention in chunks", name="causal_in_chunks", kind="function", stars=3, minutes=18,
    signature="causal_in_chunks(query, key, value, size) -> output (n, d_v)", oracle=_oracle, reference=_reference, draw=_draw,
    fixed=_fixed, parts={"values": 3, "edges": 1, "refusal": 1}, outputs=("output",),
    forbidden=tuple(f"course_utils.models.linear_attention.causal_{name}" for name in ("in_chunks", "recurrent", "as_matrix")),
    twins=(
        _twin("no triangle", "no triangle", "Within a chunk, your tokens see later tokens. Only the lower triangle may count."),
        _twin("token does not see itself", "strict", "Your triangle leaves the diagonal out. A token sees itself as well."),
        _twin("upper triangle", "upper", "Your tokens see the later part of their chunk. The earlier part is the lower triangle."),
        _twin("only itself in the chunk", "diagonal", "Within a chunk, each of your tokens sees only itself. The earlier ones count too."),
        _twin("query and key exchanged", "exchanged", "The rows of your weights belong to keys. A row has to belong to a query."),
        _twin("softmax inside", "softmax", "You take a softmax inside the chunk. The weights are plain dot products here, as they are in "
              "the state."),
        _twin("features taken again", "features again", "Query and key are features already, and you take their features once more."),
        _twin("state forgotten", "no state", "Each of your chunks sees only itself. It has to read what earlier chunks left in the state."),
        _twin("chunk forgotten", "no inside", "Your tokens see only the earlier chunks. Their own chunk has to be added."),
        _twin("written before it is read", "written first", "You write the chunk into the state before you read the state. So its tokens "
              "count twice, and later tokens count too."),
        _twin("state one chunk late", "late", "Your state is one chunk behind: the chunk just before the present one is missing."),
        _twin("only the previous chunk", "previous chunk", "Your state holds only the previous chunk. It has to hold all earlier ones."),
        _twin("vector of the previous chunk", "count not added", "Your matrix holds all earlier chunks, but your vector only the previous "
              "one."),
        _twin("matrix of the previous chunk", "sum not added", "Your vector holds all earlier chunks, but your matrix only the previous "
              "one."),
        _twin("last token of each chunk", "last token", "You write only the last token of a chunk into the state. All of its tokens belong "
              "there."),
        _twin("queries written", "query written", "You write with the queries. Keys are for writing, and queries are for reading."),
        _twin("past fades", "decay", "You let the state fade from chunk to chunk. Here everything that was written stays as it is."),
        _twin("everything seen", "everything", "Your state holds the whole text, so tokens see what comes after them."),
        _twin("sum of the chunk alone", "chunk's sum",
             "You divide by the weights inside the chunk. The weights of earlier chunks belong to the sum as well."),
        _twin("sum of the state alone", "state's sum",
             "You divide by the weights of earlier chunks. The weights inside the chunk belong to the sum as well."),
        _twin("number of tokens as sum", "tokens counted", "You divide by the number of tokens seen. The sum of their weights is wanted."),
        _twin("one sum for the chunk", "largest row", "Inside a chunk, you take one sum for all rows. Each row has a sum of its own."),
        _twin("not divided", "not divided", "Your output is the weighted sum. It still has to be divided by the sum of the weights."),
        _twin("divided part by part", "divided apart", "You divide each part by the sum of its own weights and add the two parts. So the "
              "weights of a row sum to two."),
        _twin("mean of the two parts", "mean of parts", "You take the mean of two averages. The part with more weight has to count more."),
        _twin("only the chunk divided", "chunk divided alone", "You divide the part from the chunk and leave the part from the state as it "
              "is. Add the two parts first, then divide."),
        _twin("counted before it is read", "counted first", "You count the chunk before you read the count, so its weights are in the sum "
              "twice. Your matrix is read at the right moment."),
        _twin("triangle in the numerator alone", "triangle above", "Your sum of weights holds later tokens of the chunk, which the "
              "numerator leaves out. Both need the triangle."),
        _twin("past in the sum alone", "past uncounted", "The weights of earlier chunks are in your sum of weights, but their values "
              "are missing from the numerator. Read the matrix as well."),
        _twin("one number counted", "one number", "You add up all features of all keys into one number. Each feature needs its own sum."),
        _twin("sums along the wrong axis", "flat sum", "Each of your sums divides a column. It has to divide a row, with all its values."),
        _twin("triangle of a fixed size", "fixed triangle", "Your triangle always has as many rows as a full chunk. The last chunk may be "
              "shorter, so take the size from the chunk itself."),
        _twin("chunks stacked", "stacked", "You put the chunks on an axis of their own. Join them along the axis of the tokens."),
        _twin("chunks side by side", "side by side", "You put the chunks side by side. They belong below each other, along the tokens."),
        _twin("shorter chunk left empty", "short chunk empty", "You leave the outputs of a shorter last chunk at 0. They are computed like "
              "the others."),
        _twin("shorter chunk left out", "short chunk dropped", "You leave out the last chunk when it is shorter. Its tokens count too."),
    ),
)
