"""The small translator of number words that chapter 08b decodes with: English -> German, trained once and kept.

Numbers below 100,000; every one that is tested here was never trained on. Weights are kept in 16 bits, the two vocabularies in
the file's metadata. Two layers of either kind, pre-norm, no dropout, output matrix shared with the target embedding.
"""

import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..models.encoder_decoder import Translator, TranslatorConfig
from ..text.numbers import number_pairs
from ..text.vocabulary import BOS_ID, EOS_ID, Vocabulary, pad
from .decoding import greedy
from .loop import fit
from .model_file import load_model, save_model
from .schedules import token_loss, warmup_linear

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


def exact(model: Translator, pairs: Pairs, source: Vocabulary, target: Vocabulary) -> float:
    """Share of pairs whose greedy translation is right to the last token."""
    ids = pad([source.encode(a) for a, _ in pairs])
    found = greedy(model, ids, BOS_ID, EOS_ID, MAX_LEN - 2)
    return sum(target.decode(row) == b for row, (_, b) in zip(found, pairs, strict=True)) / len(pairs)


def train(width: int = 64, steps: int = 600, seed: int = 0, lr: float = 4e-3) -> tuple[Translator, Vocabulary, Vocabulary]:
    """Train from scratch: model and vocabularies, ready to use. Vocabularies come from the training numbers alone."""
    pairs = number_pairs(split_numbers()[0], ("en", "de"))
    source, target = (Vocabulary([sorted({token for pair in pairs for token in pair[side]})]) for side in (0, 1))
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"d_model": width, "num_heads": 4, "d_ff": 4 * width, "num_layers": 2, "max_len": MAX_LEN}
    vocabularies: dict[str, Any] = {"source_vocab": len(source), "target_vocab": len(target)}
    config = TranslatorConfig(**sizes, **vocabularies, dropout=0.0, norm_place="pre", tie="output")
    model, generator = Translator(config), torch.Generator().manual_seed(seed)
    sources, targets = encode_pairs(pairs, source, target)

    def loss() -> Tensor:
        rows = torch.randint(len(pairs), (128,), generator=generator)
        return token_loss(model(sources[rows], targets[rows, :-1]), targets[rows, 1:])

    fit(model, loss, steps, lr, "number translator", schedule=warmup_linear(steps, 12))
    return model.eval(), source, target


def save(model: Translator, source: Vocabulary, target: Vocabulary, path: Path = FILE) -> None:
    """Weights, configuration and vocabularies in one safetensors file."""
    command, words = "python benchmarks/stored_models.py translator", {"source": source.tokens[4:], "target": target.tokens[4:]}
    save_model(path, model, model.config, command, SHARED, **words)


def load_translator(path: str | Path = FILE) -> tuple[Translator, Vocabulary, Vocabulary]:
    """The committed model, in evaluation mode, with its source and target vocabulary.

    ValueError when the file holds something else.
    """
    sides = ("source", "target")
    model, facts = load_model(path, "translator", lambda config: Translator(TranslatorConfig(**config)), sides, SHARED)
    source, target = (Vocabulary([facts[side]]) for side in sides)
    if (len(source), len(target)) != (model.config.source_vocab, model.config.target_vocab):
        raise ValueError(f"{path}: vocabularies of {len(source)} and {len(target)} tokens do not fit {model.config}")
    return model, source, target
