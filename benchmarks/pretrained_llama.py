"""The weights of a Llama in our class, from a folder of Hugging Face's (``config.json`` and ``model.safetensors``)."""

import json
from pathlib import Path

import torch
from torch import Tensor

from course_utils.models.decoder import Decoder, DecoderConfig, llama_style
from course_utils.models.pretrained import check_shapes

_PLACES = [
    ("embed_tokens.", "token."),
    ("layers.", "blocks."),
    ("input_layernorm.", "norm_1."),
    ("post_attention_layernorm.", "norm_2."),
    ("self_attn.o_proj.", "attention.w_o."),
    ("mlp.down_proj.", "feed_forward.w_2."),
    ("lm_head.", "output."),
]
_TOGETHER = {"self_attn.": (("q_proj", "k_proj", "v_proj"), "attention.w_qkv"), "mlp.": (("gate_proj", "up_proj"), "feed_forward.w_1")}


def load_llama(folder: str | Path) -> Decoder:
    """A ``Decoder`` in evaluation mode. Queries, keys and values are stored as three matrices and become one, as do gate and value.

    Raises FileNotFoundError for a missing file; ValueError, naming the parameter, for another architecture, names that are missing
    or left over, or a shape that differs.
    """
    from safetensors.torch import load_file

    folder = Path(folder)
    model = Decoder(read_config(folder / "config.json"))
    theirs = {name.removeprefix("model."): value.float() for name, value in load_file(folder / "model.safetensors").items()}
    state: dict[str, Tensor] = {}
    for number in range(model.config.num_layers):
        for place, (parts, ours) in _TOGETHER.items():
            names = [f"layers.{number}.{place}{part}.weight" for part in parts]
            missing = [name for name in names if name not in theirs]
            if missing:
                raise ValueError(f"{folder.name} lacks {', '.join(missing)}")
            state[f"blocks.{number}.{ours}.weight"] = torch.cat([theirs.pop(name) for name in names])
    for name, value in theirs.items():
        for old, new in _PLACES:
            name = name.replace(old, new)
        if not name.endswith("rotary_emb.inv_freq") and not (name == "output.weight" and model.config.tied):
            state[name] = value
    check_shapes(folder.name, model.state_dict(), state)
    model.load_state_dict(state)
    return model.eval()


def read_config(path: Path) -> DecoderConfig:
    """Our configuration from a ``config.json``; ValueError for a model that is no Llama or has parts ours lacks."""
    theirs = json.loads(Path(path).read_text(encoding="utf-8"))
    if theirs.get("model_type") != "llama":
        raise ValueError(f"{path.name} describes a model of type {theirs.get('model_type')!r}, not a Llama")
    positions = {"rope_theta": theirs.get("rope_theta", 10_000.0)}
    positions |= (theirs.get("rope_scaling") or {}) | (theirs.get("rope_parameters") or {})
    head_dim = theirs["hidden_size"] // theirs["num_attention_heads"]
    unusual = {
        "hidden_act": theirs.get("hidden_act", "silu") != "silu",
        "attention_bias": theirs.get("attention_bias"),
        "mlp_bias": theirs.get("mlp_bias"),
        "head_dim": theirs.get("head_dim") not in (None, head_dim),
        "rope_type": positions.get("rope_type", positions.get("type", "default")) != "default",
    }
    if any(unusual.values()):
        raise ValueError(f"{path.name}: {', '.join(key for key, wrong in unusual.items() if wrong)} has a value that is not supported")
    return llama_style(
        DecoderConfig(
            vocab_size=theirs["vocab_size"],
            d_model=theirs["hidden_size"],
            num_heads=theirs["num_attention_heads"],
            num_layers=theirs["num_hidden_layers"],
            max_len=theirs["max_position_embeddings"],
            dropout=theirs.get("attention_dropout", 0.0),
            norm_eps=theirs["rms_norm_eps"],
            d_ff=theirs["intermediate_size"],
            num_kv_heads=theirs.get("num_key_value_heads"),
            rope_base=positions["rope_theta"],
            tied=theirs.get("tie_word_embeddings", False),
        )
    )
