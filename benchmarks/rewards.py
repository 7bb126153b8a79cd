"""Rewards, experts and written steps of chapter 11b on three seeds, with the chapter's own cells.

    python benchmarks/rewards.py [--seeds 0 1 2] [--only policy experts parity]

"policy": fifty steps of policy gradient on sums, with both checkers, with and without the cost for distance; and without a baseline,
for the gold reward as it is and with 2 added to every reward. "experts": sixteen experts, 250 steps, with and without the balance loss, and
without it at the router's ordinary rate.
"parity": ten bits, 400 steps, with steps, without, with dots, and with the steps in a random order. About six minutes on one thread.
Writes results/rewards.json; a part that is not run keeps what is there.
"""

import argparse
import json
import os
import random

import torch
from report import HERE, write

from course_tools.authoring.ledger import find_sources
from course_tools.authoring.source import SOLUTION, read_chapter

DEFINES = (
    "import copy\nimport math",
    "mini, mini_tokenizer = load",
    "def group_loss",
    "start = sums.load_sums()",
    "def improve",
    "switched_off, original =",
    "def train_experts",
    "def parity_rows",
    "def parity_learner",
)


def chapter_cells():
    """What the chapter defines under these names, its exercise solved."""
    space = {"__name__": "chapter", "table": lambda *rows, **how: None, "print": lambda *words: None}
    cells = [cell.source(SOLUTION) for cell in read_chapter(find_sources(HERE.parent)["11b"]).cells if cell.kind == "code"]
    for source in cells:
        if any(mark in source for mark in DEFINES):
            exec(source, space)
    return space


def policies(space, seeds):
    sums, improve, group_loss = (space[name] for name in ("sums", "improve", "group_loss"))

    def bare(log_probs, rewards):
        return -(rewards * log_probs).mean(), rewards

    ways = {
        "gold": (sums.gold, {}),
        "gold, β = 0.1": (sums.gold, {"beta": 0.1}),
        "sloppy": (sums.sloppy, {}),
        "sloppy, β = 0.1": (sums.sloppy, {"beta": 0.1}),
        "gold, no baseline": (sums.gold, {"loss_of": bare}),
        "gold + 2": (lambda line: sums.gold(line) + 2, {}),
        "gold + 2, no baseline": (lambda line: sums.gold(line) + 2, {"loss_of": bare}),
    }
    return {name: [improve(checker, seed=seed, **how)[1] for seed in seeds] for name, (checker, how) in ways.items()}


def experts(space, seeds):
    found = {}
    for name, weight, times in (("with balance loss", 0.01, 10), ("without", 0.0, 10), ("without, ordinary rate", 0.0, 1)):
        runs = []
        for seed in seeds:
            model = space["train_experts"](weight, seed, times)
            with torch.no_grad():
                loss = model.loss(space["tokens"]).item()
            shares = [mixture.share.sort(descending=True).values.tolist() for mixture in model.mixtures()]
            runs.append({"loss": loss, "shares": shares, "idle": sum(share < 0.01 for share in shares[0])})
        found[name] = runs
    return found


def parity(space, seeds):
    def right(kind, seed):
        return space["answers_right"](space["parity_learner"](kind, seed), kind)

    return {kind: [right(kind, seed) for seed in seeds] for kind in ("answer alone", "dots", "steps scrambled", "steps")}


def main():
    parts = {"policy": policies, "experts": experts, "parity": parity}
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    random.seed(0)
    path = HERE / "results" / "rewards.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    space = chapter_cells()
    for name in options.only:
        found[name] = parts[name](space, options.seeds)
        write("rewards", {part: found[part] for part in parts if part in found})
        print(name, {key: [run[-1] if isinstance(run, list) else run for run in runs] for key, runs in found[name].items()}, flush=True)


if __name__ == "__main__":
    main()
