"""The GPT of chapter 11c that writes answers to sums."""

import torch
from torch import Tensor

from course_utils.experiments.ch11c_sums import LONGEST, PROMPT, SYMBOLS, lines, log_probs
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.training.loop import History, fit
from course_utils.training.schedules import warmup_cosine


def train(steps: int = 2_500, seed: int = 0, lr: float = 3e-3, batch: int = 96, width: int = 48) -> tuple[GPT, History]:
    """A GPT that has read such lines; the loss counts the answers alone."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size=len(SYMBOLS), d_model=width, num_heads=4, num_layers=2, max_len=PROMPT + LONGEST, dropout=0.0))
    g = torch.Generator().manual_seed(seed)
    pool = lines(40_000, g)

    def loss() -> Tensor:
        rows = pool[torch.randint(len(pool), (batch,), generator=g)]
        return -log_probs(model, rows).mean() / 4

    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = warmup_cosine(steps, max(1, steps // 25), floor=0.02)
    history = fit(model, loss, steps, lr, "sums", clip=1.0, schedule=schedule, optimizer=optimizer)
    return model.eval(), history
