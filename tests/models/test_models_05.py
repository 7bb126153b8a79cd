"""Positions: every reference form equal to an independent one, gradients included."""

from __future__ import annotations

import cmath
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.models import positions as P

few = settings(max_examples=25, deadline=None, derandomize=True)
sizes = st.integers(1, 9)
close = lambda a, b: torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)  # noqa: E731


def entry(place: int, column: int, width: int, base: float) -> float:
    angle = place / base ** (2 * (column // 2) / width)
    return math.sin(angle) if column % 2 == 0 else math.cos(angle)


@few
@given(n=st.integers(0, 12), half=sizes, base=st.sampled_from([10.0, 10_000.0]), start=st.integers(0, 500))
def test_sinusoidal_table_equals_the_formula(n, half, base, start):
    want = [[entry(start + p, c, 2 * half, base) for c in range(2 * half)] for p in range(n)]
    close(P.sinusoidal(n, 2 * half, base, start), torch.tensor(want).reshape(n, 2 * half))


def test_published_numbers():
    close(P.sinusoidal(2, 4)[1], torch.tensor([0.841471, 0.540302, 0.010000, 0.999950]))
    close(P.alibi_slopes(8), torch.tensor([2.0**-i for i in range(1, 9)]))
    close(P.alibi_slopes(12)[8:], torch.tensor([2.0 ** -(i + 0.5) for i in range(4)]))  # every other slope of 16 heads


@few
@given(k=st.integers(-50, 50), half=sizes)
def test_shift_matrix_shifts_and_composes(k, half):
    d = 2 * half
    m = P.shift_matrix(k, d)
    table = P.sinusoidal(20, d, start=100).double()
    torch.testing.assert_close(table @ m.T, P.sinusoidal(20, d, start=100 + k).double(), rtol=0, atol=1e-6)
    torch.testing.assert_close(m @ P.shift_matrix(3, d), P.shift_matrix(k + 3, d))
    torch.testing.assert_close(m @ m.T, torch.eye(d, dtype=torch.float64))


def exact_bucket(offset: int, bidirectional: bool, num_buckets: int, max_distance: int) -> int:
    """The published rule in whole numbers: the largest bucket whose lower end the distance has reached."""
    first = 0
    if bidirectional:
        num_buckets //= 2
        first = num_buckets if offset > 0 else 0
        distance = abs(offset)
    else:
        distance = max(0, -offset)
    exact = num_buckets // 2
    if distance < exact:
        return first + distance
    bucket, far = exact, num_buckets - exact
    while bucket + 1 < num_buckets:  # lower end of bucket exact + s:  exact · (max_distance / exact)^(s / far)
        s = bucket + 1 - exact
        if distance**far * exact**s < max_distance**s * exact**far:
            break
        bucket += 1
    return first + bucket


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("num_buckets", [4, 8, 10, 16, 32, 64])
@pytest.mark.parametrize("max_distance", [40, 128, 1000])
def test_t5_buckets_equal_exact_arithmetic(bidirectional, num_buckets, max_distance):
    if max_distance <= (num_buckets // 2 if bidirectional else num_buckets) // 2:
        pytest.skip("no room for far buckets")
    offsets = torch.arange(-2 * max_distance, 2 * max_distance + 1)
    want = [exact_bucket(int(o), bidirectional, num_buckets, max_distance) for o in offsets]
    assert P.t5_bucket(offsets, bidirectional, num_buckets, max_distance).tolist() == want


def test_t5_bias_looks_buckets_up():
    bias = P.T5Bias(3, bidirectional=False, num_buckets=8, max_distance=20)
    nn.init.normal_(bias.table)
    got = bias(5, 7)
    assert got.shape == (3, 5, 7)
    for i in range(5):
        for j in range(7):
            close(got[:, i, j], bias.table[:, exact_bucket(j - i, False, 8, 20)])


@few
@given(heads=st.integers(1, 40))
def test_alibi_slopes(heads):
    """The authors' recursion, written as one: powers of two geometric, others filled up from twice as many."""

    def slopes(n):
        if n & (n - 1) == 0:
            ratio = 2 ** (-8 / n)
            return [ratio ** (i + 1) for i in range(n)]
        power = 2 ** math.floor(math.log2(n))
        return slopes(power) + slopes(2 * power)[0::2][: n - power]

    close(P.alibi_slopes(heads), torch.tensor(slopes(heads)))
    bias = P.alibi(heads, 4, 6)
    assert bias.shape == (heads, 4, 6) and (bias <= 0).all()
    close(bias[:, 1, 5], -4 * P.alibi_slopes(heads))


@few
@given(heads=sizes, n=sizes, half=sizes, halves=st.booleans(), start=st.integers(0, 300))
def test_rope_equals_complex_multiplication(heads, n, half, halves, start):
    torch.manual_seed(n)
    d = 2 * half
    x = torch.randn(heads, n, d, requires_grad=True)
    columns = [(i, i + half) if halves else (2 * i, 2 * i + 1) for i in range(half)]
    want = torch.zeros(heads, n, d, dtype=torch.float64)
    for pair, (a, b) in enumerate(columns):
        for p in range(n):
            turn = cmath.exp(1j * (p + start) * 10_000.0 ** (-2 * pair / d))
            want[:, p, a] = x[:, p, a] * turn.real - x[:, p, b] * turn.imag
            want[:, p, b] = x[:, p, a] * turn.imag + x[:, p, b] * turn.real
    got, direction = P.rope(x, torch.arange(n) + start, halves=halves), torch.randn(heads, n, d)
    close(got, want.float())
    close(*(torch.autograd.grad((y * direction).sum(), x)[0] for y in (got, want)))
    close(got.norm(dim=-1), x.norm(dim=-1))


@pytest.mark.parametrize("halves", [False, True])
def test_rope_scores_depend_on_the_offset_alone(halves):
    torch.manual_seed(0)
    q, k = torch.randn(2, 6, 8).unbind(0)
    scores = [P.rope(q, torch.arange(6) + s, halves=halves) @ P.rope(k, torch.arange(6) + s, halves=halves).T for s in (0, 777)]
    torch.testing.assert_close(*scores, rtol=1e-4, atol=1e-4)
    order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])  # neighbours from halves: one convention is the other, columns renamed
    close(P.rope(q[:, order])[:, order.argsort()], P.rope(q, halves=True))


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (lambda: P.sinusoidal(4, 7), "7"),
        (lambda: P.sinusoidal(-1, 4), "-1"),
        (lambda: P.frequencies(4, 1.0), "1.0"),
        (lambda: P.rope(torch.ones(3, 5)), "5"),
        (lambda: P.rope(torch.ones(3, 4), torch.arange(2)), "3 tokens"),
        (lambda: P.alibi_slopes(0), "0"),
        (lambda: P.t5_bucket(torch.arange(3), True, 7), "7"),
        (lambda: P.T5Bias(2, True, 32, 8), "max_distance=8"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, numbers):
    with pytest.raises(ValueError, match=numbers):
        call()
