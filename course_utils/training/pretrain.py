"""Pre-train the course's GPT on a folder of text files: on a CPU, on one GPU, or on many.

    python -m course_utils.training.pretrain TEXTS --out RUN [--steps 1000 …] [--sample "Once upon"]
    torchrun --nproc-per-node 4 -m course_utils.training.pretrain TEXTS --out RUN …

RUN gets the tokenizer, the token file, log.jsonl, a checkpoint and in the end model.safetensors with
config.json. The same command goes on where it was stopped. ``--batch`` is the batch of all processes together:
N processes see the windows that one would see.
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
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from ..models.gpt import GPT, GPTConfig
from ..text.bpe import ByteBPE
from ..text.files import replacing, write_text
from .loop import best_device
from .sampling import generate
from .token_file import Tokens, text_files, train_tokenizer, write_tokens
from .trainer import Trainer

FREE = ("texts", "out", "every", "device", "sample", "sample_tokens", "resume")  # what may change between two starts of the same run


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.training.pretrain", description="Pre-train a GPT on a folder of texts.")
    parser.add_argument("texts", type=Path, help="folder with .txt or .md files (UTF-8), each a document")
    parser.add_argument("--out", type=Path, required=True, help="folder of this run; an interrupted run in it goes on")
    numbers = {
        "steps": 1000,
        "width": 128,
        "layers": 2,
        "heads": 4,
        "context": 64,
        "batch": 16,
        "vocab": 1024,
        "seed": 0,
        "every": 100,
        "sample-tokens": 64,
    }
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    parser.add_argument("--lr", type=float, default=1e-3, help="largest rate, default 1e-3")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), help="default: the best there is")
    parser.add_argument("--sample", default=None, metavar="PROMPT", help="continue this text at the end")
    parser.add_argument("--resume", action="store_true", help="fail unless there is something to go on with")
    return parser.parse_args(words)


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
        vocab_size=options.vocab,
        d_model=options.width,
        num_heads=options.heads,
        num_layers=options.layers,
        max_len=options.context,
        dropout=options.dropout,
    )


def prepare(options: argparse.Namespace) -> None:
    """Tokenizer, token file and settings in ``--out``, unless they are there and fit."""
    files, out = text_files(options.texts), options.out
    make_folder(out)
    settings = {name: value for name, value in vars(options).items() if name not in FREE}
    refuse_another_run(out, settings, options.resume)
    tokens = tokens_of(files, options)
    if tokens.skipped:
        names = ", ".join(tokens.skipped[:5]) + (" …" if len(tokens.skipped) > 5 else "")
        print(f"{len(tokens.skipped)} of {tokens.files} files are not UTF-8 and left out: {names}", file=sys.stderr)
    if min(tokens.training, tokens.validation) <= options.context:
        (out / "tokens.json").unlink()  # more text may come
        raise ValueError(
            f"{tokens.training} tokens to train on and {tokens.validation} held out; a window needs "
            f"{options.context + 1}: give more text or a smaller --context"
        )
    write_text(out / "settings.json", json.dumps(settings, indent=1))


def make_folder(out: Path) -> None:
    """A folder that can be written to, without what a run left that was killed while it wrote."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / ".writable", "")
        (out / ".writable").unlink()
        for left in out.glob("*.*.part"):
            left.unlink()
    except OSError as error:
        raise ValueError(f"cannot write to {out}: {error.strerror}") from None


def refuse_another_run(out: Path, wanted: dict[str, Any], resume: bool) -> None:
    """ValueError when the folder holds a run with other settings, or ``--resume`` finds no checkpoint."""
    settings, checkpoint = out / "settings.json", out / "checkpoint.pt"
    if settings.exists():
        found = json.loads(settings.read_text(encoding="utf-8"))
        if other := [f"--{k} {found.get(k)} (now {wanted[k]})" for k in wanted if found.get(k) != wanted[k]]:
            raise ValueError(f"{out} holds a run with {', '.join(other)}; choose another --out, or the same numbers")
    elif checkpoint.exists():
        raise ValueError(f"{out} holds a checkpoint without settings.json; choose another --out")
    if resume and not checkpoint.exists():
        raise ValueError(f"--resume, but {out} holds no checkpoint.pt")


