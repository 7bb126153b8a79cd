"""Exercise 02.3: a softmax that runs over the sentences. The oracle goes sentence by sentence, with the softmax written out."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, randn, sizes


def align_step(state: Tensor, annotations: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    hidden = torch.tanh((state @ w_s)[:, None, :] + annotations @ w_h)
    scores = hidden @ v
    weights = torch.softmax(scores, dim=1)
    context = (weights[:, :, None] * annotations).sum(dim=1)
    return context, weights


def oracle(state: Tensor, annotations: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    contexts, shares = [], []
    for s, rows in zip(state.double(), annotations.double(), strict=True):
        power = torch.stack([torch.exp(torch.dot(v.double(), torch.tanh(w_s.double().T.mv(s) + w_h.double().T.mv(h)))) for h in rows])
        shares.append(power / power.sum())
        contexts.append(sum(share * h for share, h in zip(shares[-1], rows, strict=True)))
    return torch.stack(contexts).float(), torch.stack(shares).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, steps, d_state, d_h, d_attn = sizes(g, 5, 2, 9)
    args = {"w_s": 0.5 * randn(g, d_state, d_attn), "w_h": 0.5 * randn(g, d_h, d_attn), "v": randn(g, d_attn)}

    def case(label: str, batch: int, **more) -> Case:
        given = {"state": randn(g, batch, d_state), "annotations": randn(g, batch, steps, d_h)}
        return Case(label, {**given, **args}, shape="(batch, width)", **more)

    every = ("state", "annotations", "w_s", "w_h", "v")
    return [case(f"{batch} sentences of {steps} words", batch, gradients=every), case("a batch of one sentence", 1)]


EXERCISE = FunctionExercise(right=align_step, oracle=oracle, draw=draw, outputs=("context", "weights"))
