"""Chapter 09's text: WordPiece, the prose of the course, pairs and hidden tokens, the small model that is trained on them."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_tools import python_prose
from course_tools.makers import mini_bert as maker
from course_utils.models.bert import BertConfig, BertForPretraining
from course_utils.text import prose
from course_utils.text.pretraining import IGNORED, Pair, make_batch, mask_tokens, next_sentence_pairs
from course_utils.text.wordpiece import SPECIAL, TINY, WordPiece, basic_words, split_word, tokenize, train
from course_utils.training import mini_bert

# ---------------------------------------------------------------- WordPiece

LETTERS = ["a", "b", "c", *("##" + c for c in "abc")]
VOCABULARIES = st.lists(st.text("abc", min_size=1, max_size=4), max_size=8).map(
    lambda found: list(dict.fromkeys([*SPECIAL, *LETTERS[:4], *found, *("##" + piece for piece in found[::2])]))
)
COUNTS = st.dictionaries(st.text("abcd", min_size=1, max_size=6), st.integers(1, 5), min_size=1, max_size=8)


def slow_train(words: dict[str, int], size: int, score: str, min_count: int) -> list[str]:
    """The same rule, with everything counted anew at every step."""
    splits = {word: [word[0], *("##" + c for c in word[1:])] for word in words}
    vocabulary = [*SPECIAL, *sorted({piece for split in splits.values() for piece in split})]
    while len(vocabulary) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        singles: Counter[str] = Counter()
        for word, split in splits.items():
            for piece in split:
                singles[piece] += words[word]
            for pair in zip(split, split[1:], strict=False):
                pairs[pair] += words[word]
        worth = {p: n if score == "frequency" else n / (singles[p[0]] * singles[p[1]]) for p, n in pairs.items() if n >= min_count}
        if not worth:
            break
        best = min(worth, key=lambda p: (-worth[p], p))
        joined = best[0] + best[1][2:]
        vocabulary += [joined] if joined not in vocabulary else []
        for word, split in splits.items():
            new, i = [], 0
            while i < len(split):
                fits = tuple(split[i : i + 2]) == best
                new.append(joined if fits else split[i])
                i += 2 if fits else 1
            splits[word] = new
    return vocabulary


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(0, 15), st.sampled_from(["frequency", "likelihood"]), st.integers(1, 3))
def test_training_equals_a_slow_implementation(words: dict[str, int], more: int, score: str, min_count: int) -> None:
    size = len(slow_train(words, 0, score, min_count)) + more
    assert train(words, size, score, min_count) == slow_train(words, size, score, min_count)


@settings(max_examples=100, deadline=None)
@given(st.text("abc", min_size=1, max_size=9), VOCABULARIES)
def test_pieces_join_to_the_word_and_each_is_the_longest(word: str, vocabulary: list[str]) -> None:
    pieces = split_word(word, vocabulary)
    if pieces == ["[UNK]"]:
        return
    assert "".join(piece.removeprefix("##") for piece in pieces) == word
    assert set(pieces) <= set(vocabulary)
    start = 0
    for number, piece in enumerate(pieces):
        assert piece.startswith("##") == (number > 0)
        end = start + len(piece.removeprefix("##"))
        assert not any(("##" if start else "") + word[start:longer] in vocabulary for longer in range(end + 1, len(word) + 1))
        start = end


def reference_vocabulary(size: int) -> list[str]:
    return train(Counter(word for page in prose.reference() for p in page for word in basic_words(p)), size)


@pytest.mark.parametrize("size", [150, 1_500])
def test_equal_to_the_tokenizers_library(size: int) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = reference_vocabulary(size)
    theirs = tokenizers.BertWordPieceTokenizer(vocab={piece: i for i, piece in enumerate(vocabulary)}, lowercase=True)
    ours = WordPiece(vocabulary)
    texts = [p for page in prose.reference()[::7] for p in page[:4]] + ["Naïve cafés, 3.14€ — ok?", "unbelievably [sic] don't", "日本 a\tb"]
    for text in texts:
        assert ours.encode(text).ids == theirs.encode(text).ids, text
    pair = ours.encode(texts[0], texts[1])
    other = theirs.encode(texts[0], texts[1])
    assert (pair.ids, pair.segments) == (other.ids, other.type_ids)
    assert pair.words[0] is None
    assert max(w for w in pair.words if w is not None) > 3


def test_equal_to_transformers(tmp_path) -> None:
    transformers = pytest.importorskip("transformers")
    vocabulary = reference_vocabulary(600)
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    theirs, ours = transformers.BertTokenizer(str(tmp_path / "vocab.txt")), WordPiece.from_file(tmp_path / "vocab.txt")
    for text in ("An exception is raised.", "The [MASK] statement", "x" * 101):
        assert ours.encode(text).ids == theirs(text)["input_ids"]


def test_rare_words_cost_more_and_frequency_beats_the_told_score() -> None:
    words = Counter(word for page in prose.reference() for p in page for word in basic_words(p))
    cost = {}
    for score in ("frequency", "likelihood"):
        known = set(train(words, 1_500, score))
        cost[score] = sum(len(split_word(w, known)) * n for w, n in words.items()) / words.total()
    assert cost["frequency"] < 1.3
    assert cost["likelihood"] > 2.2


def test_errors_of_wordpiece() -> None:
    with pytest.raises(ValueError, match="empty word"):
        split_word("", TINY)
    with pytest.raises(ValueError, match=r"size=6 is too small: 5 special tokens and 2 characters need 7"):
        train({"ab": 3}, 6)
    with pytest.raises(ValueError, match="'luck'"):
        train({"ab": 3}, 60, "luck")
    with pytest.raises(ValueError, match="min_count=0"):
        train({"ab": 3}, 60, min_count=0)
    with pytest.raises(ValueError, match=r"lacks \[MASK\]"):
        WordPiece([t for t in TINY if t != "[MASK]"])
    with pytest.raises(ValueError, match="1 pieces occur twice"):
        WordPiece([*TINY, "time"])
    with pytest.raises(ValueError, match="max_len=2 has no room"):
        WordPiece().encode("time", "flies", max_len=2)


def test_encode_cuts_the_longer_text_and_decode_joins() -> None:
    tokenizer = WordPiece()
    encoded = tokenizer.encode("time flies like an arrow", "fruit flies like", max_len=9)
    assert [tokenizer.pieces[i] for i in encoded.ids] == ["[CLS]", "time", "flies", "like", "[SEP]", "fruit", "flies", "like", "[SEP]"]
    assert encoded.segments == [0] * 5 + [1] * 4
    assert encoded.words == [None, 0, 1, 2, None, 0, 1, 2, None]
    assert tokenizer.decode(tokenizer.encode("unkindness [MASK]").ids) == "unkindness [MASK]"
    assert tokenize("unkind zebra", special=True) == ["[CLS]", "un", "##kind", "[UNK]", "[SEP]"]


# ---------------------------------------------------------------- prose


def test_the_frozen_prose_is_clean() -> None:
    """The numbers of the chapters were measured on exactly this text, and its licence lies beside it."""
    assert "Python Software Foundation" in prose.FILE.with_name("LICENSE-python.txt").read_text(encoding="utf-8")
    sizes = [(len(pages), sum(len(p) for page in pages for p in page)) for pages in (prose.reference(), prose.docstrings())]
    assert sizes == [(66, 218_347), (315, 879_558)]
    for paragraph in (p for page in (*prose.reference(), *prose.docstrings()) for p in page):
        assert paragraph.isascii()
        assert paragraph[-1] in ".:?!"
        assert "  " not in paragraph
        assert "\n" not in paragraph
        assert len(paragraph.split()) >= 6
        assert "`" not in paragraph
        assert ">>>" not in paragraph


def test_no_paragraph_occurs_twice() -> None:
    """Else a held-out page could repeat what was trained on."""
    paragraphs = [p for page in (*prose.reference(), *prose.docstrings()) for p in page]
    assert len(set(paragraphs)) == len(paragraphs) > 8_000


def test_the_prose_of_another_python_is_cut_by_the_same_rules() -> None:
    seen: set[str] = set()
    text = (
        "A line that ends with a colon and stands:\n\n   code = 1\n\nA “quoted” line, broken in a co-\nlumn, is prose. Twice.\n\nToo short."
    )
    kept = python_prose.paragraphs(text, seen)
    assert kept == ["A line that ends with a colon and stands:", 'A "quoted" line, broken in a co-lumn, is prose. Twice.']
    assert python_prose.paragraphs(text, seen) == []
    assert python_prose.written().count("\n# topic ") > 60


def test_sentences_lose_nothing() -> None:
    text = 'Use it, e.g. Twice. See above (section 3.2). "Done." Then what? A name, i.e. A word, is bound.'
    assert prose.sentences(text) == [
        "Use it, e.g. Twice.",
        "See above (section 3.2).",
        '"Done."',
        "Then what?",
        "A name, i.e. A word, is bound.",
    ]
    for page in prose.reference()[:20]:
        for paragraph in page:
            assert " ".join(prose.sentences(paragraph)) == paragraph


# ---------------------------------------------------------------- hidden tokens


def test_frequencies_of_80_10_10() -> None:
    g = torch.Generator().manual_seed(0)
    ids = torch.randint(5, 1_000, (400, 500), generator=g)
    inputs, labels = mask_tokens(ids, torch.ones_like(ids).bool(), 1_000, 4, g)
    chosen = labels != IGNORED
    n = ids.numel()
    for share, wanted in (
        (chosen, 0.15),
        (inputs == 4, 0.12),
        (chosen & (inputs != ids) & (inputs != 4), 0.015 * 994 / 995),
        (chosen & (inputs == ids), 0.015 + 0.015 / 995),
    ):
        assert abs(share.float().mean().item() - wanted) < 5 * (wanted / n) ** 0.5
    assert torch.equal(labels[chosen], ids[chosen])
    assert torch.equal(inputs[~chosen], ids[~chosen])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_special_tokens_are_never_selected(seed: int, rate: float) -> None:
    g = torch.Generator().manual_seed(seed)
    ids, maskable = torch.randint(0, 40, (3, 17), generator=g), torch.rand(3, 17, generator=g) < 0.7
    inputs, labels = mask_tokens(ids, maskable, 40, 4, g, rate)
    assert torch.equal(inputs[~maskable], ids[~maskable])
    assert (labels[~maskable] == IGNORED).all()
    changed = (inputs != ids) & (inputs != 4)
    assert (inputs[changed] >= 5).all()
    assert rate < 1 or (labels[maskable] == ids[maskable]).all()


def test_errors_of_masking() -> None:
    ids = torch.zeros(2, 3, dtype=torch.long)
    with pytest.raises(ValueError, match=r"maskable has shape \(2, 2\), ids have \(2, 3\)"):
        mask_tokens(ids, torch.ones(2, 2).bool(), 10, 4)
    with pytest.raises(ValueError, match="rate=1.5"):
        mask_tokens(ids, ids.bool(), 10, 4, rate=1.5)
    with pytest.raises(ValueError, match=r"shares=\(0.8, 0.1, 0.2\)"):
        mask_tokens(ids, ids.bool(), 10, 4, shares=(0.8, 0.1, 0.2))


# ---------------------------------------------------------------- pairs


def numbered(pages: int = 30, sentences: int = 12, length: int = 5) -> list[list[list[int]]]:
    """Pages whose tokens are all different and count upwards: what follows what can be read off."""
    count = iter(range(5, 10**6))
    return [[[next(count) for _ in range(length)] for _ in range(sentences)] for _ in range(pages)]


def test_half_of_the_pairs_are_neighbours_and_the_label_says_which() -> None:
    pages = numbered()
    page_of = {token: k for k, page in enumerate(pages) for sentence in page for token in sentence}
    pairs = [pair for seed in range(12) for pair in next_sentence_pairs(pages, 200, seed)]
    for pair in pairs:  # nothing is trimmed here: 60 tokens a page
        assert pair.first == list(range(pair.first[0], pair.first[-1] + 1))
        follows = pair.second[0] == pair.first[-1] + 1
        assert follows == pair.is_next == (page_of[pair.first[0]] == page_of[pair.second[0]])
    assert abs(sum(p.is_next for p in pairs) / len(pairs) - 0.5) < 4 * 0.5 / len(pairs) ** 0.5


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 64), st.integers(0, 1_000))
def test_pairs_fit_and_neither_span_is_empty(max_len: int, seed: int) -> None:
    for pair in next_sentence_pairs(numbered(4, 6), max_len, seed):
        assert len(pair.first) + len(pair.second) <= max_len - 3
        assert pair.first
        assert pair.second
    assert next_sentence_pairs(numbered(4, 6), max_len, seed) == next_sentence_pairs(numbered(4, 6), max_len, seed)


def test_errors_of_pairs() -> None:
    with pytest.raises(ValueError, match="1 documents of at least two sentences and max_len=32"):
        next_sentence_pairs([[[5], [6]], [[7]]], 32)
    with pytest.raises(ValueError, match="max_len=7"):
        next_sentence_pairs(numbered(2), 7)


def test_a_batch_is_laid_out_as_told() -> None:
    tokenizer = WordPiece()
    a, b = [tokenizer.ids[w] for w in ("time", "flies")], [tokenizer.ids["arrow"]]
    batch = make_batch([Pair(a, b, True), Pair(b, [], False)], tokenizer, torch.Generator().manual_seed(0), (0.0, 0.0, 1.0))
    assert batch.ids.tolist() == [[2, *a, 3, *b, 3], [2, *b, 3, 3, 0, 0]]
    assert batch.segments.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0]]
    assert batch.mask.tolist() == [[True] * 6, [True] * 4 + [False] * 2]
    assert batch.is_next.tolist() == [1, 0]
    for seed in range(40):
        labels = make_batch([Pair(a, b, True)], tokenizer, torch.Generator().manual_seed(seed)).labels[0]
        assert labels[0] == labels[3] == labels[5] == IGNORED


# ---------------------------------------------------------------- the small model


@pytest.fixture(scope="module")
def corpus() -> mini_bert.Corpus:
    return mini_bert.read_corpus(400)


@pytest.fixture(scope="module")
def tiny(corpus: mini_bert.Corpus) -> BertForPretraining:
    return maker.pretrain(
        corpus, BertConfig(vocab_size=400, d_model=16, num_heads=2, d_ff=32, num_layers=1, max_len=32, dropout=0.0), 3, batch=4
    )[0]


def test_held_out_pages_are_not_trained_on(corpus: mini_bert.Corpus) -> None:
    assert len(corpus.tokenizer) == 400
    assert len(corpus.held_out) + len(corpus.training) == len(prose.reference())
    assert 3 <= len(corpus.held_out) < len(corpus.training) / 3
    long = {tuple(s) for page in corpus.training for s in page if len(s) > 20}
    assert not long & {tuple(s) for page in corpus.held_out for s in page}


def test_three_steps_of_pretraining_are_reproducible(corpus: mini_bert.Corpus, tiny: BertForPretraining) -> None:
    again, history = maker.pretrain(corpus, tiny.bert.config, 3, batch=4)
    assert len(history) == 3
    assert not again.training
    for name, value in tiny.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_score_counts(corpus: mini_bert.Corpus, tiny: BertForPretraining) -> None:
    found = maker.score(tiny, corpus, epochs=1)
    assert 0 <= found.tokens <= 1
    assert 0.01 < found.most_frequent < 0.2
    assert found.pairs > 50
    pairs = next_sentence_pairs(corpus.held_out, 32, 99)
    tokens = sum(len(p.first) + len(p.second) for p in pairs)
    assert found.pairs == len(pairs)
    assert abs(found.selected - 0.15 * tokens) < 4 * (0.15 * 0.85 * tokens) ** 0.5
    assert maker.score(tiny, corpus, epochs=1) == found


def test_saved_and_loaded(tmp_path, corpus: mini_bert.Corpus, tiny: BertForPretraining) -> None:
    maker.save(tiny, corpus.tokenizer, tmp_path / "tiny.safetensors")
    model, tokenizer = mini_bert.load_mini_bert(tmp_path / "tiny.safetensors")
    assert tokenizer.pieces == corpus.tokenizer.pieces
    assert model.bert.config == tiny.bert.config
    assert not model.training
    for name, value in tiny.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value, atol=1e-3, rtol=1e-3)
        assert model.state_dict()[name].dtype == torch.float32


def test_other_files_are_refused(tmp_path, corpus: mini_bert.Corpus, tiny: BertForPretraining) -> None:
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(2)}, tmp_path / "other.safetensors", {"colour": "blue"})
    with pytest.raises(ValueError, match=r"holds no mini-BERT.*colour"):
        mini_bert.load_mini_bert(tmp_path / "other.safetensors")
    other = BertForPretraining(BertConfig(vocab_size=400, d_model=24, num_heads=2, d_ff=32, num_layers=1, max_len=32))
    other.bert.config = tiny.bert.config
    maker.save(other, corpus.tokenizer, tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match=r"norm.bias is \(24,\), expected \(16,\)"):
        mini_bert.load_mini_bert(tmp_path / "wrong.safetensors")


def test_the_committed_model_is_better_than_guessing() -> None:
    model, tokenizer = mini_bert.load_mini_bert()
    found = maker.score(model, mini_bert.read_corpus(tokenizer=tokenizer), epochs=4)
    assert found.tokens > 3 * found.most_frequent
    assert found.next_sentence > 0.5
    assert mini_bert.FILE.stat().st_size < 2_000_000
