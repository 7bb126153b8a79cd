"""Exercise 13a.3: gradients of one block, handed out with three faults. The oracle is autograd in double precision, the rest of each row
being a constant that is found from output and log-sum-exp."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn


def block_gradients(q: Tensor, k: Tensor, v: Tensor, grad: Tensor, output: Tensor, lse: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    scale = q.shape[-1] ** -0.5
    scores = scale * q @ k.T
    p = (scores - lse[:, None]).exp()
    dv = p.T @ grad
    dp = grad @ v.T
    share = (grad * output).sum(-1, keepdim=True)
    ds = p * (dp - share)
    return scale * ds @ k, scale * ds.T @ q, dv


def oracle(q: Tensor, k: Tensor, v: Tensor, grad: Tensor, output: Tensor, lse: Tensor) -> tuple[Tensor, ...]:
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    with torch.enable_grad():
        e = torch.exp(q @ k.T / q.shape[1] ** 0.5 - lse.double()[:, None])
        rest, mixed = (1 - e.sum(1)).detach(), (output.double() - e @ v).detach()  # of the other keys
        whole = (mixed + e @ v) / (rest + e.sum(1))[:, None]
        found = torch.autograd.grad((whole * grad.double()).sum(), (q, k, v))
    return tuple(x.float() for x in found)


def case(g: torch.Generator, rows: int, keys: int, first: int, last: int, d: int, d_v: int, part: str = "values") -> Case:
    q, k, v, grad = randn(g, rows, d), randn(g, keys, d), randn(g, keys, d_v), randn(g, rows, d_v)
    scores = q @ k.T / d**0.5
    whole = {"output": scores.softmax(1) @ v, "lse": scores.logsumexp(1)}
    args = {"q": q, "k": k[first:last], "v": v[first:last], "grad": grad, **whole}
    return Case(f"{rows} rows, keys {first} to {last - 1} of {keys}", args, part=part, shape="(rows, d), (columns, d), (columns, d_v)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    plain = [case(g, *sizes) for sizes in ((5, 11, 3, 6, 7, 4), (3, 9, 0, 5, 4, 7), (6, 8, 6, 8, 3, 5))]
    return plain + [case(g, *sizes, "edges") for sizes in ((4, 6, 2, 3, 5, 2), (1, 7, 4, 7, 2, 4))]


EXERCISE = FunctionExercise(right=block_gradients, oracle=oracle, draw=draw, outputs=("dq", "dk", "dv"), rtol=1e-3, atol=1e-4)
