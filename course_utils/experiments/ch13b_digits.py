"""Chapter 13b's pictures: three handwritten digits side by side, written out in German by a decoder that looks at patches of them.

The images are the 1,797 digits of "Optical Recognition of Handwritten Digits", Alpaydin and Kaynak 1998: see LICENSE-digits.txt.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from ..models.encoder_decoder import Translator, TranslatorConfig
from ..models.patches import patches
from ..models.transformer import Encoder
from ..text.numbers import number_tokens, split
from ..text.vocabulary import BOS_ID, EOS_ID, Vocabulary, pad
from ..training.decoding import greedy
from ..training.loop import fit
from ..training.schedules import token_loss

FILE = Path(__file__).with_name("ch13b_digits.png")
SIDE, INK, PATCH = 8, 16, 4  # pixels of a digit's side, the darkest value, pixels of a patch's side
SEEN, _, NEVER = split(range(100, 1000), validation=0, test=0.2)  # 720 numbers to train with, 180 never seen
PIECES = Vocabulary(number_tokens(number, "de") for number in SEEN)
OWN = {"hundreds": (0, 0), "units": (2, 2), "tens": (4, 1)}  # (piece, digit) in "acht|hundert|drei|und|vierzig" and 843


class Digits(NamedTuple):
    """Images ``(n, 8, 8)`` of whole numbers 0 to 16 and their labels ``(n,)``, in the order of the labels."""

    images: Tensor
    labels: Tensor


def read_digits(path: Path = FILE) -> Digits:
    """All 1,797 digits, from a sheet whose row is the label; empty squares fill the shorter rows."""
    sheet = torch.from_numpy(np.array(Image.open(path)).astype(np.int64)) // 15  # (80, 1464)
    squares = sheet.unflatten(0, (-1, SIDE)).unflatten(2, (-1, SIDE)).transpose(1, 2)  # (10, 183, 8, 8)
    real = squares.sum((2, 3)) > 0
    return Digits(squares[real], real.nonzero()[:, 0])


def split_digits(digits: Digits, held_out: int = 360, seed: int = 0) -> tuple[Digits, Digits]:
    """Images to train with and ``held_out`` others, by a fixed permutation; no image is in both."""
    order = torch.randperm(len(digits.labels), generator=torch.Generator().manual_seed(seed))
    rows = order[held_out:].sort().values, order[:held_out].sort().values
    return Digits(*(part[rows[0]] for part in digits)), Digits(*(part[rows[1]] for part in digits))


def strips(numbers: Sequence[int], digits: Digits, generator: torch.Generator) -> Tensor:
    """Each number of three digits as three images side by side, drawn anew from ``digits``: ``(batch, 8, 24)``."""
    if bad := [number for number in numbers if not 100 <= number <= 999]:
        raise ValueError(f"{bad[0]} has not three digits")
    ids = torch.tensor(numbers)[:, None] // torch.tensor([100, 10, 1]) % 10  # (batch, 3)
    counts = digits.labels.bincount(minlength=10)
    starts = counts.cumsum(0) - counts
    rows = starts[ids] + (torch.rand(ids.shape, generator=generator) * counts[ids]).long()
    return digits.images[rows].transpose(1, 2).flatten(2)


def written(numbers: Sequence[int]) -> Tensor:
    """Ids of the German pieces, with ``<bos>`` and ``<eos>``: ``(batch, n)``."""
    return pad([PIECES.encode(number_tokens(number, "de"), bos=True, eos=True) for number in numbers])


class Writer(Translator):
    """A translator whose source is a strip ``(batch, 8, 24)``: a linear layer of 12 patches stands where words were looked up.

    One encoder block, two of the decoder. ``positions``: each patch gets a learned vector for its place. ``apart``: in the encoder a
    patch sees only the four of its digit, so that what is known about a digit lies there; else the blocks mix all twelve.
    """

    def __init__(self, width: int = 64, positions: bool = True, apart: bool = True):
        sizes: dict[str, Any] = {"d_model": width, "num_heads": 4, "d_ff": 2 * width, "num_layers": 2, "max_len": 8}
        super().__init__(TranslatorConfig(**sizes, dropout=0.0, norm_place="pre", source_vocab=1, target_vocab=len(PIECES), tie="output"))
        self.source_embedding = nn.Linear(PATCH * PATCH, width)  # type: ignore[assignment]
        self.encoder = Encoder(replace(self.config, num_layers=1))
        self.position = nn.Parameter(0.3 * torch.randn(12, width)) if positions else None
        digit = torch.arange(12) % 6 // 2  # two rows of six patches
        self.register_buffer("mask", (digit[:, None] == digit)[None] if apart else None, persistent=False)

    def encode(self, source: Tensor) -> Tensor:
        """Memory ``(batch, 12, width)``."""
        x = self.source_embedding(patches(source / INK, PATCH))
        return self.encoder(x if self.position is None else x + self.position, self.mask)

    def memory_mask(self, source: Tensor) -> None:  # type: ignore[override]
        """Nothing is padding."""


def train(digits: Digits, steps: int = 300, seed: int = 0, shuffled: bool = False, **options: bool) -> Writer:
    """A fresh model, 64 strips of ``SEEN`` a step; ``options`` are ``Writer``'s; ``shuffled``: each beside the words of another."""
    torch.manual_seed(seed)
    model, g = Writer(**options), torch.Generator().manual_seed(seed)
    seen, words = torch.tensor(SEEN), written(SEEN)

    def loss() -> Tensor:
        rows = torch.randint(len(seen), (64,), generator=g)
        source, target = strips(seen[rows].tolist(), digits, g), words[rows]
        if shuffled:
            source = source[torch.randperm(64, generator=g)]
        return token_loss(model(source, target[:, :-1]), target[:, 1:])

    fit(model, loss, steps, 2e-3, "strips", optimizer=torch.optim.AdamW(model.parameters(), lr=2e-3))
    return model.eval()


