"""Our GPT against two others with the same weights: training steps, and generation with a cache.

    python benchmarks/gpt_speed.py [--threads 1] [--runs 15] [--min-training 1.15] [--min-nano 1.0] [--min-generation 3]

The others are transformers.GPT2LMHeadModel and a GPT written the way nanoGPT's model file is (one linear layer for queries, keys and
values, PyTorch's fused causal attention, shared embedding; our own lines, see ``NanoGPT``). Its GELU is GPT-2's tanh here, so that
all compute the same; nanoGPT itself takes the exact one, which saves 3 to 4 % of a step on our CPU, and would save ours as much.
All make the same step (forward, loss, backward, fused AdamW); transformers uses PyTorch's fused attention too ("sdpa"), builds no
cache, and gets ``F.cross_entropy`` on the same targets. Dropout, where there is any, is in the same places of all. They take turns, so
that whatever else the machine does hits all; a ratio is the median of the ratios within the rounds. With one thread processor time is
counted, of which other programs take less. Without dropout losses are compared first, to 1e-5, and logits with transformers' to 1e-4;
greedy continuations must be the same tokens. The share of the peak is the work of a step (6 operations a token for each weight in a
matrix, and the attention) over the fastest float32 matrix product measured in the same minute.
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
from torch import nn
from torch.nn import functional as F

from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.pretrained_gpt import to_huggingface
from course_utils.training.sampling import generate

TRAINING = [  # layers, d_model, heads, context, batch, vocab; the first is the course's size
    (2, 128, 4, 64, 16, 1024),
    (4, 256, 8, 128, 8, 4096),
]
GENERATION = [(2, 128, 4, 64, 1, 1024), (2, 128, 4, 200, 1, 1024), (2, 128, 4, 200, 8, 1024)]  # context here: new tokens


class NanoBlock(nn.Module):
    """A block as nanoGPT's description has it."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width), nn.Dropout(dropout))
        self.dropout = nn.Dropout(dropout)

    def attend(self, x):
        batch, n, width = x.shape
        q, k, v = (part.view(batch, n, self.heads, width // self.heads).transpose(1, 2) for part in self.c_attn(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.dropout(self.c_proj(y.transpose(1, 2).contiguous().view(batch, n, width)))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """``forward(ids, targets)`` -> loss."""

    def __init__(self, layers, width, heads, context, vocab, dropout):
        super().__init__()
        self.wte, self.wpe, self.drop = nn.Embedding(vocab, width), nn.Embedding(context, width), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(NanoBlock(width, heads, dropout) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids, targets):
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(ids.shape[1])))
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))

    @classmethod
    def from_ours(cls, gpt, dropout):
        """The same weights."""
        c = gpt.config
        model = cls(c.num_layers, c.d_model, c.num_heads, c.max_len, c.vocab_size, dropout)
        pairs = [(model.wte, gpt.token), (model.wpe, gpt.position), (model.ln_f, gpt.norm)]
        for theirs, ours in zip(model.blocks, gpt.blocks, strict=True):
            pairs += [
                (theirs.ln_1, ours.norm_1),
                (theirs.ln_2, ours.norm_2),
                (theirs.c_attn, ours.attention.w_qkv),
                (theirs.c_proj, ours.attention.w_o),
                (theirs.mlp[0], ours.feed_forward.w_1),
                (theirs.mlp[2], ours.feed_forward.w_2),
            ]
        for theirs, ours in pairs:
            theirs.load_state_dict(ours.state_dict())
        return model.train()


