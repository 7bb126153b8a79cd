"""Exercise 11b.3: the best size for a budget under 6ND. The oracle searches a fine grid of sizes in doubles."""

import torch

from ..common import Case, FunctionExercise, arguments, generator


def best_use(operations: float, A: float, B: float, alpha: float, beta: float) -> tuple[float, float]:  # noqa: N803
    pairs = operations / 6
    power = 1 / (alpha + beta)
    ratio = alpha * A / (beta * B)
    size = (ratio * pairs**beta) ** power
    tokens = pairs / size
    return size, tokens


def oracle(operations: float, A: float, B: float, alpha: float, beta: float) -> tuple[float, float]:  # noqa: N803
    low, high = 0.0, 45.0  # logarithms of the size
    for _ in range(60):
        size = torch.linspace(low, high, 201, dtype=torch.float64)
        first = torch.log(torch.tensor(A, dtype=torch.float64)) - alpha * size
        tokens = torch.log(torch.tensor(operations / 6, dtype=torch.float64)) - size
        second = torch.log(torch.tensor(B, dtype=torch.float64)) - beta * tokens
        slope = beta * second.exp() - alpha * first.exp()  # of the loss over ln N: rises from below 0 to above it
        at = int((slope > 0).double().argmax())
        low, high = float(size[max(0, at - 1)]), float(size[at])
    best = torch.tensor((low + high) / 2, dtype=torch.float64).exp().item()
    return best, operations / 6 / best


def case(label: str, part: str, *values: float) -> Case:
    return Case(label, arguments(best_use, *values), part)


def draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for power in (9, 14):
        u = torch.rand(5, generator=g).tolist()
        law = 100 + 300 * u[0], 900 + 1_500 * u[1], 0.28 + 0.08 * u[2], 0.4 + 0.1 * u[3]
        cases.append(case(f"about 1e{power} operations", "values", (1 + u[4]) * 10.0**power, *law))
    return cases


def fixed() -> list[Case]:
    return [
        case("everything equal: 600 operations", "values", 600.0, 5.0, 5.0, 0.5, 0.5),
        case("Chinchilla's budget by a published law", "large", 5.76e23, 482.01, 2085.43, 0.3478, 0.3658),
        case("steeper in the size than in the text", "large", 1e20, 900.0, 300.0, 0.5, 0.3),
    ]


EXERCISE = FunctionExercise(right=best_use, oracle=oracle, draw=draw, fixed=fixed, outputs=("size", "tokens"), rtol=1e-3, atol=1e-6)
