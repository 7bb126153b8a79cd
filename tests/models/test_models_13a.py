"""Chapter 13a: pieces of a softmax, blocks against PyTorch in double precision, counted bytes, few bits, accept or repair."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course_utils.models import blocks, memory, online, quantise
from course_utils.models.attention import attention

NOTHING = online.Part(torch.tensor(-torch.inf), torch.tensor(0.0), torch.zeros(3))


def pieces(count: int, seed: int = 0, scale: float = 3.0):
    g = torch.Generator().manual_seed(seed)
    scores, values = scale * torch.randn(count, generator=g, dtype=torch.float64), torch.randn(count, 3, generator=g, dtype=torch.float64)
    return scores, values


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 9), st.integers(0, 10_000), st.sampled_from([1.0, 30.0, 300.0]))
def test_pieces_in_any_order_are_the_softmax(count, size, seed, scale):
    scores, values = pieces(count, seed, scale)
    parts = [online.part(s, v) for s, v in zip(scores.split(size), values.split(size), strict=True)]
    state = parts.pop(seed % len(parts))
    while parts:
        state = online.merge_states(parts.pop(seed % len(parts)), state)
    output, lse = online.finish(state)
    torch.testing.assert_close(output, scores.softmax(0) @ values)
    torch.testing.assert_close(lse, scores.logsumexp(0))


def test_nothing_is_neutral():
    a = online.part(torch.tensor([1.0, 2.0]), torch.ones(2, 3))
    for both in (online.merge_states(a, NOTHING), online.merge_states(NOTHING, a)):
        for x, y in zip(a, both, strict=True):
            assert torch.equal(x, y)
    empty = online.merge_states(NOTHING, online.part(torch.full((2,), -torch.inf), torch.ones(2, 3)))
    for x, y in zip(NOTHING, empty, strict=True):
        assert torch.equal(x, y)
    output, lse = online.finish(empty)
    assert torch.equal(output, torch.zeros(3)) and lse == -torch.inf
    with pytest.raises(ValueError, match="at least one key"):
        online.part(torch.zeros(2, 0), torch.zeros(0, 3))


@pytest.mark.parametrize(
    ("n", "m", "size", "causal"),
    [(1, 1, 4, True), (13, 13, 4, True), (13, 13, 4, False), (5, 14, 4, True), (14, 5, 3, False), (9, 6, 100, False), (6, 6, 1, True)],
)
def test_blocks_and_their_gradients(n, m, size, causal):
    g = torch.Generator().manual_seed(n + m)
    q, k, v, grad = (torch.randn(2, 3, rows, width, generator=g, dtype=torch.float64) for rows, width in ((n, 5), (m, 5), (m, 7), (n, 7)))
    results = []
    for way in (lambda *x: blocks.block_attention(*x, causal, size), lambda *x: attention(*x, causal=causal)):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        output = way(*inputs)
        output.backward(grad)
        results.append([output.detach(), *(x.grad for x in inputs)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)
    scores = q @ k.mT / math.sqrt(5)
    if causal:
        scores = scores.masked_fill(~torch.ones(n, m).tril(m - n).bool(), -torch.inf)
    torch.testing.assert_close(blocks.forward_in_blocks(q, k, v, causal, size)[1], scores.logsumexp(-1))


def test_gradcheck():
    g = torch.Generator().manual_seed(0)
    inputs = [torch.randn(13, 5, generator=g, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(lambda *x: blocks.block_attention(*x, True, 4), inputs)


def test_float32_is_as_exact_as_the_other_ways():
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 1, 300, 64, generator=g) for _ in range(3))
    true = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    for way in (blocks.block_attention(q, k, v, size=128), F.scaled_dot_product_attention(q, k, v)):
        assert (way - true).abs().max() < 1e-6


def test_future_blocks_are_left_out():
    spans = [[(r.start, c.start, see is None) for r, c, see in row] for row in blocks.blocks(6, 6, 2, True)]
    assert spans == [[(0, 0, False)], [(2, 0, True), (2, 2, False)], [(4, 0, True), (4, 2, True), (4, 4, False)]]


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="size=0"):
        blocks.block_attention(*[torch.randn(3, 2)] * 3, size=0)
    with pytest.raises(ValueError, match="n=4 queries"):
        blocks.block_attention(torch.randn(4, 2), torch.randn(3, 2), torch.randn(3, 2), causal=True)
    with pytest.raises(ValueError, match="width 2 but key has width 4"):
        blocks.block_attention(torch.randn(3, 2), torch.randn(3, 4), torch.randn(3, 4))
    with pytest.raises(ValueError, match="leading axes"):
        blocks.block_attention(torch.randn(2, 3, 4), torch.randn(1, 3, 4), torch.randn(2, 3, 4))


def test_saved_and_live_bytes():
    x = torch.randn(100, requires_grad=True)
    assert memory.saved_bytes(lambda: (x * x).sum()) == 400  # x alone, although it is saved twice
    assert memory.saved_bytes(lambda: x.exp().exp()) == 800  # both results
    assert memory.saved_bytes(lambda: x.sum()) == 0
    y = torch.randn(100)
    assert memory.live_bytes(lambda: y + 1) == 400
    assert memory.live_bytes(lambda: ((y + 1) + 1) + 1) == 800  # the first is gone when the third is made
    assert memory.live_bytes(lambda: y.view(10, 10).T) == 0  # views


def test_blocks_save_no_weights():
    q, k, v = (torch.randn(1, 1, 512, 64, requires_grad=True) for _ in range(3))
    plain = memory.saved_bytes(lambda: (q @ k.mT / 8).softmax(-1) @ v)
    ours = memory.saved_bytes(lambda: blocks.block_attention(q, k, v, size=128))
    assert ours == 4 * (4 * 512 * 64 + 512) and plain >= 4 * (512 * 512 + 3 * 512 * 64)
    assert memory.live_bytes(lambda: blocks.forward_in_blocks(q.detach(), k.detach(), v.detach(), size=128)) < 4 * 512 * 512


@pytest.mark.parametrize(("kind", "parts"), [("tensor", 1), ("row", 6), ("column", 12), ("group", 24)])
def test_quantise(kind, parts):
    x = torch.randn(6, 12, generator=torch.Generator().manual_seed(0))
    x[2] = 0
    packed = quantise.quantise(x, 4, kind, group=3)
    assert packed.scale.numel() == parts and packed.bits_used() == 4 + 16 * parts / 72
    assert packed.codes.abs().max() == 7 and torch.equal(packed.codes, packed.codes.round())
    half = (packed.scale / 2).expand_as(packed.codes).reshape(6, 12)
    assert ((packed.restore() - x).abs() <= half * 1.0001).all()
    assert torch.equal(quantise.quantise(packed.restore(), 4, kind, group=3).restore(), packed.restore())


@pytest.mark.parametrize("wrong", [{"bits": 1}, {"kind": "heads"}, {"kind": "group", "group": 5}])
def test_quantise_refuses(wrong):
    with pytest.raises(ValueError, match=r"bits=|groups of 5"):
        quantise.quantise(torch.randn(6, 12), **{"bits": 4} | wrong)
