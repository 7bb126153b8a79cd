"""An attention viewer: tokens left and right, a line for every weight, and what a pair of tokens has to do with each other.

Everything the page needs is in this package and in the output; who cannot run it sees a picture.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from .figures import array, bundle, heatmap, panels
from .pieces import show_live

LARGEST = 64 * 64 * 12 * 12  # weights: more would make the page slow


def as_layers(weights: Any) -> np.ndarray:
    """Attention weights as an array ``(layers, heads, n, m)``.

    Takes ``(n, m)``, ``(heads, n, m)``, ``(layers, heads, n, m)``, or a list of layers, each ``(n, m)``, ``(heads, n, m)`` or
    ``(1, heads, n, m)`` as in a Hugging Face model's ``attentions``. ValueError, with the numbers, for what holds no weights.
    """
    if isinstance(weights, (list, tuple)):
        layers = []
        for number, layer in enumerate(map(array, weights)):
            if layer.ndim == 4:
                if len(layer) != 1:
                    raise ValueError(f"layer {number} holds {len(layer)} sentences; choose one, for instance with layer[:1]")
                layer = layer[0]
            layers.append(layer[None] if layer.ndim == 2 else layer)
        if not layers or any(layer.shape != layers[0].shape for layer in layers):
            raise ValueError(f"the layers need one shape, got {[layer.shape for layer in layers]}")
        found = np.stack(layers)
    else:
        found = array(weights)
        found = found[(None,) * (4 - found.ndim)] if 2 <= found.ndim < 4 else found
    if found.ndim != 4 or not found.size:
        raise ValueError(f"attention weights need the axes (layers, heads, query, key), got shape {found.shape}")
    if found.size > LARGEST:
        raise ValueError(f"{found.size:,} weights are too many for one page; at most {LARGEST:,}, so show fewer layers or tokens")
    sums = found.sum(-1)
    if not np.isfinite(found).all() or found.min() < 0 or sums.max() > 1.01:
        raise ValueError(
            f"these are no attention weights: they run from {found.min():.3g} to {found.max():.3g}, rows sum to up to {sums.max():.3g}"
        )
    return found


def attention_viewer(
    tokens: Sequence[str],
    weights: Any,
    key_tokens: Sequence[str] | None = None,
    *,
    queries: Any = None,
    keys: Any = None,
    layer: int = 0,
    head: int = 0,
    alt: str | None = None,
    title: str = "",
) -> None:
    """Show the weights to look into, layer by layer and head by head, beside a still picture of one head.

    ``tokens`` and ``key_tokens`` (None: the same) name rows and columns; ``weights`` as in :func:`as_layers`. With ``queries`` and
    ``keys``, each ``(layers, heads, n, head_dim)`` or without the first axes, a pair shows the products that make its score.
    ``layer`` and ``head`` count from 0, as indices do; what is shown counts from 1.
    ValueError where numbers of tokens, layers or heads do not fit.
    """
    found, key_tokens = as_layers(weights), list(tokens if key_tokens is None else key_tokens)
    layers, heads, n, m = found.shape
    if (len(tokens), len(key_tokens)) != (n, m):
        raise ValueError(f"{len(tokens)} and {len(key_tokens)} tokens for weights of shape {n} × {m}")
    if not (0 <= layer < layers and 0 <= head < heads):
        raise ValueError(f"layer={layer} and head={head}; there are {layers} layers and {heads} heads")
    vectors, width = _vectors(queries, keys, found.shape)
    rows, columns = ([str(token) for token in part] for part in (tokens, key_tokens))

    fig, ax = panels(1, min(9.0, 2.6 + 0.34 * m), min(8.0, 1.6 + 0.26 * n))
    title = title or (f"layer {layer + 1}, head {head + 1}" if layers * heads > 1 else "")
    heatmap(found[layer, head], ax, rows, columns, title=title, most=1.0 if found.max() > 0.5 else None)
    packed = np.rint(65535 * found.clip(0, 1)).astype("<u2").tobytes()
    state = {"query_tokens": rows, "key_tokens": columns, "shape": list(found.shape), "width": width, "layer": layer, "head": head}
    coded = {name: base64.b64encode(part).decode("ascii") for name, part in (("weights", packed), ("vectors", vectors))}
    alt = alt or f"attention weights of layer {layer + 1}, head {head + 1}: {n} queries, {m} keys"
    show_live("viewer", {**state, **coded}, *bundle(fig, alt))


def _vectors(queries: Any, keys: Any, shape: tuple[int, ...]) -> tuple[bytes, int]:
    if queries is None and keys is None:
        return b"", 0
    if queries is None or keys is None:
        raise ValueError("queries and keys are needed together")
    layers, heads, n, m = shape
    parts = []
    for name, part, tokens in (("queries", array(queries), n), ("keys", array(keys), m)):
        part = part[(None,) * (4 - part.ndim)] if 2 <= part.ndim < 4 else part
        if part.ndim != 4 or part.shape[:3] != (layers, heads, tokens):
            raise ValueError(f"{name} have shape {part.shape}; expected ({layers}, {heads}, {tokens}, head_dim)")
        parts.append(part)
    if parts[0].shape[-1] != parts[1].shape[-1]:
        raise ValueError(f"queries are {parts[0].shape[-1]} wide, keys {parts[1].shape[-1]}")
    return b"".join(part.astype("<f4").tobytes() for part in parts), parts[0].shape[-1]
