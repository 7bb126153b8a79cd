"""Exercise 11b.5: what can be known from a few examples. The oracle goes through lists of hours."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, arguments, generator


def posterior(shops: Tensor, hours: Tensor, opened: Tensor) -> Tensor:
    shown = shops[:, hours]
    fits = (shown == opened).all(1)
    if not fits.any():
        return torch.full((shops.shape[1],), 0.5)
    return shops[fits].float().mean(0)


def oracle(shops: Tensor, hours: Tensor, opened: Tensor) -> Tensor:
    told = list(zip(hours.tolist(), opened.tolist(), strict=True))
    left = [shop for shop in shops.tolist() if all(shop[hour] == fact for hour, fact in told)]
    if not left:
        return torch.tensor([0.5] * shops.shape[1])
    return torch.tensor([sum(shop[hour] for shop in left) / len(left) for hour in range(shops.shape[1])])


def _shops(g: torch.Generator, count: int, hours: int) -> Tensor:
    first = torch.randint(hours, (count, 1), generator=g)
    length = torch.randint(2, hours - 1, (count, 1), generator=g)
    return (torch.arange(hours) - first) % hours < length


def case(label: str, part: str, *values: Tensor) -> Case:
    return Case(label, arguments(posterior, *values), part, shape="(hours,)")


def draw(seed: int) -> list[Case]:
    g, cases = generator(seed), []
    for count, hours, examples in ((60, 9, 2), (90, 11, 3)):
        shops = _shops(g, count, hours)
        asked = torch.randperm(hours, generator=g)[:examples]
        while True:  # a shop that others share some of its answers with
            shop = shops[int(torch.randint(count, (), generator=g))]
            facts = shop[asked]
            same = shops[:, asked] == facts
            if 1 < same.all(1).sum() < same.any(1).sum() - 3 and facts.any() and not facts.all():
                break
            asked = torch.randperm(hours, generator=g)[:examples]
        cases.append(case(f"{count} shops, {hours} hours, {examples} examples", "values", shops, asked, facts))
    return cases


def fixed() -> list[Case]:
    shops = torch.tensor([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 1]]).bool()
    none = torch.tensor([], dtype=torch.long)
    return [
        case("open at 1", "values", shops, torch.tensor([1]), torch.tensor([True])),
        case("closed at 1", "values", shops, torch.tensor([1]), torch.tensor([False])),
        case("no example: all shops count", "edges", shops, none, none.bool()),
        case("no shop fits: 0.5 at every hour", "edges", shops, torch.tensor([1, 3]), torch.tensor([True, True])),
    ]


EXERCISE = FunctionExercise(right=posterior, oracle=oracle, draw=draw, fixed=fixed)
