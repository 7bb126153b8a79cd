"""The viewer's data: every form of weights, what is refused, what reaches the page. The page itself is driven in test_browser."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest
import torch

from course_utils.show.pieces import LIVE
from course_utils.show.viewer import LARGEST, as_layers, attention_viewer


def weights(*shape):
    torch.manual_seed(0)
    return torch.randn(*shape).softmax(-1)


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (weights(4, 5), (1, 1, 4, 5)),
        (weights(3, 4, 5), (1, 3, 4, 5)),
        (weights(2, 3, 4, 5), (2, 3, 4, 5)),
        ([weights(4, 5)] * 2, (2, 1, 4, 5)),
        ([weights(3, 4, 5)] * 2, (2, 3, 4, 5)),
        (tuple([weights(1, 3, 4, 5)] * 2), (2, 3, 4, 5)),
        (weights(4, 5).numpy(), (1, 1, 4, 5)),
        (torch.zeros(2, 2), (1, 1, 2, 2)),  # a fully masked row
    ],
)
def test_forms(given, shape):
    found = as_layers(given)
    assert found.shape == shape
    first = given[0] if isinstance(given, (list, tuple)) else given
    np.testing.assert_allclose(found.reshape(-1)[:5], np.asarray(first).reshape(-1)[:5], atol=1e-7)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([weights(2, 3, 4, 5)], "layer 0 holds 2 sentences"),
        ([weights(4, 5), weights(4, 6)], "need one shape"),
        (weights(5), r"got shape \(5,\)"),
        (weights(1, 1, 1, 4, 5), "got shape"),
        ([], "need one shape"),
        (-weights(4, 5), "no attention weights"),
        (2 * weights(4, 5), "rows sum to up to 2"),
        (weights(4, 5) * float("nan"), "no attention weights"),
        (torch.zeros(13, 12, 64, 64), f"at most {LARGEST:,}"),
    ],
)
def test_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_layers(given)


def test_what_reaches_the_page(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **_: shown.append(things))
    w, q, k = weights(2, 3, 4, 5), torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6)
    attention_viewer("abcd", w, "vwxyz", queries=q, keys=k, layer=1, head=2)
    [[bundle]] = shown
    kind, state = bundle[LIVE].values()
    assert kind == "viewer" and "image/png" in bundle, "the still picture stands beside it"
    assert (state["query_tokens"], state["key_tokens"], state["shape"], state["width"]) == (list("abcd"), list("vwxyz"), [2, 3, 4, 5], 6)
    numbers = np.frombuffer(b64decode(state["weights"]), "<u2").reshape(2, 3, 4, 5) / 65535
    np.testing.assert_allclose(numbers, w, atol=1e-5)
    vectors = np.frombuffer(b64decode(state["vectors"]), "<f4")
    np.testing.assert_array_equal(vectors[: q.numel()], q.flatten())
    np.testing.assert_array_equal(vectors[q.numel() :], k.flatten())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "abc"}, "3 and 3 tokens for weights of shape 4 × 5"),
        ({"layer": 2}, "layer=2 and head=0"),
        ({"head": -1}, "head=-1"),
        ({"queries": torch.zeros(2, 3, 4, 6)}, "needed together"),
        ({"queries": torch.zeros(2, 3, 5, 6), "keys": torch.zeros(2, 3, 5, 6)}, r"queries have shape \(2, 3, 5, 6\)"),
        ({"queries": torch.zeros(2, 3, 4, 6), "keys": torch.zeros(2, 3, 5, 7)}, "queries are 6 wide, keys 7"),
    ],
)
def test_what_does_not_fit(options, message):
    tokens = options.pop("tokens", None)
    with pytest.raises(ValueError, match=message):
        attention_viewer(tokens or "abcd", weights(2, 3, 4, 5), None if tokens else "vwxyz", **options)
