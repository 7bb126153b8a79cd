"""Exercise 12a.8: ModernBERT's block. The oracle goes head by head and turns pairs as complex numbers, in double precision."""

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.models.positions import rope

from ..common import Case, FunctionExercise, arguments, generator, randn, rotated


def modern_block(x: Tensor, weights: dict[str, Tensor], num_heads: int, reach: int | None, base: float) -> Tensor:
    batch, n, d = x.shape
    read = F.layer_norm(x, (d,), weights["norm_1"])
    q, k, v = (read @ weights["qkv"].T).chunk(3, -1)
    q, k, v = (part.view(batch, n, num_heads, -1).transpose(1, 2) for part in (q, k, v))
    q, k = (rope(part, base=base, halves=True) for part in (q, k))
    place = torch.arange(n)
    distance = place[:, None] - place
    seen = distance.abs() <= (n if reach is None else reach)
    scores = q @ k.mT / (d // num_heads) ** 0.5
    weight = scores.masked_fill(~seen, -1e9).softmax(-1)
    mixed = (weight @ v).transpose(1, 2).reshape(batch, n, d)
    x = x + mixed @ weights["out"].T
    read = F.layer_norm(x, (d,), weights["norm_2"])
    gate, value = (read @ weights["up"].T).chunk(2, -1)
    hidden = F.gelu(gate) * value
    return x + hidden @ weights["down"].T


def oracle(x: Tensor, weights: dict[str, Tensor], num_heads: int, reach: int | None, base: float) -> Tensor:
    w = {name: value.double() for name, value in weights.items()}
    x, (n, d), outputs = x.double(), x.shape[1:], []
    read, width = F.layer_norm(x, (d,), w["norm_1"]), d // num_heads
    far = torch.tensor([[reach is not None and abs(i - j) > reach for j in range(n)] for i in range(n)])
    for head in range(num_heads):
        rows = [slice(part * d + head * width, part * d + (head + 1) * width) for part in range(3)]
        q, k, v = (read @ w["qkv"][place].T for place in rows)
        scores = torch.einsum("bid,bjd->bij", rotated(q, base), rotated(k, base)) / width**0.5
        outputs.append(scores.masked_fill(far, -torch.inf).softmax(-1) @ v)
    x = x + torch.cat(outputs, -1) @ w["out"].T
    gate, value = (F.layer_norm(x, (d,), w["norm_2"]) @ w["up"].T).chunk(2, -1)
    return (x + (gate * (1 + torch.erf(gate / 2**0.5)) / 2 * value) @ w["down"].T).float()


def case(g: torch.Generator, label: str, sizes: tuple[int, ...], heads: int, reach: int | None, base: float, part: str = "edges") -> Case:
    batch, n, d, width = sizes
    shapes = {"qkv": (3 * d, d), "out": (d, d), "up": (2 * width, d), "down": (d, width)}
    weights = {name: 1 + 0.4 * randn(g, d) for name in ("norm_1", "norm_2")}
    weights |= {name: (0.3 if name in ("qkv", "up") else 0.4) * randn(g, *shape) for name, shape in shapes.items()}
    args = arguments(modern_block, randn(g, batch, n, d) + 0.3, weights, heads, reach, base)
    return Case(label, args, part, gradients=("x",), shape="(batch, n, d)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "2 texts of 9 tokens, 3 heads of 4, reach 2", (2, 9, 12, 10), 3, 2, 100.0, "values"),
        case(g, "3 texts of 7 tokens, 2 heads of 6, reach 3", (3, 7, 12, 9), 2, 3, 40.0, "values"),
        case(g, "no window, a large base", (2, 6, 8, 7), 2, None, 160_000.0, "whole text"),
    ]


def fixed() -> list[Case]:
    g = generator(5)
    return [
        case(g, "one token", (1, 1, 8, 5), 2, 1, 50.0),
        case(g, "reach 1, a text shorter than the window of others", (1, 4, 8, 6), 4, 1, 10.0),
        case(g, "reach 0: a token sees itself alone", (2, 4, 8, 6), 2, 0, 30.0),
        case(g, "a window wider than the text", (2, 5, 8, 6), 2, 9, 30.0),
    ]


OURS = "course_utils.models.zoo.modern.ModernBlock"
EXERCISE = FunctionExercise(right=modern_block, oracle=oracle, draw=draw, fixed=fixed, forbidden=(OURS,))
