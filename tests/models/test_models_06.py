"""Masks, against the rules pair by pair, PyTorch's own causal bias, and attention run with converted masks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

from course_utils.models import masks
from course_utils.models.attention import attention, scaled_dot_product_attention
from course_utils.models.multihead import MultiHeadAttention

sizes = st.integers(1, 7)
quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 10_000)


def pairs(n: int, m: int, rule) -> torch.Tensor:
    return torch.tensor([[bool(rule(i, j)) for j in range(m)] for i in range(n)])


@quick
@given(n=sizes, cached=st.integers(0, 5), window=st.integers(1, 9), prefix=st.integers(0, 12))
def test_rules_pair_by_pair(n, cached, window, prefix):
    m = n + cached
    prefix = min(prefix, m)
    assert torch.equal(masks.causal_mask(n, m), pairs(n, m, lambda i, j: j <= cached + i))
    assert torch.equal(masks.causal_mask(n, m), torch.ones(n, m).tril(cached).bool())
    assert torch.equal(masks.causal_mask(n), torch.ones(n, n).tril().bool())
    assert torch.equal(masks.prefix_mask(n, prefix, m), pairs(n, m, lambda i, j: j < prefix or j <= cached + i))
    assert torch.equal(masks.prefix_mask(n, 0, m), masks.causal_mask(n, m))
    assert torch.equal(masks.sliding_window_mask(n, window, m), pairs(n, m, lambda i, j: cached + i - window < j <= cached + i))
    assert torch.equal(masks.sliding_window_mask(n, window, m, causal=False), pairs(n, m, lambda i, j: abs(cached + i - j) < window))
    full = masks.causal_mask(m)
    assert torch.equal(masks.causal_mask(n, m), full[cached:])  # the last rows of the square mask
    assert torch.equal(masks.sliding_window_mask(n, window, m), masks.sliding_window_mask(m, window)[cached:])


@quick
@given(batch=sizes, m=sizes, pad=st.integers(0, 3), seed=seeds)
def test_padding_entry_by_entry(batch, m, pad, seed):
    g = torch.Generator().manual_seed(seed)
    ids, lengths = torch.randint(4, (batch, m), generator=g), torch.randint(m + 1, (batch,), generator=g)
    assert masks.padding_mask(ids, pad).tolist() == [[[token != pad for token in row]] for row in ids.tolist()]
    assert masks.length_mask(lengths, m).tolist() == [[[j < length for j in range(m)]] for length in lengths.tolist()]
    assert masks.length_mask(lengths).shape == (batch, 1, int(lengths.max()))
    right = torch.where(torch.arange(m) < lengths[:, None], 7, pad)
    assert torch.equal(masks.padding_mask(right, pad), masks.length_mask(lengths, m))
    rows = masks.prefix_mask(m, lengths)
    assert rows.shape == (batch, m, m)
    for row, length in zip(rows, lengths.tolist(), strict=True):
        assert torch.equal(row, masks.prefix_mask(m, length))


@quick
@given(batch=sizes, heads=st.integers(1, 4), n=sizes, cached=st.integers(0, 4), width=sizes, seed=seeds)
def test_causal_attention_is_pytorchs(batch, heads, n, cached, width, seed):
    """Outputs and gradients equal those of PyTorch's lower-right causal bias; square ones those of ``is_causal``."""
    torch.manual_seed(seed)
    inputs = [torch.randn(batch, heads, size, width, requires_grad=True) for size in (n, n + cached, n + cached)]
    results = [
        attention(*inputs, masks.causal_mask(n, n + cached)),
        F.scaled_dot_product_attention(*inputs, attn_mask=causal_lower_right(n, n + cached)),
        F.scaled_dot_product_attention(*inputs, attn_mask=masks.additive(masks.causal_mask(n, n + cached))),
    ]
    if not cached:
        results.append(F.scaled_dot_product_attention(*inputs, is_causal=True))
    direction = torch.randn_like(results[0])
    grads = [torch.autograd.grad(result, inputs, direction) for result in results]
    for other, theirs in zip(results[1:], grads[1:], strict=True):
        torch.testing.assert_close(results[0], other, rtol=1e-5, atol=1e-5)
        for a, b in zip(grads[0], theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@quick
@given(batch=sizes, n=sizes, heads=st.integers(1, 4), window=st.integers(1, 4), seed=seeds)
def test_combined_masks_in_multi_head_attention(batch, n, heads, window, seed):
    """Padding and causal together: nn.MultiheadAttention with both masks converted, outputs and gradients."""
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(heads * 2, heads, batch_first=True)
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(batch, n, heads * 2, requires_grad=True)
    lengths = torch.randint(1, n + 1, (batch,))  # at least one token, at the front: no empty row without a window
    padding = masks.length_mask(lengths, n)
    mine = ours(x, mask=masks.combine(padding, masks.causal_mask(n)))
    other = theirs(x, x, x, key_padding_mask=~padding[:, 0], attn_mask=~masks.causal_mask(n), need_weights=False)[0]
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    direction = torch.randn_like(mine)
    for a, b in zip(torch.autograd.grad(mine, x, direction), torch.autograd.grad(other, x, direction), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    mask = masks.combine(padding, masks.sliding_window_mask(n, window))  # pads may now have empty rows
    mine, four = ours(x, mask=mask), ours(x, mask=mask[:, None])
    torch.testing.assert_close(mine, four, rtol=0, atol=0)
    empty = ~mask.any(-1)
    torch.testing.assert_close(mine[empty], ours.w_o.bias.expand(int(empty.sum()), -1), rtol=0, atol=1e-6)
    assert torch.isfinite(torch.autograd.grad(mine.sum(), x)[0]).all()
    parts = [x[b : b + 1, :length] for b, length in enumerate(lengths.tolist())]  # each sentence alone, without pads
    for b, part in enumerate(parts):
        alone = ours(part, mask=masks.sliding_window_mask(part.shape[1], window))
        torch.testing.assert_close(ours(x, mask=mask)[b : b + 1, : part.shape[1]], alone, rtol=1e-5, atol=1e-5)


@quick
@given(batch=sizes, n=sizes, m=sizes, seed=seeds)
def test_additive_form_is_the_same_mask(batch, n, m, seed):
    torch.manual_seed(seed)
    mask = torch.rand(batch, n, m) < 0.5
    mask[..., 0] |= ~mask.any(-1)
    scores = torch.randn(batch, n, m)
    value = torch.randn(batch, m, 3)
    query, key = torch.randn(batch, n, 2), torch.randn(batch, m, 2)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        numbers = masks.additive(mask, dtype)
        assert numbers.dtype == dtype and ((numbers == 0) == mask).all() and (numbers[~mask] == -torch.inf).all()
    weights = torch.softmax(query @ key.mT / 2**0.5 + masks.additive(mask), -1)
    torch.testing.assert_close(scaled_dot_product_attention(query, key, value, mask)[1], weights, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(torch.softmax(scores + masks.additive(mask), -1), torch.softmax(scores.masked_fill(~mask, -torch.inf), -1))


@quick
@given(batch=sizes, n=sizes, seed=seeds)
def test_combine_is_a_veto(batch, n, seed):
    g = torch.Generator().manual_seed(seed)
    one, two = torch.rand(batch, 1, n, generator=g) < 0.7, torch.rand(n, n, generator=g) < 0.7
    wanted = [[[bool(one[b, 0, j] and two[i, j]) for j in range(n)] for i in range(n)] for b in range(batch)]
    assert masks.combine(one, None, two).tolist() == wanted and masks.combine(two, one).tolist() == wanted
    assert masks.combine(None) is None and masks.combine() is None and masks.combine(None, two) is two


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: masks.causal_mask(5, 4), ("5", "4")),
        (lambda: masks.padding_mask(torch.ones(7)), ("7",)),
        (lambda: masks.length_mask(torch.tensor([2, 6]), 5), ("6", "5")),
        (lambda: masks.length_mask(torch.tensor([-1, 3])), ("-1",)),
        (lambda: masks.length_mask(torch.ones(2, 3)), ("2", "3")),
        (lambda: masks.prefix_mask(4, 5), ("5", "4")),
        (lambda: masks.prefix_mask(4, -1), ("-1",)),
        (lambda: masks.prefix_mask(4, torch.ones(2, 2)), ("2",)),
        (lambda: masks.sliding_window_mask(4, 0), ("0",)),
        (lambda: masks.combine(torch.ones(2, 3).bool(), torch.ones(2, 4).bool()), ("(2, 3)", "(2, 4)")),
    ],
)
def test_bad_input_is_refused_with_the_numbers(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_numbers_are_no_mask():
    with pytest.raises(TypeError, match="float32"):
        masks.combine(torch.ones(2, 2))
