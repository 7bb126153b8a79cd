"""Pairs from the gazette, and the head that judges them."""

import pytest
import torch

from course_utils.experiments.ch09_pairs import TASKS, PairHead, is_review, judged, make_pairs, pair_tensors, shuffled, train_pairs
from course_utils.text import gazette
from course_utils.training.gazette_bert import SMALL, WORDS, new_model


@pytest.mark.parametrize("task", TASKS)
def test_half_of_the_pairs_follow(task):
    documents = gazette.documents(40, 1_003)
    found = make_pairs(task, 40, seed=3)
    assert [pair.follows for pair in found] == [True, False] * 20
    for document, pair in zip(documents, found, strict=True):
        text = " " + " ".join(word for sentence in document for word in sentence) + " "
        first, second = (" " + " ".join(part) + " " for part in pair[:2])
        if pair.follows:
            assert first + second.lstrip() in text
        elif task == "order":
            assert second + first.lstrip() in text
        else:
            assert first in text


def test_wrong_spans_have_the_topic_that_is_asked_for():
    documents = gazette.documents(60, 1_005)
    origin = {" ".join(word for s in d[k : k + 2] for word in s): is_review(d) for d in documents for k in range(len(d))}
    for task, same in (("same topic", True), ("other topic", False)):
        wrong = zip(documents[1::2], make_pairs(task, 60, seed=5)[1::2], strict=True)
        agree = [is_review(document) == origin[" ".join(pair.second)] for document, pair in wrong]
        assert sum(agree) >= 28 if same else sum(agree) <= 2  # a short span may stand in documents of both kinds


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        make_pairs("nothing", 4)


def test_tensors_and_shuffled_labels():
    data = pair_tensors(make_pairs("next", 30))
    assert data.ids.shape == data.segments.shape == data.mask.shape and data.labels.tolist() == [1, 0] * 15
    assert (data.ids[:, 0] == WORDS.cls_id).all() and ((data.ids == WORDS.sep_id).sum(1) == 2).all()
    assert not data.segments[~data.mask].any()
    mixed = shuffled(data)
    assert mixed.labels.sum() == 15 and mixed.labels.tolist() != data.labels.tolist() and mixed.ids is data.ids


def test_training_goes_once_through_the_pairs_and_pads_tell_nothing():
    data = pair_tensors(make_pairs("order", 40))
    model, history = train_pairs(new_model(0, SMALL).bert, data)
    assert len(history) == 3 and isinstance(model, PairHead) and not model.training
    assert judged(model, data).shape == (40,)
    longer = [torch.nn.functional.pad(part, (0, 3)) for part in data[:3]]
    torch.testing.assert_close(model(*longer), model(*data[:3]))
