"""Noise: nothing lost that should stay, spans that can be put back, shares and lengths by counting."""

from __future__ import annotations

from collections import Counter
from random import Random
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.text.noise import corrupt_spans, delete_tokens, infill, mask_tokens, restore_spans, rotate, shuffle_sentences

texts = st.lists(st.integers(10, 40), min_size=2, max_size=40)
seeds = st.integers(0, 9999).map(Random)
SENTINELS = list(range(1000, 1100))


@settings(deadline=None)
@given(texts, st.floats(0, 1), seeds)
def test_masking_and_deleting(ids, share, rng):
    masked, shorter = mask_tokens(ids, share, 0, rng), delete_tokens(ids, share, rng)
    gone = round(share * len(ids))
    assert len(masked) == len(ids)
    assert masked.count(0) == gone
    assert all(new in (0, old) for new, old in zip(masked, ids, strict=True))
    assert len(shorter) == len(ids) - gone
    left = iter(ids)
    assert all(token in left for token in shorter)  # in order


@settings(deadline=None, max_examples=300)
@given(texts, st.floats(0, 1), seeds)
def test_infilling(ids, share, rng):
    found = infill(ids, share, 0, rng)
    kept = [token for token in found if token]
    assert len(kept) == len(ids) - round(share * len(ids))
    left = iter(ids)
    assert all(token in left for token in kept)
    assert all(a or b for a, b in zip(found, found[1:], strict=False))  # no two masks side by side


def test_infilling_has_spans_of_all_lengths():
    """Also of length 0; the number of masks fits a mean of 3 tokens a span."""
    rng, n = Random(0), 3000
    found = infill(list(range(1, n + 1)), 0.3, 0, rng)
    places = [k for k, token in enumerate(found) if not token]
    lengths = Counter((found[k + 1] if k + 1 < len(found) else n + 1) - (found[k - 1] if k else 0) - 1 for k in places)
    assert lengths[0] > 5
    assert 2.5 < 900 / len(places) < 3.5
    assert sum(a * b for a, b in lengths.items()) == 900
    assert lengths[3] > lengths[0]
    assert lengths[3] > lengths[7]


@settings(deadline=None)
@given(texts, seeds)
def test_orders(ids, rng):
    turned = rotate(ids, rng)
    assert len(turned) == len(ids)
    assert any(turned == ids[k:] + ids[:k] for k in range(len(ids)))
    mixed = shuffle_sentences(ids, 20, rng)
    assert Counter(mixed) == Counter(ids)
    cut = [k + 1 for k, token in enumerate(ids) if token == 20]
    parts = [ids[a:b] for a, b in zip([0, *cut], [*cut, len(ids)], strict=True) if ids[a:b]]
    if len(parts) == 1:
        assert mixed == ids


def test_sentences_stay_whole():
    seen = {tuple(shuffle_sentences([1, 0, 2, 3, 0, 4, 0], 0, Random(k))) for k in range(60)}
    assert len(seen) == 6
    assert all(set(s) == {0, 1, 2, 3, 4} and (2, 3, 0) in zip(s, s[1:], s[2:], strict=False) for s in seen)
    assert rotate([], Random(0)) == []
    assert shuffle_sentences([], 0, Random(0)) == []


@settings(deadline=None, max_examples=300)
@given(texts, st.floats(0.01, 0.9), st.floats(1, 6), seeds)
def test_spans_can_be_put_back(ids, share, length, rng):
    source, target = corrupt_spans(ids, SENTINELS, rng, share, length)
    assert restore_spans(source, target, SENTINELS) == ids
    used = [token for token in source if token >= 1000]
    assert used == SENTINELS[: len(used)]
    assert target[-1] == SENTINELS[len(used)]
    assert all(a < 1000 or b < 1000 for a, b in zip(source, source[1:], strict=False))
    assert len(target) - len(used) - 1 == min(max(1, round(share * len(ids))), len(ids) - 1)


def test_spans_have_the_mean_length():
    rng = Random(1)
    pairs = [corrupt_spans(list(range(100)), SENTINELS, rng) for _ in range(50)]
    assert {len(target) for _, target in pairs} == {15 + 5 + 1}
    assert {len(source) for source, _ in pairs} == {85 + 5}
    assert mean(pair[0].index(1000) for pair in pairs) == pytest.approx(17, abs=6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mask_tokens([1, 2], 1.5, 0, Random(0)), "share=1.5"),
        (lambda: infill([1, 2], -0.1, 0, Random(0)), "share=-0.1"),
        (lambda: corrupt_spans([1], SENTINELS, Random(0)), "a text of 1 tokens"),
        (lambda: corrupt_spans(list(range(100)), [500, 501], Random(0)), "5 spans need 6 sentinels, got 2"),
        (lambda: restore_spans([1, 1000], [1001, 5], SENTINELS), r"lacks the sentinels \[1000\]"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
