"""Counting parameters without building them: shapes alone, no compiler, the counts of real models."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from course_utils.models.bert import BASE, Bert, BertConfig
from course_utils.models.decoder import Decoder, DecoderConfig, llama_style
from course_utils.models.encoder_decoder import Translator, TranslatorConfig, translator_parameters
from course_utils.models.gpt import GPT, GPT2, GPTConfig
from course_utils.models.sizes import count, shapes_only
from course_utils.models.xlnet import XLNet, XLNetConfig
from course_utils.models.zoo.albert import Albert
from course_utils.models.zoo.masked import Deberta

SMALL: dict[str, Any] = {"d_model": 12, "num_heads": 3, "num_layers": 2}
MODELS = {
    "gpt": lambda: GPT(GPTConfig(vocab_size=31, max_len=9, **SMALL)),
    "llama": lambda: Decoder(llama_style(DecoderConfig(vocab_size=31, max_len=9, num_experts=3, tied=False, **SMALL))),
    "translator": lambda: Translator(TranslatorConfig(source_vocab=31, target_vocab=31, max_len=9, d_ff=20, **SMALL)),
    "bert": lambda: Bert(BertConfig(vocab_size=31, d_ff=20, max_len=9, **SMALL)),
    "albert": lambda: Albert(BertConfig(vocab_size=31, d_ff=20, max_len=9, **SMALL), narrow=4),
    "deberta": lambda: Deberta(BertConfig(vocab_size=31, d_ff=20, max_len=9, **SMALL), late=True),
    "xlnet": lambda: XLNet(XLNetConfig(vocab_size=31, max_len=9, **SMALL)),
    "torch": lambda: nn.Transformer(12, 3, 2, 2, 20),
}


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_shapes_are_those_of_the_real_model(build):
    state = torch.get_rng_state()
    with shapes_only():
        shapes = build()
    assert torch.equal(state, torch.get_rng_state()), "a random number was drawn"
    assert all(p.is_meta for p in shapes.parameters())
    real = build()
    assert {n: p.shape for n, p in shapes.named_parameters()} == {n: p.shape for n, p in real.named_parameters()}
    assert count(shapes) == count(real)


def test_published_models_are_counted():
    with shapes_only():
        assert count(GPT(GPT2["xl"])) == 1_557_611_200
        assert count(Bert(BASE)) == 109_482_240
        assert count(Translator(TranslatorConfig())) == translator_parameters(TranslatorConfig())


def test_a_shared_matrix_counts_once():
    layer = nn.Linear(3, 4, bias=False)
    assert count(nn.ModuleList([layer, layer])) == 12


def test_afterwards_numbers_are_drawn_again():
    with shapes_only():
        nn.Linear(3, 4)
    assert nn.Linear(3, 4).weight.std() > 0 and torch.randn(3).device.type == "cpu"


def test_counting_loads_no_compiler():
    code = (
        "import sys\nfrom course_utils.models.gpt import GPT, GPT2\nfrom course_utils.models.bert import BertConfig\n"
        "from course_utils.models.zoo.masked import Deberta\n"
        "from course_utils.models.encoder_decoder import Translator, TranslatorConfig\n"
        "from course_utils.models.sizes import count, shapes_only\n"
        "with shapes_only():\n    count(GPT(GPT2['small'])), count(Deberta(BertConfig(), late=True))\n"
        "    count(Translator(TranslatorConfig()))\n"
        "print([name for name in ('torch._dynamo', 'sympy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
