"""Exercise 09.2: the input of two texts. The oracle deletes tokens one at a time from the whole list."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import integers

CLS, SEP = 2, 3


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


def _build(first: list[int], second: list[int] | None, max_len: int, how: str = "right") -> tuple[Tensor, Tensor]:
    texts = [list(text) for text in (first, second) if text is not None]
    if how == "none is empty":
        texts = [list(first), list(second or [])]
    if how == "empty is none" and not texts[-1]:
        texts = texts[:1]
    special = 1 + len(texts)
    if max_len < special:
        raise ValueError(f"max_len={max_len} has no room for {special} special tokens")
    room = max_len - {"no room for special": 0, "room for two": 2, "room for three": 3}.get(how, special)
    while sum(map(len, texts)) > max(room, 0) and how not in ("never cut", "cut at the end", "halves"):
        index = max(range(len(texts)), key=lambda k: len(texts[k]))
        match how:
            case "second first":
                index = len(texts) - 1 if texts[-1] else 0
            case "first first":
                index = 0 if texts[0] else 1
            case "tie":
                index = len(texts) - 1 if len(texts[-1]) >= len(texts[0]) else 0
            case "shorter":
                index = min((k for k in range(len(texts)) if texts[k]), key=lambda k: len(texts[k]))
        texts[index].pop(0 if how == "front" else -1)
    if how == "halves":
        texts = [text[: max(room // len(texts), 0)] if sum(map(len, texts)) > room else text for text in texts]
    ids, segments = [CLS], [0]
    if how == "no cls":
        ids, segments = [], []
    for segment, text in enumerate(texts):
        closed = [SEP] if not (how == "no last sep" and segment == len(texts) - 1) and not (how == "one sep" and not segment
                                                                                                and len(texts) > 1) else []
        if how == "cls twice" and segment:
            ids, segments = [*ids, CLS], [*segments, 1]
        ids += text + closed
        segments += [segment + (how == "texts from one")] * (len(text) + len(closed))
    if how == "sep belongs to the second" and len(texts) > 1:
        segments[len(texts[0]) + 1] = 1
    if how == "last sep is third" and len(texts) > 1:
        segments[-1] = 0
    if how == "from one":
        segments = [s + 1 for s in segments]
    if how == "all zero":
        segments = [0] * len(segments)
    if how == "cls is one":
        segments[0] = 1 if len(texts) > 1 else 0
    if how == "ids exchanged":
        ids = [{CLS: SEP, SEP: CLS}.get(i, i) for i in ids]
    if how == "cls last":
        ids = [*ids[1:], CLS]
    if how == "cut at the end":
        ids, segments = ids[:max_len], segments[:max_len]
    return torch.tensor(ids), torch.tensor(segments)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    text = lambda n: integers(g, 5, 30, n).tolist()  # noqa: E731
    return [Case("5 and 3 tokens, room enough", {"first": text(5), "second": text(3), "max_len": 16}),
            Case("one text of 4 tokens", {"first": text(4), "second": None, "max_len": 9}),
            Case("9 and 4 tokens into 12 places", {"first": text(9), "second": text(4), "max_len": 12}, part="too long"),
            Case("4 and 8 tokens into 10 places", {"first": text(4), "second": text(8), "max_len": 10}, part="too long"),
            Case("8 and 2 tokens into 9 places", {"first": text(8), "second": text(2), "max_len": 9}, part="too long")]


def _fixed() -> list[Case]:
    return [Case("exactly full", {"first": [7, 8, 9], "second": [10, 11], "max_len": 8}),
            Case("5 and 5 tokens into 8 places", {"first": [5, 6, 7, 8, 9], "second": [15, 16, 17, 18, 19], "max_len": 8}, part="too long"),
            Case("one text of 6 tokens into 5 places", {"first": [5, 6, 7, 8, 9, 10], "second": None, "max_len": 5}, part="too long"),
            Case("room for the special tokens only", {"first": [7], "second": [8, 9], "max_len": 3}, part="too long"),
            Case("an empty second text", {"first": [7, 8], "second": [], "max_len": 9}),
            Case("two places for a pair", {"first": [7], "second": [8], "max_len": 2}, part="refusal", rejects=ValueError, mentions=("2",)),
            Case("one place for one text", {"first": [7], "second": None, "max_len": 1}, part="refusal", rejects=ValueError,
                 mentions=("1",))]


PAIRS = Exercise(
    id="09.2", title="[CLS] A [SEP] B [SEP]", name="build_input", kind="function", stars=2, minutes=12,
    signature="build_input(first, second, max_len) -> ids (n,), segments (n,)", oracle=_oracle, reference=_build, draw=_draw, fixed=_fixed,
    parts={"values": 2, "too long": 2, "refusal": 1}, outputs=("ids", "segments"),
    forbidden=("course_utils.text.wordpiece.WordPiece.encode",),
    twins=(
        Twin("no second text closed too", partial(_build, how="none is empty"),
             "Without a second text you still write its [SEP]. None means that there is no second text, and one text is closed once."),
        Twin("texts counted from 1", partial(_build, how="texts from one"),
             "You count the segments of the two texts from 1. They are counted from 0: the first text has the same segment as [CLS]."),
        Twin("first [SEP] in the second segment", partial(_build, how="sep belongs to the second"),
             "The separator closes the text before it and has that text's segment."),
        Twin("last [SEP] in the first segment", partial(_build, how="last sep is third"),
             "The last separator closes the second text and belongs to its segment."),
        Twin("no [SEP] at the end", partial(_build, how="no last sep"), "Every text is closed by a separator, the last one too."),
        Twin("no [SEP] between the texts", partial(_build, how="one sep"),
             "There is a separator between the texts as well: each text is followed by one."),
        Twin("no [CLS]", partial(_build, how="no cls"), "The first token is always the classification token."),
        Twin("[CLS] at the end", partial(_build, how="cls last"),
             "In BERT the classification token comes first. Only some later models put it last."),
        Twin("[CLS] and [SEP] exchanged", partial(_build, how="ids exchanged"),
             "The ids of the two special tokens have changed places. The docstring says which is which."),
        Twin("[CLS] before each text", partial(_build, how="cls twice"), "There is a single classification token, in front of everything."),
        Twin("[CLS] in the second segment", partial(_build, how="cls is one"), "The classification token belongs to the first segment."),
        Twin("segments counted from 1", partial(_build, how="from one"), "The table of segments has two rows, 0 and 1; yours are 1 and 2."),
        Twin("all in one segment", partial(_build, how="all zero"), "The tokens of the second text and its separator are in segment 1."),
        Twin("nothing is cut", partial(_build, how="never cut"),
             "Your result is longer than allowed. Remove tokens from the texts before you build it."),
        Twin("cut after building", partial(_build, how="cut at the end"),
             "You cut the finished list, and the last separator is lost. Shorten the texts first."),
        Twin("special tokens get no room", partial(_build, how="no room for special"),
             "The places of the special tokens count as well; leave room for each of them."),
        Twin("room for two special tokens", partial(_build, how="room for two"),
             "A pair has three special tokens, one text has two. Count them from the number of texts."),
        Twin("room for three special tokens", partial(_build, how="room for three"),
             "You keep three places free even for one text, which has two special tokens. Count them from the number of texts."),
        Twin("empty text taken for none", partial(_build, how="empty is none"),
             "An empty list is a second text without tokens, and its separator stays; only None means that there is none. `if second` "
             "is false for both."),
        Twin("second text cut first", partial(_build, how="second first"),
             "You shorten the second text until it is gone. Each time, the text that is longer at that moment loses a token."),
        Twin("first text cut first", partial(_build, how="first first"),
             "You shorten the first text until it is gone. Each time, the text that is longer at that moment loses a token."),
        Twin("shorter text cut", partial(_build, how="shorter"), "You cut the shorter text. Cut the one that is longer."),
        Twin("a tie cuts the second", partial(_build, how="tie"), "When both are equally long the docstring says which one loses a token."),
        Twin("half the room for each", partial(_build, how="halves"),
             "You give each text half of the room. If one text needs less, the other may have the rest."),
        Twin("cut at the front", partial(_build, how="front"), "Remove tokens from the end of a text, so that its beginning is kept."),
    ),
)
