"""Near-duplicates against plain loops over all pairs, MinHash against the similarity it estimates; the filter and its junk."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course_utils.text import quality
from course_utils.text.duplicates import candidates, shingles, signatures, similar_pairs

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=8)


def test_shingles():
    assert shingles("To be, or not to be!", 2) == {("to", "be"), ("be", "or"), ("or", "not"), ("not", "to")}
    assert shingles("Yes.", 3) == {("yes",)}
    assert shingles("a b c", 3) == {("a", "b", "c")}


@settings(max_examples=80, deadline=None)
@given(texts=TEXTS, n=st.integers(1, 3), threshold=st.sampled_from([0.2, 0.5, 1.0]))
def test_similar_pairs_against_a_loop(texts, n, threshold):
    sets = [shingles(text, n) for text in texts]
    wanted = {(i, j): len(a & b) / len(a | b) for (i, a), (j, b) in combinations(enumerate(sets), 2)}
    assert similar_pairs(sets, threshold) == pytest.approx({pair: value for pair, value in wanted.items() if value >= threshold})


@pytest.mark.parametrize("shared", [0, 10, 25, 40, 50])
def test_minhash_estimates_jaccard(shared):
    draw = random.Random(shared)
    words = [(f"w{draw.randrange(10**9)}",) for _ in range(100 - shared)]
    a, b = frozenset(words[:50]), frozenset(words[50 - shared :])
    wanted = len(a & b) / len(a | b)
    one, two = signatures([a, b], 2_000, seed=1)
    assert abs((one == two).float().mean().item() - wanted) < 4 * (max(wanted * (1 - wanted), 1e-3) / 2_000) ** 0.5
    again = signatures([b], 2_000, seed=1)[0]
    assert torch.equal(two, again)
    assert not torch.equal(two, signatures([b], 2_000, seed=2)[0])


def test_candidates_against_a_loop():
    signature = torch.randint(3, (30, 12), generator=torch.Generator().manual_seed(0))
    for bands in (1, 2, 4, 12):
        rows = signature.view(30, bands, -1)
        wanted = {(i, j) for i, j in combinations(range(30), 2) if (rows[i] == rows[j]).all(1).any()}
        assert candidates(signature, bands) == wanted
    assert len(wanted) > 100  # one row a band: nearly all pairs


def test_hashing_needs_no_vocabulary():
    rows = quality.hashed(["The cat, the cat.", "cat the cat", "", "Ünïcode 東京"], size=512)
    torch.testing.assert_close(rows.norm(dim=1), torch.tensor([1.0, 1.0, 0.0, 1.0]))
    assert quality.pieces("The cat, the") == ["the", "cat", ",", "the", "the cat", "cat ,", ", the"]
    assert torch.equal(rows[0], quality.hashed(["THE CAT, the cat."], size=512)[0])
    torch.testing.assert_close(quality.hashed(["a b"], size=1), torch.ones(1, 1))


def test_logistic_regression_reaches_the_minimum():
    torch.manual_seed(0)
    x, y = torch.randn(60, 3), (torch.rand(60) < 0.5).float()
    weight, bias = quality.logistic(x, y, steps=2_000, lr=0.05, decay=0.01)
    weight.requires_grad_(True), bias.requires_grad_(True)
    (F.binary_cross_entropy_with_logits(x @ weight + bias, y) + 0.01 * weight.square().sum()).backward()
    assert weight.grad.abs().max() < 1e-4
    assert bias.grad.abs() < 1e-4


@pytest.mark.parametrize("kind", quality.KINDS)
def test_junk(kind):
    text = "The value of the expression is converted to a string before it is written to the file."
    one, two = (quality.junk(text, kind, random.Random(1)) for _ in range(2))
    assert one == two != text
    assert one != quality.junk(text, kind, random.Random(2))
    if kind == "shuffled":
        assert sorted(one.split()) == sorted(text.split())
    if kind == "typing errors":
        assert len(one) == len(text)
        assert sum(a != b for a, b in zip(one, text, strict=True)) < 30


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shingles("a b", 0), "n=0"),
        (lambda: similar_pairs([], 0.0), "threshold=0.0"),
        (lambda: signatures([frozenset()]), "set 0 is empty"),
        (lambda: signatures([], 0), "count=0"),
        (lambda: candidates(torch.zeros(2, 10), 3), "10 hashes cannot be cut into 3"),
        (lambda: quality.hashed(["a"], 0), "size=0"),
        (lambda: quality.junk("a b", "poetry", random.Random(0)), "kind='poetry'"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_pretrain_takes_a_decoder_and_watches_it():
    from course_tools.makers.mini_gpt import pretrain
    from course_utils.models.decoder import Decoder, DecoderConfig
    from course_utils.models.gpt import GPT, GPTConfig
    from course_utils.training.mini_gpt import nats

    stream, sizes = torch.arange(200) % 7, {"vocab_size": 7, "d_model": 8, "num_heads": 1, "num_layers": 1, "max_len": 6, "dropout": 0.0}
    model, history = pretrain(
        stream, DecoderConfig(**sizes, rotary=True), 40, 1e-2, 4, every=10, patience=2, validate=lambda model: nats(model, stream[:50])
    )
    assert type(model) is Decoder
    assert not model.training
    assert model.config.rotary
    assert [step for step, _ in history.validation] == [10, 20, 30, 40]
    assert nats(model, stream[:50]) == pytest.approx(history.validation[-1][1])
    assert type(pretrain(stream, GPTConfig(**sizes), 2, 1e-2, 4)[0]) is GPT
