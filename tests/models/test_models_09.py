"""BERT: published sizes, parity with an independent implementation, loading, heads, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.models import pretrained
from course_utils.models.bert import (
    BASE,
    IGNORED,
    LARGE,
    Bert,
    BertConfig,
    BertForPretraining,
    SequenceClassifier,
    SpanClassifier,
    TokenClassifier,
    best_span,
    freeze,
    mean_pool,
)

SMALL = BertConfig(vocab_size=61, d_model=24, num_heads=3, d_ff=40, num_layers=2, max_len=19, dropout=0.0, norm_eps=1e-12, init_std=0.2)


def count(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def batch(vocab: int = 61, n: int = 11) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    ids = torch.randint(5, vocab, (4, n), generator=torch.Generator().manual_seed(1))
    segments = (torch.arange(n) > 5).long().expand(4, n)
    return ids, segments, torch.arange(n) < torch.tensor([n, 7, 3, 1])[:, None]


def test_published_sizes() -> None:
    with torch.device("meta"):
        assert count(Bert(BASE)) == 109_482_240
        assert count(Bert(LARGE)) == 335_141_888
        assert count(BertForPretraining(BASE)) == 110_106_428
        assert count(BertForPretraining(LARGE)) == 336_226_108
        assert count(SequenceClassifier(Bert(BASE), 2)) == 109_483_778
        bare = BertConfig(pooler=False)
        assert count(TokenClassifier(Bert(bare), 9)) == 108_898_569
        assert count(SpanClassifier(Bert(bare))) == 108_893_186


def tiny_folder(folder: Path, pooler: bool = True, **changes: object) -> Any:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(2)
    config = transformers.BertConfig(
        vocab_size=61,
        hidden_size=24,
        num_attention_heads=3,
        intermediate_size=40,
        num_hidden_layers=2,
        max_position_embeddings=19,
        initializer_range=0.2,
        **changes,
    )
    model = transformers.BertModel(config, add_pooling_layer=pooler).eval()
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("pooler", [True, False])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_any_folder_gives_equal_states_and_gradients(tmp_path: Path, pooler: bool, activation: str) -> None:
    theirs = tiny_folder(tmp_path, pooler, hidden_act=activation)
    ours = pretrained.load_bert(tmp_path)
    ids, segments, mask = batch()
    wanted = theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long(), output_hidden_states=True)
    hidden = ours(ids, segments, mask)
    torch.testing.assert_close(hidden[mask], wanted.last_hidden_state[mask], atol=1e-5, rtol=1e-5)
    for state, other in zip(ours.look(ids, segments, mask)[0], wanted.hidden_states, strict=True):
        torch.testing.assert_close(state[mask], other[mask], atol=1e-5, rtol=1e-5)
    if pooler:
        torch.testing.assert_close(ours.pooled(hidden), wanted.pooler_output, atol=1e-5, rtol=1e-5)
    hidden[mask].square().sum().backward()
    wanted.last_hidden_state[mask].square().sum().backward()
    torch.testing.assert_close(ours.embeddings.token.weight.grad, theirs.embeddings.word_embeddings.weight.grad, atol=1e-4, rtol=1e-4)


def test_a_folder_with_heads_is_read_as_its_body(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(vocab_size=61, hidden_size=24, num_attention_heads=3, intermediate_size=40, num_hidden_layers=1)
    model = transformers.BertForPreTraining(config).eval()
    model.save_pretrained(tmp_path)
    ids, segments, mask = batch()
    wanted = model.bert(input_ids=ids, token_type_ids=segments, attention_mask=mask.long()).last_hidden_state
    torch.testing.assert_close(pretrained.load_bert(tmp_path)(ids, segments, mask)[mask], wanted[mask], atol=1e-5, rtol=1e-5)


def test_the_installed_encoder_equals_the_reference_library() -> None:
    transformers = pytest.importorskip("transformers")
    folder = pretrained.installed()
    if folder is None:
        pytest.skip("the extra [pretrained] is not installed")
    theirs, ours = transformers.BertModel.from_pretrained(folder).eval(), pretrained.load_bert(folder)
    ids, segments, mask = batch(30_000)
    with torch.no_grad():
        wanted = theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long()).last_hidden_state
        torch.testing.assert_close(ours(ids, segments, mask)[mask], wanted[mask], atol=1e-5, rtol=1e-5)
    assert count(ours) == 22_713_216


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tiny_folder(tmp_path)
    config, weights = tmp_path / "config.json", tmp_path / "model.safetensors"
    good, state = json.loads(config.read_text()), load_file(weights)

    def broken(message: str, **change: object) -> None:
        config.write_text(json.dumps(good | change))
        with pytest.raises(ValueError, match=message):
            pretrained.load_bert(tmp_path)
        config.write_text(json.dumps(good))

    broken(r"embeddings.position.weight is \(19, 24\), expected \(20, 24\)", max_position_embeddings=20)
    broken("'gpt2'", model_type="gpt2")
    broken("'relative_key'", position_embedding_type="relative_key")
    broken("swish", hidden_act="swish")
    broken(r"missing, expected \(", num_hidden_layers=3)
    save_file({name: value for name, value in state.items() if "layer.1.attention.self.key.weight" not in name}, weights)
    broken("has no key or no value")
    save_file(state | {"encoder.layer.0.surprise": torch.zeros(3)}, weights)
    broken(r"surprise is \(3,\), expected missing")
    with pytest.raises(FileNotFoundError):
        pretrained.load_bert(tmp_path / "nowhere")


def test_download_hands_over_to_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: dict[str, object] = {}

    def snapshot(name: str, **options: object) -> str:
        asked.update(options, name=name)
        tiny_folder(Path(str(options["local_dir"])))
        return str(options["local_dir"])

    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    folder = pretrained.fetch("somebody/tiny-bert", tmp_path / "new", "abc123", ("config.json", "model.safetensors"))
    assert (asked["name"], asked["revision"]) == ("somebody/tiny-bert", "abc123")
    assert count(pretrained.load_bert(folder)) == count(Bert(SMALL))
    monkeypatch.setattr(pretrained.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="huggingface_hub"):
        pretrained.fetch("somebody/tiny-bert", tmp_path, "main", ())
    assert pretrained.installed() is None


def test_losses_of_gathered_and_ignored_positions_are_equal() -> None:
    torch.manual_seed(0)
    model = BertForPretraining(SMALL)
    ids, segments, mask = batch()
    labels = torch.where((torch.rand(ids.shape) < 0.4) & mask, ids, IGNORED)
    following = torch.tensor([0, 1, 1, 0])
    masked, pairs = model.loss(ids, segments, mask, labels, following)
    tokens, logits = model(ids, segments, mask)
    torch.testing.assert_close(masked, torch.nn.functional.cross_entropy(tokens.flatten(0, 1), labels.flatten()))
    torch.testing.assert_close(pairs, torch.nn.functional.cross_entropy(logits, following))
    nothing, _ = model.loss(ids, segments, mask, torch.full_like(ids, IGNORED), following)
    assert nothing.item() == 0
    nothing.backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    model = SequenceClassifier(Bert(SMALL), 3, "mean").eval()
    ids, segments, mask = batch()
    other = torch.where(mask, ids, (ids + 7) % 61)
    torch.testing.assert_close(model(ids, segments, mask), model(other, segments, mask))
    alone = torch.cat([model(ids[i : i + 1, :k], segments[i : i + 1, :k]) for i, k in enumerate(mask.sum(1).tolist())])
    torch.testing.assert_close(model(ids, segments, mask), alone, atol=1e-5, rtol=1e-5)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(0, 10_000), st.one_of(st.none(), st.integers(1, 9)))
def test_best_span_is_the_best(n: int, seed: int, longest: int | None) -> None:
    start, end = torch.randn(2, n, generator=torch.Generator().manual_seed(seed))
    i, j, score = best_span(start, end, longest)
    every = {(a, b): (start[a] + end[b]).item() for a in range(n) for b in range(a, min(n, a + (longest or n)))}
    assert (i, j) in every and score == pytest.approx(max(every.values()))


def test_best_span_errors() -> None:
    nowhere = torch.full((3,), float("-inf"))
    for bad, message in (((torch.zeros(3), torch.zeros(2)), r"\(3,\) and \(2,\)"), ((nowhere, nowhere), "no start")):
        with pytest.raises(ValueError, match=message):
            best_span(*bad)
    with pytest.raises(ValueError, match="longest=0"):
        best_span(torch.zeros(3), torch.zeros(3), 0)


def test_freezing() -> None:
    bert = Bert(SMALL)
    shares = []
    for blocks in range(3):
        freeze(bert, blocks)
        shares.append(sum(p.numel() for p in bert.parameters() if p.requires_grad))
    block = count(bert.encoder.blocks[0])
    assert shares == [count(bert), count(bert) - count(bert.embeddings) - block, count(bert.pooler or nn.Identity())]
    with pytest.raises(ValueError, match="blocks=3 .* num_layers=2"):
        freeze(bert, 3)


def test_mean_pool_of_nothing_is_zero() -> None:
    hidden = torch.ones(2, 3, 4)
    mask = torch.tensor([[True, False, False], [False] * 3])
    assert mean_pool(hidden, mask).tolist() == [[1.0] * 4, [0.0] * 4]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m(torch.zeros(2, 20, dtype=torch.long)), r"\(2, 20\).*max_len=19"),
        (lambda m: m(torch.full((1, 2), 61)), "ids run from 61 to 61; there are 61"),
        (lambda m: m(torch.zeros(1, 2, dtype=torch.long), torch.full((1, 2), 2)), "segments run from 2 to 2; there are 2"),
        (lambda m: m(torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 3, dtype=torch.long)), r"\(1, 3\) do not fit"),
        (lambda m: m(torch.zeros(1, 2, dtype=torch.long), None, torch.ones(1, 2)), "torch.float32"),
        (lambda m: SequenceClassifier(m, 1), "num_labels=1"),
        (lambda m: SequenceClassifier(m, 2, "last"), "'last'"),
        (lambda m: BertConfig(d_model=30, num_heads=4), "d_model=30 .* num_heads=4"),
        (lambda m: BertConfig(max_len=0), "max_len=0"),
    ],
)
def test_bad_input_names_the_numbers(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(Bert(SMALL))
