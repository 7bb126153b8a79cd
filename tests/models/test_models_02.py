"""course_utils.models.recurrent against PyTorch's layers and loops: values and gradients, masks included."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.models.recurrent import KINDS, AdditiveAttention, Seq2Seq

size = st.integers(1, 6)
fast = settings(max_examples=25, deadline=None)


def close(left, right) -> None:
    torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-5)


def looped(module: AdditiveAttention, query, key, value, mask):
    """Pair by pair, over the permitted keys alone, in double precision."""
    w_q, w_k, v = (layer.weight.double() for layer in (module.w_q, module.w_k, module.v))
    outputs, rows = [], []
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            use = [j for j in range(key.shape[1]) if mask[b, i, j]]
            share = torch.zeros(key.shape[1], dtype=torch.double)
            if use:
                q = w_q @ query[b, i].double()
                power = torch.stack([torch.exp(v[0] @ torch.tanh(q + w_k @ key[b, j].double())) for j in use])
                share = share.index_put((torch.tensor(use),), power / power.sum())
            rows.append(share)
            outputs.append(share @ value[b].double())
    shape = query.shape[:2]
    return torch.stack(outputs).view(*shape, -1).float(), torch.stack(rows).view(*shape, -1).float()


@fast
@given(
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 4),
    size,
    size,
    size,
    st.sampled_from(["none", "padding", "pairs"]),
    st.integers(0, 1000),
)
def test_additive_attention_is_the_loop(batch, n, m, d_query, d_key, d_attn, kind, seed) -> None:
    torch.manual_seed(seed)
    module = AdditiveAttention(d_query, d_key, d_attn)
    query, key = torch.randn(batch, n, d_query, requires_grad=True), torch.randn(batch, m, d_key, requires_grad=True)
    value = torch.randn(batch, m, 3, requires_grad=True)
    mask = {"none": None, "padding": torch.rand(batch, 1, m) < 0.6, "pairs": torch.rand(batch, n, m) < 0.5}[kind]
    full = torch.ones(batch, n, m, dtype=torch.bool) if mask is None else mask.expand(batch, n, m)
    output, weights = module(query, key, value, mask)
    wanted_output, wanted_weights = looped(module, query, key, value, full)
    close(output, wanted_output)
    close(weights, wanted_weights)
    close(module(query, key, value, mask, projected_key=module.w_k(key))[0], output)
    if full.any():
        direction, leaves = torch.randn_like(output), [query, key, value, *module.parameters()]
        found = torch.autograd.grad((output * direction).sum(), leaves)
        wanted = torch.autograd.grad((wanted_output * direction).sum(), leaves, allow_unused=True)
        for left, right in zip(found, wanted, strict=True):
            close(left, torch.zeros_like(left) if right is None else right)


def test_a_row_without_keys_gives_zeros_and_finite_gradients() -> None:
    module = AdditiveAttention(3, 4, 5)
    query = torch.randn(2, 2, 3, requires_grad=True)
    key = torch.randn(2, 3, 4)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    output, weights = module(query, key, key, mask)
    output.sum().backward()
    assert not output[:, 1].any() and not weights[:, 1].any() and query.grad is not None
    assert torch.isfinite(query.grad).all() and not query.grad[:, 1].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("batch", "length", "out"), [(1, 1, 1), (2, 5, 3), (3, 4, 6)])
def test_seq2seq_is_its_description(kind, batch, length, out) -> None:
    """Step by step from PyTorch's cells and the layer's weights; gradients too."""
    torch.manual_seed(0)
    model = Seq2Seq(7, 6, kind)
    source, target = torch.randint(0, 7, (batch, length)), torch.randint(0, 7, (batch, out))
    annotations, ends = model.encoder(model.embed(source))
    context = state = torch.cat([ends[0], ends[1]], dim=-1)
    if kind == "attention":
        cell: Any = model.cell
    else:
        plain, own = nn.GRUCell(model.decoder.input_size, 6), dict(model.decoder.named_parameters())
        cell = lambda x, h, c=plain: torch.func.functional_call(c, {k[:-3]: v for k, v in own.items()}, (x, h))  # noqa: E731
    scores = []
    for t in range(out):
        word = model.embed(target[:, t - 1] if t else torch.full((batch,), 7))
        if kind == "attention":
            every = torch.ones(batch, 1, length, dtype=torch.bool)
            context = looped(model.attend, state[:, None], annotations, annotations, every)[0][:, 0]
        state = cell(word if kind == "fixed" else torch.cat([word, context], -1), state)
        scores.append(model.head(state))
    wanted, found = torch.stack(scores, 1), model(source, target)
    close(found, wanted)
    direction, parameters = torch.randn_like(found), list(model.parameters())
    for left, right in zip(
        torch.autograd.grad((found * direction).sum(), parameters), torch.autograd.grad((wanted * direction).sum(), parameters), strict=True
    ):
        torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_seq2seq_does_not_look_ahead(kind) -> None:
    model = Seq2Seq(7, 6, kind)
    source, target = torch.randint(0, 7, (2, 5)), torch.randint(0, 7, (2, 5))
    other = target.clone()
    other[:, 3:] = (other[:, 3:] + 1) % 7
    close(model(source, target)[:, :4], model(source, other)[:, :4])


def test_bad_input_is_refused_with_its_numbers() -> None:
    module, x = AdditiveAttention(3, 4, 5), torch.randn
    for call, words in (
        (lambda: AdditiveAttention(3, 0, 5), "d_key=0"),
        (lambda: Seq2Seq(5, 7, "fixed"), "width=7"),
        (lambda: Seq2Seq(5, 6, "both"), "'both'"),
        (lambda: module(x(1, 2, 4), x(1, 3, 4), x(1, 3, 4)), "query has width 4"),
        (lambda: module(x(1, 2, 3), x(1, 3, 5), x(1, 3, 4)), "key has width 5"),
        (lambda: module(x(1, 2, 3), x(1, 3, 4), x(1, 2, 4)), "3 keys but 2 values"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="boolean"):
        module(x(1, 2, 3), x(1, 3, 4), x(1, 3, 4), torch.ones(1, 2, 3))
