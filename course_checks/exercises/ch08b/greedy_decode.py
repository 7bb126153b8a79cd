"""Exercise 08b.1: greedy decoding on a step function. The oracle decodes row by row with Python lists."""

from dataclasses import replace

import torch
from torch import Tensor

from ..common import CALLABLES, Case, FunctionExercise, Registered, generator, refusal
from .callables import BOS, EOS, PAD


def greedy_decode(step, start: Tensor, eos: int, pad: int, max_new: int) -> Tensor:
    if max_new < 1:
        raise ValueError(f"max_new={max_new} must be at least 1")
    tokens, done = start, torch.zeros(len(start), dtype=torch.bool)
    for _ in range(max_new):
        token = step(tokens).argmax(-1)  # (batch,)
        token = token.masked_fill(done, pad)
        tokens = torch.cat([tokens, token[:, None]], dim=1)
        done = done | (token == eos)
        if done.all():
            break
    return tokens[:, start.shape[1] :]


def oracle(step: Registered, start: Tensor, eos: int, pad: int, max_new: int) -> Tensor:
    """Every row writes its own list; the step function needs them all, so all are handed over each time."""
    rows, ended = start.tolist(), [False] * len(start)
    for _ in range(max_new):
        scores = CALLABLES[step.name](torch.tensor(rows)).tolist()
        for i, row in enumerate(rows):
            row.append(pad if ended[i] else max(range(len(scores[i])), key=scores[i].__getitem__))
            ended[i] = ended[i] or row[-1] == eos
        if all(ended):
            break
    return torch.tensor([row[start.shape[1] :] for row in rows])


def case(label: str, part: str, step: str, start: Tensor, max_new: int, eos: int = EOS, pad: int = PAD) -> Case:
    args = {"step": Registered(step), "start": start, "eos": eos, "pad": pad, "max_new": max_new}
    return Case(label, args, part, shape="(batch, at most max_new)") if max_new > 0 else refusal(label, args, str(max_new))


def counted(one: Case) -> Case:
    """The same case, in which the step function must be called once for each new token."""
    return replace(one, calls={"step": oracle(**one.args).shape[1]})


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    six, five, four = (torch.randint(3, 7, shape, generator=g) for shape in ((6, 1), (5, 2), (4, 2)))
    others = torch.randint(3, 5, (4, 1), generator=g)
    return [
        counted(case("6 sentences of different lengths", "values", "story", six, 9)),
        case("after two given tokens", "values", "story", five, 9),
        case("a model that reads 4 tokens, max_new 4", "values", "short_story", six[:3], 4),
        case("the same model, two given tokens, max_new 3", "values", "short_story", four, 3),
        case("the end token is 5, padding is 6", "values", "other_story", others, 9, 5, 6),
        case("row i ends with its token i + 1", "the end", "stutter", six[:4], 9),
    ]


def fixed() -> list[Case]:
    begin = torch.tensor([[BOS]])
    return [
        case("a single sentence that ends at once", "the end", "stutter", begin, 6),
        case("three sentences, the longest ends before max_new", "the end", "stutter", begin.repeat(3, 1), 6),
        case("the end token is the given token", "the end", "story", torch.tensor([[EOS], [EOS]]), 6),
        case("one token is all there may be", "values", "stutter", torch.tensor([[BOS, 3, 4], [BOS, 5, 3]]), 1),
        case("a model that proposes padding in the middle", "values", "mumble", torch.tensor([[3], [4], [5], [6]]), 9),
        case("max_new = -3", "bad input", "stutter", begin, -3),
        case("max_new = 0", "bad input", "stutter", begin, 0),
    ]


FORBIDDEN = ("course_utils.training.decoding.greedy",)
EXERCISE = FunctionExercise(right=greedy_decode, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
