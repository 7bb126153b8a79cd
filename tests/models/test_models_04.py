"""Multi-head attention is PyTorch's own, forward and backward, for random shapes and masks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.models.multihead import MultiHeadAttention, head_dim, merge_heads, split_heads

sizes = st.integers(1, 6)
quick = settings(max_examples=40, deadline=None)


def layers(heads: int, width: int, bias: bool, seed: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(heads * width, heads, bias=bias, batch_first=True)
    if bias:
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    return MultiHeadAttention.from_torch(theirs), theirs


def compare(
    ours: MultiHeadAttention, theirs: nn.MultiheadAttention, mine: torch.Tensor, other: torch.Tensor, inputs: list[torch.Tensor]
) -> None:
    """Outputs, and gradients by inputs and parameters, agree to 1e-5."""
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    direction = torch.sin(torch.arange(mine.numel(), dtype=torch.float32)).reshape(mine.shape)
    ours.zero_grad()
    theirs.zero_grad()
    left = torch.autograd.grad(mine, [*inputs, *ours.parameters()], direction)
    names = {"in_proj_weight": "w_qkv.weight", "in_proj_bias": "w_qkv.bias", "out_proj.weight": "w_o.weight", "out_proj.bias": "w_o.bias"}
    by_name = {names[name]: p for name, p in theirs.named_parameters()}
    right = torch.autograd.grad(other, [*inputs, *(by_name[name] for name, _ in ours.named_parameters())], direction)
    for a, b in zip(left, right, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@quick
@given(
    batch=sizes,
    n=sizes,
    m=sizes,
    heads=st.integers(1, 4),
    width=st.integers(1, 5),
    bias=st.booleans(),
    masked=st.sampled_from(["no", "pairs", "sentences", "padding", "heads"]),
    kind=st.sampled_from(["self", "cross", "three"]),
    seed=st.integers(0, 10_000),
)
def test_equals_pytorch(batch, n, m, heads, width, bias, masked, kind, seed):
    ours, theirs = layers(heads, width, bias, seed)
    m = n if kind == "self" else m
    query = torch.randn(batch, n, heads * width, requires_grad=True)
    inputs = [query] + [torch.randn(batch, m, heads * width, requires_grad=True) for _ in range(["self", "cross", "three"].index(kind))]
    shape = {"no": (1, 1), "pairs": (n, m), "sentences": (batch, n, m), "padding": (batch, 1, m), "heads": (batch, heads, n, m)}[masked]
    mask = torch.rand(shape) < 0.6
    mask[..., 0] |= ~mask.any(-1)  # no empty row here
    if masked == "no":
        mask, hidden = None, None
    else:
        full = mask[:, None] if mask.dim() == 3 else mask
        hidden = ~full.expand(batch, heads, n, m).reshape(batch * heads, n, m)
    three = [*inputs, inputs[-1], inputs[-1]][:3]
    compare(ours, theirs, ours(*inputs, mask=mask), theirs(*three, attn_mask=hidden, need_weights=False)[0], inputs)
    weights = ours.weights(*inputs[:2], mask=mask)
    if kind != "three":
        wanted = theirs(*three, attn_mask=hidden, average_attn_weights=False)[1]
        torch.testing.assert_close(weights, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(batch, heads, n))


@quick
@given(batch=sizes, n=sizes, m=st.integers(2, 6), heads=st.integers(1, 4), bias=st.booleans(), seed=st.integers(0, 10_000))
def test_empty_rows_give_the_bias_and_finite_gradients(batch, n, m, heads, bias, seed):
    ours, _ = layers(heads, 3, bias, seed)
    query, key = torch.randn(batch, n, heads * 3, requires_grad=True), torch.randn(batch, m, heads * 3, requires_grad=True)
    mask = torch.rand(batch, n, m) < 0.5
    mask[0, 0] = False
    output = ours(query, key, mask=mask)
    empty = ~mask.any(-1)
    wanted = ours.w_o.bias if bias else torch.zeros(heads * 3)
    torch.testing.assert_close(output[empty], wanted.expand(int(empty.sum()), -1), rtol=0, atol=1e-6)
    assert (ours.weights(query, key, mask)[empty[:, None].expand(-1, heads, -1)] == 0).all()
    grads = torch.autograd.grad(output.pow(2).sum(), [query, key, *ours.parameters()])
    assert all(torch.isfinite(g).all() for g in grads) and (grads[0][empty] == 0).all()
    filled = ours(query, key, mask=mask | empty[..., None])  # rows that may attend are not touched by those that may not
    torch.testing.assert_close(output[~empty], filled[~empty], rtol=1e-5, atol=1e-5)


@quick
@given(batch=sizes, n=sizes, heads=sizes, width=sizes)
def test_split_is_slicing_and_merge_undoes_it(batch, n, heads, width):
    x = torch.randn(batch, n, heads * width)
    cut = split_heads(x, heads)
    for i in range(heads):
        torch.testing.assert_close(cut[:, i], x[..., i * width : (i + 1) * width], rtol=0, atol=0)
    torch.testing.assert_close(merge_heads(cut), x, rtol=0, atol=0)


def test_parameter_count_does_not_depend_on_the_heads():
    assert {sum(p.numel() for p in MultiHeadAttention(512, h).parameters()) for h in (1, 2, 4, 8, 16)} == {1_050_624}
    assert sum(p.numel() for p in MultiHeadAttention(768, 12).parameters()) == 2_362_368


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(30, 4), "d_model=30 is not divisible by num_heads=4"),
        (lambda: head_dim(8, 0), "num_heads=0"),
        (lambda: split_heads(torch.ones(1, 2, 30), 4), "d_model=30 is not divisible by num_heads=4"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(1, 2, 5)), r"\(1, 2, 5\).*d_model=6"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(2, 6)), r"query has shape \(2, 6\)"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(1, 2, 6), torch.ones(1, 3, 7)), "key has shape"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(1, 2, 6), None, torch.ones(1, 2, 6)), "values without keys"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(1, 2, 6), torch.ones(1, 3, 6), torch.ones(1, 4, 6)), "3 keys but 4 values"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(2, 4, 6), mask=torch.ones(3, 4, 4).bool()), r"mask of shape \(3, 1, 4, 4\)"),
        (lambda: MultiHeadAttention(6, 2)(torch.ones(2, 4, 6), mask=torch.ones(5, 4).bool()), r"mask of shape \(5, 4\)"),
        (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(6, 2, kdim=4)), "widths 4 and 6"),
        (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(6, 2, add_zero_attn=True)), "not supported"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_float_mask_is_refused():
    with pytest.raises(TypeError, match="boolean"):
        MultiHeadAttention(6, 2)(torch.ones(1, 2, 6), mask=torch.ones(2, 2))
