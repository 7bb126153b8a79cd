"""Exercise 13b.3: causal linear attention in chunks. The oracle goes from row to row in double precision, without a state."""

from dataclasses import replace

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def causal_in_chunks(query: Tensor, key: Tensor, value: Tensor, size: int) -> Tensor:
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    written = torch.zeros(key.shape[1], value.shape[1])
    counted = torch.zeros(key.shape[1])
    outputs = []
    for q, k, v in zip(query.split(size), key.split(size), value.split(size), strict=True):
        inside = (q @ k.T).tril()
        above = inside @ v + q @ written
        below = inside.sum(1) + q @ counted
        outputs.append(above / below[:, None])
        written = written + k.T @ v
        counted = counted + k.sum(0)
    return torch.cat(outputs)


def oracle(query: Tensor, key: Tensor, value: Tensor, size: int) -> Tensor:
    q, k, v = query.double(), key.double(), value.double()
    rows = []
    for t in range(len(q)):
        weights = torch.stack([torch.dot(q[t], k[s]) for s in range(t + 1)])
        rows.append((weights / weights.sum()) @ v[: t + 1])
    return torch.stack(rows).float()


def case(g: torch.Generator, n: int, r: int, d_v: int, size: int, part: str = "values", **more) -> Case:
    q, k = (torch.exp(randn(g, n, r) - 0.5) for _ in range(2))
    args = {"query": q, "key": k, "value": randn(g, n, d_v), "size": size}
    return Case(f"{n} tokens in chunks of {size}", args, part, shape="(n, d_v)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    (r, d_v), (r2, d_v2), (r3, d_v3) = (sizes(g, 2, 2, 9) for _ in range(3))
    return [case(g, 14, r, d_v, 4), case(g, 11, r2, d_v2, 3), case(g, 12, r3, d_v3, 4, gradients=("query", "key", "value"))]


def fixed() -> list[Case]:
    g = generator(33)
    shapes = ((5, 4, 3, 1), (5, 3, 2, 9), (6, 4, 2, 6), (1, 4, 3, 2), (7, 1, 3, 3), (9, 4, 1, 2))
    edges = [case(g, *shape, "edges") for shape in shapes]
    small = replace(case(g, 6, 3, 2, 4, "edges"), label="features of about a thousandth")
    small.args.update({name: 1e-3 * small.args[name] for name in ("query", "key")})
    return [*edges, small] + [case(g, 6, 3, 4, size, "refusal", rejects=ValueError, mentions=(str(size),)) for size in (0, -2)]


OURS = tuple(f"course_utils.models.linear_attention.causal_{name}" for name in ("recurrent", "as_matrix"))
EXERCISE = FunctionExercise(right=causal_in_chunks, oracle=oracle, draw=draw, fixed=fixed, outputs=("output",), forbidden=OURS)
