"""Exercise 12a.2: what three seeds before and after allow one to say. The oracle compares every run with every other."""

import torch

from ..common import Case, FunctionExercise, arguments, generator


def verdict(before: list[float], after: list[float], patient: list[float]) -> str:
    if min(after) > max(before):
        return "worse"
    if max(after) >= min(before):
        return "not shown"
    if max(after) < min(patient):
        return "better than patience"
    return "better"


def oracle(before: list[float], after: list[float], patient: list[float]) -> str:
    if all(x > y for x in after for y in before):
        return "worse"
    if not all(x < y for x in after for y in before):
        return "not shown"
    return "better than patience" if all(x < y for x in after for y in patient) else "better"


# before, after, patient: how far each run lies from a common level, in nats
SHAPES = {
    "all three better": ((0.00, 0.05, 0.09), (-0.20, -0.14, -0.11), (-0.40, -0.31, -0.26)),
    "all three worse": ((0.00, 0.06, 0.03), (0.12, 0.25, 0.18), (-0.40, -0.35, -0.30)),
    "a better mean, one run inside": ((0.00, 0.08, 0.05), (-0.30, -0.22, 0.02), (-0.60, -0.55, -0.50)),
    "better than patience": ((0.00, 0.05, 0.09), (-0.61, -0.66, -0.59), (-0.40, -0.31, -0.36)),
    "better, level with patience": ((0.00, 0.05, 0.09), (-0.35, -0.44, -0.38), (-0.40, -0.31, -0.36)),
    "better, and not every patient run is beaten": ((0.00, 0.05, 0.09), (-0.37, -0.34, -0.38), (-0.40, -0.31, -0.26)),
    "patience did harm": ((0.00, 0.05, 0.02), (-0.10, -0.15, -0.12), (0.20, 0.25, 0.30)),
    "patience did harm, and the change hardly mattered": ((0.00, 0.05, 0.02), (0.01, 0.04, 0.03), (0.30, 0.25, 0.20)),
    "patience did harm, and so did the change": ((0.00, 0.05, 0.02), (0.10, 0.15, 0.12), (0.30, 0.25, 0.20)),
}


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, shape: tuple[tuple[float, ...], ...]) -> Case:
        level = float(torch.randint(140, 240, (), generator=g)) / 100
        runs = [[round(level + runs[i], 3) for i in torch.randperm(3, generator=g).tolist()] for runs in shape]
        return Case(label, arguments(verdict, *runs), "patience" if "patien" in label else "seeds")

    return [case(label, shape) for label, shape in SHAPES.items()]


def fixed() -> list[Case]:
    return [
        Case("the best run before equals the worst after", arguments(verdict, [1.8, 1.9], [1.8, 1.7], [1.75, 1.85]), "edges"),
        Case("the worst run before equals the best after", arguments(verdict, [1.8, 1.9], [1.9, 2.1], [1.7, 1.75]), "edges"),
        Case("the worst run after equals the best patient one", arguments(verdict, [1.8, 1.9], [1.5, 1.6], [1.6, 1.7]), "edges"),
        Case("one run each", arguments(verdict, [2.0], [1.5], [1.7]), "patience"),
        Case("two runs before, four after", arguments(verdict, [1.9, 2.0], [1.8, 1.7, 1.85, 1.6], [1.65]), "seeds"),
    ]


EXERCISE = FunctionExercise(right=verdict, oracle=oracle, draw=draw, fixed=fixed)
