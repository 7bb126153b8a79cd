"""Exercise 09.2: the input of two texts. The oracle counts down the two lengths."""

import torch
from torch import Tensor

from ..common import Case, FunctionExercise, generator, integers, refusal

CLS, SEP = 2, 3


def build_input(first: list[int], second: list[int] | None, max_len: int) -> tuple[Tensor, Tensor]:
    texts = [list(text) for text in (first, second) if text is not None]
    space = max_len - 1 - len(texts)
    if space < 0:
        raise ValueError(f"max_len={max_len} is too short for the special tokens of {len(texts)} text(s)")
    while sum(map(len, texts)) > space:
        max(texts, key=len).pop()
    ids, segments = [CLS], [0]
    for segment, text in enumerate(texts):
        ids += [*text, SEP]
        segments += [segment] * (len(text) + 1)
    return torch.tensor(ids), torch.tensor(segments)


def oracle(first: list[int], second: list[int] | None, max_len: int) -> tuple[Tensor, Tensor]:
    """Only the lengths shrink, one token at a time; the texts are cut once."""
    a, b, special = len(first), len(second or []), 2 if second is None else 3
    while a + b + special > max_len:
        a, b = (a, b - 1) if b > a else (a - 1, b)
    ids, segments = [CLS, *first[:a], SEP], [0] * (a + 2)
    if second is not None:
        ids, segments = [*ids, *second[:b], SEP], segments + [1] * (b + 1)
    return torch.tensor(ids), torch.tensor(segments)


def case(label: str, part: str, first: list[int], second: list[int] | None, max_len: int) -> Case:
    args = {"first": first, "second": second, "max_len": max_len}
    return refusal(label, args, str(max_len), part=part) if part == "refusal" else Case(label, args, part)


def draw(seed: int) -> list[Case]:
    g = generator(seed)

    def text(n: int) -> list[int]:
        return integers(g, 5, 30, n).tolist()

    return [
        case("5 and 3 tokens, room enough", "values", text(5), text(3), 16),
        case("one text of 4 tokens", "values", text(4), None, 9),
        case("9 and 4 tokens into 12 places", "too long", text(9), text(4), 12),
        case("4 and 8 tokens into 10 places", "too long", text(4), text(8), 10),
        case("8 and 2 tokens into 9 places", "too long", text(8), text(2), 9),
    ]


def fixed() -> list[Case]:
    return [
        case("exactly full", "values", [7, 8, 9], [10, 11], 8),
        case("5 and 5 tokens into 8 places", "too long", [5, 6, 7, 8, 9], [15, 16, 17, 18, 19], 8),
        case("one text of 6 tokens into 5 places", "too long", [5, 6, 7, 8, 9, 10], None, 5),
        case("room for the special tokens only", "too long", [7], [8, 9], 3),
        case("an empty second text", "values", [7, 8], [], 9),
        case("two places for a pair", "refusal", [7], [8], 2),
        case("one place for one text", "refusal", [7], None, 1),
    ]


NAMES, FORBIDDEN = ("ids", "segments"), ("course_utils.text.wordpiece.WordPiece.encode",)
EXERCISE = FunctionExercise(right=build_input, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, forbidden=FORBIDDEN)
