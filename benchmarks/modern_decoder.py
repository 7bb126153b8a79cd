"""What each part of today's decoder changes, measured on the prose that Python carries: three seeds, the same windows for all.

    python benchmarks/modern_decoder.py [--seeds 0 1 2] [--steps 1000]

Width 32, two blocks, four heads, windows of 64 tokens, 8 at a time, rate 0.2 / width. "GPT-2" is the decoder with every switch off;
"rotary" turns one on and is what the parts after it are added to, each alone; "all" has them all but the experts. An expert is half
as wide as the layer it replaces and each token uses two of four, so that as many parameters work on it. Losses are nats per token of
the held-out pages; the milliseconds are processor time of a training step. About five minutes on one thread.
Writes results/modern_decoder.json.
"""

import argparse
import os
import time
from dataclasses import replace

import torch
from report import write

from course_tools.makers.mini_gpt import pretrain
from course_utils.models.decoder import DecoderConfig, llama_style
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, nats, read_corpus

WIDTH = 32


def parameters_used(model):
    """Parameters that one token meets: all, less the experts it does not use."""
    idle = (model.config.num_experts - model.config.active_experts) / model.config.num_experts
    unused = sum(p.numel() for mixture in model.mixtures() for p in mixture.experts.parameters())
    return sum(p.numel() for p in model.parameters()) - round(idle * unused)


def variants(vocab):
    gpt2 = DecoderConfig(vocab_size=vocab, d_model=WIDTH, num_heads=4, num_layers=2, max_len=64, dropout=0.0)
    base = replace(gpt2, rotary=True)
    return {
        "GPT-2": gpt2,
        "rotary": base,
        "RMSNorm": replace(base, norm="rms"),
        "SwiGLU": replace(base, gated=True, activation="silu"),
        "no biases": replace(base, bias=False),
        "two key heads": replace(base, num_kv_heads=2),
        "experts": replace(base, num_experts=4, active_experts=2, d_ff=2 * WIDTH),
        "all": replace(llama_style(gpt2), num_kv_heads=2),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=1_000)
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    corpus, (_, tokenizer) = read_corpus(docstrings=True), load_mini_gpt()
    stream, held = as_stream(tokenizer, corpus.training), as_stream(tokenizer, corpus.held_out)
    figures = {"threads": 1, "steps": options.steps, "variants": {}}
    for name, config in variants(len(tokenizer)).items():
        runs = []
        for seed in options.seeds:
            started = time.process_time()
            model, _ = pretrain(stream, config, options.steps, 0.2 / WIDTH, 8, seed)
            seconds = time.process_time() - started
            runs.append({"loss": nats(model, held) / (len(held) - 1), "ms": 1e3 * seconds / options.steps})
        heads = config.num_kv_heads or config.num_heads
        figures["variants"][name] = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "used": parameters_used(model),
            "cache": 2 * config.num_layers * heads * WIDTH // 4,
            "runs": runs,
        }
        print(name, [round(run["loss"], 3) for run in runs], f"{runs[0]['ms']:.0f} ms", flush=True)
        write("modern_decoder", figures)


if __name__ == "__main__":
    main()
