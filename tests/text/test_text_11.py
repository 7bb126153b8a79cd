"""Byte-pair encoding: the tokenizers library with our merges, a naive implementation, and every text and every byte comes back."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.text.bpe import END, SHOWN, WORDS, ByteBPE
from course_utils.text.merging import Merger, join

quick = settings(max_examples=60, deadline=None)
SAMPLE = (
    "The cat's hat, the cats' hats: 12 cats!\n\n  We'll see  them at 7:30, naïve café, 東京都 and Ελλάδα.\t"
    "the theory of these others is there. I've they'd you're I'm "
) * 3
BPE = ByteBPE.train([SAMPLE], 340)
texts = st.one_of(
    st.text(), st.text("the cats' 7\n\t é東🙂"), st.lists(st.sampled_from(["the", " cat", "'s", " 12", "!", "\n", "  "])).map("".join)
)


@pytest.fixture(scope="module")
def library():
    """The tokenizers library's GPT-2 tokenizer with our merges."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers comes with transformers, in the [dev] extra")
    shown = ["".join(SHOWN[b] for b in token) for token in BPE.tokens]
    merges = [tuple("".join(SHOWN[b] for b in part) for part in pair) for pair in BPE.merges]
    other = tokenizers.Tokenizer(tokenizers.models.BPE({name: i for i, name in enumerate(shown)}, merges))
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = tokenizers.decoders.ByteLevel()
    return other


@quick
@given(text=texts)
def test_equal_to_the_tokenizers_library(library, text):
    ids = BPE.encode(text)
    assert ids == library.encode(text).ids
    assert BPE.decode(ids) == text == library.decode(ids)


@quick
@given(text=texts)
def test_every_text_comes_back(text):
    ids = BPE.encode(text)
    assert BPE.decode(ids) == text
    assert BPE.end_id not in ids
    assert "".join(WORDS.findall(text)) == text
    assert BPE.decode([BPE.end_id, *ids, BPE.end_id]) == text


@quick
@given(raw=st.binary(max_size=40), lone=st.text(st.characters(categories=["Cs"]), min_size=1, max_size=3))
def test_every_byte_comes_back(raw, lone):
    assert BPE.decode_bytes(raw) == raw  # ids 0 to 255 are the bytes
    assert BPE.decode(raw) == raw.decode("utf-8", errors="replace")
    assert BPE.decode_bytes(BPE.encode(lone)) == lone.encode("utf-8", errors="surrogatepass")  # half of a pair is kept too


@quick
@given(text=st.text())
def test_end_is_never_made_of_text(text):
    ids = BPE.encode(text + END + text)
    assert BPE.end_id not in ids
    assert BPE.decode(ids) == text + END + text


def test_saved_and_read_again_and_by_the_library(tmp_path):
    BPE.save(tmp_path)
    again = ByteBPE.from_files(tmp_path)
    assert (again.merges, again.tokens, len(again)) == (BPE.merges, BPE.tokens, len(BPE))
    tokenizers = pytest.importorskip("tokenizers")
    other = tokenizers.ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert other.encode(SAMPLE).ids == BPE.encode(SAMPLE)
    assert other.token_to_id(END) == BPE.end_id


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.pop("t"), "must be 0, 1, 2"),
        (lambda v: v.update({END: 5}), "must be 0, 1, 2"),
        (lambda v: v.update({"zzz": 900}), "must be 0, 1, 2"),
    ],
)
def test_files_that_do_not_fit(tmp_path, change, message):
    BPE.save(tmp_path)
    vocabulary = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    change(vocabulary)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        ByteBPE.from_files(tmp_path)


def naive_merges(text: str, number: int, min_count: int) -> list[tuple[bytes, bytes]]:
    """Count everything anew for each merge."""
    words = [[bytes([b]) for b in word.encode()] for word in WORDS.findall(text)]
    found: list[tuple[bytes, bytes]] = []
    while len({a + b for a, b in found}) < number:
        counted = Counter(pair for word in words for pair in zip(word, word[1:], strict=False))
        pairs = {pair: n for pair, n in counted.items() if n >= min_count}
        if not pairs:
            break
        a, b = min(pairs, key=lambda p: (-pairs[p], p))
        for i, word in enumerate(words):
            out: list[bytes] = []
            while word:
                size = 2 if word[:2] == [a, b] else 1
                out.append(b"".join(word[:size]))
                word = word[size:]
            words[i] = out
        if a + b not in {x + y for x, y in found}:
            found.append((a, b))
    return found


@quick
@given(text=st.text("aab \n", max_size=60), number=st.integers(0, 12), min_count=st.integers(1, 3))
def test_training_equals_counting_anew(text, number, min_count):
    assert ByteBPE.train([text], 257 + number, min_count).merges == naive_merges(text, number, min_count)


@quick
@given(words=st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=6, unique=True), data=st.data())
def test_counts_stay_right_after_merges(words, data):
    counts = {word: data.draw(st.integers(1, 5)) for word in words}
    merger = Merger({word: list(word) for word in words}, counts)
    for _ in range(3):
        pair = merger.best(1, lambda p: merger.pairs[p])
        if pair is None:
            break
        merger.merge(pair, pair[0] + pair[1])
        singles, pairs = Counter(), Counter()
        for word, symbols in merger.words.items():
            assert "".join(symbols) == word
            for s in symbols:
                singles[s] += counts[word]
            for p in zip(symbols, symbols[1:], strict=False):
                pairs[p] += counts[word]
        assert +merger.singles == singles
        assert +merger.pairs == pairs


def test_join_goes_from_left_to_right():
    assert join(list("aaa"), ("a", "a"), "aa") == ["aa", "a"]
    assert join(list("abab"), ("a", "b"), "ab") == ["ab", "ab"]
    assert join([], ("a", "b"), "ab") == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ByteBPE.train(["x"], 256), "vocab_size=256"),
        (lambda: BPE.decode([len(BPE)]), f"id {len(BPE)} is outside the vocabulary of {len(BPE)}"),
        (lambda: BPE.decode([-1]), "id -1"),
        (lambda: ByteBPE([(b"a", b"b"), (b"a", b"b")]), "1 of 258 tokens occur twice"),
        (lambda: ByteBPE([(b"a", b"b")], [bytes([i]) for i in range(256)]), "1 tokens have no id, the first is b'ab'"),
        (lambda: ByteBPE([], [b"a"]), "255 tokens have no id"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
