"""Speed of our multi-head attention against nn.MultiheadAttention with the same weights (need_weights=False).

    python benchmarks/attention_speed.py [--runs 7] [--min-ratio 0.95]

The two take turns, so that whatever else the machine does hits both; a figure is the median over the runs. Every
configuration is measured as inference (evaluation mode, no gradients, where PyTorch may take its own short cut) and as
training (forward and backward). Writes results/attention_speed.json; fails below the ratio.
"""

import argparse
import statistics
import sys
import time
from functools import partial

import torch
from report import write
from torch import nn

from course_utils.models.multihead import MultiHeadAttention

CONFIGURATIONS = [  # batch, tokens, d_model, num_heads, masked
    (8, 128, 512, 8, False),
    (8, 128, 512, 8, True),
    (4, 512, 768, 12, False),
    (16, 64, 256, 4, False),
]


def pair(d_model, num_heads, batch, tokens, masked, training):
    """Two functions that do the same work, ours and PyTorch's."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(d_model, num_heads, batch_first=True).train(training)
    ours = MultiHeadAttention.from_torch(theirs).train(training)
    x = torch.randn(batch, tokens, d_model, requires_grad=training)
    allowed = torch.ones(tokens, tokens).tril().bool() if masked else None
    hidden = None if allowed is None else ~allowed

    def run(call, module):
        if not training:
            with torch.no_grad():
                return call()
        output = call()
        module.zero_grad()
        output.sum().backward()
        return output

    left = partial(run, lambda: ours(x, mask=allowed), ours)
    right = partial(run, lambda: theirs(x, x, x, attn_mask=hidden, need_weights=False)[0], theirs)
    torch.testing.assert_close(left(), right(), rtol=1e-4, atol=1e-5)
    return left, right


def measure(functions, runs, repeats):
    """Median seconds per call of each function; the functions take turns."""
    times = [[] for _ in functions]
    for run in range(runs + 1):
        for own, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            for _ in range(repeats):
                function()
            if run:  # the first round warms up
                own.append((time.perf_counter() - start) / repeats)
    return [statistics.median(own) for own in times]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--repeats", type=int, default=10, help="calls in a run")
    parser.add_argument("--min-ratio", type=float, default=0.95)
    options = parser.parse_args()
    rows = []
    for batch, tokens, d_model, num_heads, masked in CONFIGURATIONS:
        for training in (False, True):
            functions = pair(d_model, num_heads, batch, tokens, masked, training)
            ours, theirs = measure(functions, options.runs, options.repeats)
            rows.append(
                {
                    "batch": batch,
                    "tokens": tokens,
                    "d_model": d_model,
                    "num_heads": num_heads,
                    "causal_mask": masked,
                    "mode": "training" if training else "inference",
                    "ours_s": ours,
                    "torch_s": theirs,
                    "speed_ratio": theirs / ours,
                }
            )
            print(
                f"batch {batch:2d}, {tokens:3d} tokens, d_model {d_model}, {num_heads:2d} heads, mask {masked!s:5s} "
                f"{rows[-1]['mode']:9s} ours {1e3 * ours:6.1f} ms, torch {1e3 * theirs:6.1f} ms, ratio {theirs / ours:.2f}"
            )
    slowest = min(row["speed_ratio"] for row in rows)
    print(f"smallest ratio {slowest:.2f}")
    write(
        "attention_speed",
        {
            "runs": options.runs,
            "calls_in_a_run": options.repeats,
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "need_weights": False,
            "smallest_ratio": slowest,
            "configurations": rows,
        },
    )
    return 0 if slowest >= options.min_ratio else 1


if __name__ == "__main__":
    sys.exit(main())
