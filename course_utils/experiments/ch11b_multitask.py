"""Chapter 11b: one language model for many tasks, told in words which one is meant.

Stored results: ``python benchmarks/prompting.py --only zero_shot``.

It learns p(output | input, task) as one text, such as "translate to German : forty two -> zwei und vierzig" or
"reverse : 4 2 -> 2 4", with numbers below 1,000 in four languages and in digits. Some combinations of an
instruction and a kind of input occur in no training text. Source of the idea: Radford et al. 2019 (GPT-2),
section 2; directions never trained: Johnson et al. 2017, section 4.
"""

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch

from ..models.gpt import GPT, GPTConfig
from ..text.numbers import number_tokens
from ..text.vocabulary import EOS_ID, Vocabulary
from ..training.model_file import load_model
from ..training.sampling import generate

FILE = Path(__file__).with_name("ch11b_multitask.safetensors")
CODES = {"English": "en", "German": "de", "French": "fr", "Spanish": "es"}
KINDS = (*CODES, "digits")  # what a number can be written in
TASKS = (*(f"translate to {kind}" for kind in KINDS), "reverse")
_KEPT_BACK = {"translate to French": "German", "translate to German": "Spanish", "translate to Spanish": "digits", "reverse": "French"}
NEVER = tuple(_KEPT_BACK.items())  # (instruction, kind of input) of no training text
LIMIT, HELD_OUT, MAX_LEN = 1_000, 100, 28


@cache
def spelled(number: int, kind: str) -> tuple[str, ...]:
    """The words of a number, or its digits one by one; ValueError for a kind that is not one of ``KINDS``."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
    return tuple(str(number)) if kind == "digits" else tuple(number_tokens(number, CODES[kind]))


def prompt(task: str, number: int, kind: str) -> list[str]:
    """The words before the answer; ``task=""`` leaves the instruction out."""
    return [*task.split(), ":", *spelled(number, kind), "->"]


def answer(task: str, number: int, kind: str) -> list[str]:
    """What the instruction asks for; ValueError for an instruction that is not one of ``TASKS``."""
    if task not in TASKS:
        raise ValueError(f"task={task!r} is not one of {', '.join(TASKS)}")
    return list(spelled(number, kind)[::-1] if task == "reverse" else spelled(number, task.removeprefix("translate to ")))


def combinations() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """``(trained, never trained)`` pairs of an instruction and a kind of input; nothing is translated into what it is."""
    every = [(task, kind) for task in TASKS for kind in KINDS if not task.endswith(kind)]
    return [pair for pair in every if pair not in NEVER], list(NEVER)


def split_numbers() -> tuple[list[int], list[int]]:
    """``(training, held out)`` numbers, the same on every machine."""
    drawn = random.Random(0).sample(range(LIMIT), LIMIT)
    return drawn[HELD_OUT:], drawn[:HELD_OUT]


def complete(model: GPT, words: Vocabulary, prompts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The most probable continuation of each prompt, up to the end of the text. Prompts of one length go in one batch."""
    found: list[list[str]] = [[] for _ in prompts]
    for length in {len(p) for p in prompts}:
        places = [i for i, p in enumerate(prompts) if len(p) == length]
        ids = torch.tensor([words.encode(prompts[i]) for i in places])
        new = generate(model, ids, MAX_LEN - length, temperature=0, end_id=EOS_ID)[:, length:].tolist()
        for i, row in zip(places, new, strict=True):
            found[i] = words.decode(row)
    return found


def accuracy(model: GPT, words: Vocabulary, pairs: Sequence[tuple[str, str]], numbers: Sequence[int], told: str | None = None) -> float:
    """Share of exactly right answers over all pairs and numbers; ``told`` replaces every instruction, "" leaves it out."""
    cases = [(task, number, kind) for task, kind in pairs for number in numbers]
    written = complete(model, words, [prompt(task if told is None else told, number, kind) for task, number, kind in cases])
    return sum(text == answer(*case) for text, case in zip(written, cases, strict=True)) / len(cases)


def load_multitask(path: str | Path = FILE) -> tuple[GPT, Vocabulary]:
    """The committed model, in evaluation mode, and its vocabulary. ValueError when the file holds something else."""
    model, facts = load_model(path, "multitask model", lambda config: GPT(GPTConfig(**config)), ("words",))
    return model, Vocabulary([facts["words"]])
