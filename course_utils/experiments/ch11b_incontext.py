"""Chapter 11b trains a GPT that learns inside its prompt: opening hours of a shop, inferred from a few examples.

Stored results: ``python benchmarks/prompting.py --only in_context``.

A task is a shop that is open for 6 to 18 hours in a row, also over midnight. A prompt asks about hours one after the other, no hour
twice: "9 ? 9 open  22 ? 22 closed  14 ? …". What is asked last was never shown, so it cannot be looked up: the interval has
to be inferred. A fact ("9 open") is one token. Source of the idea: Brown et al. 2020, section 1; measured against the exact
posterior as in Garg et al. 2022 and Akyürek et al. 2022.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.gpt import GPT, GPTConfig
from ..training.loop import History, fit
from ..training.schedules import warmup_cosine

HOURS, EXAMPLES = 24, 12  # token h asks about hour h; token 24 + 2h says that it is closed, 24 + 2h + 1 that it is open
VOCAB = 3 * HOURS


def opening_hours(shortest: int = 6, longest: int = 18) -> Tensor:
    """Every shop: one row for each first hour and length, True where it is open, ``(shops, 24)``."""
    if not 0 <= shortest <= longest < HOURS:
        raise ValueError(f"shortest={shortest} and longest={longest} must be 0 <= shortest <= longest < {HOURS}")
    hour = torch.arange(HOURS)
    return torch.stack([(hour - first) % HOURS < length for length in range(shortest, longest + 1) for first in range(HOURS)])


def split_shops(shops: Tensor, share: float = 0.25, seed: int = 0) -> tuple[Tensor, Tensor]:
    """``(training, held out)`` shops, no shop in both. ValueError when one of them would be empty."""
    count = round(share * len(shops))
    if not 0 < count < len(shops):
        raise ValueError(f"share={share} of {len(shops)} shops leaves one side empty")
    order = torch.randperm(len(shops), generator=torch.Generator().manual_seed(seed))
    return shops[order[count:]], shops[order[:count]]


def draw_prompts(shops: Tensor, count: int, generator: torch.Generator, examples: int = EXAMPLES) -> tuple[Tensor, Tensor]:
    """Hours ``(count, examples)``, different ones in each row, and whether a shop drawn at random is open then (bool, same shape)."""
    hours = torch.rand(count, HOURS, generator=generator).argsort(1)[:, :examples]
    return hours, shops[torch.randint(len(shops), (count,), generator=generator)].gather(1, hours)


def as_tokens(hours: Tensor, opened: Tensor) -> Tensor:
    """Question and fact in turn: two ``(count, examples)`` -> ids ``(count, 2 · examples)``."""
    return torch.stack([hours, HOURS + 2 * hours + opened.long()], 2).flatten(1)


def spell(ids: Tensor) -> str:
    """One row of ids as a person writes it. ValueError for an id that is no token of this text."""
    if len(wrong := ids[(ids < 0) | (ids >= VOCAB)]):
        raise ValueError(f"id {wrong[0].item()} is outside 0..{VOCAB - 1}")
    return " ".join(f"{i} ?" if i < HOURS else f"{(i - HOURS) // 2} {('closed', 'open')[i % 2]}" for i in ids.tolist())


def train(shops: Tensor, steps: int = 300, seed: int = 0, width: int = 48, lr: float = 4e-3, batch: int = 64) -> tuple[GPT, History]:
    """A two-layer GPT from scratch. Each prompt holds a lesson for every number of examples: its loss is that of all facts."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size=VOCAB, d_model=width, num_heads=4, num_layers=2, max_len=2 * EXAMPLES, dropout=0.0))
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.01, fused=True)

    def loss() -> Tensor:
        ids = as_tokens(*draw_prompts(shops, batch, generator))
        return F.cross_entropy(model(ids[:, :-1])[:, ::2].flatten(0, 1), ids[:, 1::2].flatten())

    schedule = warmup_cosine(steps, max(1, steps // 10), floor=0.02)
    history = fit(model, loss, steps, lr, "learning to learn", optimizer=optimizer, clip=1.0, schedule=schedule)
    return model.eval(), history


@torch.no_grad()
def says_open(model: GPT, hours: Tensor, opened: Tensor) -> Tensor:
    """Probability of "open" against "closed" after 0, 1, 2, … examples, ``(count, examples)``; no weight changes."""
    logits = model(as_tokens(hours, opened)[:, :-1])[:, ::2]  # (count, examples, vocab)
    facts = (HOURS + 2 * hours)[..., None] + torch.arange(2)
    return logits.gather(2, facts).softmax(-1)[..., 1]


def posterior_open(shops: Tensor, hours: Tensor, opened: Tensor) -> Tensor:
    """What can be known: the share of shops, among those that fit all examples so far, that are open, ``(count, examples)``.

    Nobody who thinks all ``shops`` equally likely can do better. 0.5 where no shop fits.
    """
    votes = shops[:, hours].float()  # (shops, count, examples)
    fits = ((votes == opened).cumprod(2).roll(1, 2)).float()
    fits[..., 0] = 1.0
    total = fits.sum(0)
    return torch.where(total > 0, (fits * votes).sum(0) / total.clamp_min(1), 0.5)


def nearest_open(hours: Tensor, opened: Tensor) -> Tensor:
    """The answer of the nearest hour shown so far, around the clock (ties: the mean); 0.5 without examples; ``(count, examples)``."""
    apart = (hours[:, :, None] - hours[:, None]).abs()
    apart = torch.minimum(apart, HOURS - apart).masked_fill(torch.ones_like(apart[0]).triu().bool(), HOURS)  # (count, query, example)
    nearest = (apart == apart.amin(-1, keepdim=True)) & (apart < HOURS)
    share = (nearest * opened[:, None]).sum(-1) / nearest.sum(-1).clamp_min(1)
    return torch.where(nearest.any(-1), share, 0.5)


def accuracy(probability: Tensor, opened: Tensor) -> Tensor:
    """Share of right answers for each number of examples, ``(examples,)``; a probability of exactly one half counts half."""
    right = torch.where(probability == 0.5, 0.5, ((probability > 0.5) == opened).float())
    return right.mean(0)