def tokens_of(files: list[Path], options: argparse.Namespace) -> Tokens:
    """The token file of these texts, made with a tokenizer of their own unless both are there already."""
    out, size = options.out, sum(file.stat().st_size for file in files)
    if (out / "tokens.json").exists():
        tokens = Tokens(**json.loads((out / "tokens.json").read_text()))
        if (tokens.files, tokens.size) != (len(files), size):
            raise ValueError(
                f"{out} was made from {tokens.files} files of {tokens.size} bytes, {options.texts} holds "
                f"{len(files)} of {size}; choose another --out"
            )
        return tokens
    if not (out / "tokenizer" / "merges.txt").exists():  # written after vocab.json
        beside = out / "tokenizer.part"
        train_tokenizer(files, options.vocab, seed=options.seed).save(beside)
        shutil.rmtree(out / "tokenizer", ignore_errors=True)
        beside.rename(out / "tokenizer")
    return write_tokens(files, options.texts, ByteBPE.from_files(out / "tokenizer"), out, seed=options.seed)


def train(options: argparse.Namespace, device: torch.device, rank: int, processes: int) -> GPT:
    """All steps that are not in the checkpoint; the first process writes the log and the next checkpoint."""
    trainer, checkpoint = Trainer(options, device, rank, processes), options.out / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint)
    log = Log(options.out / "log.jsonl", trainer.done) if rank == 0 else None
    losses: list[Tensor] = []
    clock = time.perf_counter()
    for step in range(trainer.done + 1, options.steps + 1):
        losses.append(trainer.step(step))
        if step % options.every and step != options.steps:
            continue
        mean = trainer.mean(losses)
        if log is not None:
            speed = len(losses) * options.batch * options.context / (time.perf_counter() - clock)
            log.write(step=step, loss=mean, validation=trainer.held_out_loss(), tokens_per_s=round(speed))
            trainer.save(checkpoint)
        losses.clear()
        clock = time.perf_counter()
    return trainer.model.eval()


class Log:
    """One JSON object in each line. What was written after the checkpoint is dropped when a run goes on."""

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


def finish(model: GPT, options: argparse.Namespace) -> None:
    """The trained model for others, and a continuation of ``--sample``."""
    from safetensors.torch import save_file

    with replacing(options.out / "model.safetensors") as beside:
        save_file({k: v.contiguous().cpu() for k, v in model.state_dict().items()}, beside)
    write_text(options.out / "config.json", json.dumps(asdict(model.config), indent=1))
    if options.sample is not None:
        bpe = ByteBPE.from_files(options.out / "tokenizer")
        ids = torch.tensor([bpe.encode(options.sample) or [bpe.end_id]], device=model.token.weight.device)
        torch.manual_seed(options.seed)
        print(bpe.decode(generate(model, ids, options.sample_tokens, temperature=0.8, top_k=50, end_id=bpe.end_id)[0].tolist()))


def device_of(options: argparse.Namespace) -> torch.device:
    """The device of this process. ValueError when it is not there."""
    device = torch.device(options.device) if options.device else best_device()
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ValueError("--device cuda, but PyTorch finds no CUDA device")
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", device.index or 0)))
        torch.cuda.set_device(device)
    return device


def prepare_once(options: argparse.Namespace, rank: int, processes: int) -> None:
    """The first process prepares while the others wait; what stops it stops all of them."""
    fault: list[str | None] = [None]
    if rank == 0:
        try:
            prepare(options)
        except (ValueError, OSError) as error:
            fault = [str(error)]
    if processes > 1:
        dist.broadcast_object_list(fault)
    if fault[0]:
        raise ValueError(fault[0])


def main(words: Sequence[str] | None = None) -> int:
    """0 when trained, 2 with one line for what a user can mend."""
    options = arguments(words)
    rank, processes = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    try:
        device = device_of(options)
        check(options, processes)
        if processes > 1:
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backend, timeout=timedelta(hours=24))  # tokenizing may take long
        prepare_once(options, rank, processes)
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
