"""Names in BIO tags against an independent count; the short training tools of chapter 10; its extra."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.experiments.ch10_baselines import bag_of_words
from course_utils.experiments.ch10_finetuning import collate, finetune
from course_utils.models import pretrained
from course_utils.text.spans import Span, span_scores, spans
from course_utils.text.wordpiece import WordPiece

TAGS = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"])
SENTENCES = st.lists(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.lists(TAGS, min_size=n, max_size=n), st.lists(TAGS, min_size=n, max_size=n))),
    min_size=1,
    max_size=6,
)


def starts(before: str, tag: str) -> bool:
    return tag != "O" and (tag[0] == "B" or before[2:] != tag[2:])


def ends(tag: str, after: str) -> bool:
    return tag != "O" and (after[0] != "I" or tag[2:] != after[2:])


def counted_like_conlleval(wanted: list[list[str]], guessed: list[list[str]]) -> tuple[float, float, float]:
    """The count of the CoNLL-2000 script: it makes no names, it walks over the tags and watches where names open and close."""
    names, said, right = 0, 0, 0
    for a, b in zip(wanted, guessed, strict=True):
        together = False  # both are inside one name, opened at the same word
        for (w, w_next), (g, g_next) in zip(pairwise(["O", *a, "O"]), pairwise(["O", *b, "O"]), strict=True):
            if together and (ends(w, w_next) or ends(g, g_next)):
                right += ends(w, w_next) and ends(g, g_next)
                together = False
            names += starts(w, w_next)
            said += starts(g, g_next)
            together = together or starts(w, w_next) and starts(g, g_next) and w_next[2:] == g_next[2:]
    precision, recall = right / said if said else 0.0, right / names if names else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


@settings(deadline=None, max_examples=150)
@given(SENTENCES)
def test_scores_are_those_of_the_conll_script(pairs: list[tuple[list[str], list[str]]]) -> None:
    wanted, guessed = [a for a, _ in pairs], [b for _, b in pairs]
    assert span_scores(wanted, guessed) == pytest.approx(counted_like_conlleval(wanted, guessed))


def test_spans_of_a_sentence() -> None:
    assert spans("B-PER I-PER B-PER O I-LOC I-ORG".split()) == [Span("PER", 0, 1), Span("PER", 2, 2), Span("LOC", 4, 4), Span("ORG", 5, 5)]
    with pytest.raises(ValueError, match="tag 1 is 'X'"):
        spans(["O", "X"])
    with pytest.raises(ValueError, match="different lengths"):
        span_scores([["O"]], [["O", "O"]])


def test_a_batch_is_padded_behind() -> None:
    encoded = [WordPiece().encode("time flies", "like"), WordPiece().encode("fruit")]
    ids, segments, mask = collate(encoded)
    assert ids.shape == (2, 6)
    assert mask.sum(1).tolist() == [6, 3]
    assert ids[1, 3:].tolist() == [0, 0, 0]
    assert segments[0].tolist() == [0, 0, 0, 0, 1, 1]
    assert mask.dtype == torch.bool
    with pytest.raises(ValueError, match="empty"):
        collate([])


def test_fine_tuning_visits_every_example_once_an_epoch_and_leaves_what_is_frozen() -> None:
    torch.manual_seed(0)
    first, last = nn.Linear(3, 4), nn.Linear(4, 2)
    model = nn.Sequential(first, nn.Dropout(0.1), last)
    first.requires_grad_(False)
    before, x = first.weight.clone(), torch.randn(10, 3)
    seen: list[int] = []

    def loss(rows: list[int]) -> torch.Tensor:
        assert model.training
        seen.extend(rows)
        return model(x[rows]).square().mean()

    history = finetune(model, loss, 10, 3, 1e-2, batch=4)
    assert len(history) == 9
    assert [sorted(seen[i : i + 10]) for i in (0, 10, 20)] == [list(range(10))] * 3
    assert torch.equal(before, first.weight)
    assert not model.training
    assert last.weight.grad is not None
    with pytest.raises(ValueError, match="epochs=0"):
        finetune(model, loss, 10, 0, 1e-2)


def test_baselines() -> None:
    train = [("good food", "positive"), ("bad food", "negative"), ("good room", "positive"), ("bad bad room", "negative")] * 3
    assert bag_of_words(train, [("a good tram", "positive"), ("the bad tram", "negative")]) == 1.0
    with pytest.raises(ValueError, match="1 label in 2 texts"):
        bag_of_words([("x", "a"), ("y", "a")], [])


def test_the_extra_can_be_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_PRETRAINED", "off")
    assert pretrained.installed() is None
