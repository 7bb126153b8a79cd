"""What a special path for speed gains: a training step with the readable line and with the special one.

    python benchmarks/path_speed.py [--threads 1] [--rounds 40] [--only axis]

``course_utils.models`` keeps a special path only where it gains 5 % on every model measured here, on a quiet machine. The two variants
take turns inside one process, each beginning every other round, and processor time is counted, so that other programs hardly matter.
The gain is the median over the rounds of readable / special; beside it stands the ratio of the two fastest rounds. Before a race both
variants must compute the same. Writes results/path_speed.json.
"""

import argparse
import statistics
import time
from contextlib import ExitStack
from unittest.mock import patch

import torch
from report import write
from torch.nn import functional as F

from course_utils.models import attention as attention_module
from course_utils.models.attention import SelfAttention, check_widths


def attention_without_axis(query, key, value, mask=None, dropout=0.0, causal=False):
    """The readable line for one head."""
    check_widths(query, key, value, mask)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, causal)


def single_head(batch, tokens, width):
    """A function that makes one training step: forward, loss, backward, fused AdamW."""
    layer, x = SelfAttention(width), torch.randn(batch, tokens, width)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-5, fused=True)

    def step():
        optimizer.zero_grad()
        value = layer(x).square().mean()
        value.backward()
        optimizer.step()
        return value.detach()

    return step


PATHS = {  # name: the readable variant and what it takes the place of; what is measured
    "a head axis for one head": (
        [(attention_module, "attention", attention_without_axis)],
        {"one head, 32×32×64": lambda: single_head(32, 32, 64), "one head, 64×12×32": lambda: single_head(64, 12, 32)},
    )
}


def timed(function, seconds):
    """Processor seconds of one call, from as many calls as fill ``seconds``."""
    calls = 0
    start = time.process_time()
    while calls == 0 or time.process_time() - start < seconds:
        function()
        calls += 1
    return (time.process_time() - start) / calls


def patched(patches, function, *arguments):
    """``function(*arguments)`` with the readable variants."""
    with ExitStack() as stack:
        for place, name, variant in patches:
            stack.enter_context(patch.object(place, name, variant))
        return function(*arguments)


def race(function, patches, rounds, seconds):
    """Seconds of every round, with the readable variant and with the special one of the package."""
    times = []
    for turn in range(rounds + 1):
        if turn % 2:
            special = timed(function, seconds)
            times.append((patched(patches, timed, function, seconds), special))
        else:
            readable = patched(patches, timed, function, seconds)
            times.append((readable, timed(function, seconds)))
    return times[1:]  # the first round warms up


def same(build, patches):
    """Both variants give the same first loss."""
    results = []
    for chosen in ([], patches):
        torch.manual_seed(0)
        results.append(patched(chosen, build()))
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0.15, help="least time of a round for each variant")
    parser.add_argument("--only", default="", help="paths whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = []
    for name, (patches, workloads) in PATHS.items():
        for work, build in workloads.items() if options.only in name else ():
            same(build, patches)
            torch.manual_seed(0)
            times = race(build(), patches, options.rounds, options.seconds)
            readable, special = zip(*times, strict=True)
            row = {
                "path": name,
                "work": work,
                "readable_s": statistics.median(readable),
                "special_s": statistics.median(special),
                "gain": statistics.median(a / b for a, b in times),
                "gain_of_fastest": min(readable) / min(special),
            }
            rows.append(row)
            print(row, flush=True)
    settings = {"rounds": options.rounds, "seconds_of_a_round": options.seconds, "threads": torch.get_num_threads()}
    write("path_speed", {**settings, "clock": "processor time", "paths": rows})


if __name__ == "__main__":
    main()
