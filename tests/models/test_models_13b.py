"""Linear attention in all its forms, the writing rules and the features of kernels, against loops and PyTorch in double precision."""

from __future__ import annotations

import sys

import pytest
import torch
from torch.nn import functional as F

from course_utils.experiments.ch13b_window import RotaryConfig, RotaryGPT, bits, window
from course_utils.models.features import even_frequencies, fourier, fourier_exponential, positive_exponential, random_frequencies
from course_utils.models.linear_attention import causal_as_matrix, causal_recurrent, linear_attention, positive, remember
from course_utils.models.positions import rope
from course_utils.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from long_attention import bits_from_cache  # noqa: E402


def draw(n: int = 13, r: int = 5, d_v: int = 4, seed: int = 0):
    g = torch.Generator().manual_seed(seed)
    q, k = (positive(torch.randn(n, r, generator=g, dtype=torch.float64)) for _ in range(2))
    return q, k, torch.randn(n, d_v, generator=g, dtype=torch.float64)


def by_loop(q, k, v, causal: bool):
    rows = []
    for i in range(len(q)):
        reach = range(i + 1 if causal else len(k))
        weights = [float((q[i] * k[j]).sum()) for j in reach]
        rows.append(sum(w * v[j] for w, j in zip(weights, reach, strict=True)) / sum(weights))
    return torch.stack(rows)


@pytest.mark.parametrize("seed", range(3))
def test_all_forms_agree_with_a_loop(seed):
    q, k, v = draw(seed=seed)
    torch.testing.assert_close(linear_attention(q, k, v), by_loop(q, k, v, False))
    wanted = by_loop(q, k, v, True)
    for found in (causal_as_matrix(q, k, v), causal_recurrent(q, k, v)):
        torch.testing.assert_close(found, wanted)


def test_exponential_weights_make_it_softmax_attention():
    """A feature map that is exact: the kernel's own matrix, one feature for each key."""
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(7, 3, generator=g, dtype=torch.float64) for _ in range(3))
    found = linear_attention((q @ k.T).exp(), torch.eye(7, dtype=torch.float64), v)
    torch.testing.assert_close(found, F.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)[0])


def test_delta_answers_the_latest_value_and_keeps_what_is_orthogonal():
    keys = torch.eye(4, dtype=torch.float64)[[0, 1, 0, 2]]
    values = torch.arange(8, dtype=torch.float64).reshape(4, 2) + 1
    torch.testing.assert_close(remember(keys, values, "delta")[:3], values[[2, 1, 3]])
    torch.testing.assert_close(remember(keys, values)[0], values[0] + values[2])
    torch.testing.assert_close(remember(keys, values, decay=0.5)[0], values[0] / 8 + values[2] / 2)
    half = remember(keys[:1], values[:1], "delta", 0.5)
    torch.testing.assert_close(half[0], values[0] / 2)
    with pytest.raises(ValueError, match="max"):
        remember(keys, values, "max")


def test_fourier_features_of_the_gaussian():
    x = torch.linspace(-1, 1, 9, dtype=torch.float64)[:, None]
    wanted = (-((x - x.T) ** 2) / 2 / 0.5**2).exp()
    even = fourier(x, even_frequencies(4096, 0.5))
    torch.testing.assert_close(even @ even.T, wanted, rtol=0, atol=2e-3)
    g = torch.Generator().manual_seed(0)
    drawn = fourier(x, random_frequencies(40_000, 1, 0.5, g))
    torch.testing.assert_close(drawn @ drawn.T, wanted, rtol=0, atol=0.02)


@pytest.mark.parametrize("make", [positive_exponential, fourier_exponential])
def test_features_of_the_exponential_are_right_on_average(make):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(5, 3, generator=g, dtype=torch.float64) / 3
    found = make(x, random_frequencies(200_000, 3, generator=g))
    torch.testing.assert_close(found @ found.T, (x @ x.T).exp(), rtol=0.03, atol=0)


def test_a_cache_that_counts_anew_is_a_window_while_nothing_is_kept():
    torch.manual_seed(0)
    model = RotaryGPT(RotaryConfig(11, 16, 2, 2)).double().eval()
    rows = torch.randint(11, (3, 40))
    wanted = bits(model, rows, look=window(8))[20:39].mean().item()
    assert bits_from_cache(model, rows, 8, range(20, 39)) == pytest.approx(wanted, rel=1e-6)


def test_a_kept_first_token_stands_before_the_last_ones():
    """One layer by hand: token 20 reads the first key as if seven places away, and the seven last keys where they are."""
    torch.manual_seed(0)
    model = RotaryGPT(RotaryConfig(11, 16, 2, 1)).double().eval()
    rows = torch.randint(11, (3, 22))
    short = torch.cat([rows[:, :1], rows[:, 14:22]], 1)
    wanted = bits(model, short)[7].item()
    assert bits_from_cache(model, rows, 8, range(20, 21), 1) == pytest.approx(wanted, rel=1e-6)


def test_the_farthest_distance_replaces_larger_ones():
    """One layer by hand: from token 20 on, keys further away than 7 are read as if 7 places away; nearer ones are as they were."""
    torch.manual_seed(0)
    model = RotaryGPT(RotaryConfig(11, 16, 2, 1)).double().eval()
    rows = torch.randint(11, (3, 22))
    torch.testing.assert_close(bits(model, rows, farthest=21), bits(model, rows))
    assert not torch.allclose(bits(model, rows, farthest=7)[8:], bits(model, rows)[8:])
    torch.testing.assert_close(bits(model, rows, farthest=7)[:8], bits(model, rows)[:8])
    block, x = model.blocks[0], model.token(rows)
    q, k, v = (t.unflatten(-1, (2, -1)).transpose(1, 2) for t in block.qkv(block.norm_1(x)).chunk(3, -1))
    places = torch.arange(22)
    scores = torch.stack(
        [
            torch.stack(
                [
                    (rope(q[..., i : i + 1, :], places[i : i + 1] - max(i - 7, j), 1e4) * k[..., j : j + 1, :]).sum((-1, -2)) / 8**0.5
                    if j <= i
                    else torch.full(q.shape[:2], -torch.inf, dtype=q.dtype)
                    for j in range(22)
                ],
                -1,
            )
            for i in range(22)
        ],
        -2,
    )
    x = x + block.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    logits = model.out(model.norm(x + block.down(F.gelu(block.up(block.norm_2(x))))))
    torch.testing.assert_close(model(rows, farthest=7), logits)