def write(model: Writer, source: Tensor) -> list[list[str]]:
    """The German pieces that the model writes under each strip ``(batch, 8, 24)``."""
    return [PIECES.decode(row) for row in greedy(model, source, BOS_ID, EOS_ID, 7)]


def exact(model: Writer, numbers: Sequence[int], digits: Digits, draws: int = 3, seed: int = 99) -> float:
    """Share of numbers written right to the last piece, each in ``draws`` handwritings."""
    numbers = list(numbers) * draws
    found = write(model, strips(numbers, digits, torch.Generator().manual_seed(seed)))
    return sum(a == number_tokens(b, "de") for a, b in zip(found, numbers, strict=True)) / len(numbers)


@torch.no_grad()
def looks(model: Writer, source: Tensor, target: Tensor) -> Tensor:
    """The last cross-attention while ``target`` is written, a digit's four patches added up: ``(batch, pieces, 3)``, mean of the heads.

    ``target`` ``(batch, n)`` begins with ``<bos>``; row i is what was looked at to write piece i, the last row to write ``<eos>``.
    """
    kept: list[Tensor] = []
    last = model.decoder.blocks[-1].cross_attention
    with last.register_forward_hook(lambda module, args, _: kept.append(module.weights(*args))):
        model(source, target[:, :-1])
    patch = kept[0].mean(1).unflatten(-1, (SIDE // PATCH, 3, SIDE // PATCH))  # (batch, pieces, row, digit, column)
    return patch.sum((2, 4))


def own_digit(model: Writer, numbers: Sequence[int], digits: Digits, seed: int = 99) -> dict[str, float]:
    """Mean share of attention on its own digit for each piece of ``OWN``; of the ``numbers``, those of five pieces count."""
    numbers = [number for number in numbers if len(number_tokens(number, "de")) == 5]
    share = looks(model, strips(numbers, digits, torch.Generator().manual_seed(seed)), written(numbers)).mean(0)  # (6, 3)
    return {name: share[place].item() for name, place in OWN.items()}
