"""Speed of our GPT against transformers' GPT-2 and against the same model in nanoGPT's form, with the same weights.

    python benchmarks/model_speed.py [--rounds 9] [--threads 2]

A training step is forward, cross-entropy, backward and fused AdamW; generation is greedy, with each one's own cache (nanoGPT has none
and computes every prefix anew). All compute the same before they race, and they take turns. Writes results/model_speed.json.
"""

import argparse
import statistics
import time
from typing import Any

import torch
import transformers
from report import write
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.pretrained_gpt import to_huggingface
from course_utils.paths import PACKAGE
from course_utils.training.sampling import generate

SIZES = {"256 wide, 4 blocks": (256, 4, 4, 2048, 16, 128), "512 wide, 6 blocks": (512, 8, 6, 8192, 8, 128)}


class NanoBlock(nn.Module):
    """One product for query, key and value, PyTorch's fused attention, two norms: what a step of nanoGPT computes."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.ln_1, self.ln_2, self.heads = nn.LayerNorm(d), nn.LayerNorm(d), heads
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.c_fc, self.c_out = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in self.c_attn(self.ln_1(x)).chunk(3, dim=-1))
        x = x + self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Nano(nn.Module):
    """Token and position tables, blocks, norm, tied output; the weights are those of transformers' model."""

    def __init__(self, theirs: transformers.GPT2LMHeadModel):
        super().__init__()
        c, w = theirs.config, theirs.state_dict()
        self.wte, self.wpe = nn.Embedding(c.vocab_size, c.n_embd), nn.Embedding(c.n_positions, c.n_embd)
        self.h = nn.ModuleList(NanoBlock(c.n_embd, c.n_head) for _ in range(c.n_layer))
        self.ln_f = nn.LayerNorm(c.n_embd)
        names = {"attn.c_attn": "c_attn", "attn.c_proj": "c_proj", "mlp.c_fc": "c_fc", "mlp.c_proj": "c_out"}
        for name, value in w.items():
            short = name.removeprefix("transformer.")
            turned = any(part in short for part in names) and short.endswith("weight")
            for old, new in names.items():
                short = short.replace(old, new)
            if short != "lm_head.weight":
                self.get_parameter(short).data.copy_(value.T if turned else value)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


def step(model: nn.Module, logits, ids: Tensor):
    """A function that makes one training step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def made() -> None:
        optimizer.zero_grad()
        F.cross_entropy(logits(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()

    return made


def nano_writes(model: Nano, prompt: Tensor, count: int) -> Tensor:
    """Greedy, every prefix anew."""
    with torch.no_grad():
        for _ in range(count):
            prompt = torch.cat([prompt, model(prompt)[:, -1:].argmax(-1)], dim=1)
    return prompt


def race(functions: dict, rounds: int) -> dict[str, float]:
    """Median seconds of a call; they take turns, and the first round warms up."""
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            began = time.perf_counter()
            function()
            spent[name] += [time.perf_counter() - began] if turn else []
    return {name: statistics.median(times) for name, times in spent.items()}


def measured(label: str, sizes: tuple[int, ...], rounds: int) -> dict:
    """Both races of one size."""
    d, heads, layers, words, batch, n = sizes
    torch.manual_seed(0)
    ours = GPT(GPTConfig(vocab_size=words, d_model=d, num_heads=heads, num_layers=layers, max_len=256, dropout=0.0))
    same: dict[str, Any] = {"vocab_size": words, "n_positions": 256, "n_embd": d, "n_layer": layers, "n_head": heads}
    none: dict[str, Any] = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0) | {"bos_token_id": None, "eos_token_id": None}
    theirs: Any = transformers.GPT2LMHeadModel(transformers.GPT2Config(**same, **none))
    theirs.load_state_dict(to_huggingface(ours), strict=True)
    nano, ids = Nano(theirs), torch.randint(words, (batch, n + 1))
    for other in (theirs(ids).logits, nano(ids)):
        torch.testing.assert_close(ours(ids), other, rtol=1e-3, atol=1e-3)
    prompt, count = ids[:1, :16], 128
    hidden = torch.ones_like(prompt)
    write_on = {
        "ours": lambda: generate(ours, prompt, count, temperature=0),
        "transformers": lambda: theirs.generate(prompt, attention_mask=hidden, max_new_tokens=count, do_sample=False),
        "nanoGPT's form": lambda: nano_writes(nano, prompt, count),
    }
    texts = [function() for function in write_on.values()]
    assert all(torch.equal(texts[0], other) for other in texts[1:]), "they write other texts"
    steps = {
        "ours": step(ours, ours, ids),
        "transformers": step(theirs, lambda x: theirs(x).logits, ids),
        "nanoGPT's form": step(nano, nano, ids),
    }
    found = {"generation": race(write_on, max(3, rounds // 2)), "training": race(steps, rounds)}
    for kind, times in found.items():
        ratios = {name: round(seconds / times["ours"], 2) for name, seconds in times.items() if name != "ours"}
        print(f"{label}, {kind}: ours {1e3 * times['ours']:.0f} ms; the others take so many times as long: {ratios}")
        times |= {f"{name} / ours": ratio for name, ratio in ratios.items()}
    return found


def main() -> None:
    """Race, print, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = {label: measured(label, sizes, options.rounds) for label, sizes in SIZES.items()}
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in (PACKAGE / "models").glob("*.py"))
    print(f"course_utils/models: {lines:,} lines")
    write("model_speed", {"threads": options.threads, "rounds": options.rounds, "lines_of_models": lines, "models": found})


if __name__ == "__main__":
    main()
