"""Instructions and examples of chapter 11b on three seeds.

    python benchmarks/prompting.py [--seeds 0 1 2] [--only zero_shot in_context]

Writes results/prompting.json after every part; parts that were not run keep what is there.
"""

import argparse
import json

import torch
from report import HERE, write

from course_tools.makers import multitask as maker
from course_utils.experiments import ch11b_incontext as incontext
from course_utils.experiments import ch11b_multitask as multitask


def zero_shot(seed):
    """Right answers, on held-out numbers, of a model trained from scratch."""
    model, words, _ = maker.train(seed=seed)
    (trained, never), numbers = multitask.combinations(), multitask.split_numbers()[1]
    found = {"trained": multitask.accuracy(model, words, trained, numbers)}
    for task, kind in never:
        found[f"{task}, {kind} input"] = multitask.accuracy(model, words, [(task, kind)], numbers)
    found["no instruction"] = multitask.accuracy(model, words, trained, numbers, told="")
    translations = [pair for pair in trained if pair[0] != "reverse"]
    found["wrong instruction: reverse"] = multitask.accuracy(model, words, translations, numbers, told="reverse")
    return found


def with_break(before=5, closed=3, after=5):
    """Shops that shut for lunch, one for each first hour, ``(24, 24)``: a kind of task that training never shows."""
    since = (torch.arange(incontext.HOURS) - torch.arange(incontext.HOURS)[:, None]) % incontext.HOURS
    return (since < before) | (since >= before + closed) & (since < before + closed + after)


def in_context(seed):
    """Right answers for 0, 1, 2, … examples."""
    shops = incontext.opening_hours()
    trained, held = incontext.split_shops(shops)
    model, _ = incontext.train(trained, seed=seed)
    found, g = {}, torch.Generator().manual_seed(100 + seed)
    for name, pool in (
        ("trained shops", trained),
        ("held-out shops", held),
        ("lunch break", with_break()),
        ("hours at random", torch.rand(500, incontext.HOURS, generator=g) > 0.5),
    ):
        hours, opened = incontext.draw_prompts(pool, 4_000, g)
        for method, says in (
            ("GPT", incontext.says_open(model, hours, opened)),
            ("nearest", incontext.nearest_open(hours, opened)),
            ("best possible", incontext.posterior_open(pool if "break" in name else shops, hours, opened)),
        ):
            found[f"{name}, {method}"] = [round(x, 4) for x in incontext.accuracy(says, opened).tolist()]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", default=["zero_shot", "in_context"])
    options = parser.parse_args()
    torch.set_num_threads(2)
    path = HERE / "results" / "prompting.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts = {"zero_shot": zero_shot, "in_context": in_context}
    for name in options.only:
        found[name] = {f"seed {seed}": parts[name](seed) for seed in options.seeds}
        write("prompting", {key: found[key] for key in parts if key in found})
        print(name, json.dumps(found[name], indent=1))


if __name__ == "__main__":
    main()
