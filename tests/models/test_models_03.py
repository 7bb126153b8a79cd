"""The reference modules of chapters 01 and 03: equal to independent implementations, clear about bad input, empty rows included."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course_utils.models import attention, kernels

close = torch.testing.assert_close
sizes = st.integers(1, 5)


@settings(max_examples=40, deadline=None)
@given(batch=st.lists(sizes, max_size=2), n=sizes, m=sizes, d_k=sizes, d_v=sizes, seed=st.integers(0, 10**6), masked=st.booleans())
def test_attention_equals_pytorch_forward_and_backward(batch, n, m, d_k, d_v, seed, masked):
    g = torch.Generator().manual_seed(seed)
    inputs = [torch.randn(*batch, rows, width, generator=g, requires_grad=True) for rows, width in ((n, d_k), (m, d_k), (m, d_v))]
    mask = torch.rand(n, m, generator=g) < 0.7 if masked else None
    if masked:
        mask[:, 0] = True  # empty rows have a test of their own
    wanted = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    direction = torch.randn(wanted.shape, generator=g)
    want = torch.autograd.grad(wanted, inputs, direction)
    for ours in (attention.scaled_dot_product_attention(*inputs, mask)[0], attention.attention(*inputs, mask)):
        close(ours, wanted, rtol=1e-5, atol=1e-5)
        for got, expected in zip(torch.autograd.grad(ours, inputs, direction), want, strict=True):
            close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "lead, mask_shape",
    [
        ((), (3, 4)),
        ((2,), (2, 3, 4)),
        ((2,), (3, 4)),
        ((2,), (2, 1, 4)),
        ((2, 5), (2, 1, 1, 4)),
        ((2, 5), (3, 4)),
        ((2, 5), (3, 1)),
        ((2,), (4,)),
        ((), ()),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_empty_rows_give_zero_and_finite_gradients(lead, mask_shape, dtype):
    g = torch.Generator().manual_seed(1)
    inputs = [torch.randn(*lead, rows, 6, generator=g).to(dtype).requires_grad_() for rows in (3, 4, 4)]
    mask = torch.rand(mask_shape, generator=g) < 0.6
    if not mask.dim():
        mask = torch.tensor(False)
    if mask.dim() >= 2 and mask.shape[-2] > 1:
        mask[..., 1, :] = False
    full = mask.expand(*lead, 3, 4)
    output, weights = attention.scaled_dot_product_attention(*inputs, mask)
    empty = ~full.any(-1)
    for result in (output, attention.attention(*inputs, mask)):
        assert (result[empty] == 0).all() and result.shape == output.shape
        gradients = torch.autograd.grad(result.sum(), inputs)
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert (weights[empty] == 0).all() and (weights[~full] == 0).all()
    close(weights[~empty].sum(-1), torch.ones_like(weights[~empty].sum(-1)), rtol=1e-2, atol=1e-2)


def test_self_attention_equals_the_formula():
    torch.manual_seed(0)
    layer, x = attention.SelfAttention(6, 4, 5), torch.randn(2, 3, 6)
    q, k, v = (x @ w.weight.T for w in (layer.w_q, layer.w_k, layer.w_v))
    weights = torch.softmax(torch.einsum("bik,bjk->bij", q, k) / math.sqrt(4), -1)
    close(layer(x), torch.einsum("bij,bjd->bid", weights, v))
    close(layer.weights(x), weights)
    assert sum(p.numel() for p in layer.parameters()) == 6 * 4 + 6 * 4 + 6 * 5


@pytest.mark.parametrize(
    "arguments, error, numbers",
    [
        (((3, 5), (4, 6), (4, 2)), ValueError, "5 6"),
        (((3, 5), (4, 5), (3, 2)), ValueError, "4 3"),
        (((5,), (4, 5), (4, 2)), ValueError, "2"),
        (((3, 5), (4, 5), (4, 2), (4, 3)), ValueError, "4 3"),
        (((2, 3, 5), (2, 4, 5), (2, 4, 2), (3, 3, 4)), ValueError, "3 4"),
    ],
)
def test_bad_shapes_are_refused_with_their_numbers(arguments, error, numbers):
    tensors = [torch.ones(shape) for shape in arguments[:3]] + [torch.ones(shape).bool() for shape in arguments[3:]]
    for function in (attention.attention, attention.scaled_dot_product_attention):
        with pytest.raises(error) as caught:
            function(*tensors)
        assert all(number in str(caught.value) for number in numbers.split())


def test_masks_must_be_boolean():
    q = torch.ones(3, 4)
    for function in (attention.attention, attention.scaled_dot_product_attention):
        with pytest.raises(TypeError, match="boolean"):
            function(q, q, q, torch.ones(3, 3))
    with pytest.raises(ValueError, match="d_k=0"):
        attention.SelfAttention(6, d_k=0)


@settings(max_examples=30, deadline=None)
@given(m=sizes, n=sizes, d=sizes, seed=st.integers(0, 10**6), sigma=st.floats(0.2, 5))
def test_kernel_regression_equals_two_loops(m, n, d, seed, sigma):
    g = torch.Generator().manual_seed(seed)
    query, keys, values = torch.randn(m, d, generator=g), torch.randn(n, d, generator=g), torch.randn(n, generator=g)
    for i in range(m):
        kernel = [math.exp(-((query[i] - keys[j]).double() ** 2).sum().item() / (2 * sigma**2)) for j in range(n)]
        expected = sum(k * v for k, v in zip(kernel, values.tolist(), strict=True)) / sum(kernel)
        assert kernels.nadaraya_watson(query, keys, values, sigma)[i].item() == pytest.approx(expected, rel=1e-4, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6), sigma=st.floats(0.3, 3))
def test_leave_one_out_really_leaves_one_out(n, seed, sigma):
    g = torch.Generator().manual_seed(seed)
    keys, values = torch.randn(n, 2, generator=g), torch.randn(n, generator=g)
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        close(
            kernels.leave_one_out(keys, values, sigma)[i],
            kernels.nadaraya_watson(keys[i : i + 1], keys[rest], values[rest], sigma)[0],
            rtol=1e-4,
            atol=1e-5,
        )


x5 = torch.arange(5.0)


@pytest.mark.parametrize(
    "call, numbers",
    [
        (lambda: kernels.gaussian_weights(x5, x5, 0.0), "0.0"),
        (lambda: kernels.gaussian_weights(x5, x5, float("nan")), "nan"),
        (lambda: kernels.nadaraya_watson(x5, x5, x5[:4], 1.0), "5 4"),
        (lambda: kernels.leave_one_out(x5, x5[:4], 1.0), "5 4"),
        (lambda: kernels.nadaraya_watson(x5, x5[:0], x5[:0], 1.0), "empty"),
        (lambda: kernels.leave_one_out(x5[:1], x5[:1], 1.0), "1"),
        (lambda: kernels.nadaraya_watson(x5, x5 / 0, x5, 1.0), "5"),
        (lambda: kernels.leave_one_out(x5, x5 / 0, 1.0), "5"),
        (lambda: kernels.squared_distances(torch.ones(2, 3), torch.ones(2, 4)), "3 4"),
    ],
)
def test_bad_data_is_refused_with_its_numbers(call, numbers):
    with pytest.raises(ValueError) as caught:
        call()
    assert all(number in str(caught.value) for number in numbers.split())


def test_tiny_bandwidths_and_far_queries_stay_finite():
    for bandwidth in (1e-200, 1e-20, 1e-3, 1e200):
        weights = kernels.gaussian_weights(torch.tensor([0.2, 1e20]), x5, bandwidth)
        assert torch.isfinite(weights).all()
        close(weights.sum(-1), torch.ones(2))
        assert torch.isfinite(kernels.leave_one_out(x5, x5, bandwidth)).all()


def test_training_loop_says_what_is_wrong():
    from course_utils.training.loop import fit

    model = nn.Linear(2, 1)
    for steps, lr in ((0, 0.1), (5, 0.0)):
        with pytest.raises(ValueError, match=f"steps={steps}"):
            fit(model, lambda: model(torch.ones(2)).sum(), steps, lr)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        fit(model, lambda: torch.ones(3), 2, 0.1)
    with pytest.raises(FloatingPointError, match="step 1"):
        fit(model, lambda: model(torch.ones(2)).sum() * float("nan"), 2, 0.1)
