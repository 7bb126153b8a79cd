"""How the loss of a language model falls with its width, its data and its steps: five widths, two smaller texts, three seeds.

    python benchmarks/scaling.py [--seeds 0 1 2] [--steps 1000] [--only width data grid]

Two blocks with rotary positions on the prose that Python carries (reference and docstrings), windows of 64 tokens, 8 at a time; the
rate is 0.2 / width, near the best of a few tried at every width on seed 0. Part "width": all of the text. Part "data": width 64 on
a sixteenth and a quarter of it, stopped where the first half of the held-out text is predicted best. Losses are nats per token of the
second half of the held-out pages. Part "grid": three widths, each four times as many parameters as the last, with three numbers of
steps, each run with a schedule of its own; all seeds where steps grow with the parameters and where they do not, one seed
elsewhere. About eight minutes on one thread. Writes results/scaling.json; a part that is not run keeps what is there.
"""

import argparse
import json
import os
import time

import torch
from report import HERE, write

from course_tools.makers.mini_gpt import pretrain
from course_utils.models.decoder import DecoderConfig
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, nats, read_corpus

WIDTHS, PARTS = (8, 16, 32, 64, 96), (16, 4)
GRID, STEPS = (16, 32, 64), (125, 500, 2_000)
THRICE = ((16, 125), (16, 500), (32, 500), (64, 500), (64, 2_000))  # in proportion: 125, 500, 2,000 steps; equal: 500
CONTEXT, BATCH = 64, 8


def config(width, vocab):
    return DecoderConfig(
        vocab_size=vocab, d_model=width, num_heads=max(1, width // 16), num_layers=2, max_len=CONTEXT, dropout=0.0, rotary=True
    )


def mean_nats(model, stream):
    return nats(model, stream) / (len(stream) - 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--only", nargs="+", choices=("width", "data", "grid"), default=["width", "data", "grid"])
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    corpus, (_, tokenizer) = read_corpus(docstrings=True), load_mini_gpt()
    stream, held = as_stream(tokenizer, corpus.training), as_stream(tokenizer, corpus.held_out)
    watch, test = held[: len(held) // 2], held[len(held) // 2 :]
    path = HERE / "results" / "scaling.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    figures = {
        "threads": 1,
        "tokens": len(stream),
        "tokens_seen": options.steps * BATCH * CONTEXT,
        **{part: kept.get(part, {}) for part in ("width", "data", "grid")},
    }
    for width in WIDTHS if "width" in options.only else ():
        runs = []
        for seed in options.seeds:
            started = time.process_time()
            model, history = pretrain(stream, config(width, len(tokenizer)), options.steps, 0.2 / width, BATCH, seed)
            runs.append(
                {
                    "loss": mean_nats(model, test),
                    "seconds": time.process_time() - started,
                    "curve": [sum(history[i : i + 100]) / 100 for i in range(0, options.steps, 100)],
                }
            )
        blocks = sum(p.numel() for p in model.blocks.parameters())
        figures["width"][str(width)] = {"blocks": blocks, "parameters": sum(p.numel() for p in model.parameters()), "runs": runs}
        print(width, blocks, [round(run["loss"], 3) for run in runs], f"{runs[0]['seconds']:.0f} s", flush=True)
        write("scaling", figures)
    for part in PARTS if "data" in options.only else ():
        text = torch.cat(stream.split(1_000)[::part])  # pieces from everywhere
        runs = []
        for seed in options.seeds:
            model, history = pretrain(
                text,
                config(64, len(tokenizer)),
                options.steps,
                0.2 / 64,
                BATCH,
                seed,
                validate=lambda model: mean_nats(model, watch[:8_000]),
                every=100,
                patience=3,
            )
            runs.append({"loss": mean_nats(model, test), "step": min(history.validation, key=lambda seen: (seen[1], -seen[0]))[0]})
        figures["data"][str(part)] = {"tokens": len(text), "runs": runs}
        print("1 /", part, [(round(run["loss"], 3), run["step"]) for run in runs], flush=True)
        write("scaling", figures)
    for width in GRID if "grid" in options.only else ():
        for steps in STEPS:
            runs = []
            for seed in options.seeds if (width, steps) in THRICE else options.seeds[:1]:
                model, _ = pretrain(stream, config(width, len(tokenizer)), steps, 0.2 / width, BATCH, seed)
                runs.append(mean_nats(model, test))
            figures["grid"][f"{width} {steps}"] = {
                "blocks": sum(p.numel() for p in model.blocks.parameters()),
                "tokens": steps * BATCH * CONTEXT,
                "losses": runs,
            }
            print(width, steps, [round(loss, 3) for loss in runs], flush=True)
        write("scaling", figures)


if __name__ == "__main__":
    main()
