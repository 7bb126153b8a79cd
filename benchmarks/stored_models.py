"""Train one of the models that are stored with the course anew, write its file, and print what it reaches on held-out data.

    python benchmarks/stored_models.py NAME [--steps N] [--seed 0]

NAME: translator, mini_bert, mini_gpt and gazette_bert (minutes each, in course_utils/training), multitask, sums and window (in
course_utils/experiments). Without ``--steps`` as many as the committed file had.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from course_tools.makers import mini_bert as make_b
from course_tools.makers import mini_gpt as make_g
from course_tools.makers import multitask as make_m
from course_tools.makers import sums as make_s
from course_tools.makers import translator as make_t
from course_tools.makers.model_file import save_model
from course_utils.experiments import ch11b_multitask, ch11c_sums, ch13b_window
from course_utils.models.bert import BertConfig
from course_utils.models.gpt import GPTConfig
from course_utils.text import gazette
from course_utils.text.bpe import ByteBPE
from course_utils.text.numbers import number_pairs
from course_utils.training import gazette_bert, mini_bert, mini_gpt, translator


def make_translator(steps: int, seed: int) -> tuple[Path, str]:
    make_t.save(*make_t.train(steps=steps, seed=seed))
    model, source, target = translator.load_translator()
    share = make_t.exact(model, number_pairs(translator.split_numbers()[1]), source, target)
    return translator.FILE, f"{share:.1%} of {translator.HELD_OUT} held-out numbers exact"


def make_mini_bert(steps: int, seed: int) -> tuple[Path, str]:
    corpus = mini_bert.read_corpus(2_000, docstrings=True)
    sizes: dict[str, Any] = {
        "vocab_size": len(corpus.tokenizer),
        "d_model": 128,
        "num_heads": 4,
        "d_ff": 512,
        "num_layers": 2,
        "max_len": 64,
    }
    model, _ = make_b.pretrain(corpus, BertConfig(**sizes, dropout=0.0, init_std=0.06), steps, seed=seed)
    make_b.save(model, corpus.tokenizer)
    return mini_bert.FILE, str(make_b.score(mini_bert.load_mini_bert()[0], corpus))


def make_mini_gpt(steps: int, seed: int) -> tuple[Path, str]:
    corpus = mini_gpt.read_corpus(docstrings=True)
    tokenizer = ByteBPE.train(corpus.training, 1_024)
    config = GPTConfig(vocab_size=len(tokenizer), d_model=120, num_heads=4, num_layers=3, max_len=128, dropout=0.0)
    model, _ = make_g.pretrain(mini_gpt.as_stream(tokenizer, corpus.training), config, steps, seed=seed)
    make_g.save(model, tokenizer)
    held_out = mini_gpt.as_stream(tokenizer, corpus.held_out)
    return mini_gpt.FILE, f"{make_g.bits_per_character(mini_gpt.load_mini_gpt()[0], held_out, corpus.held_out):.3f} bits per character"


def make_gazette_bert(steps: int, seed: int) -> tuple[Path, str]:
    model, _ = gazette_bert.pretrain(gazette.documents(20_000), steps, seed)
    save_model(gazette_bert.FILE, model, model.bert.config, "python benchmarks/stored_models.py gazette_bert")
    return gazette_bert.FILE, str(gazette_bert.score(gazette_bert.gazette_model()[0], gazette_bert.test_gaps()))


def make_multitask(steps: int, seed: int) -> tuple[Path, str]:
    make_m.save(*make_m.train(steps, seed=seed)[:2])
    model, words = ch11b_multitask.load_multitask()
    numbers = ch11b_multitask.split_numbers()[1]
    trained, never = (ch11b_multitask.accuracy(model, words, pairs, numbers) for pairs in ch11b_multitask.combinations())
    return ch11b_multitask.FILE, f"held-out numbers right: {trained:.1%} in trained combinations, {never:.1%} in those never trained"


def make_sums(steps: int, seed: int) -> tuple[Path, str]:
    model, history = make_s.train(steps, seed)
    save_model(ch11c_sums.FILE, model, model.config, "python benchmarks/stored_models.py sums")
    asked = ch11c_sums.questions(500, torch.Generator().manual_seed(1))
    right = ch11c_sums.share_right(ch11c_sums.load_sums(), asked).mean()
    return ch11c_sums.FILE, f"loss {history[-1]:.3f}; one right number: {right:.3f}"


def make_window(steps: int, seed: int) -> tuple[Path, str]:
    model = ch13b_window.train(seed, steps)
    save_model(ch13b_window.STORED, model, model.config, "python benchmarks/stored_models.py window")
    bits = ch13b_window.bits(ch13b_window.load(), ch13b_window.held_out(24, ch13b_window.LENGTH)).mean()
    return ch13b_window.STORED, f"{bits:.3f} bits per letter"


MODELS: dict[str, tuple[Callable[[int, int], tuple[Path, str]], int]] = {  # how it is made, and with how many steps
    "translator": (make_translator, 600),
    "mini_bert": (make_mini_bert, 3_000),
    "mini_gpt": (make_mini_gpt, 2_500),
    "gazette_bert": (make_gazette_bert, 8_000),
    "multitask": (make_multitask, 3_000),
    "sums": (make_sums, 2_500),
    "window": (make_window, 500),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a stored model anew and write its file.")
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("--steps", type=int, help="default: as many as the committed file had")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    make, steps = MODELS[options.name]
    file, reached = make(options.steps or steps, options.seed)
    print(f"{reached}; {file.name}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
