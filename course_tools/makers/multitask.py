"""The model of chapter 11b that is told its task in words."""

import random
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.experiments.ch11b_multitask import (
    FILE,
    KINDS,
    LIMIT,
    MAX_LEN,
    TASKS,
    answer,
    combinations,
    prompt,
    spelled,
    split_numbers,
)
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.text.vocabulary import Vocabulary, pad
from course_utils.training.loop import History, fit
from course_utils.training.schedules import warmup_cosine

from .model_file import save_model


def vocabulary() -> Vocabulary:
    """Every word of every text."""
    words = {word for kind in KINDS for number in range(LIMIT) for word in spelled(number, kind)}
    return Vocabulary([sorted(words | {":", "->"} | {word for task in TASKS for word in task.split()})])


def train(steps: int = 3_000, width: int = 64, seed: int = 0, lr: float = 4e-3, batch: int = 48) -> tuple[GPT, Vocabulary, History]:
    """Train from scratch on whole texts, instruction and input included: to a language model they are words like all others."""
    words, trained, numbers, draw = vocabulary(), combinations()[0], split_numbers()[0], random.Random(seed)
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size=len(words), d_model=width, num_heads=4, num_layers=3, max_len=MAX_LEN, dropout=0.0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.05, fused=True)

    def loss() -> Tensor:
        rows = []
        for _ in range(batch):
            (task, kind), number = draw.choice(trained), draw.choice(numbers)
            rows.append(words.encode(prompt(task, number, kind) + answer(task, number, kind), eos=True))
        ids = pad(rows)
        logits = model(ids[:, :-1]).flatten(0, 1)
        return F.cross_entropy(logits, ids[:, 1:].flatten(), ignore_index=0)

    schedule = warmup_cosine(steps, steps // 10, floor=0.02)
    history = fit(model, loss, steps, lr, "learning tasks", optimizer=optimizer, clip=1.0, schedule=schedule)
    return model.eval(), words, history


def save(model: GPT, words: Vocabulary, path: Path = FILE) -> None:
    """Weights, configuration and vocabulary in one safetensors file."""
    save_model(path, model, model.config, "python benchmarks/stored_models.py multitask", words=words.tokens[4:])
