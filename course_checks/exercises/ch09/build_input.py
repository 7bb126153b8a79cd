"""Exercise 09.2: the input of two texts. The oracle deletes tokens one at a time from the whole list."""

import torch
from torch import Tensor

from ...case import Case, generator, refusal
from ...exercise import FunctionExercise
from ..common import integers

CLS, SEP = 2, 3


def build_input(first: list[int], second: list[int] | None, max_len: int) -> tuple[Tensor, Tensor]:
    texts = [list(text) for text in (first, second) if text is not None]
    special = 1 + len(texts)
    if max_len < special:
        raise ValueError(f"max_len={max_len} has no room for {special} special tokens")
    room = max_len - special
    while sum(map(len, texts)) > max(room, 0):
        index = max(range(len(texts)), key=lambda k: len(texts[k]))
        texts[index].pop(-1)
    ids, segments = [CLS], [0]
    for segment, text in enumerate(texts):
        closed = [SEP]
        ids += text + closed
        segments += [segment + False] * (len(text) + len(closed))
    return (torch.tensor(ids), torch.tensor(segments))


def _oracle(first: list[int], second: list[int] | None, max_len: int) -> tuple[Tensor, Tensor]:
    """Mark each token with its text, delete the last one of the longer text until the list fits, then add the rest."""
    marked = [(0, i) for i in first] + [(1, i) for i in second or []]
    special = 2 if second is None else 3
    if max_len < special:
        raise ValueError(f"max_len={max_len} has no room for {special} special tokens")
    while len(marked) + special > max_len:
        lengths = [sum(text == which for text, _ in marked) for which in (0, 1)]
        longer = 1 if lengths[1] > lengths[0] else 0
        del marked[max(k for k, (text, _) in enumerate(marked) if text == longer)]
    rows = [(0, CLS), *(t for t in marked if t[0] == 0), (0, SEP)]
    if second is not None:
        rows += [*(t for t in marked if t[0] == 1), (1, SEP)]
    return torch.tensor([i for _, i in rows]), torch.tensor([text for text, _ in rows])


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    text = lambda n: integers(g, 5, 30, n).tolist()  # noqa: E731
    return [
        Case("5 and 3 tokens, room enough", {"first": text(5), "second": text(3), "max_len": 16}),
        Case("one text of 4 tokens", {"first": text(4), "second": None, "max_len": 9}),
        Case("9 and 4 tokens into 12 places", {"first": text(9), "second": text(4), "max_len": 12}, part="too long"),
        Case("4 and 8 tokens into 10 places", {"first": text(4), "second": text(8), "max_len": 10}, part="too long"),
        Case("8 and 2 tokens into 9 places", {"first": text(8), "second": text(2), "max_len": 9}, part="too long"),
    ]


def _fixed() -> list[Case]:
    return [
        Case("exactly full", {"first": [7, 8, 9], "second": [10, 11], "max_len": 8}),
        Case("5 and 5 tokens into 8 places", {"first": [5, 6, 7, 8, 9], "second": [15, 16, 17, 18, 19], "max_len": 8}, part="too long"),
        Case("one text of 6 tokens into 5 places", {"first": [5, 6, 7, 8, 9, 10], "second": None, "max_len": 5}, part="too long"),
        Case("room for the special tokens only", {"first": [7], "second": [8, 9], "max_len": 3}, part="too long"),
        Case("an empty second text", {"first": [7, 8], "second": [], "max_len": 9}),
        refusal("two places for a pair", {"first": [7], "second": [8], "max_len": 2}, "2", part="refusal"),
        refusal("one place for one text", {"first": [7], "second": None, "max_len": 1}, "1", part="refusal"),
    ]


EXERCISE = FunctionExercise(
    file=__file__,
    right=build_input,
    oracle=_oracle,
    draw=_draw,
    fixed=_fixed,
    outputs=("ids", "segments"),
    forbidden=("course_utils.text.wordpiece.WordPiece.encode",),
)