def twins(layers, d_model, heads, max_len, vocab, dropout):
    """Our GPT and theirs with the same weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    ours = GPT(GPTConfig(vocab_size=vocab, d_model=d_model, num_heads=heads, num_layers=layers, max_len=max_len, dropout=dropout))
    theirs = GPT2LMHeadModel._from_config(
        GPT2Config(
            vocab_size=vocab,
            n_positions=max_len,
            n_embd=d_model,
            n_layer=layers,
            n_head=heads,
            resid_pdrop=dropout,
            embd_pdrop=dropout,
            attn_pdrop=dropout,
            bos_token_id=None,
            eos_token_id=None,
        ),
        attn_implementation="sdpa",
    )
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


def training_steps(layers, d_model, heads, context, batch, vocab, dropout):
    """Three functions that make the same step: ours, transformers' and nanoGPT's."""
    ours, theirs = twins(layers, d_model, heads, context, vocab, dropout)
    nano = NanoGPT.from_ours(ours, dropout)
    ids = torch.randint(vocab, (batch, context + 1))

    def their_loss():
        logits = theirs(ids[:, :-1], use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    if dropout == 0:
        torch.testing.assert_close(ours(ids[:, :-1]), theirs(ids[:, :-1]).logits, rtol=0, atol=1e-4)
        torch.testing.assert_close(ours.loss(ids), their_loss(), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours.loss(ids), nano(ids[:, :-1], ids[:, 1:]), rtol=1e-5, atol=1e-5)
    return (
        training_step(ours, lambda: ours.loss(ids)),
        training_step(theirs, their_loss),
        training_step(nano, lambda: nano(ids[:, :-1], ids[:, 1:])),
    )


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
    """Median seconds a call of each, and for all but the first the median over the runs of theirs / the first's; they take turns."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    times = []
    for run in range(runs + 1):
        row = {}
        for place in range(len(functions)):
            number = (place + run) % len(functions)  # each begins once in a while
            start = clock()
            for _ in range(repeats):
                functions[number]()
            row[number] = (clock() - start) / repeats
        times.append([row[number] for number in range(len(functions))])
    times = times[1:]  # the first round warms up
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    return medians, [statistics.median(row[number] / row[0] for row in times) for number in range(1, len(functions))]


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
    parser.add_argument("--min-training", type=float, default=1.15, help="transformers' step over ours")
    parser.add_argument("--min-nano", type=float, default=1.0, help="nanoGPT's step over ours")
    parser.add_argument("--min-generation", type=float, default=3.0, help="transformers' cached generation over ours")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    names = ("layers", "d_model", "num_heads", "context", "batch", "vocab")
    training, generation = [], []
    for sizes in TRAINING:
        for dropout in (0.0, 0.1):
            functions = training_steps(*sizes, dropout)
            peak = gemm_peak()
            (ours, theirs, nano), (ratio, nano_ratio) = race(functions, options.runs, options.repeats)
            peak = max(peak, gemm_peak())
            tokens, share = sizes[3] * sizes[4], step_operations(*sizes) / ours / peak
            training.append(
                dict(zip(names, sizes, strict=True))
                | {
                    "dropout": dropout,
                    "ours_s": ours,
                    "transformers_s": theirs,
                    "nanogpt_s": nano,
                    "speed_ratio": ratio,
                    "nanogpt_ratio": nano_ratio,
                    "ours_tokens_per_s": tokens / ours,
                    "gemm_peak_flops": peak,
                    "share_of_peak": share,
                }
            )
            print(
                f"training {sizes[0]}×{sizes[1]}, context {sizes[3]:3d}, batch {sizes[4]:2d}, dropout {dropout}: "
                f"ours {1e3 * ours:6.1f} ms ({tokens / ours:6.0f} tokens/s, {share:3.0%} of {peak / 1e9:.0f} GFLOP/s), "
                f"transformers {1e3 * theirs:6.1f} ms, ratio {ratio:.2f}, "
                f"nanoGPT {1e3 * nano:6.1f} ms, ratio {nano_ratio:.2f}",
                flush=True,
            )
    for sizes in GENERATION:
        (ours, theirs), (ratio,) = race(generation_pair(*sizes), max(3, options.runs // 3), 1)
        generation.append(
            {
                "layers": sizes[0],
                "d_model": sizes[1],
                "num_heads": sizes[2],
                "new_tokens": sizes[3],
                "batch": sizes[4],
                "vocab": sizes[5],
                "ours_s": ours,
                "transformers_s": theirs,
                "speed_ratio": ratio,
            }
        )
        print(
            f"generating {sizes[3]:3d} tokens for {sizes[4]} prompts: ours {1e3 * ours:6.1f} ms, transformers {1e3 * theirs:6.1f} ms, "
            f"ratio {ratio:.2f}",
            flush=True,
        )
    course = [row for row in training if row["d_model"] == TRAINING[0][1]]
    smallest = {
        "training": min(row["speed_ratio"] for row in course),
        "nano": min(row["nanogpt_ratio"] for row in course),
        "generation": min(row["speed_ratio"] for row in generation),
    }
    required = {"training": options.min_training, "nano": options.min_nano, "generation": options.min_generation}
    found = [f"{name} {smallest[name]:.2f} (required {required[name]})" for name in smallest]
    print("smallest ratio at the course's size: " + ", ".join(found))
    write(
        "gpt_speed",
        {
            "runs": options.runs,
            "calls_in_a_run": options.repeats,
            "threads": torch.get_num_threads(),
            "dtype": "float32",
            "clock": "processor time" if torch.get_num_threads() == 1 else "wall clock",
            **{f"smallest_{name}_ratio": value for name, value in smallest.items()},
            "training": training,
            "generation": generation,
        },
    )
    return 0 if all(smallest[name] >= required[name] for name in required) else 1


if __name__ == "__main__":
    sys.exit(main())
