"""The small translator of number words of chapter 08b."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from course_utils.models.encoder_decoder import Translator, TranslatorConfig
from course_utils.text.numbers import number_pairs
from course_utils.text.vocabulary import BOS_ID, EOS_ID, Vocabulary, pad
from course_utils.training.decoding import greedy
from course_utils.training.loop import fit
from course_utils.training.schedules import token_loss, warmup_linear
from course_utils.training.translator import FILE, MAX_LEN, SHARED, Pairs, encode_pairs, split_numbers

from .model_file import save_model


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
