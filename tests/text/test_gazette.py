"""The town gazette: deterministic, of the promised size, and no answer given away by something else than reading."""

from collections import Counter

import pytest

from course_utils.text import gazette, gazette_tasks
from course_utils.text.gazette_tasks import LABELS, TASKS, examples, text_of

ALL = sorted(TASKS)


@pytest.fixture(scope="module")
def documents():
    return gazette.documents(20_000)


def test_vocabulary_and_ids():
    words = gazette.tokenizer()
    assert len(words) == len(set(words.pieces)) == 365
    assert (words.pad_id, words.unk_id, words.cls_id, words.sep_id, words.mask_id) == (0, 1, 2, 3, 4)
    assert words.encode("anna lives in bath .".split(), ["yes"]).ids[-2] == words.unk_id


def test_documents_are_the_same_every_time_and_of_the_promised_size(documents):
    assert gazette.documents(50) == documents[:50] and gazette.documents(50, seed=1) != documents[:50]
    assert 600_000 < sum(len(sentence) for document in documents for sentence in document) < 750_000
    assert max(sum(map(len, document)) for document in documents) <= 60  # fits into 64 places with [CLS] and two [SEP]
    assert min(map(len, documents)) >= 3
    known = set(gazette.vocabulary())
    used = {word for document in documents for sentence in document for word in sentence}
    assert known - used == set(gazette.SPECIAL) and not used - known
    with pytest.raises(ValueError, match="0"):
        gazette.documents(0)


def test_held_out_documents_are_not_in_the_training_text(documents):
    seen = {str(document) for document in documents}
    assert not [document for document in gazette.held_out() if str(document) in seen]


def test_without_links():
    plain = gazette.documents(2_000, linked=False)
    words = {word for document in plain for sentence in document for word in sentence}
    assert not words & {"but", "also", "?", "where"} and "so" in words


def test_a_review_keeps_its_polarity(documents):
    good, bad = set(gazette.GOOD), set(gazette.BAD)
    agreed = Counter()
    for document in documents:
        polarity = [(any(w in good for w in s) != ("not" in s)) != (s[0] == "but") for s in document if any(w in good | bad for w in s)]
        agreed.update([len(set(polarity)) for _ in polarity[:1]])
    assert set(agreed) == {1} and agreed[1] > 7_000


@pytest.mark.parametrize("task", ALL)
def test_examples_are_split_honestly(task):
    train, test = examples(task, 200, seed=0)
    assert (len(train), len(test)) == (200, 400) and examples(task, 200, seed=0) == (train, test)
    other, same = examples(task, 50, seed=1)
    assert same == test and other != train[:50]
    texts = [text_of(item) for item in train + test]
    assert len(set(texts)) == 600
    words = gazette.tokenizer()
    assert words.unk_id not in [i for text in texts for i in words.encode(text.split()).ids]


@pytest.mark.parametrize("task", ["opinions", "pairs"])
def test_labels_are_equally_frequent(task):
    train, test = examples(task, 300)
    for part in (train, test):
        counts = Counter(item.label for item in part)
        assert set(counts) == set(LABELS[task]) and max(counts.values()) - min(counts.values()) <= 1


def test_neither_sentence_of_a_pair_gives_the_label_away():
    train, _ = examples("pairs", 9_000)
    for which in (0, 1):
        shape = Counter()
        for item in train:
            key = tuple(word for word in item[which] if word in gazette.OTHER)
            shape[key, item.label] += 1
        for key in {key for key, _ in shape}:
            total = sum(shape[key, label] for label in LABELS["pairs"])
            assert total < 300 or all(0.25 < shape[key, label] / total < 0.42 for label in LABELS["pairs"]), key


@pytest.mark.parametrize("task", ["answers", "answers of two"])
def test_answers_stand_where_they_are_said_to(task):
    train, _ = examples(task, 400)
    asked = Counter()
    for item in train:
        said = item.passage[item.first : item.last + 1]
        asked[item.question[0], item.question[1]] += 1
        kind = {"job": gazette.PLACE_OF, "home": gazette.TOWNS, "own": gazette.KIND_OF}
        known = next((words for key, words in kind.items() if key in item.question), gazette.COLOURS)
        assert said[-1] in known and len(said) <= 2 and item.passage[item.last + 1] == "."
        people = {word for word in item.passage if word in gazette.SHE + gazette.HE + gazette.SHE_OR_TOWN + gazette.HE_OR_TOWN}
        assert people & set(item.question)
    assert min(asked.values()) >= 100


def test_tags_fit_and_ambiguous_names_carry_both():
    train, _ = examples("names", 1_000)
    tags = Counter((word, tag) for item in train for word, tag in zip(item.words, item.tags, strict=True))
    assert {tag for _, tag in tags} == set(LABELS["names"])
    for name in gazette.SHE_OR_TOWN + gazette.HE_OR_TOWN:
        assert tags[name, "B-PERSON"] and tags[name, "B-TOWN"] + tags[name, "I-TOWN"]
    for item in train:
        assert len(item.words) == len(item.tags)
        for before, tag in zip(["O", *item.tags], item.tags, strict=False):
            assert tag[0] != "I" or before[1:] == tag[1:]


def test_refusals():
    with pytest.raises(ValueError, match="puzzles"):
        examples("puzzles", 10)
    with pytest.raises(ValueError, match="count=0"):
        examples("opinions", 0)
    assert gazette_tasks.LABELS["opinions"] == ("bad", "good")
