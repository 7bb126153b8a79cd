"""The small translator of number words that chapter 08b decodes with: English -> German, trained once and kept.

Numbers below 100,000; every one that is tested here was never trained on. Weights are kept in 16 bits, the two vocabularies in
the file's metadata. Two layers of either kind, pre-norm, no dropout, output matrix shared with the target embedding.
"""

import random
from pathlib import Path

from torch import Tensor

from ..models.encoder_decoder import Translator, TranslatorConfig
from ..text.vocabulary import Vocabulary, pad
from .model_file import load_model

FILE = Path(__file__).with_name("translator.safetensors")
LIMIT, TRAINED, HELD_OUT = 100_000, 11_000, 1_000
MAX_LEN = 32
SHARED = {"output.weight": "target_embedding.weight"}  # one table: tie="output"
Pairs = list[tuple[list[str], list[str]]]


def split_numbers() -> tuple[list[int], list[int]]:
    """``(training, held_out)`` numbers below 100,000, without a common one, the same on every machine."""
    drawn = random.Random(0).sample(range(LIMIT), TRAINED + HELD_OUT)
    return drawn[HELD_OUT:], drawn[:HELD_OUT]


def encode_pairs(pairs: Pairs, source: Vocabulary, target: Vocabulary) -> tuple[Tensor, Tensor]:
    """Padded ids: sources ``(batch, m)``, targets with ``<bos>`` and ``<eos>`` ``(batch, n)``."""
    return pad([source.encode(a) for a, _ in pairs]), pad([target.encode(b, bos=True, eos=True) for _, b in pairs])


def load_translator(path: str | Path = FILE) -> tuple[Translator, Vocabulary, Vocabulary]:
    """The committed model, in evaluation mode, and both vocabularies. ValueError when the file holds something else."""
    sides = ("source", "target")
    model, facts = load_model(path, "translator", lambda config: Translator(TranslatorConfig(**config)), sides, SHARED)
    source, target = (Vocabulary([facts[side]]) for side in sides)
    if (len(source), len(target)) != (model.config.source_vocab, model.config.target_vocab):
        raise ValueError(f"{path}: vocabularies of {len(source)} and {len(target)} tokens do not fit {model.config}")
    return model, source, target
