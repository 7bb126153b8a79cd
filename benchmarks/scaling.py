"""How the loss of a language model falls with what is spent on it: four budgets, shared out in five or six ways each.

    python benchmarks/scaling.py [--seeds 0 1] [--only budgets width pairs rates]

Two blocks with rotary positions on the prose that Python carries (reference and docstrings), windows of 64 tokens, 8 at a time; the
rate is 0.2 / width, near the best of a few tried at every width on seed 0. Losses are nats per token of the second half of the
held-out pages. A budget is parameters · steps: "budgets" trains every width as long as the budget pays for, each run with a schedule
of its own; a run stands there if it takes 16 to 15,000 steps. "width": 1,000 steps for every width. "pairs": width 16 for as much
as 1,000 steps of width 64 cost, and the other way round. "rates": 500 steps of three widths at several rates. Half an hour on one
thread. Writes results/scaling.json after every run; a part that is not run keeps what is there.
"""

import argparse
import json
import os
import time

import torch
from report import HERE, write

from course_tools.makers.mini_gpt import pretrain
from course_utils.models.decoder import Decoder, DecoderConfig
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, nats, read_corpus

PARTS = ("budgets", "width", "pairs", "rates")
WIDTHS = (8, 16, 32, 64, 96, 128)
MIDDLE, STEPS = 64, (31, 125, 500, 2_000)  # the budgets: what this width needs for so many steps
RATES, SEARCHED, SEARCH_STEPS = (0.05, 0.1, 0.2, 0.4, 0.8), (16, 32, 64), 500
CONTEXT, BATCH = 64, 8


def config(width, vocab):
    return DecoderConfig(
        vocab_size=vocab, d_model=width, num_heads=max(1, width // 16), num_layers=2, max_len=CONTEXT, dropout=0.0, rotary=True
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    corpus, (_, tokenizer) = read_corpus(docstrings=True), load_mini_gpt()
    stream, held = as_stream(tokenizer, corpus.training), as_stream(tokenizer, corpus.held_out)
    test = held[len(held) // 2 :]
    path = HERE / "results" / "scaling.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    figures = {
        "threads": 1,
        "tokens": len(stream),
        "tokens a step": BATCH * CONTEXT,
        "parameters": {str(width): sum(p.numel() for p in Decoder(config(width, len(tokenizer))).parameters()) for width in WIDTHS},
        **{part: kept.get(part, {}) for part in PARTS},
    }
    parameters = figures["parameters"]

    def run(part, name, width, steps, rate, seed):
        started = time.process_time()
        model, _ = pretrain(stream, config(width, len(tokenizer)), steps, rate / width, BATCH, seed)
        loss, seconds = nats(model, test) / (len(test) - 1), time.process_time() - started
        row = figures[part].setdefault(name, {"width": width, "steps": steps, "losses": {}, "seconds": {}})
        row["losses"][str(seed)], row["seconds"][str(seed)] = round(loss, 4), round(seconds, 1)
        print(part, name, seed, round(loss, 3), f"{seconds:.0f} s", flush=True)
        write("scaling", figures)

    for seed in options.seeds:
        for width in WIDTHS if "width" in options.only else ():
            run("width", f"{width}", width, 1_000, 0.2, seed)
        for width, like in ((16, 64), (64, 16)) if "pairs" in options.only else ():
            run("pairs", f"{width}", width, round(1_000 * parameters[str(like)] / parameters[str(width)]), 0.2, seed)
        for rate in RATES if "rates" in options.only else ():
            for width in SEARCHED:
                run("rates", f"{width} at {rate}", width, SEARCH_STEPS, rate, seed)
        for long in STEPS if "budgets" in options.only else ():
            for width in WIDTHS:
                steps = round(long * parameters[str(MIDDLE)] / parameters[str(width)])
                if 16 <= steps <= 15_000:
                    run("budgets", f"{width} for {long}", width, steps, 0.2, seed)


if __name__ == "__main__":
    main()
