"""What the chapters' cells for a graphics card print, measured once on a card: ``python benchmarks/on_a_card.py``.

Where there is no card, those cells show what this command has recorded (``course_utils.show.recorded``).
"""

import statistics
import sys
import time

import torch
from report import write
from torch import nn
from torch.nn import functional as F

from course_utils.models import masks
from course_utils.models.decoder import Decoder, DecoderConfig, llama_style
from course_utils.models.gpt import GPT, GPT2, with_changes
from course_utils.models.multihead import MultiHeadAttention

DEVICE, HALF = torch.device("cuda"), torch.bfloat16


def milliseconds(call, repeats: int = 20) -> float:
    """The median time of a call that works on the card, after three calls to warm up."""
    taken = []
    for _ in range(repeats + 3):
        torch.cuda.synchronize()
        started = time.perf_counter()
        call()
        torch.cuda.synchronize()
        taken.append(1e3 * (time.perf_counter() - started))
    return statistics.median(taken[3:])


def fused_memory() -> str:
    """Chapter 03: memory of fused attention, beside what the weights alone would take."""
    q = torch.randn(16, 8, 4096, 64, device=DEVICE, dtype=HALF)
    torch.cuda.reset_peak_memory_stats()
    F.scaled_dot_product_attention(q, q, q)
    used = torch.cuda.max_memory_allocated() / 2**30
    return f"fused attention over 4,096 tokens used {used:.1f} GiB; the weights alone would take {16 * 8 * 4096**2 * 2 / 2**30:.0f} GiB"


def layers() -> str:
    """Chapter 04: the course's layer beside PyTorch's."""
    theirs = nn.MultiheadAttention(1024, 16, batch_first=True, device=DEVICE, dtype=HALF)
    ours, tokens = MultiHeadAttention.from_torch(theirs), torch.randn(16, 2048, 1024, device=DEVICE, dtype=HALF)
    taken = {"ours": milliseconds(lambda: ours(tokens)),
             "torch": milliseconds(lambda: theirs(tokens, tokens, tokens, need_weights=False))}
    return ", ".join(f"{name} {t:.2f} ms" for name, t in taken.items())


def three_masks() -> str:
    """Chapter 06: no mask, a boolean matrix, is_causal."""
    q, triangle = torch.randn(1, 4, 1024, 64, device=DEVICE, dtype=torch.half), masks.causal_mask(1024).to(DEVICE)
    ways = {"no mask": {}, "boolean matrix": {"attn_mask": triangle}, "is_causal=True": {"is_causal": True}}
    taken = {name: milliseconds(lambda: F.scaled_dot_product_attention(q, q, q, **how), 200) for name, how in ways.items()}  # noqa: B023
    return ", ".join(f"{name} {1e3 * t:.0f} µs" for name, t in taken.items())


def training() -> str:
    """Chapter 11a: tokens a second, GPT-2 small."""
    model, ids = GPT(with_changes(GPT2["small"], dropout=0.0)).to(DEVICE), torch.randint(50_257, (8, 1_025), device=DEVICE)

    def step() -> None:
        with torch.autocast("cuda", HALF):
            loss = model.loss(ids)
        loss.backward()

    return f"{8 * 1_024 / milliseconds(step, 10) * 1e3:,.0f} tokens per second, GPT-2 small"


def writing() -> str:
    """Chapter 11b: milliseconds a token with 16, 4 and 1 key heads, after 2,048 tokens."""
    parts = []
    for kv_heads in (16, 4, 1):
        config = llama_style(DecoderConfig(vocab_size=32_000, d_model=1_024, num_heads=16, num_layers=8, max_len=4_096, dropout=0.0,
                                           num_kv_heads=kv_heads))
        model = Decoder(config).to(DEVICE, HALF)
        caches, ids = model.new_caches(), torch.randint(32_000, (16, 2_048), device=DEVICE)
        with torch.inference_mode():
            model(ids, caches, last=True)
            taken = milliseconds(lambda: model(ids[:, :1], caches, last=True), 50)  # noqa: B023
        parts.append(f"{kv_heads} key heads {taken:.1f} ms")
    return "for one token of 16 texts after 2,048 tokens: " + ", ".join(parts)


def main() -> int:
    if not torch.cuda.is_available():
        print("There is no CUDA device here: nothing is measured and nothing is written.", file=sys.stderr)
        return 1
    torch.manual_seed(0)
    figures = {}
    for function in (fused_memory, layers, three_masks, training, writing):
        figures[function.__name__] = function()
        print(f"{function.__name__:13s} {figures[function.__name__]}", flush=True)
    write("on_a_card", {"card": torch.cuda.get_device_name(), "figures": figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
