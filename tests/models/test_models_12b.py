"""XLNet: masks by hand, what each stream may know, the two streams against one stream that reads a blank, all orders."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.models.xlnet import XLNet, XLNetConfig, permutation_masks, random_orders

SIZES = {"vocab_size": 17, "d_model": 24, "num_heads": 3, "num_layers": 2, "max_len": 9, "dropout": 0.0}


def small(seed: int = 0, **changes) -> XLNet:
    torch.manual_seed(seed)
    model = XLNet(XLNetConfig(**SIZES | changes))
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.2 * torch.randn_like(p))
    return model.eval()


def test_masks_of_the_worked_example():
    """Order 3, 2, 4, 1 (positions from 1), as in figure 4 of the paper."""
    content, query = permutation_masks(torch.tensor([2, 1, 3, 0]))
    assert content.int().tolist() == [[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]]
    assert query.int().tolist() == [[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10_000))
def test_masks_by_loops(n, seed):
    orders = random_orders(3, n, torch.Generator().manual_seed(seed))
    content, query = permutation_masks(orders)
    for b, order in enumerate(orders.tolist()):
        for i in range(n):
            for j in range(n):
                assert query[b, i, j] == (order.index(j) < order.index(i))
                assert content[b, i, j] == (order.index(j) <= order.index(i))


def test_query_stream_knows_the_place_and_not_the_word():
    model, orders = small(), torch.tensor([[4, 0, 3, 1, 2], [1, 4, 2, 0, 3]])
    content, query = permutation_masks(orders)
    ids = torch.randint(17, (2, 5))
    h, g = model.look(ids, content, query)
    for i in range(5):
        other = ids.clone()
        other[:, i] = (other[:, i] + 1) % 17
        h2, g2 = model.look(other, content, query)
        for b in range(2):
            for j in range(5):
                assert torch.equal(h[b, j], h2[b, j]) != bool(content[b, j, i])
                assert torch.equal(g[b, j], g2[b, j]) != bool(query[b, j, i])
    assert not torch.equal(g[:, 0], g[:, 1])


def test_the_first_of_an_order_depends_on_its_place_alone():
    model, orders = small(), torch.tensor([[2, 0, 1], [2, 1, 0], [0, 1, 2]])
    logits = model(torch.randint(17, (3, 3)), orders)
    torch.testing.assert_close(logits[0, 2], logits[1, 2])
    assert (logits[0, 2] - logits[2, 0]).abs().max() > 1e-3


def test_two_streams_equal_a_plain_encoder_that_reads_a_blank():
    """Independent: for each place, put the blank w there, let it see the earlier ones and nobody see it."""
    model, orders = small(), random_orders(2, 6, torch.Generator().manual_seed(3))
    ids = torch.randint(17, (2, 6))
    got = model(ids, orders)
    content, query = permutation_masks(orders)
    for i in range(6):
        vectors = model.token(ids).clone()
        vectors[:, i] = model.start
        mask = content.clone()
        mask[:, :, i] = False
        mask[:, i] = query[:, i]
        x = model.embed(ids, vectors)
        for block in model.blocks:
            x = block(x, mask)
        torch.testing.assert_close(got[:, i], x[:, i] @ model.token.weight.T, rtol=1e-4, atol=1e-4)


def test_every_order_is_a_distribution_of_its_own():
    """The product over any order sums to 1 over all sentences."""
    model = small(vocab_size=3)
    sentences = torch.cartesian_prod(*[torch.arange(3)] * 3)
    for order in permutations(range(3)):
        orders = torch.tensor(order).expand(27, 3)
        logs = model(sentences, orders).log_softmax(-1).gather(-1, sentences[..., None])[..., 0]
        assert logs.sum(-1).exp().sum().item() == pytest.approx(1, abs=1e-5)


def test_partial_loss_and_gradients():
    model, orders = small(), random_orders(4, 7, torch.Generator().manual_seed(1))
    ids = torch.randint(17, (4, 7))
    logs = -model(ids, orders).log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    torch.testing.assert_close(model.loss(ids, orders), logs.mean())
    torch.testing.assert_close(model.loss(ids, orders, 2), logs.gather(1, orders[:, -2:]).mean())
    model.loss(ids, orders, 2).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_encode_is_the_content_stream():
    model, ids = small(), torch.randint(17, (2, 6))
    everything = torch.ones(6, 6, dtype=torch.bool)
    torch.testing.assert_close(model.encode(ids), model.look(ids, everything, everything)[0])
    orders = random_orders(2, 6)
    content, query = permutation_masks(orders)
    torch.testing.assert_close(model.encode(ids, content), model.look(ids, content, query)[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permutation_masks(torch.tensor([[0, 2, 2]])), "each of 0 to 2 once"),
        (lambda: permutation_masks(torch.tensor([[1, 2, 3]])), "each of 0 to 2 once"),
        (lambda: small()(torch.zeros(1, 10, dtype=torch.long), random_orders(1, 10)), "max_len=9"),
        (lambda: small()(torch.zeros(1, 4, dtype=torch.long), random_orders(1, 5)), r"\(1, 5\) do not fit ids of shape \(1, 4\)"),
        (lambda: small().loss(torch.zeros(1, 4, dtype=torch.long), random_orders(1, 4), 5), "predict=5 of n=4"),
        (lambda: small(d_model=25), "d_model=25 is not divisible"),
        (lambda: small(vocab_size=0), "vocab_size=0"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
