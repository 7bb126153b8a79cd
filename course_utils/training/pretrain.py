"""Pre-train the course's GPT on a folder of text files: on a CPU, on one GPU, or on many.

    python -m course_utils.training.pretrain TEXTS --out RUN [--steps 1000 --width 128 …] [--sample "Once upon"]
    torchrun --nproc-per-node 4 -m course_utils.training.pretrain TEXTS --out RUN …

RUN gets the tokenizer, the token file, log.jsonl, a checkpoint and in the end model.safetensors with config.json. The same command
goes on where it was stopped. ``--batch`` is the batch of all processes together: N processes see the windows that one would see.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from ..models.gpt import GPT, GPTConfig
from ..text.bpe import ByteBPE
from .loop import best_device
from .sampling import generate
from .schedules import warmup_cosine
from .token_file import Tokens, text_files, train_tokenizer, write_text, write_tokens

FREE = ("texts", "out", "every", "device", "sample", "sample_tokens")  # what may change between two starts of the same run


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.training.pretrain", description="Pre-train a GPT on a folder of texts.")
    parser.add_argument("texts", type=Path, help="folder with .txt or .md files (UTF-8), each a document")
    parser.add_argument("--out", type=Path, required=True, help="folder of this run; an interrupted run in it goes on")
    numbers = {"steps": 1000, "width": 128, "layers": 2, "heads": 4, "context": 64, "batch": 16, "vocab": 1024, "seed": 0, "every": 100,
               "sample-tokens": 64}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    parser.add_argument("--lr", type=float, default=1e-3, help="largest rate, default 1e-3")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), help="default: the best there is")
    parser.add_argument("--sample", default=None, metavar="PROMPT", help="continue this text at the end")
    parser.add_argument("--resume", action="store_true", help="fail unless there is something to go on with")
    return parser.parse_args(words)


class NextTokenLoss(nn.Module):
    """The model and its loss as one module, which is what DDP and torch.compile wrap: ids ``(batch, n + 1)`` -> a number."""

    def __init__(self, model: GPT):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return self.model.loss(ids)


def check(options: argparse.Namespace, processes: int) -> None:
    """ValueError for numbers that make no sense."""
    for name in ("steps", "context", "batch", "every"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} {getattr(options, name)} must be at least 1")
    if options.batch % processes:
        raise ValueError(f"--batch {options.batch} is not divisible by {processes} processes")
    if not options.lr > 0:
        raise ValueError(f"--lr {options.lr} must be positive")
    if options.vocab < 257:
        raise ValueError(f"--vocab {options.vocab} must be at least 257: 256 bytes and the end of a document")
    GPTConfig(
        vocab_size=options.vocab, d_model=options.width, num_heads=options.heads, num_layers=options.layers,
        max_len=options.context, dropout=options.dropout)


def prepare(options: argparse.Namespace) -> None:
    """Tokenizer, token file and settings in ``--out``, unless they are there and fit."""
    files, out = text_files(options.texts), options.out
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / ".writable", "")
        (out / ".writable").unlink()
    except OSError as error:
        raise ValueError(f"cannot write to {out}: {error.strerror}") from None
    wanted = {k: v for k, v in vars(options).items() if k not in (*FREE, "resume")}
    settings = out / "settings.json"
    if settings.exists():
        found = json.loads(settings.read_text(encoding="utf-8"))
        if other := [f"--{k} {found.get(k)} (now {wanted[k]})" for k in wanted if found.get(k) != wanted[k]]:
            raise ValueError(f"{out} holds a run with {', '.join(other)}; choose another --out, or the same numbers")
    elif (out / "checkpoint.pt").exists():
        raise ValueError(f"{out} holds a checkpoint without settings.json; choose another --out")
    if options.resume and not (out / "checkpoint.pt").exists():
        raise ValueError(f"--resume, but {out} holds no checkpoint.pt")
    if (out / "tokens.json").exists():
        tokens, size = Tokens(**json.loads((out / "tokens.json").read_text())), sum(f.stat().st_size for f in files)
        if (tokens.files, tokens.size) != (len(files), size):
            raise ValueError(f"{out} was made from {tokens.files} files of {tokens.size} bytes, {options.texts} holds {len(files)} of "
                             f"{size}; choose another --out")
    else:
        if not (out / "tokenizer" / "merges.txt").exists():  # written after vocab.json
            beside = out / "tokenizer.part"
            train_tokenizer(files, options.vocab, seed=options.seed).save(beside)
            shutil.rmtree(out / "tokenizer", ignore_errors=True)
            beside.rename(out / "tokenizer")
        tokens = write_tokens(files, options.texts, ByteBPE.from_files(out / "tokenizer"), out, seed=options.seed)
    if tokens.skipped:
        print(f"{len(tokens.skipped)} of {tokens.files} files are not UTF-8 and left out: {', '.join(tokens.skipped[:5])}"
              + (" …" if len(tokens.skipped) > 5 else ""), file=sys.stderr)
    if min(tokens.training, tokens.validation) <= options.context:
        (out / "tokens.json").unlink()  # more text may come
        raise ValueError(f"{tokens.training} tokens to train on and {tokens.validation} held out; a window needs {options.context + 1}: "
                         f"give more text or a smaller --context")
    write_text(settings, json.dumps(wanted, indent=1))


def windows(ids: np.ndarray, starts: Sequence[int], n: int, device: torch.device) -> Tensor:
    """Windows of n tokens that begin at these places, ``(batch, n)``."""
    return torch.from_numpy(np.stack([ids[s: s + n] for s in starts]).astype(np.int64)).to(device)


def make_optimizer(model: nn.Module, lr: float) -> torch.optim.Optimizer:
    """AdamW; matrices and embeddings shrink, biases and norms do not."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), fused=True)


