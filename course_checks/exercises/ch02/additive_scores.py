"""Exercise 02.2: additive scores of all pairs. The oracle takes pair by pair, in double precision."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def additive_scores(query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    from_query = (query @ w_q)[:, :, None, :]
    from_key = (key @ w_k)[:, None, :, :]
    return torch.tanh(from_query + from_key) @ v


def oracle(query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    q, k, w_q, w_k, v = (t.double() for t in (query, key, w_q, w_k, v))
    batches = []
    for b in range(len(q)):
        rows = [torch.stack([torch.dot(v, torch.tanh(w_q.T.mv(q_i) + w_k.T.mv(k_j))) for k_j in k[b]]) for q_i in q[b]]
        batches.append(torch.stack(rows))
    return torch.stack(batches).float()


def draw(seed: int) -> list[Case]:
    g, shape = generator(seed), "(batch, query, key)"
    batch, n, m, d_query, d_key, d_attn = sizes(g, 6, 2, 9)
    args = {"w_q": 0.5 * randn(g, d_query, d_attn), "w_k": 0.5 * randn(g, d_key, d_attn), "v": randn(g, d_attn)}
    args["key"] = randn(g, batch, m, d_key)
    many, one = ({"query": randn(g, batch, number, d_query), **args} for number in (n, 1))
    label = f"{batch} × {n} queries of width {d_query}, {m} keys of width {d_key}, d_attn = {d_attn}"
    return [
        Case(label, many, gradients=("query", "key", "w_q", "w_k", "v"), shape=shape),
        Case("one query, as in a step of a decoder", one, "one query", shape=shape),
    ]


def fixed() -> list[Case]:
    g = generator(1)
    args = {"w_q": 0.5 * randn(g, 5, 4), "w_k": 0.5 * randn(g, 6, 4), "v": randn(g, 4)}

    def case(n: int, m: int) -> Case:
        pairs = {"query": randn(g, 1, n, 5), "key": randn(g, 1, m, 6)}
        return Case(f"a batch of one, {n} queries, {m} keys", {**pairs, **args}, shape="(batch, query, key)")

    return [case(7, 2), case(2, 7)]


FORBIDDEN = ("course_utils.models.recurrent.AdditiveAttention.scores",)
EXERCISE = FunctionExercise(right=additive_scores, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
