"""One name, one thing: what a reader of course_utils.models may rely on."""

import ast
import inspect
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from course_utils import models
from course_utils.models import bert, decoder, encoder_decoder, gpt, transformer, xlnet

PACKAGE = Path(models.__file__).parent


def test_no_public_name_is_defined_twice():
    defined = Counter(
        node.name
        for path in PACKAGE.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    )
    twice = {name for name, times in defined.items() if times > 1}
    assert twice == {"read_config"}  # one for each format of weights, as its module says


@pytest.mark.parametrize(
    "config",
    [
        transformer.TransformerConfig,
        encoder_decoder.TranslatorConfig,
        bert.BertConfig,
        gpt.GPTConfig,
        decoder.DecoderConfig,
        xlnet.XLNetConfig,
    ],
    ids=lambda c: c.__name__,
)
def test_sizes_go_by_name(config):
    """Heads and layers in the wrong order would not raise."""
    assert is_dataclass(config) and all(field.kw_only for field in fields(config))
    with pytest.raises(TypeError, match="positional"):
        config(12, 3)


def test_a_decoder_is_a_gpt():
    own = {name for name, _ in inspect.getmembers(decoder.Decoder, inspect.isfunction) if name in vars(decoder.Decoder)}
    assert issubclass(decoder.Decoder, gpt.GPT) and own == {"mixtures", "loss"}
