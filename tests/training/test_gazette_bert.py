"""The body of the town gazette: how its gaps are made, the tables it is compared with, what is stored; and changes of low rank."""

import sys
from random import Random

import pytest
import torch

from course_utils.models.bert import IGNORED
from course_utils.paths import ROOT
from course_utils.text import gazette
from course_utils.training.gazette_bert import (
    FILE,
    WORDS,
    Neighbours,
    gap_batches,
    gap_loss,
    gaps,
    gazette_body,
    gazette_model,
    new_model,
    pretrain,
    rows_of,
    score,
    score_by_shown,
    test_gaps,
)

sys.path.insert(0, str(ROOT / "benchmarks"))
from gazette import kept_gaps  # noqa: E402
from low_rank import LowRank, add_low_rank, merge  # noqa: E402

test_gaps.__test__ = False  # type: ignore[attr-defined]


def test_gaps_are_made_of_words_only():
    rows = rows_of(gazette.documents(200), Random(0))
    batch = gaps(rows, torch.Generator().manual_seed(0))
    asked = batch.labels != IGNORED
    assert not set(batch.labels[asked].tolist()) & {*range(5), WORDS.ids["."]}
    words = sum(i > WORDS.mask_id and i != WORDS.ids["."] for ids, _ in rows for i in ids)
    assert 0.23 < asked.sum() / words < 0.27
    assert 0.77 < (batch.ids[asked] == WORDS.mask_id).double().mean() < 0.83
    assert (batch.ids[~asked & batch.mask] != WORDS.mask_id).all() and (batch.ids[~batch.mask] == 0).all()
    cut = sum(1 in segments for _, segments in rows)
    assert 70 < cut < 130 and max(len(ids) for ids, _ in rows) <= 64


def test_a_short_training_learns_and_is_repeatable():
    documents = gazette.documents(200)
    (model, history), (again, _) = (pretrain(documents, 30) for _ in range(2))
    assert sum(history[-5:]) < sum(history[:5]) - 3
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert gap_loss(model, test_gaps(documents[:20])).isfinite()


def test_a_table_of_neighbours_on_a_text_that_it_knows():
    documents = gazette.documents(300)
    table = Neighbours(documents, 2, 2)
    batch = test_gaps(documents[:50])
    assert table.accuracy(batch, true_neighbours=True) > Neighbours(documents, 0, 0).accuracy(batch) + 0.4
    ids = WORDS.encode("leo lives [MASK] bath .".split()).ids
    assert table.guess(ids, ids.index(WORDS.mask_id)) == WORDS.ids["in"]


def test_the_stored_body_fills_gaps_better_than_tables():
    model, words = gazette_model()
    batch = test_gaps()
    best = Neighbours(gazette.documents(20_000), 2, 2)
    assert FILE.stat().st_size < 1_000_000 and len(words) == model.bert.config.vocab_size
    assert score(model, batch).accuracy > max(0.7, best.accuracy(batch) + 0.2, best.accuracy(batch, True) + 0.05)
    assert score(new_model(), batch).accuracy < 0.05


def test_every_body_is_a_fresh_copy():
    one, _ = gazette_body()
    with torch.no_grad():
        one.embeddings.token.weight.zero_()
    other, _ = gazette_body()
    assert other.embeddings.token.weight.abs().sum() > 0 and not other.training


def test_changes_of_low_rank_start_at_nothing_and_can_be_merged():
    ids = torch.tensor([WORDS.encode("leo lives in bath .".split()).ids])
    body, _ = gazette_body()
    plain = body(ids)
    changed = add_low_rank(gazette_body()[0], rank=3, alpha=6.0)
    torch.testing.assert_close(changed(ids), plain)
    trained = {name: p for name, p in changed.named_parameters() if p.requires_grad}
    assert sum(p.numel() for p in trained.values()) == 3 * 3 * (96 + 3 * 96) and len(trained) == 6
    with torch.no_grad():
        for parameter in trained.values():
            parameter.normal_()
    moved = changed(ids)
    assert (moved - plain).abs().max() > 0.1
    merged = merge(changed)
    torch.testing.assert_close(merged(ids), moved)
    assert {n: p.shape for n, p in merged.named_parameters()} == {n: p.shape for n, p in body.named_parameters()}
    with pytest.raises(ValueError, match="rank=7"):
        LowRank(6, 9, 7, 1.0)


def test_gaps_come_again_after_as_many_copies():
    documents = gazette.documents(16)

    def passes(copies, count):
        following = gap_batches(documents) if copies is None else kept_gaps(documents, 0, copies)
        rows = [following() for _ in range(count)]
        return [sorted(tuple(i for i in row if i) for row in batch.ids.tolist()) for batch in rows]

    one = passes(1, 3)
    assert one[0] == one[1] == one[2]
    three = passes(3, 6)
    assert three[0] != three[1] != three[2] and three[:3] == three[3:]
    new = passes(None, 3)
    assert new[0] != new[1] != new[2]


def test_scores_by_what_is_shown():
    found = score_by_shown(gazette_model()[0])
    assert list(found) == ["[MASK]", "another word", "the word"]
    assert found["the word"] > found["[MASK]"] > 0.7
