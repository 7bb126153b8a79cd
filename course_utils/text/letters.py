"""The Python manual letter by letter: the smallest real text to train on."""

from collections import Counter

import torch
from torch import Tensor

from . import prose


def letters(least: int = 50) -> tuple[str, Tensor, Tensor]:
    """The alphabet, letters seen ``least`` times in training, and training and held-out text as ids ``(letters,)``, all small."""
    texts = [" ".join("\n".join(page) for page in pages).lower().replace("\n", " ") for pages in prose.training_and_held_out()]
    counts = Counter(texts[0])
    alphabet = "".join(sorted(c for c, n in counts.items() if n >= least))
    ids = {c: i for i, c in enumerate(alphabet)}
    train, held_out = (torch.tensor([ids[c] for c in text if c in ids]) for text in texts)
    return alphabet, train, held_out
