"""Exercise 12a.7: T5's pair of input and target for given spans. The oracle asks of every token where it belongs."""

from itertools import groupby

import torch

from ..common import Case, FunctionExercise, generator, refusal


def hide_spans(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> tuple[list[int], list[int]]:
    if len(sentinels) <= len(spans):
        raise ValueError(f"{len(spans)} spans need {len(spans) + 1} sentinels, there are {len(sentinels)}")
    source, target, place = [], [], 0
    spans = sorted(spans)
    for sentinel, (start, length) in zip(sentinels, spans, strict=False):
        end = start + length
        source += [*ids[place:start], sentinel]
        target += [sentinel, *ids[start:end]]
        place = end
    source += ids[place:]
    target += [sentinels[len(spans)]]
    return source, target


def oracle(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> tuple[list[int], list[int]]:
    number = {place: k for k, (start, length) in enumerate(sorted(spans)) for place in range(start, start + length)}
    source, target = [], []
    for k, places in groupby(range(len(ids)), number.get):
        tokens = [ids[place] for place in places]
        source += tokens if k is None else [sentinels[k]]
        target += [] if k is None else [sentinels[k], *tokens]
    return source, [*target, sentinels[len(spans)]]


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, spans: list[list[int]], n: int) -> Case:
        ids = (10 + torch.randint(0, 6, (n,), generator=g)).tolist()  # words occur again
        return Case(f"spans {spans} of {n} tokens", {"ids": ids, "spans": spans, "sentinels": [105, 104, 103, 102, 101]}, part=part)

    a, b = int(torch.randint(1, 3, (), generator=g)), int(torch.randint(8, 10, (), generator=g))
    sorted_ones = [case("values", [[a, 3], [b, 2]], 14), case("values", [[2, 2], [6, 3], [11, 1]], 13 + a)]
    return [*sorted_ones, case("any order", [[b, 3], [a, 2], [5, 1]], 15)]


def fixed() -> list[Case]:
    def args(ids: list[int], *spans: list[int], count: int) -> dict:
        return {"ids": ids, "spans": list(spans), "sentinels": [99, 98, 97][:count]}

    return [
        Case("a span at either end", args([11, 12, 13, 14, 15, 16], [0, 2], [5, 1], count=3)),
        Case("a hidden piece that stood there before", args([5, 6, 7, 5, 6, 8, 5, 6], [3, 2], count=2)),
        Case("a span longer than what follows", args([5, 5, 6, 6, 6, 7], [4, 1], [0, 3], count=3), part="any order"),
        refusal("no span and no sentinel: the closing one is missing", args([11, 12], count=0), "1", part="refusal"),
        Case("nothing hidden", args([11, 12, 13], count=2)),
        refusal("too few sentinels", args(list(range(10, 20)), [1, 2], [4, 1], [7, 2], count=3), "4", part="refusal"),
    ]


EXERCISE = FunctionExercise(right=hide_spans, oracle=oracle, draw=draw, fixed=fixed, outputs=("source", "target"))
