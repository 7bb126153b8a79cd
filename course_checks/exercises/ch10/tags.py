"""Exercise 10.4: labels for first pieces. The oracle goes from word to word."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator

SKIP = -100


def _labels_oracle(words: list[int | None], labels: list[int], length: int) -> Tensor:
    out = [SKIP] * length
    for word, label in enumerate(labels):
        if word in words:
            out[words.index(word)] = label
    return torch.tensor(out)


def _labels(words: list[int | None], labels: list[int], length: int, how: str = "right") -> Tensor:
    most = max((word for word in words if word is not None), default=-1)
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into length={length}")
    if most >= len(labels):
        raise ValueError(f"a piece belongs to word {most}, but there are {len(labels)} labels")
    fill = {"minus one": -1, "pads are O": 0, "rest of all O": 0}.get(how, SKIP)
    out = []
    if how == "none is word 0":
        words = [word or 0 for word in words]
    for i, word in enumerate(words):
        before, after = words[i - 1] if i else None, words[i + 1] if i + 1 < len(words) else None
        first, last = word != before, word != after
        if word is None:
            out.append({"special O": 0, "special last": labels[-1], "minus one": -1, "rest of all O": 0}.get(how, SKIP))
        elif how == "all":
            out.append(labels[word])
        elif how == "inside" and not first:
            out.append(labels[word] + labels[word] % 2)  # odd: B-, the next even one: I-
        elif how == "number" and first:
            out.append(word)
        elif how == "rest O" and not first:
            out.append(0)
        elif how == "last":
            out.append(labels[word] if last else SKIP)
        elif how == "whole words":
            out.append(labels[word] if first and last else SKIP)
        elif how == "word before":
            out.append(labels[word - 1] if first else SKIP)
        elif how == "piece number":
            out.append(labels[(i - 1) % len(labels)] if first else SKIP)
        else:
            first = first and (word > 0 or how != "word 0 lost") and (labels[word] != 0 or how != "label 0 skipped")
            first = first and (i > 0 or how != "nothing in front")
            out.append(labels[word] if first else fill if how in ("minus one", "rest of all O") else SKIP)
    match how:
        case "shifted":
            out = [*out[1:], SKIP]
        case "in a row":
            out = [SKIP, *labels, *[SKIP] * len(words)][:len(words)]
        case "in turn":
            waiting = iter(labels)
            out = [next(waiting) if label != SKIP else SKIP for label in out]
        case "word's place":
            out = [SKIP] * len(words)
            for word in filter(lambda w: w is not None, words):
                out[word] = labels[word]
        case "no pads":
            return torch.tensor(out)
        case "pads in front":
            return torch.tensor([SKIP] * (length - len(out)) + out)
    return torch.tensor(out + [fill] * (length - len(out)))


def _pieces(g: torch.Generator, count: int) -> list[int | None]:
    """[CLS], words of one to three pieces (at least one of each), [SEP]."""
    sizes = [1, 3, 2, *torch.randint(1, 4, (count - 3,), generator=g).tolist()]
    order = torch.randperm(count, generator=g).tolist()
    return [None, *[word for word, k in enumerate(order) for _ in range(sizes[k])], None]


def _draw_labels(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, part: str, count: int, spare: int) -> Case:
        words = _pieces(g, count)
        labels = [1 + 2 * int(k) for k in torch.randint(0, 3, (count,), generator=g)]
        for i in range(1, count, 2):
            labels[i] = labels[i - 1] + 1
        if count > 5:
            labels[4:6] = [5, 0]
        return Case(label, {"words": words, "labels": labels, "length": len(words) + spare}, part=part, shape="(length,)")

    return [case("4 words", "values", 4, 0), case("7 words, padded", "padding", 7, 4)]


def _fixed_labels() -> list[Case]:
    return [Case("one word of one piece", {"words": [None, 0, None], "labels": [3], "length": 3}, shape="(length,)"),
            Case("no [CLS]: the first piece begins a word", {"words": [0, 0, 1, 2, 2, None], "labels": [5, 1, 3], "length": 7},
                 shape="(length,)"),
            Case("one word of two pieces, nothing else", {"words": [0, 0], "labels": [5], "length": 3}, shape="(length,)"),
            Case("the same label twice, and O in the middle", {"words": [None, 0, 1, 1, 2, 3, None], "labels": [3, 0, 3, 3], "length": 7},
                 shape="(length,)"),
            Case("the last words were cut off", {"words": [None, 0, 0, 1, None], "labels": [1, 2, 0, 5], "length": 5}, shape="(length,)"),
            Case("a word without any piece", {"words": [None, 0, 2, 2, 3, None], "labels": [3, 5, 1, 2], "length": 6}, shape="(length,)"),
            Case("more pieces than length", {"words": [None, 0, 1, 1, None], "labels": [1, 0], "length": 4}, part="refusal",
                 rejects=ValueError, mentions=("5", "4")),
            Case("a word without a label", {"words": [None, 0, 1, 2, None], "labels": [1, 0], "length": 6}, part="refusal",
                 rejects=ValueError, mentions=("2",))]


LABELS = Exercise(
    id="10.4", title="A label for the first piece", name="piece_labels", kind="function", stars=2, minutes=10,
    signature="piece_labels(words, labels, length) -> (length,)", oracle=_labels_oracle, reference=_labels, draw=_draw_labels,
    fixed=_fixed_labels, parts={"values": 2, "padding": 1, "refusal": 1},
    twins=(
        Twin("every piece gets the label", partial(_labels, how="all"),
             "A word of three pieces counts three times in your loss. Only its first piece gets a label."),
        Twin("later pieces become I-", partial(_labels, how="inside"),
             "You give later pieces the inside tag. They should get no label at all, so that a word counts once."),
        Twin("later pieces are O", partial(_labels, how="rest O"),
             "You teach the model that the end of a name is no name. Later pieces get no label at all."),
        Twin("the last piece gets the label", partial(_labels, how="last"), "A word is represented by its first piece, not by its last."),
        Twin("only words of one piece", partial(_labels, how="whole words"),
             "Words of several pieces have lost their label. Their first piece carries it."),
        Twin("special tokens are O", partial(_labels, how="special O"),
             "The special tokens belong to no word, so they should get no label."),
        Twin("special tokens get a word's label", partial(_labels, how="special last"),
             "In your result, special tokens get the label of the last word. They belong to no word, and None is not a place in a list."),
        Twin("padding is O", partial(_labels, how="pads are O"),
             "The model would learn the tag O for padding. Padding gets no label at all."),
        Twin("ignored places marked -1", partial(_labels, how="minus one"),
             "The loss skips one particular number, and it is not minus one. The docstring names it."),
        Twin("labels laid on pieces in a row", partial(_labels, how="in a row"),
             "You give the labels to the pieces one after another. After the first word with several pieces they are wrong."),
        Twin("label of the piece's number", partial(_labels, how="piece number"),
             "The label is looked up by the piece's own position. The number of its word is what counts."),
        Twin("everything else is O", partial(_labels, how="rest of all O"),
             "O is a tag like any other, and the loss would learn it. A place without a label gets the number that the loss skips."),
        Twin("first word lost", partial(_labels, how="word 0 lost"),
             "Word 0 gets no label. The number 0 counts as false in Python, just as None does: test for None itself."),
        Twin("first piece of all lost", partial(_labels, how="nothing in front"),
             "A sentence may begin without the class token. Its very first piece begins a word like any other."),
        Twin("label 0 skipped", partial(_labels, how="label 0 skipped"),
             "The label 0 means O, and O is learned like every other tag. Zero counts as false in Python."),
        Twin("special tokens read as word 0", partial(_labels, how="none is word 0"),
             "You turn None into word 0, so that special tokens belong to the first word. They belong to no word."),
        Twin("number of the word instead of its label", partial(_labels, how="number"),
             "The numbers say which word a piece belongs to. Use that number to look up the label."),
        Twin("labels dealt out in turn", partial(_labels, how="in turn"),
             "You give each new word the next label. If a word has no piece, all later labels are wrong: use the word's number."),
        Twin("place of the word", partial(_labels, how="word's place"),
             "You write at the place of the word's number. The result has a place for every piece, and [CLS] has the first."),
        Twin("one word too early", partial(_labels, how="word before"),
             "Each word gets its neighbour's label: the words are counted from 0."),
        Twin("one place too early", partial(_labels, how="shifted"),
             "All labels are one place too far to the left: the class token is first."),
        Twin("padding in front", partial(_labels, how="pads in front"), "The padding goes behind the sentence, not before it."),
        Twin("padding missing", partial(_labels, how="no pads"),
             "The result has as many entries as there are pieces; it should be padded."),
    ),
)
