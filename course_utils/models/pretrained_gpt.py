"""GPT-2's weights in our class, from a folder of Hugging Face's (``config.json`` and ``model.safetensors``)."""

import json
import re
from pathlib import Path

from torch import Tensor

from .gpt import GPT, GPTConfig
from .pretrained import check_shapes, fetch

_PLACES = [
    ("wte.", "token."),
    ("wpe.", "position."),
    ("h.", "blocks."),
    (".ln_1.", ".norm_1."),
    (".ln_2.", ".norm_2."),
    (".attn.c_attn.", ".attention.w_qkv."),
    (".attn.c_proj.", ".attention.w_o."),
    (".mlp.c_fc.", ".feed_forward.w_1."),
    (".mlp.c_proj.", ".feed_forward.w_2."),
    ("ln_f.", "norm."),
]
_BUFFERS = re.compile(r"lm_head\.weight$|h\.\d+\.attn\.(masked_)?bias$")  # the tied output; masks that were stored once


def load_gpt2(folder: str | Path) -> GPT:
    """A ``GPT`` in evaluation mode from a Hugging Face folder; ``text.bpe.ByteBPE.from_files`` reads its tokenizer.

    GPT-2's linear layers are stored as ``(in, out)``, so their matrices are transposed. Raises FileNotFoundError for a missing file;
    ValueError, naming the parameter, for another architecture, names that are missing or left over, or a shape that differs.
    """
    from safetensors.torch import load_file

    folder = Path(folder)
    model = GPT(read_config(folder / "config.json"))
    state: dict[str, Tensor] = {}
    for name, value in load_file(folder / "model.safetensors").items():
        name = name.removeprefix("transformer.")
        if _BUFFERS.match(name):
            continue
        for old, new in _PLACES:
            name = new + name.removeprefix(old) if name.startswith(old) else name.replace(old, new) if old.startswith(".") else name
        linear = name.endswith("weight") and (".w_" in name)
        state[name] = value.float().T.contiguous() if linear else value.float()
    check_shapes(folder.name, model.state_dict(), state)
    model.load_state_dict(state)
    return model.eval()


def download_gpt2(folder: str | Path, name: str = "openai-community/gpt2", revision: str = "main") -> Path:
    """Fetch a GPT-2 by name (the smallest: 124 million parameters, about 550 MB). **Uses the network.**"""
    return fetch(name, folder, revision, ("config.json", "vocab.json", "merges.txt", "model.safetensors"))


def read_config(path: Path) -> GPTConfig:
    """Our configuration from a ``config.json``; ValueError for a model that is no GPT-2 or has parts ours lacks."""
    theirs = json.loads(Path(path).read_text(encoding="utf-8"))
    if theirs.get("model_type") != "gpt2":
        raise ValueError(f"{path.name} describes a model of type {theirs.get('model_type')!r}, not a GPT-2")
    activation = {"gelu_new": "gelu_tanh", "gelu": "gelu", "relu": "relu"}.get(theirs.get("activation_function", "gelu_new"))
    unusual = [key for key in ("scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "add_cross_attention") if theirs.get(key)]
    if activation is None or unusual or theirs.get("scale_attn_weights") is False:
        raise ValueError(f"{path.name}: {unusual or theirs.get('activation_function')} is not supported")
    rates = {theirs.get(key, 0.1) for key in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}
    return GPTConfig(
        vocab_size=theirs["vocab_size"],
        d_model=theirs["n_embd"],
        num_heads=theirs["n_head"],
        num_layers=theirs["n_layer"],
        max_len=theirs["n_positions"],
        dropout=max(rates),
        activation=activation,
        norm_eps=theirs["layer_norm_epsilon"],
        d_ff=theirs.get("n_inner"),
    )


def to_huggingface(model: GPT) -> dict[str, Tensor]:
    """The way back: our weights under GPT-2's names, linear matrices as ``(in, out)``."""
    state = {}
    for name, value in model.state_dict().items():
        if name.endswith("weight") and ".w_" in name:
            value = value.T.contiguous()
        for old, new in _PLACES:
            name = old + name.removeprefix(new) if name.startswith(new) else name.replace(new, old) if new.startswith(".") else name
        state[f"transformer.{name}"] = value
    return state | {"lm_head.weight": model.token.weight.detach().clone()}
