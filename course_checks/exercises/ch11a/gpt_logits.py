"""Exercise 11a.2: the logits of a GPT from its parts. The oracle writes out the norm and looks words up by one-hot products."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, randn

MIXING, BENDING = Registered("mixing_block"), Registered("bending_block")


def gpt_logits(ids: Tensor, token: Tensor, position: Tensor, blocks: list[Callable], weight: Tensor, bias: Tensor) -> Tensor:
    n = ids.shape[1]
    if n > len(position):
        raise ValueError(f"{n} ids, but only {len(position)} positions")
    x = token[ids] + position[:n]
    for block in blocks:
        x = block(x)
    x = F.layer_norm(x, x.shape[-1:], weight, bias)
    return x @ token.T


def oracle(ids: Tensor, token: Tensor, position: Tensor, blocks: list[Registered], weight: Tensor, bias: Tensor) -> Tensor:
    x = F.one_hot(ids, len(token)).to(token.dtype) @ token + torch.eye(len(position))[: ids.shape[1]] @ position
    for block in blocks:
        x = CALLABLES[block.name](x)
    centred = x - x.mean(-1, keepdim=True)
    x = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias
    return torch.einsum("bnd,vd->bnv", x, token)


def case(g: torch.Generator, label: str, batch: int, n: int, most: int, blocks: list[Registered], part: str = "values", **more) -> Case:
    tables = {"token": randn(g, 11, 6), "position": randn(g, most, 6), "weight": 1 + 0.4 * randn(g, 6), "bias": randn(g, 6)}
    ids = torch.stack([torch.randperm(11, generator=g)[:n] for _ in range(batch)])
    return Case(label, {"ids": ids, "blocks": blocks, **tables}, part, shape="(batch, n, vocab)", **more)


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    wanted = ("token", "position", "weight", "bias")
    return [
        case(g, "2 rows of 5 ids, 2 blocks", 2, 5, 9, [MIXING, BENDING], gradients=wanted),
        case(g, "3 rows of 4 ids, 3 blocks", 3, 4, 7, [BENDING, MIXING, BENDING], gradients=wanted),
    ]


def fixed() -> list[Case]:
    g = generator(4)
    faint = case(g, "vectors of tiny entries, where eps decides", 2, 4, 6, [])
    faint.args.update({name: 0.003 * faint.args[name] for name in ("token", "position")})
    faint.args["weight"] = 40 * faint.args["weight"]
    return [
        faint,
        case(g, "as many ids as positions", 2, 7, 7, [MIXING], "edges"),
        case(g, "a single id", 1, 1, 4, [BENDING, MIXING], "edges"),
        case(g, "no block at all", 2, 3, 8, [], "edges"),
        case(g, "8 ids, 5 positions", 2, 8, 5, [MIXING], "refusal", rejects=ValueError, mentions=("8", "5")),
    ]


EXERCISE = FunctionExercise(right=gpt_logits, oracle=oracle, draw=draw, fixed=fixed)
