"""Exercise 13a.3: gradients of one block, handed out with three faults. The oracle is autograd in double precision, the rest of each row
being a constant that is found from output and log-sum-exp."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(q: Tensor, k: Tensor, v: Tensor, grad: Tensor, output: Tensor, lse: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    with torch.enable_grad():
        e = torch.exp(q @ k.T / math.sqrt(q.shape[1]) - lse.double()[:, None])
        rest, mixed = (1 - e.sum(1)).detach(), (output.double() - e @ v).detach()  # of the other keys
        whole = (mixed + e @ v) / (rest + e.sum(1))[:, None]
        found = torch.autograd.grad((whole * grad.double()).sum(), (q, k, v))
    return tuple(x.float() for x in found)


def _block(q: Tensor, k: Tensor, v: Tensor, grad: Tensor, output: Tensor, lse: Tensor, own: bool = False, share: str = "output",
           scales: str = "both", how: str = "right") -> tuple[Tensor, Tensor, Tensor]:
    scale = {"no scale": 1.0, "d": 1 / q.shape[-1]}.get(how, q.shape[-1] ** -0.5)
    scores = scale * q @ k.T
    p = scores.softmax(-1) if own else (scores - lse[:, None]).exp()
    if how == "largest":
        p = (scores - scores.amax(1, keepdim=True)).exp()
    match how:
        case "lse added":
            p = (scores + lse[:, None]).exp()
        case "lse left out":
            p = scores.exp()
        case "divided by lse":
            p = scores.exp() / lse[:, None]
        case "raw scores":
            p = (q @ k.T - lse[:, None]).exp()
    dv, dp = p.T @ grad, grad @ v.T
    d = {"output": (grad * output).sum(-1, keepdim=True), "block": (p * dp).sum(-1, keepdim=True), "none": torch.zeros(len(q), 1),
         "columns": (p * dp).sum(0, keepdim=True), "plain": (grad * output).mean(-1, keepdim=True),
         "plus": -(grad * output).sum(-1, keepdim=True),
         "gradients": grad.sum(-1, keepdim=True), "outputs": output.sum(-1, keepdim=True), "one": (grad * output).sum()}[share]
    ds = dp - d if how == "p forgotten" else p * (dp - d)
    if how == "softmax squared":
        ds = p * (1 - p) * dp
    if how == "derivative twice":
        ds = p * (1 - p) * (dp - d)
    dq, dk = ds @ k, ds.T @ q
    outer = q.shape[-1] ** -0.5 if how != "d" else 1 / q.shape[-1]
    dq = dq * (outer if scales in ("both", "dq", "twice") else 1)
    dk = dk * (outer if scales in ("both", "dk", "twice") else 1)
    if scales == "twice":
        dq, dk = dq * outer, dk * outer
    if how == "keys twice":
        dk = dk * outer
    if how == "values scaled":
        dv = dv * outer
    return dq, dk, dv


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(rows: int, keys: int, first: int, last: int, d: int, d_v: int, part: str = "values") -> Case:
        q, k, v, grad = (torch.randn(n, w, generator=g) for n, w in ((rows, d), (keys, d), (keys, d_v), (rows, d_v)))
        scores = q @ k.T / math.sqrt(d)
        return Case(f"{rows} rows, keys {first} to {last - 1} of {keys}", {
            "q": q, "k": k[first:last], "v": v[first:last], "grad": grad, "output": scores.softmax(1) @ v,
            "lse": scores.logsumexp(1)}, part=part, shape="(rows, d), (columns, d), (columns, d_v)")

    return [case(5, 11, 3, 6, 7, 4), case(3, 9, 0, 5, 4, 7), case(6, 8, 6, 8, 3, 5), case(4, 6, 2, 3, 5, 2, "edges"),
            case(1, 7, 4, 7, 2, 4, "edges")]


_BUGS = {"own": True, "share": "block", "scales": "dq"}


def _left(hint: str, name: str, **kept) -> Twin:
    return Twin(name, partial(_block, **kept), hint)


BUG = Exercise(
    id="13a.3", title="Find the bugs: the gradients of one block", name="block_gradients", kind="function", stars=3, minutes=15,
    signature="block_gradients(q, k, v, grad, output, lse) -> dq (rows, d), dk (columns, d), dv (columns, d_v)", oracle=_oracle,
    reference=_block, draw=_draw, parts={"values": 3, "edges": 1}, outputs=("dq", "dk", "dv"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("still the handed-out bugs", partial(_block, **_BUGS),
             "Take two blocks of keys and add up their shares. Which numbers of a row must come from all of its keys?", untouched=True),
        _left("The share of each row is right now. The weights still come from a softmax over this block, and one factor is missing.",
              "weights and scale left", own=True, scales="dq"),
        _left("The weights are right now. What is subtracted from each row is still summed over this block alone, and one factor is "
              "missing.", "share and scale left", share="block", scales="dq"),
        _left("All factors are there now. But the block is still treated as if the rows had seen no other keys.", "only the scale found",
              own=True, share="block"),
        _left("Only the weights are wrong now: they come from a softmax over this block, as if there were no other keys.",
              "a softmax of the block", own=True),
        _left("What is subtracted from each row is a sum over all of its keys. You sum over this block only. The output contains the rest.",
              "share of the block alone", share="block"),
        _left("The scores are divided by a root, so both queries and keys get that factor. Yours is missing for the keys.",
              "scale missing for the keys", scales="dq"),
        _left("The scores are divided by a root, so both queries and keys get that factor. Yours is missing for the queries.",
              "scale missing for the queries", scales="dk"),
        _left("The scores are divided by a root, and this factor belongs to the gradients of queries and keys too.",
              "scale missing for both", scales="none"),
        _left("The factor of the scores is applied twice in your gradients of queries and keys.", "scale twice", scales="twice"),
        _left("Nothing is subtracted from each row. The weights sum to one, so raising one score lowers all other weights.",
              "nothing subtracted", share="none"),
        _left("What is subtracted belongs to each query. You sum over the queries instead of the keys.", "share of the columns",
              share="columns"),
        _left("You take the mean over the features. A dot product is a sum.", "mean in place of the sum", share="plain"),
        _left("You add the number of each row. It has to be subtracted.", "share added", share="plus"),
        _left("You subtract the sum of the gradient; the output has to be multiplied in.", "output left out", share="gradients"),
        _left("The gradient of a score has the weight as a factor. You left this factor out.", "weight left out",
              how="p forgotten"),
        _left("You use the derivative of a single weight by its own score. Each score moves all weights of its row.",
              "diagonal of the softmax alone", how="softmax squared"),
        _left("You multiply by 1 minus the weight as well. Subtracting the share of the row already accounts for its other weights.",
              "derivative of the softmax twice", how="derivative twice"),
        _left("You add the log-sum-exp to the scores. The exponential has to be divided by the sum of the row, so its logarithm is "
              "subtracted.", "log-sum-exp added", how="lse added"),
        _left("Your weights are plain exponentials of the scores. They still have to be divided by the sum of the whole row. The "
              "log-sum-exp is its logarithm.", "log-sum-exp left out", how="lse left out"),
        _left("You divide by the log-sum-exp. It is the logarithm of the sum of the row, and the sum itself has to divide.",
              "divided by the log-sum-exp", how="divided by lse"),
        _left("Your weights come from scores that are not divided by the root of the width. The log-sum-exp belongs to divided scores.",
              "weights of unscaled scores", how="raw scores"),
        _left("You subtract the sum of the output; the gradient has to be multiplied in.", "gradient left out", share="outputs"),
        _left("You subtract one number from all rows. Each row has an output and a gradient of its own.", "one share for all rows",
              share="one"),
        _left("The factor of the scores is applied twice in your gradient of the keys.", "scale twice for the keys", how="keys twice"),
        _left("The values are not part of the scores, so their gradient does not get the factor of the scores.", "values scaled too",
              how="values scaled"),
        _left("Your exponentials are relative to the largest score of the block, so they are not the weights yet.",
              "maximum in place of log-sum-exp", how="largest"),
    ),
)
