"""Our GPT against transformers.GPT2LMHeadModel with the same weights: training steps, and generation with a cache.

    python benchmarks/gpt_speed.py [--threads 2] [--runs 15] [--min-training 1.3] [--min-generation 2.5]

Both make the same step (forward, loss, backward, fused AdamW); theirs uses PyTorch's fused attention too ("sdpa"), builds no cache,
and gets ``F.cross_entropy`` on the same targets. Dropout, where there is any, is in the same places of both. The two take turns, so
that whatever else the machine does hits both; a ratio is the median of the ratios of neighbouring runs. Without dropout logits are
compared first, to 1e-4; greedy continuations must be the same tokens. The share of the peak is the work of a step (6 operations a
token for each weight in a matrix, and the attention) over the fastest float32 matrix product measured in the same minute.
Writes results/gpt_speed.json; exit status 1 when the course's size is below a required ratio.
"""

import argparse
import logging
import statistics
import sys
import time
import warnings

import torch
from report import write
from torch.nn import functional as F

from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.pretrained_gpt import to_huggingface
from course_utils.training.sampling import generate

TRAINING = [  # layers, d_model, heads, context, batch, vocab; the first is the course's size
    (2, 128, 4, 64, 16, 1024),
    (4, 256, 8, 128, 8, 4096),
]
GENERATION = [(2, 128, 4, 64, 1, 1024), (2, 128, 4, 200, 1, 1024), (2, 128, 4, 200, 8, 1024)]  # context here: new tokens


def twins(layers, d_model, heads, max_len, vocab, dropout):
    """Our GPT and theirs with the same weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    ours = GPT(GPTConfig(
        vocab_size=vocab, d_model=d_model, num_heads=heads, num_layers=layers, max_len=max_len,
        dropout=dropout))
    theirs = GPT2LMHeadModel._from_config(GPT2Config(
        vocab_size=vocab, n_positions=max_len, n_embd=d_model, n_layer=layers, n_head=heads, resid_pdrop=dropout, embd_pdrop=dropout,
        attn_pdrop=dropout, bos_token_id=None, eos_token_id=None), attn_implementation="sdpa")
    theirs.load_state_dict(to_huggingface(ours), strict=True)
    return ours.train(), theirs.train()


def training_step(model, loss):
    """One complete step; returns the function."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    return step


def training_pair(layers, d_model, heads, context, batch, vocab, dropout):
    """Two functions that make the same step, ours and theirs."""
    ours, theirs = twins(layers, d_model, heads, context, vocab, dropout)
    ids = torch.randint(vocab, (batch, context + 1))

    def their_loss():
        logits = theirs(ids[:, :-1], use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    if dropout == 0:
        torch.testing.assert_close(ours(ids[:, :-1]), theirs(ids[:, :-1]).logits, rtol=0, atol=1e-4)
        torch.testing.assert_close(ours.loss(ids), their_loss(), rtol=1e-5, atol=1e-5)
    return training_step(ours, lambda: ours.loss(ids)), training_step(theirs, their_loss)


def generation_pair(layers, d_model, heads, tokens, batch, vocab):
    """Two functions that continue the same prompts greedily with a cache."""
    ours, theirs = twins(layers, d_model, heads, tokens + 8, vocab, 0.0)
    prompt = torch.randint(vocab, (batch, 8))
    theirs.eval()

    def left():
        return generate(ours, prompt, tokens, temperature=0)

    def right():
        with torch.no_grad():
            return theirs.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, do_sample=False, use_cache=True)

    assert torch.equal(left(), right()), "the continuations differ"
    return left, right


def race(functions, runs, repeats):
    """Median seconds a call of both, and the median over the runs of theirs / ours; they take turns."""
    times = []
    for _ in range(runs + 1):
        row = []
        for function in functions:
            start = time.perf_counter()
            for _ in range(repeats):
                function()
            row.append((time.perf_counter() - start) / repeats)
        times.append(row)
    times = times[1:]  # the first round warms up
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    return ours, theirs, statistics.median(right / left for left, right in times)


def gemm_peak(size=1536, runs=7):
    """The fastest float32 matrix product, operations a second."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    fastest = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        a @ b
        fastest = min(fastest, time.perf_counter() - start)
    return 2 * size**3 / fastest


def step_operations(layers, d_model, heads, context, batch, vocab):
    """Multiplications and additions of a step: forward once, backward twice as much. Half of each attention matrix counts."""
    weights = 12 * layers * d_model**2 + vocab * d_model
    attention = layers * context * d_model  # scores and weighted sum: two products, half of the keys
    return 6 * (weights + attention) * batch * context


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=None, help="threads of PyTorch (default: as it finds the machine)")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=4, help="training steps in a run")
    parser.add_argument("--min-training", type=float, default=1.3)
    parser.add_argument("--min-generation", type=float, default=2.5)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    names = ("layers", "d_model", "num_heads", "context", "batch", "vocab")
    training, generation = [], []
    for sizes in TRAINING:
        for dropout in (0.0, 0.1):
            pair = training_pair(*sizes, dropout)
            peak = gemm_peak()
            ours, theirs, ratio = race(pair, options.runs, options.repeats)
            peak = max(peak, gemm_peak())
            tokens, share = sizes[3] * sizes[4], step_operations(*sizes) / ours / peak
            training.append(dict(zip(names, sizes, strict=True)) | {
                "dropout": dropout, "ours_s": ours, "transformers_s": theirs, "speed_ratio": ratio, "ours_tokens_per_s": tokens / ours,
                "gemm_peak_flops": peak, "share_of_peak": share})
            print(f"training {sizes[0]}×{sizes[1]}, context {sizes[3]:3d}, batch {sizes[4]:2d}, dropout {dropout}: "
                  f"ours {1e3 * ours:6.1f} ms ({tokens / ours:6.0f} tokens/s, {share:3.0%} of {peak / 1e9:.0f} GFLOP/s), "
                  f"transformers {1e3 * theirs:6.1f} ms, ratio {ratio:.2f}", flush=True)
    for sizes in GENERATION:
        ours, theirs, ratio = race(generation_pair(*sizes), max(3, options.runs // 3), 1)
        generation.append({"layers": sizes[0], "d_model": sizes[1], "num_heads": sizes[2], "new_tokens": sizes[3], "batch": sizes[4],
                           "vocab": sizes[5], "ours_s": ours, "transformers_s": theirs, "speed_ratio": ratio})
        print(f"generating {sizes[3]:3d} tokens for {sizes[4]} prompts: ours {1e3 * ours:6.1f} ms, transformers {1e3 * theirs:6.1f} ms, "
              f"ratio {ratio:.2f}", flush=True)
    slowest = min(row["speed_ratio"] for row in training if row["d_model"] == TRAINING[0][1])
    cached = min(row["speed_ratio"] for row in generation)
    print(f"smallest ratio at the course's size: training {slowest:.2f} (required {options.min_training}), generation {cached:.2f} "
          f"(required {options.min_generation})")
    write("gpt_speed", {"runs": options.runs, "calls_in_a_run": options.repeats, "threads": torch.get_num_threads(), "dtype": "float32",
                        "smallest_training_ratio": slowest, "smallest_generation_ratio": cached, "training": training,
                        "generation": generation})
    return 0 if slowest >= options.min_training and cached >= options.min_generation else 1


if __name__ == "__main__":
    sys.exit(main())