def train(options: argparse.Namespace, device: torch.device, rank: int, processes: int) -> GPT:
    """All steps that are not in the checkpoint. Windows and dropout of a step depend on seed and step alone: nothing else is kept."""
    out = options.out
    tokens = Tokens(**json.loads((out / "tokens.json").read_text()))
    training, validation = tokens.open(out)
    torch.manual_seed(options.seed)
    config = GPTConfig(
        vocab_size=tokens.vocab_size, d_model=options.width, num_heads=options.heads,
        num_layers=options.layers, max_len=options.context, dropout=options.dropout)
    model = GPT(config).to(device).train()
    optimizer, done = make_optimizer(model, options.lr), 0
    if (out / "checkpoint.pt").exists():
        state = torch.load(out / "checkpoint.pt", map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    log = Log(out / "log.jsonl", done) if rank == 0 else None
    gpu = device.type == "cuda"
    low = torch.autocast("cuda", torch.bfloat16) if gpu else contextlib.nullcontext()
    step_loss: nn.Module = NextTokenLoss(model)
    if gpu and util.find_spec("triton") and (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        step_loss.compile()
    if processes > 1:
        step_loss = nn.parallel.DistributedDataParallel(step_loss, device_ids=[device.index] if gpu else None)
    rate, own = warmup_cosine(options.steps, min(options.steps - 1, options.steps // 20)), options.batch // processes
    held = np.linspace(0, len(validation) - options.context - 1, min(64, len(validation) // options.context), dtype=int)
    total, since, clock = torch.zeros((), device=device), done, time.perf_counter()
    for step in range(done + 1, options.steps + 1):
        draw = torch.Generator().manual_seed(options.seed * 1_000_003 + step)
        starts = torch.randint(len(training) - options.context, (options.batch,), generator=draw)[rank * own: (rank + 1) * own]
        if options.dropout:
            torch.manual_seed((options.seed * 1_000_003 + step) * 4_099 + rank)
        for group in optimizer.param_groups:
            group["lr"] = options.lr * rate(step)
        optimizer.zero_grad()
        with low:
            loss = step_loss(windows(training, starts.tolist(), options.context + 1, device))
        loss.backward()  # DDP averages the gradients; each process has the same number of windows
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.detach()
        if step % options.every and step != options.steps:
            continue
        if processes > 1:
            dist.all_reduce(total)
        mean = total.item() / processes / (step - since)
        if not np.isfinite(mean):
            raise ValueError(f"the loss is {mean} at step {step}: lower --lr {options.lr}")
        if log is not None:
            speed = (step - since) * options.batch * options.context / (time.perf_counter() - clock)
            log.write(step=step, loss=mean, validation=held_out_loss(model, validation, held, low, device), tokens_per_s=round(speed))
            save(out / "checkpoint.pt", {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step})
        total.zero_()
        since, clock = step, time.perf_counter()
    return model.eval()


@torch.no_grad()
def held_out_loss(model: GPT, ids: np.ndarray, starts: np.ndarray, low: Any, device: torch.device) -> float:
    """Mean loss on windows that stay the same."""
    model.eval()
    with low:
        losses = [model.loss(windows(ids, part, model.config.max_len + 1, device)).item() * len(part)
                  for part in np.array_split(starts, -(-len(starts) // 16))]
    model.train()
    return sum(losses) / len(starts)


class Log:
    """One JSON object a line; lines after the checkpoint (or half a line, after a kill) are dropped when a run goes on."""

    def __init__(self, path: Path, done: int):
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept: list[str] = []
        for line in lines:
            with contextlib.suppress(ValueError):  # half a line
                kept += [line] if json.loads(line)["step"] <= done else []
        write_text(path, "".join(line + "\n" for line in kept))

    def write(self, **figures: float) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
        print("  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)


def save(path: Path, state: dict[str, Any]) -> None:
    """Write beside the old file, then take its place: a kill in the middle costs nothing."""
    beside = path.with_name(path.name + ".part")
    torch.save(state, beside)
    os.replace(beside, path)


def finish(model: GPT, options: argparse.Namespace) -> None:
    """The trained model for others, and a continuation of ``--sample``."""
    from safetensors.torch import save_file

    save_file({k: v.contiguous().cpu() for k, v in model.state_dict().items()}, options.out / "model.safetensors.part")
    os.replace(options.out / "model.safetensors.part", options.out / "model.safetensors")
    write_text(options.out / "config.json", json.dumps(asdict(model.config), indent=1))
    if options.sample is not None:
        bpe = ByteBPE.from_files(options.out / "tokenizer")
        ids = torch.tensor([bpe.encode(options.sample) or [bpe.end_id]], device=model.token.weight.device)
        torch.manual_seed(options.seed)
        print(bpe.decode(generate(model, ids, options.sample_tokens, temperature=0.8, top_k=50, end_id=bpe.end_id)[0].tolist()))


def main(words: Sequence[str] | None = None) -> int:
    """0 when trained, 2 with one line for what a user can mend."""
    options = arguments(words)
    rank, processes = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    try:
        device = torch.device(options.device) if options.device else best_device()
        if device.type == "cuda":
            if not torch.cuda.is_available():
                raise ValueError("--device cuda, but PyTorch finds no CUDA device")
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", device.index or 0)))
            torch.cuda.set_device(device)
        check(options, processes)
        if processes > 1:  # the others wait while the first tokenizes
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=timedelta(hours=24))
        fault: list[str | None] = [None]
        if rank == 0:
            try:
                prepare(options)
            except (ValueError, OSError) as error:
                fault = [str(error)]
        if processes > 1:
            dist.broadcast_object_list(fault)  # all stop, or all go on
        if fault[0]:
            raise ValueError(fault[0])
        model = train(options, device, rank, processes)
        if rank == 0:
            finish(model, options)
    except (ValueError, OSError) as error:
        if rank == 0:
            print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
