"""Exercise 11b.4: a few-shot prompt and its lessons. The oracle walks over the row with a flag that says whose token comes next."""

from __future__ import annotations

import random
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin
from ..common import IGNORED

Pairs = list[list[list[int]]]


def _oracle(examples: Pairs, between: int, behind: int, last_only: bool = False) -> tuple[Tensor, Tensor]:
    inputs, targets, counted = [], [], []
    for k, (question, answer) in enumerate(examples):
        counts = k == len(examples) - 1 or not last_only
        for token in question + [between]:
            inputs.append(token)
            counted.append(False)
        for token in answer + [behind]:
            inputs.append(token)
            counted.append(counts)
    for t in range(1, len(inputs)):
        targets.append(inputs[t] if counted[t] else IGNORED)
    return torch.tensor(inputs[:-1]), torch.tensor(targets)


def _few(examples: Pairs, between: int, behind: int, last_only: bool = False, row: str = "right", lessons: str = "right",
         ends: str = "right") -> tuple[Tensor, Tensor]:
    ids: list[int] = []
    real: list[bool] = []
    if row == "last alone" and last_only:
        examples = examples[-1:]
    if row == "backwards":
        examples = examples[::-1]
    for k, (question, answer) in enumerate(examples):
        asked, last = [*question, between], k == len(examples) - 1
        told, behind_it = list(answer), [] if row == "no end" or row == "open" and last else [behind]
        if row == "answer first":
            asked, told = [*answer, between], list(question)
        if row == "no separator":
            asked = list(question)
        counts = {"always last": last, "always all": True, "first": k == 0 or not last_only,
                  "all but last": not last or not last_only}.get(lessons, last or not last_only)
        first = [counts] * len(told)
        if lessons == "last token only":
            first = [False] * (len(told) - 1) + [counts]
        if lessons == "first token not":
            first = [False] + [counts] * (len(told) - 1)
        if lessons == "first token only":
            first = [counts] + [False] * (len(told) - 1)
        ids += asked + told + behind_it
        asking = [lessons == "questions too" and counts] * (len(asked) - 1) + [lessons in ("questions too", "separator too") and counts]
        real += [lessons == "questions instead"] * (len(asked) - 1) + [False] if lessons == "questions instead" else asking[-len(asked):]
        real += [False] * len(told) if lessons == "questions instead" else first
        real += [counts and lessons not in ("end not", "first token only", "questions instead")] * len(behind_it)
    tokens, counted = torch.tensor(ids), torch.tensor(real)
    wanted = torch.where(counted, tokens, {"zero": 0, "minus one": -1}.get(ends, IGNORED))
    if ends == "other way":
        return tokens[1:], wanted[:-1]
    if ends == "same place":
        return tokens, wanted
    if ends == "not shifted":
        return tokens[:-1], wanted[:-1]
    if ends == "mask late":
        return tokens[:-1], torch.where(counted[:-1], tokens[1:], IGNORED)
    if ends == "inputs masked":
        return torch.where(counted, IGNORED, tokens)[:-1], wanted[1:]
    if ends == "rolled":
        return tokens, wanted.roll(-1)
    return tokens[:-1], wanted[1:]


def _reference(examples: Pairs, between: int, behind: int, last_only: bool = False) -> tuple[Tensor, Tensor]:
    for k, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {k} has {len(question)} question and {len(answer)} answer tokens; both need at least 1")
    return _few(examples, between, behind, last_only)


def _case(draw: random.Random, label: str, lengths: list[tuple[int, int]], last: bool, part: str) -> Case:
    ids = iter(draw.sample(range(5, 90), sum(map(sum, lengths)) + 2))
    examples = [[[next(ids) for _ in range(n)], [next(ids) for _ in range(m)]] for n, m in lengths]
    return Case(label, {"examples": examples, "between": next(ids), "behind": next(ids), "last_only": last}, part=part, shape="(n - 1,)")


def _draw(seed: int) -> list[Case]:
    draw = random.Random(seed)
    return [_case(draw, "three examples, all answers count", [(3, 2), (1, 4), (2, 3)], False, "all answers"),
            _case(draw, "two examples, all answers count", [(4, 1), (2, 2)], False, "all answers"),
            _case(draw, "three examples, the last answer counts", [(2, 3), (3, 1), (1, 4)], True, "last answer")]


