"""Rewards, experts and written steps of chapter 11c on three seeds.

    python benchmarks/rewards.py [--seeds 0 1 2] [--only policy experts parity]

"policy": fifty steps of policy gradient on sums, with the chapter's own cells: both checkers, with and without the price for distance; and
without a baseline, for the gold reward as it is and with 2 added to every reward. "experts": a small decoder with sixteen experts, 250
steps, with and without the balance loss, and without it at the router's ordinary rate.
"parity": is the number of ones among ten bits odd? A GPT of one block, 400 steps, with the steps written before the answer, without, with
dots, and with the steps in a random order. About six minutes on one thread.
Writes results/rewards.json; a part that is not run keeps what is there.
"""

import argparse
import dataclasses
import json
import os

import torch
from report import HERE, write
from torch.nn import functional as F

from course_tools.authoring.ledger import find_sources
from course_tools.authoring.source import SOLUTION, read_chapter
from course_utils.models.decoder import Decoder, DecoderConfig
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, read_corpus, window_loss
from course_utils.training.sampling import generate

DEFINES = (
    "import copy",
    "start = sums.load",
    "def answer_log",
    "def step_along",
    "def line_log",
    "def look",
    "def group_loss",
    "def ratio",
    "def improve",
)
NAMES = {"right": "one right number", "among": "right among those", "numbers": "numbers a line", "distance": "KL, nats a line"}
BITS, EQUALS, DOT = 10, 2, 3


def chapter_cells():
    """What the chapter defines under these names, its exercises solved; nothing is trained yet."""
    space = {"__name__": "chapter", "print": lambda *words: None}
    cells = [cell.source(SOLUTION) for cell in read_chapter(find_sources(HERE.parent)["11c"]).cells if cell.kind == "code"]
    for source in cells:
        if any(mark in source for mark in DEFINES):
            exec(source.split("\ntuned = ")[0], space)
    return space


def train_experts(balance_weight, seed, times=10, steps=250, lr=0.2 / 32):
    """A decoder whose router learns ``times`` as fast as the rest."""
    _, tokenizer = load_mini_gpt()
    stream = as_stream(tokenizer, read_corpus(docstrings=True)[0])
    torch.manual_seed(seed)
    gpt2 = DecoderConfig(vocab_size=len(tokenizer), d_model=32, num_heads=4, num_layers=2, max_len=64, dropout=0.0)
    experts = {"num_experts": 16, "active_experts": 2, "d_ff": 64, "balance_weight": balance_weight}
    model = Decoder(dataclasses.replace(gpt2, rotary=True, **experts))
    parts = [[p for name, p in model.named_parameters() if ("router" in name) == router] for router in (False, True)]
    optimizer = torch.optim.AdamW([{"params": part} for part in parts], weight_decay=0.1, betas=(0.9, 0.95))
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, [lr, times * lr], total_steps=steps, pct_start=0.05, cycle_momentum=False)
    loss_of = window_loss(model, stream, 8, torch.Generator().manual_seed(seed))
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.step()
    return model.eval()


def parity_rows(kind, count, g):
    """Ten bits, "=", what stands between, the answer: (count, n)."""
    bits = torch.randint(2, (count, BITS), generator=g)
    steps = bits.cumsum(1) % 2
    order = torch.rand(count, BITS - 1, generator=g).argsort(1)
    between = {
        "steps": steps[:, :-1],
        "answer alone": steps[:, :0],
        "dots": torch.full((count, BITS - 1), DOT),
        "steps scrambled": steps[:, :-1].gather(1, order),
    }[kind]
    return torch.cat([bits, torch.full((count, 1), EQUALS), between, steps[:, -1:]], 1)


def parity_right(kind, seed, steps=400):
    """Share of a thousand rows that a model of one block answers rightly, after it has learned."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(vocab_size=4, d_model=32, num_heads=4, num_layers=1, max_len=2 * BITS + 1, dropout=0.0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 50, 1, 2 - 2 * s / steps))
    g = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        rows = parity_rows(kind, 64, g)
        logits = model(rows[:, :-1])[:, BITS:]  # behind the "="
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, BITS + 1 :].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.step()
    rows = parity_rows(kind, 1_000, torch.Generator().manual_seed(99))
    said = generate(model, rows[:, : BITS + 1], rows.shape[1] - BITS - 1, temperature=0)
    return (said[:, -1] == rows[:, -1]).float().mean().item()


def policies(seeds):
    space = chapter_cells()
    sums, improve, group_loss = (space[name] for name in ("sums", "improve", "group_loss"))

    def bare(log_probs, rewards):
        return -(rewards * log_probs).mean(), rewards

    ways = {
        "gold": (sums.gold, {}),
        "gold, β = 0.5": (sums.gold, {"beta": 0.5}),
        "sloppy": (sums.sloppy, {}),
        "sloppy, β = 0.5": (sums.sloppy, {"beta": 0.5}),
        "gold, no baseline": (sums.gold, {"loss_of": bare}),
        "gold + 2": (lambda line: sums.gold(line) + 2, {}),
        "gold + 2, no baseline": (lambda line: sums.gold(line) + 2, {"loss_of": bare}),
    }
    runs = {name: [improve(checker, seed=seed, **how)[1] for seed in seeds] for name, (checker, how) in ways.items()}
    return {name: [[{NAMES.get(k, k): v for k, v in found.items()} for found in run] for run in three] for name, three in runs.items()}


def experts(seeds):
    _, tokenizer = load_mini_gpt()
    tokens, found = as_stream(tokenizer, read_corpus(docstrings=True)[1])[: 64 * 60].view(60, 64), {}
    for name, weight, times in (("with balance loss", 0.01, 10), ("without", 0.0, 10), ("without, ordinary rate", 0.0, 1)):
        runs = []
        for seed in seeds:
            model = train_experts(weight, seed, times)
            with torch.no_grad():
                loss = model.loss(tokens).item()
            shares = [mixture.share.sort(descending=True).values.tolist() for mixture in model.mixtures()]
            runs.append({"loss": loss, "shares": shares, "idle": sum(share < 0.01 for share in shares[0])})
        found[name] = runs
    return found


def parity(seeds):
    return {kind: [parity_right(kind, seed) for seed in seeds] for kind in ("answer alone", "dots", "steps scrambled", "steps")}


def main():
    parts = {"policy": policies, "experts": experts, "parity": parity}
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    path = HERE / "results" / "rewards.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in options.only:
        found[name] = parts[name](options.seeds)
        write("rewards", {part: found[part] for part in parts if part in found})
        print(name, {key: [run[-1] if isinstance(run, list) else run for run in runs] for key, runs in found[name].items()}, flush=True)


if __name__ == "__main__":
    main()
