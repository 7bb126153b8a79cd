"""Chapter 11b teaches the mini-GPT what somebody likes: pairs of texts, and which one of them was preferred.

Stored results: ``python benchmarks/prompting.py --only preference``.
Source: direct preference optimisation, Rafailov et al. 2023, section 4. The "reader" here is a rule, so that one can count.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.gpt import GPT
from ..text.bpe import ByteBPE
from ..training.loop import History, fit
from ..training.sampling import generate

_END = re.compile(r"[.?!](?=\s|\0|$)")


class Pairs(NamedTuple):
    """Two texts ``(pairs, tokens)`` after the same prompt: the preferred one, the other one, and how many tokens the prompt has."""

    chosen: Tensor
    rejected: Tensor
    prompt: int


def sentence_ends(text: str) -> int:
    """How many sentences end in a text: our reader likes short sentences."""
    return len(_END.findall(text))


def openings(pages: Sequence[str], tokenizer: ByteBPE, count: int, length: int = 8, seed: int = 0) -> Tensor:
    """The first ``length`` tokens of ``count`` paragraphs drawn at random, ``(count, length)``. ValueError when there are too few."""
    lines = [line for page in pages for line in page.split("\n")]
    random.Random(seed).shuffle(lines)
    rows: list[list[int]] = []
    while lines and len(rows) < count:
        if len(ids := tokenizer.encode(lines.pop()[:200])) >= length:
            rows.append(ids[:length])
    if len(rows) < count:
        raise ValueError(f"{count} openings of {length} tokens are asked for, but there are {len(rows)}")
    return torch.tensor(rows)


def rewards(texts: Tensor, prompt: int, tokenizer: ByteBPE, judge: Callable[[str], float] = sentence_ends) -> Tensor:
    """What the judge gives to each text behind its prompt, ``(texts,)``."""
    return torch.tensor([float(judge(tokenizer.decode(row))) for row in texts[:, prompt:].tolist()])


def sample_pairs(model: GPT, prompts: Tensor, steps: int, tokenizer: ByteBPE, generator: torch.Generator,
                 judge: Callable[[str], float] = sentence_ends) -> Pairs:
    """Two continuations of each prompt, ordered by the judge; prompts for which it sees no difference are left out."""
    both = generate(model, prompts.repeat(2, 1), steps, generator=generator)
    first, second = both.chunk(2)
    better = rewards(first, prompts.shape[1], tokenizer, judge) - rewards(second, prompts.shape[1], tokenizer, judge)
    first, second, better = (x[better != 0] for x in (first, second, better))
    if not len(better):
        raise ValueError(f"the judge saw no difference in any of {len(prompts)} pairs")
    wins = (better > 0)[:, None]
    return Pairs(torch.where(wins, first, second), torch.where(wins, second, first), prompts.shape[1])


def sequence_log_probs(model: GPT, ids: Tensor, prompt: int) -> Tensor:
    """``ln p(answer | prompt)``: the sum over all tokens behind the first ``prompt`` ones; ids ``(batch, n)`` -> ``(batch,)``."""
    if not 0 < prompt < ids.shape[1]:
        raise ValueError(f"prompt={prompt} must leave something of {ids.shape[1]} tokens, and be at least 1")
    logits = model(ids[:, :-1])[:, prompt - 1:]  # row t names token t + 1
    return -F.cross_entropy(logits.transpose(1, 2), ids[:, prompt:], reduction="none").sum(1)


def dpo_loss(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor,
             beta: float) -> Tensor:
    """Mean of ``-ln σ(β · (ln π/π_ref of the chosen - ln π/π_ref of the rejected))`` over pairs ``(batch,)`` (equation 7)."""
    if not beta > 0:
        raise ValueError(f"beta={beta} must be positive")
    gain = (policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)
    return -F.logsigmoid(beta * gain).mean()


@torch.no_grad()
def kl_estimate(policy: GPT, reference: GPT, texts: Tensor, prompt: int) -> float:
    """``KL(π ‖ π_ref)`` in nats per text: the mean log-ratio over texts that the policy itself has written, no others."""
    return (sequence_log_probs(policy, texts, prompt) - sequence_log_probs(reference, texts, prompt)).mean().item()


def tune(reference: GPT, pairs: Pairs, beta: float, steps: int = 40, lr: float = 3e-4, batch: int = 16, seed: int = 0,
         look: Callable[[GPT], float] | None = None, every: int = 10) -> tuple[GPT, History]:
    """A copy of the reference trained on pairs with the loss above; ``look(policy)`` is called every ``every`` steps."""
    policy, generator = copy.deepcopy(reference).requires_grad_(True), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        known = [torch.cat([sequence_log_probs(reference, part, pairs.prompt) for part in texts.split(64)]) for texts in pairs[:2]]

    def loss() -> Tensor:
        rows = torch.randint(len(pairs.chosen), (batch,), generator=generator)
        both = sequence_log_probs(policy, torch.cat([pairs.chosen[rows], pairs.rejected[rows]]), pairs.prompt)
        return dpo_loss(*both.chunk(2), known[0][rows], known[1][rows], beta)

    history = fit(policy, loss, steps, lr, f"preferences, beta {beta}", clip=1.0, schedule=lambda step: min(1.0, step / 10),
                  optimizer=torch.optim.AdamW(policy.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.0),
                  validate=None if look is None else lambda: look(policy), every=every)
    return policy.eval(), history
