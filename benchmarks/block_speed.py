"""Speed of our encoder block against nn.TransformerEncoderLayer with the same weights, forward and backward in training mode.

    python benchmarks/block_speed.py [--runs 9] [--min-ratio 1.1]

The two take turns, so that whatever else the machine does hits both; a figure is the median over the runs. Dropout, where
there is any, is in the same places of both. Without dropout outputs and gradients are compared first, to 1e-5.
Writes results/block_speed.json; fails below the ratio.
"""

import argparse
import sys

import torch
from attention_speed import measure
from report import write
from torch import nn

from course_utils.models.transformer import EncoderBlock

CONFIGURATIONS = [  # batch, tokens, d_model, num_heads, d_ff, norm_first, masked
    (128, 16, 128, 4, 512, True, False),
    (32, 64, 256, 4, 1024, True, True),
    (8, 128, 512, 8, 2048, False, False),
    (8, 128, 512, 8, 2048, True, True),
]


def step(module, x, **mask):
    """Forward and backward; returns the output and the gradients of the parameters by name."""
    module.zero_grad()
    output = module(x, **mask)
    output.square().mean().backward()
    return output


def pair(batch, tokens, d_model, num_heads, d_ff, norm_first, masked, dropout):
    """Two functions that do the same work, ours and PyTorch's; equal where no dropout makes them random."""
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=norm_first)
    ours = EncoderBlock.from_torch(theirs)
    x = torch.randn(batch, tokens, d_model, requires_grad=True)
    allowed = torch.ones(tokens, tokens).tril().bool() if masked else None
    hidden = {} if allowed is None else {"src_mask": ~allowed}
    functions = [lambda: step(ours, x, mask=allowed), lambda: step(theirs, x, **hidden)]
    if dropout == 0:
        outputs, gradients = [], []
        for function, module in zip(functions, (ours, theirs), strict=True):
            x.grad = None
            outputs.append(function())
            gradients.append({"x": x.grad, **{n: p.grad for n, p in module.named_parameters()}})
        torch.testing.assert_close(*outputs, rtol=1e-5, atol=1e-5)
        mine, other = gradients
        for left, right in [
            ("x", "x"),
            ("attention.w_qkv.weight", "self_attn.in_proj_weight"),
            ("attention.w_o.weight", "self_attn.out_proj.weight"),
            ("feed_forward.w_1.weight", "linear1.weight"),
            ("feed_forward.w_2.weight", "linear2.weight"),
            ("norm_1.weight", "norm1.weight"),
        ]:
            torch.testing.assert_close(mine[left], other[right], rtol=1e-5, atol=1e-5)
    return functions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=8, help="calls in a run")
    parser.add_argument("--min-ratio", type=float, default=1.1)
    options = parser.parse_args()
    rows = []
    for batch, tokens, d_model, num_heads, d_ff, norm_first, masked in CONFIGURATIONS:
        for dropout in (0.0, 0.1):
            functions = pair(batch, tokens, d_model, num_heads, d_ff, norm_first, masked, dropout)
            ours, theirs = measure(functions, options.runs, options.repeats)
            rows.append(
                {
                    "batch": batch,
                    "tokens": tokens,
                    "d_model": d_model,
                    "num_heads": num_heads,
                    "d_ff": d_ff,
                    "norm_first": norm_first,
                    "causal_mask": masked,
                    "dropout": dropout,
                    "ours_s": ours,
                    "torch_s": theirs,
                    "speed_ratio": theirs / ours,
                }
            )
            print(
                f"batch {batch:3d}, {tokens:3d} tokens, d_model {d_model}, {'pre ' if norm_first else 'post'}, mask {masked!s:5s}, "
                f"dropout {dropout}: ours {1e3 * ours:6.1f} ms, torch {1e3 * theirs:6.1f} ms, ratio {theirs / ours:.2f}",
                flush=True,
            )
    slowest = min(row["speed_ratio"] for row in rows)
    print(f"smallest ratio {slowest:.2f}")
    write(
        "block_speed",
        {
            "runs": options.runs,
            "calls_in_a_run": options.repeats,
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "smallest_ratio": slowest,
            "configurations": rows,
        },
    )
    return 0 if slowest >= options.min_ratio else 1


if __name__ == "__main__":
    sys.exit(main())
