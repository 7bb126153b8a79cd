"""Exercise 11a.4: temperature, top-k and top-p. The oracle sorts each row as a list in double precision."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ..common import Case, FunctionExercise, generator, randn, refusal


def next_probabilities(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"temperature={temperature}, top_k={top_k}, top_p={top_p}: out of range")
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    logits = logits / temperature
    if top_k is not None:
        k = min(top_k, logits.shape[-1])
        least = logits.topk(k).values[:, -1:]
        logits = logits.masked_fill(logits < least, -torch.inf)
    p = logits.softmax(-1)
    if top_p is not None:
        ordered, place = p.sort(-1, descending=True)
        before = ordered.cumsum(-1) - ordered
        drop = before >= top_p
        ordered = ordered.masked_fill(drop, 0.0)
        p = torch.zeros_like(p).scatter(-1, place, ordered)
        p = p / p.sum(-1, keepdim=True)
    return p


def oracle(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    rows = []
    for row in logits.tolist():
        order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
        if temperature == 0:
            rows.append([float(i == order[0]) for i in range(len(row))])
            continue
        order = order[: top_k or len(row)]
        weight = {i: math.exp((row[i] - row[order[0]]) / temperature) for i in order}
        total, kept = sum(weight.values()), dict[int, float]()
        for i in order:
            if top_p is not None and sum(kept.values()) / total >= top_p:
                break
            kept[i] = weight[i]
        rows.append([kept.get(i, 0.0) / sum(kept.values()) for i in range(len(row))])
    return torch.tensor(rows)


def case(label: str, part: str, logits: Tensor, **settings: float) -> Case:
    return Case(label, {"logits": logits, **settings}, part, shape="(batch, vocab)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def drawn(part: str, rows: int, vocab: int, **settings: float) -> Case:
        label = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in settings.items())
        return case(f"{rows} × {vocab}: {label}", part, 1.6 * randn(g, rows, vocab), **settings)

    return [
        drawn("temperature", 3, 7, temperature=0.5),
        drawn("temperature", 2, 6, temperature=1.7),
        drawn("top-k", 4, 9, top_k=3),
        drawn("top-k", 3, 8, temperature=2.0, top_k=4),
        drawn("top-p", 3, 10, top_p=0.8),
        drawn("top-p", 5, 8, top_p=0.35),
        drawn("all together", 3, 12, temperature=1.5, top_k=6, top_p=0.7),
        drawn("all together", 4, 11, temperature=0.7, top_k=5, top_p=0.8),
        drawn("temperature", 2, 5, temperature=0.0),
    ]


def fixed() -> list[Case]:
    logits = torch.tensor([[2.0, -1.0, 0.5, 1.2], [-3.0, -0.5, -2.0, -0.7]])
    half = torch.tensor([[0.0, math.log(2), 0.0, -300.0], [math.log(2), -300.0, 0.0, 0.0]])
    wide = torch.tensor([[120.0, -90.0, 119.0, 30.0, 118.5], [-150.0, -151.0, -149.5, -90.0, -90.5], [3.0, 260.0, -4.0, 0.0, 1.0]])
    bad = (("top_p", 1.5), ("top_p", 0.0), ("top_k", 0), ("temperature", -0.5))
    return [
        case("top-p 0.5 of 0.25, 0.5, 0.25", "top-p", half, top_p=0.5),
        case("logits in the hundreds", "temperature", wide),
        case("logits in the hundreds, top-k 3, top-p 0.8", "all together", wide, top_k=3, top_p=0.8, temperature=0.8),
        case("one row", "top-k", logits[1:], temperature=0.6, top_k=3),
        refusal("top_k = 0 at temperature 0", {"logits": logits, "temperature": 0.0, "top_k": 0}, "0", part="refusal"),
        refusal("top_p = -0.2", {"logits": logits, "top_p": -0.2}, "-0.2", part="refusal"),
        case("top-k 1: all on the largest", "top-k", logits, top_k=1),
        case("top-k 9 of 4 tokens", "top-k", logits, top_k=9),
        case("top-p 1 changes nothing", "top-p", half, top_p=1.0),
        case("a tiny top-p keeps one token", "top-p", logits, top_p=0.01),
        case("nothing set", "temperature", logits),
        *(refusal(f"{name} = {value}", {"logits": logits, name: value}, str(value), part="refusal") for name, value in bad),
    ]


OURS = ("course_utils.training.sampling.next_distribution",)
EXERCISE = FunctionExercise(right=next_probabilities, oracle=oracle, draw=draw, fixed=fixed, forbidden=OURS)
