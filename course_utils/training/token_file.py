"""A folder of texts as one file of token ids, read through memory mapping: however large the texts, memory stays constant.

Every text file is a document and ends with the tokenizer's END. Training documents come first, then those held out.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import regex

from ..text.bpe import ByteBPE
from ..text.files import replacing, write_text

SUFFIXES = (".txt", ".md", ".text")
PIECE = 1 << 20  # characters read at a time
_CUT = regex.compile(r"(?r)(?<=\S)\s(?=\S)")  # the last single space between words: no token reaches across its left side


@dataclass
class Tokens:
    """What is in a token file: counts of tokens, the number and bytes of text files, names of those that are not UTF-8."""

    training: int
    validation: int
    vocab_size: int
    files: int
    size: int
    skipped: list[str]

    def open(self, folder: Path) -> tuple[np.ndarray, np.ndarray]:
        """Training and validation ids, mapped."""
        ids = np.memmap(folder / "tokens.bin", dtype=width(self.vocab_size), mode="r", shape=(self.training + self.validation,))
        return ids[: self.training], ids[self.training :]


def width(vocab_size: int) -> type:
    """The smallest unsigned type for these ids."""
    return np.uint16 if vocab_size <= 2**16 else np.uint32


def text_files(folder: Path) -> list[Path]:
    """All text files below a folder, sorted; ValueError when there is no folder, nothing in it or no text."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    everything = sorted(path for path in folder.rglob("*") if path.is_file())
    if not everything:
        raise ValueError(f"{folder} is empty")
    if not (files := [path for path in everything if path.suffix.lower() in SUFFIXES]):
        raise ValueError(f"none of the {len(everything)} files in {folder} is a text file ({', '.join(SUFFIXES)})")
    return files


def pieces(path: Path, characters: int = PIECE) -> Iterator[str]:
    """The text of a file in parts that tokenize like the whole, cut between words. UnicodeDecodeError unless it is UTF-8."""
    rest = ""
    with open(path, encoding="utf-8", newline="") as file:
        while part := file.read(characters):
            rest += part
            cut = _CUT.search(rest)
            if cut:
                yield rest[: cut.start()]
                rest = rest[cut.start() :]
            elif len(rest) > 4 * characters:  # one endless word: a token or two may differ, but memory is bounded
                yield rest
                rest = ""
    if rest:
        yield rest


def train_tokenizer(files: list[Path], vocab_size: int, sample: int = 8_000_000, seed: int = 0) -> ByteBPE:
    """Byte-pair encoding of at most ``sample`` characters: the beginnings of up to 1,000 files drawn by ``seed``."""
    chosen = random.Random(seed).sample(files, min(len(files), 1_000))

    def beginnings() -> Iterator[str]:
        for path in chosen:
            with open(path, encoding="utf-8", errors="ignore", newline="") as file:
                yield file.read(sample // len(chosen))

    return ByteBPE.train(beginnings(), vocab_size)


def write_tokens(files: list[Path], root: Path, bpe: ByteBPE, out: Path, held_out: float = 0.05, seed: int = 0) -> Tokens:
    """Tokenize the files into ``out/tokens.bin`` and describe it in ``out/tokens.json``; a kill in the middle costs nothing.

    A share of the documents is held out, at least one; of a single document the end. Files that are not UTF-8 are left out and named.
    """
    order = list(files)
    random.Random(seed).shuffle(order)
    held = set(order[: max(1, round(held_out * len(files)))]) if len(files) > 1 else set()
    kind, skipped, training = width(len(bpe)), [], 0
    with replacing(out / "tokens.bin") as beside, open(beside, "wb") as target:
        for path in [f for f in files if f not in held] + [f for f in files if f in held]:
            start = target.tell()
            try:
                for piece in pieces(path):
                    np.asarray(bpe.encode(piece), dtype=kind).tofile(target)
                np.asarray([bpe.end_id], dtype=kind).tofile(target)
            except UnicodeDecodeError:
                skipped.append(str(path.relative_to(root)))
                target.seek(start)
                target.truncate()
            if path not in held:
                training = target.tell() // kind().itemsize
        total = target.tell() // kind().itemsize
        target.flush()
        os.fsync(target.fileno())
    if training == total:
        training = total - max(1, round(held_out * total)) if total else 0
    tokens = Tokens(training, total - training, len(bpe), len(files), sum(f.stat().st_size for f in files), skipped)
    write_text(out / "tokens.json", json.dumps(asdict(tokens), indent=1))
    return tokens
