"""The encoder–decoder is ``nn.Transformer``, cached decoding is the full pass, beam search is exhaustive search."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_models_07 import RENAMED, compare, shaken
from torch import nn

from course_checks.exercises.ch08b.callables import late_reward
from course_utils.models import encoder_decoder
from course_utils.models.encoder_decoder import CrossDecoder, DecoderBlock, Translator, TranslatorConfig, translator_parameters
from course_utils.models.multihead import KeyValueCache
from course_utils.models.transformer import Encoder, TransformerConfig
from course_utils.text.bleu import bleu
from course_utils.training.decoding import beam_search, greedy, length_penalty
from course_utils.training.schedules import noam, token_loss, warmup_cosine

quick = settings(max_examples=25, deadline=None)
BOS, EOS = 1, 2


@pytest.fixture(autouse=True)
def decoder_names(monkeypatch):
    """In a decoder norm2 belongs to the cross-attention."""
    names = {
        "multihead_attn.in_proj_": "cross_attention.w_qkv.",
        "multihead_attn.out_proj.": "cross_attention.w_o.",
        "norm3.": "norm_3.",
        "norm2.": "norm_2.",
    }
    for theirs, ours in names.items():
        monkeypatch.setitem(RENAMED, theirs, ours)


def small(**changes) -> Translator:
    torch.manual_seed(0)
    config = {
        "d_model": 12,
        "num_heads": 3,
        "d_ff": 20,
        "num_layers": 2,
        "dropout": 0.0,
        "source_vocab": 11,
        "target_vocab": 11,
        "max_len": 16,
    } | changes
    return Translator(TranslatorConfig(**config)).eval()


@quick
@given(
    batch=st.integers(1, 4),
    n=st.integers(1, 6),
    m=st.integers(1, 6),
    norm_first=st.booleans(),
    masked=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_decoder_block_equals_pytorch(batch, n, m, norm_first, masked, seed):
    torch.manual_seed(seed)
    theirs = shaken(nn.TransformerDecoderLayer(12, 3, 20, 0.0, batch_first=True, norm_first=norm_first))
    ours = DecoderBlock.from_torch(theirs)
    x, memory = torch.randn(batch, n, 12, requires_grad=True), torch.randn(batch, m, 12, requires_grad=True)
    causal = torch.ones(n, n).tril().bool() if masked else None
    keep = torch.rand(batch, m) < 0.6 if masked else None
    if masked:
        keep[:, 0] = True
    mine = ours(x, memory, causal, None if keep is None else keep[:, None])
    other = theirs(x, memory, tgt_mask=None if causal is None else ~causal, memory_key_padding_mask=None if keep is None else ~keep)
    compare(ours, theirs, mine, other, [x, memory])


def test_sandwich_block_against_its_formula():
    torch.manual_seed(0)
    block = shaken(DecoderBlock(TransformerConfig(d_model=12, num_heads=3, d_ff=20, num_layers=1, dropout=0.0, norm_place="sandwich")))
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 4, 12)
    after_own = x + block.after_1(block.attention(block.norm_1(x)))
    after_cross = after_own + block.after_2(block.cross_attention(block.norm_2(after_own), memory))
    torch.testing.assert_close(block(x, memory), after_cross + block.after_3(block.feed_forward(block.norm_3(after_cross))))


@pytest.mark.parametrize("norm_first", [False, True])
def test_whole_stack_equals_nn_transformer(norm_first):
    torch.manual_seed(0)
    theirs = shaken(nn.Transformer(12, 3, 2, 2, 20, 0.0, batch_first=True, norm_first=norm_first))
    encoder, decoder = Encoder.from_torch(theirs.encoder), CrossDecoder.from_torch(theirs.decoder)
    source, target = torch.randn(4, 7, 12), torch.randn(4, 5, 12)
    keep = torch.arange(7) < torch.tensor([[7], [3], [1], [5]])
    causal = torch.ones(5, 5).tril().bool()
    mine = decoder(target, encoder(source, keep[:, None]), causal, keep[:, None])
    other = theirs(source, target, tgt_mask=~causal, src_key_padding_mask=~keep, memory_key_padding_mask=~keep)
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)


@quick
@given(
    batch=st.integers(1, 3),
    n=st.integers(1, 8),
    parts=st.integers(1, 8),
    place=st.sampled_from(["pre", "post", "sandwich"]),
    seed=st.integers(0, 10_000),
)
def test_cached_decoding_equals_the_full_pass(batch, n, parts, place, seed):
    model = small(norm_place=place)
    torch.manual_seed(seed)
    source, target = torch.randint(1, 11, (batch, 6)), torch.randint(1, 11, (batch, n))
    source[0, 3:] = 0
    memory, mask = model.encode(source), model.memory_mask(source)
    full = model.decode(target, memory, mask)
    caches = model.new_caches()
    pieces = [model.decode(piece, memory, mask, caches) for piece in target.split(parts, dim=1)]
    torch.testing.assert_close(torch.cat(pieces, dim=1), full, rtol=1e-5, atol=1e-5)
    assert len(caches[0][0]) == n and len(caches[0][1]) == 6


def test_one_parallel_pass_equals_sequential_prefixes():
    model = small()
    source, target = torch.randint(1, 11, (3, 6)), torch.randint(1, 11, (3, 7))
    parallel = model(source, target)
    for t in range(1, 8):
        torch.testing.assert_close(model(source, target[:, :t])[:, -1], parallel[:, t - 1], rtol=1e-5, atol=1e-5)


def test_padding_changes_nothing():
    model = small()
    source, target = torch.randint(3, 11, (1, 5)), torch.randint(3, 11, (1, 4))
    padded = model(nn.functional.pad(source, (0, 4)), nn.functional.pad(target, (0, 3)))
    torch.testing.assert_close(padded[:, :4], model(source, target), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tie", ["none", "output", "all"])
@pytest.mark.parametrize("place", ["pre", "post", "sandwich"])
@pytest.mark.parametrize("gated", [False, True])
def test_parameter_formula(tie, place, gated):
    model = small(tie=tie, norm_place=place, gated=gated, bias=not gated)
    assert sum(p.numel() for p in model.parameters()) == translator_parameters(model.config)
    assert (model.output.weight is model.target_embedding.weight) == (tie != "none")
    assert (model.source_embedding is model.target_embedding) == (tie == "all")


def test_sizes_of_the_paper():
    assert translator_parameters(TranslatorConfig()) == 63_045_632 + 12 * 4 * 512 + 6 * 4 * 512  # with biases in attention
    d = 512
    assert translator_parameters(TranslatorConfig(norm_place="pre")) - 37_000 * d == 44_140_544  # nn.Transformer() itself


def test_greedy_with_and_without_cache_and_its_padding():
    model = small()
    source = torch.randint(3, 11, (5, 6))
    slow, fast = greedy(model, source, BOS, EOS, 12, cached=False), greedy(model, source, BOS, EOS, 12)
    assert torch.equal(slow, fast)
    for row in fast.tolist():
        assert EOS not in row or set(row[row.index(EOS) + 1 :]) <= {0}
    assert not model.training
    model.train()
    greedy(model, source, BOS, EOS, 3)
    assert model.training


@quick
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.6, 1.0]))
def test_wide_beam_is_exhaustive_search(seed, alpha):
    """A language of 4 words, at most 4 tokens: every sentence is scored by hand."""
    torch.manual_seed(seed)
    table = torch.randn(5, 5, 5).mul(2).log_softmax(-1)  # depends on the last two tokens

    def step(tokens, rows):
        before = tokens[:, -2] if tokens.shape[1] > 1 else torch.zeros(len(tokens), dtype=torch.long)
        return table[before, tokens[:, -1]]

    words = [w for w in range(5) if w != EOS]
    best = {}
    for length in range(4):
        for ids in itertools.product(words, repeat=length):
            path, total = [0, BOS, *ids, EOS], 0.0
            for a, b, c in zip(path, path[1:], path[2:], strict=False):
                total += table[a, b, c].item()
            best[(*ids, EOS)] = total / length_penalty(length + 1, alpha)
    found = beam_search(step, BOS, EOS, beam=64, max_new=4, alpha=alpha)
    assert tuple(found[0].ids) == max(best, key=best.get)
    for hypothesis in found[:10]:
        assert hypothesis.score == pytest.approx(best[tuple(hypothesis.ids)], abs=1e-4)
    narrow = beam_search(step, BOS, EOS, beam=1, max_new=4, alpha=0.0)
    assert narrow[0].score <= found[0].log_probability + 1e-5 or alpha


def test_endings_take_no_place_in_the_beam():
    found = beam_search(lambda tokens, rows: late_reward(tokens), 0, 1, 2, 8, 2.0)[0]
    assert found.ids == [3] * 7 + [1] and math.isclose(found.score, -0.3441, abs_tol=1e-4)


def test_unfinished_sentences_are_returned_only_without_finished_ones():
    never = torch.tensor([0.0, 0.0, -torch.inf, 0.0]).log_softmax(-1)
    found = beam_search(lambda tokens, rows: never.expand(len(tokens), -1), BOS, EOS, 2, 3)
    assert len(found) == 2 and all(len(h.ids) == 3 for h in found)


@quick
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)),
        min_size=1,
        max_size=6,
    )
)
def test_bleu_equals_sacrebleu(pairs):
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is in the [dev] extra")
    left, right = zip(*pairs, strict=True)
    theirs = sacrebleu.corpus_bleu(
        [" ".join(c) for c in left], [[" ".join(r) for r in right]], tokenize="none", smooth_method="none", force=True
    ).score
    assert bleu(left, right) == pytest.approx(theirs, abs=1e-6)


def test_smoothed_loss_by_hand_and_its_floor():
    torch.manual_seed(0)
    scores, target = torch.randn(2, 5, 10), torch.tensor([[3, 4, 5, 0, 0], [1, 2, 3, 4, 0]])
    log_p, real = scores.log_softmax(-1), target != 0
    right = torch.gather(log_p, -1, target[..., None])[..., 0]
    by_hand = -(0.9 * right + 0.1 * log_p.mean(-1))[real].mean()
    torch.testing.assert_close(token_loss(scores, target, 0.1), by_hand)
    q = torch.full((10,), 0.01)
    q[3] = 0.91
    floor = token_loss(q.log().expand(1, 1, -1), torch.tensor([[3]]), 0.1).item()
    assert floor == pytest.approx(-(q * q.log()).sum().item(), abs=1e-6) and floor == pytest.approx(0.500, abs=1e-3)


def test_schedules():
    rate = noam(512)
    assert rate(4000) == pytest.approx(6.988e-4, abs=1e-7) and max(range(1, 20_000), key=rate) == 4000
    assert noam(1024)(4000) == pytest.approx(4.941e-4, abs=1e-7)
    factor = warmup_cosine(100, 10)
    assert factor(5) == 0.5 and factor(10) == 1.0 and factor(100) == pytest.approx(0.1)
    assert all(factor(s) >= factor(s + 1) for s in range(10, 100))


def test_cache_refuses_another_batch():
    cache = KeyValueCache()
    with pytest.raises(ValueError, match="empty"):
        cache.both()
    cache.append(torch.zeros(2, 1, 3, 4), torch.zeros(2, 1, 3, 4))
    with pytest.raises(ValueError, match="holds 2 sentences"):
        cache.append(torch.zeros(3, 1, 1, 4), torch.zeros(3, 1, 1, 4))
    cache.reorder(torch.tensor([1, 1, 0]))
    assert len(cache) == 3 and cache.keys.shape[0] == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: small(tie="both"), "tie='both'"),
        (lambda: small(source_vocab=12), "source_vocab=12"),
        (lambda: small()(torch.zeros(1, 0, dtype=torch.long), torch.ones(1, 1, dtype=torch.long)), r"\(1, 0\)"),
        (lambda: small()(torch.full((1, 3), 11), torch.ones(1, 1, dtype=torch.long)), "id 11 does not exist; ids go from 0 to 10"),
        (lambda: small()(torch.full((1, 3), -1), torch.ones(1, 1, dtype=torch.long)), "id -1 does not exist"),
        (lambda: small()(torch.ones(1, 17, dtype=torch.long), torch.ones(1, 1, dtype=torch.long)), "17 tokens, but max_len=16"),
        (lambda: greedy(small(), torch.ones(1, 3, dtype=torch.long), BOS, EOS, 17), "max_new=17"),
        (lambda: beam_search(lambda t, r: t, BOS, EOS, beam=0), "beam=0"),
        (lambda: token_loss(torch.zeros(1, 2, 5), torch.zeros(1, 2, dtype=torch.long)), "every target is padding"),
        (lambda: token_loss(torch.zeros(1, 2, 5), torch.zeros(1, 3, dtype=torch.long)), "do not fit"),
        (lambda: noam(0), "d_model=0"),
        (lambda: warmup_cosine(5, 5), "warmup=5"),
        (lambda: bleu([["a"]], []), "1 candidates and 0 references"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_module_is_read_top_to_bottom():
    names = [name for name in vars(encoder_decoder) if name in ("DecoderBlock", "CrossDecoder", "TranslatorConfig", "Translator")]
    assert names == ["DecoderBlock", "CrossDecoder", "TranslatorConfig", "Translator"]
    assert math.isclose(length_penalty(1, 0.6), 1.0)
