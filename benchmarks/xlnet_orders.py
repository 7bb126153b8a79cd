"""What chapter 12b measures, on three seeds and, for the letters, with more steps than a chapter has time for.

    python benchmarks/xlnet_orders.py [--seeds 0 1 2] [--only cities letters lessons] [--steps 600 2400]

"cities": BERT and XLNet learn the travellers' sentences, two tokens of seven asked for; how much do they give to
pairs of words that are no city? "letters": XLNet on the Python manual, 16 windows of 32 letters per step, all letters
of an order predicted, or the last 16, or the last 5 (a sixth). "lessons": the last 16 or 5 again, with so many windows
that 512 letters per step are predicted, as with all of 16 windows.
Writes results/xlnet_orders.json after every seed; what was not run keeps what is there.
"""

import argparse
import json
import os
import time

import torch
from report import HERE, write

from course_utils.experiments.ch12b_orders import at_once, in_turn, learn, make, measure, nats_by_turn, sentences_of, windows_of
from course_utils.models.xlnet import random_orders
from course_utils.text.cities import FIRST, SECOND, WORDS, gaps
from course_utils.text.letters import letters

N = 32


def cities(seed, steps):
    ids, truth = gaps()
    marginals = truth.sum(2)[:, :, None] * truth.sum(1)[:, None, :]
    found = {"truth": measure(truth, truth), "product of true marginals": measure(marginals, truth)}
    for kind in ("bert", "xlnet"):
        model = make(kind, len(WORDS), 7, 32, seed)
        learn(model, sentences_of(64), 2, 400, 5e-3, seed)
        one, other = in_turn(model, ids), in_turn(model, ids, SECOND)
        found[kind] = {
            "in turn": measure(one, truth),
            "in turn, second word first": measure(other, truth),
            "between the orders": (one - other).abs().sum((1, 2)).mean().item() / 2,
        }
        if kind == "bert":
            found[kind]["at once"] = measure(at_once(model, ids), truth)
    assert FIRST + SECOND == 7
    return found


def learned_letters(seed, runs):
    """Train once for each (name, letters predicted per window, windows per step, steps); nats of held-out letters by turn."""
    alphabet, train, held_out = letters()
    windows = held_out[: len(held_out) // N * N].view(-1, N)
    orders = random_orders(*windows.shape, generator=torch.Generator().manual_seed(5))
    found = {}
    for name, k, batch, steps in runs:
        model = make("xlnet", len(alphabet), N, 64, seed)
        started = time.process_time()
        learn(model, windows_of(train, batch, N), k, steps, 4e-3, seed)
        seconds = time.process_time() - started
        nats = nats_by_turn(model, windows, orders).mean(0)
        found[name] = {
            "by turn": [round(x, 4) for x in nats.tolist()],
            "all": nats.mean().item(),
            "last sixth": nats[-(N // 6) :].mean().item(),
            "processor seconds": seconds,
        }
        print(seed, name, {key: round(x, 3) for key, x in found[name].items() if key != "by turn"}, flush=True)
    return found


def equal_steps(seed, all_steps):
    return learned_letters(seed, [(f"{steps} steps, {k} letters", k, 16, steps) for steps in all_steps for k in (N, N // 2, N // 6)])


def equal_lessons(seed, _):
    return learned_letters(seed, [(f"600 steps, {k} letters of {batch} windows", k, batch, 600) for k, batch in ((16, 32), (5, 102))])


PARTS = {"cities": cities, "letters": equal_steps, "lessons": equal_lessons}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--steps", type=int, nargs="+", default=[600, 2400])
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    path = HERE / "results" / "xlnet_orders.json"
    for part in options.only:
        for seed in options.seeds:
            found = PARTS[part](seed, options.steps)
            kept = json.loads(path.read_text())["parts"] if path.exists() else {}
            before = kept.get(part, {}).get(str(seed), {})
            kept.setdefault(part, {})[str(seed)] = before | found
            print(part, seed, json.dumps(found)[:400], flush=True)
            write("xlnet_orders", {"threads": 1, "parts": kept})


if __name__ == "__main__":
    main()