def _fixed() -> list[Case]:
    draw = random.Random(5)
    return [_case(draw, "a question without examples", [(2, 3)], True, "last answer"),
            Case("ids that occur again, also the two separators", {"examples": [[[7, 3, 7], [4, 7]], [[3], [7, 3, 3]], [[4, 8], [3]]],
                                                                   "between": 3, "behind": 4}, part="all answers", shape="(n - 1,)"),
            Case("ids that occur again, the last answer counts", {"examples": [[[7, 7], [8, 7]], [[7, 7], [8, 3, 7]]], "between": 3,
                                                                  "behind": 4, "last_only": True}, part="last answer", shape="(n - 1,)"),
            Case("the last example stood there before, the last answer counts",
                 {"examples": [[[7, 8], [9]], [[5], [6, 9]], [[7, 8], [9]]], "between": 3, "behind": 4, "last_only": True},
                 part="last answer", shape="(n - 1,)"),
            Case("a first example without an answer", {"examples": [[[7, 6], []], [[11, 12], [5]]], "between": 3, "behind": 9},
                 part="refusal", rejects=ValueError, mentions=("0",)),
            Case("an example without an answer", {"examples": [[[7], [8, 9]], [[11, 12], []]], "between": 3, "behind": 4}, part="refusal",
                 rejects=ValueError, mentions=("1",)),
            Case("an empty question", {"examples": [[[7], [8]], [[9], [6]], [[], [5]]], "between": 3, "behind": 4}, part="refusal",
                 rejects=ValueError, mentions=("2",))]


FEW_SHOT = Exercise(
    id="11b.4", title="A few-shot prompt and its lessons", name="few_shot", kind="function", stars=2, minutes=15,
    signature="few_shot(examples, between, behind, last_only=False) -> inputs, targets", oracle=_oracle, reference=_reference,
    draw=_draw, fixed=_fixed, parts={"all answers": 2, "last answer": 2, "refusal": 1}, outputs=("inputs", "targets"),
    twins=(
        Twin("earlier examples thrown away", partial(_few, row="last alone"),
             "With `last_only` you drop the earlier examples. The model still reads them; only their answers are not targets."),
        Twin("each token predicts itself", partial(_few, ends="not shifted"),
             "The target of a place is the token after it. Yours is the token that the model has just read."),
        Twin("last token stays an input", partial(_few, ends="rolled"),
             "No token follows the very last one, so it cannot be an input. Rolling only moves the first target of the row to its place."),
        Twin("neither shifted nor shortened", partial(_few, ends="same place"),
             "Inputs and targets are the same row in yours. One of them has to be moved by one place, and then both lose a token."),
        Twin("mask one place late", partial(_few, ends="mask late"),
             "Whether a place counts depends on the token it has to name, not on the token that stands there: shift both alike."),
        Twin("answers hidden from the inputs", partial(_few, ends="inputs masked"),
             "You take the answers out of the inputs. The causal mask hides them already; later examples need to read them."),
        Twin("ignored places filled with 0", partial(_few, ends="zero"),
             "A 0 is a token like any other, and would be learned. Places that do not count get the number that the loss ignores."),
        Twin("ignored places filled with -1", partial(_few, ends="minus one"),
             "PyTorch's cross-entropy ignores -100 unless told otherwise. A -1 makes it stop with an error."),
        Twin("moved the wrong way", partial(_few, ends="other way"),
             "Your inputs lack the first token and your targets the last one, so each place has to name the token before it."),
        Twin("first token of each answer not counted", partial(_few, lessons="first token not"),
             "The first token of an answer counts as well. The model has to predict it at the separator."),
        Twin("questions count too", partial(_few, lessons="questions too"),
             "The questions are given and need not be predicted. Only answers, and the token behind each, are lessons."),
        Twin("questions instead of answers", partial(_few, lessons="questions instead"),
             "You score what is asked and skip what is answered. It is the answer that the model has to learn."),
        Twin("separator counts too", partial(_few, lessons="separator too"),
             "You count the separator. It belongs to the prompt, so the model need not predict it."),
        Twin("end of the answer not counted", partial(_few, lessons="end not"),
             "The token behind an answer is a lesson as well; without it the model never learns to stop."),
        Twin("only the first token of each answer", partial(_few, lessons="first token only"),
             "You count only the first token of each answer. Count all of its tokens, and the token `behind` after them."),
        Twin("only the last token of each answer", partial(_few, lessons="last token only"),
             "You count only the last token of each answer and the token `behind`. All tokens of the answer count."),
        Twin("last_only ignored", partial(_few, lessons="always all"),
             "You ignore `last_only`. With it, the answers of the examples are given, like everything else in the prompt."),
        Twin("always the last answer only", partial(_few, lessons="always last"),
             "You score only the last answer, even where all are asked for. The model can learn from the answer of every example."),
        Twin("first answer instead of the last", partial(_few, lessons="first"),
             "You score the first answer. The query is the last of the examples, so its answer counts."),
        Twin("all answers but the last", partial(_few, lessons="all but last"),
             "You have the switch the wrong way round: it keeps the answer to the query and drops those of the examples."),
        Twin("separator missing", partial(_few, row="no separator"),
             "Nothing tells the model where a question ends and its answer begins. A token stands between them."),
        Twin("end token missing", partial(_few, row="no end"),
             "Nothing ends an answer in your row. Put the token `behind` after each answer."),
        Twin("no end behind the last answer", partial(_few, row="open"),
             "The last answer ends like the others. The model has to learn this end too, so put the token `behind` after it."),
        Twin("answer before its question", partial(_few, row="answer first"),
             "In each example the question comes first. A causal model can only use what stands before the place it predicts."),
        Twin("examples in reverse order", partial(_few, row="backwards"),
             "You reverse the examples. The query is the last of them, and has to be last in the row too."),
    ),
)
