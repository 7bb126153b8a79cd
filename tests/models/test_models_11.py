"""GPT: published sizes, causality, cache, GPT-2's weights in both directions, sampling, and messages that name the numbers."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.models.gpt import GPT, GPT1, GPT2, GPTConfig, parameter_count
from course_utils.models.multihead import KeyValueCache
from course_utils.models.pretrained_gpt import load_gpt2, read_config, to_huggingface
from course_utils.training.sampling import generate, next_distribution

quick = settings(max_examples=25, deadline=None)


def small(seed: int = 0, **changes) -> GPT:
    torch.manual_seed(seed)
    config = {"vocab_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "max_len": 10, "dropout": 0.0} | changes
    model = GPT(GPTConfig(**config))
    with torch.no_grad():
        for p in model.parameters():  # far from the start, where biases are 0 and all logits alike
            p.add_(0.3 * torch.randn_like(p))
    return model.eval()


@pytest.mark.parametrize(
    ("config", "published"),
    [
        (GPT1, 116_534_784),
        (GPT2["small"], 124_439_808),
        (GPT2["medium"], 354_823_168),
        (GPT2["large"], 774_030_080),
        (GPT2["xl"], 1_557_611_200),
    ],
    ids=["gpt1", "small", "medium", "large", "xl"],
)
def test_published_sizes(config, published):
    with torch.device("meta"):
        counted = sum(p.numel() for p in GPT(config).parameters())
    formula = parameter_count(config.vocab_size, config.d_model, config.num_layers, config.max_len, config.norm_place == "pre")
    assert counted == formula == published


@pytest.mark.parametrize("place", ["pre", "post", "sandwich"])
def test_causal(place):
    model = small(norm_place=place)
    x = []
    handle = model.blocks[0].register_forward_pre_hook(lambda _, inputs: x.append(inputs[0]))
    logits = model(torch.randint(23, (1, 7)))
    handle.remove()
    for t in range(7):
        (gradient,) = torch.autograd.grad(logits[0, t].square().sum(), x[0], retain_graph=True)
        assert not gradient[0, t + 1 :].any() and gradient[0, : t + 1].abs().sum(-1).gt(0).all()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_causal_while_training(dropout):
    model, ids = small(dropout=dropout).train(), torch.randint(23, (2, 8))
    changed = ids.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 23
    rows = []
    for tokens in (ids, changed):
        torch.manual_seed(1)  # the same elements are dropped
        rows.append(model(tokens)[:, :5])
    torch.testing.assert_close(*rows)


@quick
@given(
    batch=st.integers(1, 3),
    n=st.integers(1, 10),
    part=st.integers(1, 10),
    place=st.sampled_from(["pre", "post", "sandwich"]),
    gradients=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_cached_logits_equal_the_full_pass(batch, n, part, place, gradients, seed):
    model = small(seed, norm_place=place)
    ids = torch.randint(23, (batch, n))
    with torch.set_grad_enabled(gradients):
        caches = model.new_caches()
        pieces = torch.cat([model(piece, caches) for piece in ids.split(part, dim=1)], dim=1)
        torch.testing.assert_close(pieces, model(ids), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(model(ids, last=True), model(ids)[:, -1:])
    if gradients:
        pieces.sum().backward()
    assert all(len(cache) == n for cache in caches)


@quick
@given(parts=st.lists(st.integers(1, 5), min_size=1, max_size=8), seed=st.integers(0, 10_000))
def test_cache_holds_what_was_appended(parts, seed):
    torch.manual_seed(seed)
    cache, keys, values = KeyValueCache(), [], []
    for i, n in enumerate(parts):
        keys.append(torch.randn(3, 2, n, 4))
        values.append(torch.randn(3, 2, n, 4))
        before = [t.clone() for t in cache.both()] if len(cache) else []
        old = cache.both() if len(cache) else ()
        cache.append(keys[-1], values[-1])
        assert all(torch.equal(a, b) for a, b in zip(before, old, strict=True))  # nobody's earlier view changes
        if i == 3:
            rows = torch.tensor([2, 0, 2])
            cache.reorder(rows)
            keys, values = [k[rows] for k in keys], [v[rows] for v in values]
    assert torch.equal(cache.keys, torch.cat(keys, 2)) and torch.equal(cache.values, torch.cat(values, 2))


def test_loss_is_the_mean_over_all_targets():
    model, ids = small().double(), torch.randint(23, (3, 8))
    chances = model(ids[:, :-1]).log_softmax(-1)
    by_hand = -sum(chances[i, t, ids[i, t + 1]] for i in range(3) for t in range(7)) / 21
    torch.testing.assert_close(model.loss(ids).double(), by_hand)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("length", [1, 4, 10, 14])
def test_generation_with_and_without_cache(sampled, place, length):
    """Also beyond max_len=10, where the oldest tokens are dropped."""
    model = small(norm_place=place).train()
    prompt, options = torch.randint(23, (3, length)), {"temperature": 1.0 if sampled else 0, "top_k": 5, "repetition": 1.1}
    fast, slow = (generate(model, prompt, 17, generator=torch.Generator().manual_seed(2), cached=c, **options) for c in (True, False))
    assert torch.equal(fast, slow)
    assert torch.equal(fast[:, :length], prompt) and model.training and not fast.is_inference()


def test_generation_far_beyond_max_len_reads_only_what_fits():
    model = small()
    prompt = torch.randint(23, (2, 4))
    out = generate(model, prompt, 40, temperature=0)
    assert out.shape == (2, 44) and torch.equal(out[:, :4], prompt)
    for t in range(11, 44):  # each token follows from the 10 - 10 // 4 = 8 to 10 tokens before it
        assert any((model(out[:, t - n : t], last=True)[:, -1].argmax(-1) == out[:, t]).all() for n in (8, 9, 10))
    assert torch.equal(generate(model, prompt, 0), prompt)


def test_generation_ends_row_by_row():
    model = small()
    prompt = torch.randint(23, (4, 3))
    free = generate(model, prompt, 6, temperature=0)
    end = int(free[0, 4])
    out = generate(model, prompt, 6, temperature=0, end_id=end)
    for row, other in zip(out[:, 3:].tolist(), free[:, 3:].tolist(), strict=True):
        stop = other.index(end) if end in other else len(other)
        assert row == (other[: stop + 1] + [end] * 6)[: len(row)]
    one = generate(model, prompt[:1], 6, temperature=0, end_id=end)
    assert one[0, -1] == end and one.shape[1] <= 5


def gpt2_twin(model: GPT):
    transformers = pytest.importorskip("transformers", reason="transformers is in the [dev] extra")
    c = model.config
    config = transformers.GPT2Config(
        vocab_size=c.vocab_size,
        n_positions=c.max_len,
        n_embd=c.d_model,
        n_layer=c.num_layers,
        n_head=c.num_heads,
        bos_token_id=None,
        eos_token_id=None,
    )
    theirs = transformers.GPT2LMHeadModel(config)
    theirs.load_state_dict(to_huggingface(model), strict=True)
    return theirs.eval()


@pytest.mark.parametrize("seed", range(3))
def test_same_logits_and_tokens_as_transformers(seed):
    model = small(seed, max_len=20)
    theirs, prompt = gpt2_twin(model), torch.randint(23, (2, 5))
    torch.testing.assert_close(model(prompt), theirs(prompt).logits, rtol=0, atol=1e-4)
    out = theirs.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False)
    assert torch.equal(generate(model, prompt, 12, temperature=0), out)


@pytest.fixture
def folder(tmp_path):
    """A tiny random checkpoint that transformers saved."""
    transformers = pytest.importorskip("transformers", reason="transformers is in the [dev] extra")
    torch.manual_seed(0)
    theirs = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=23, n_positions=10, n_embd=12, n_layer=2, n_head=3, initializer_range=0.5)
    )
    theirs.save_pretrained(tmp_path)
    return tmp_path, theirs.eval()


def test_loads_what_transformers_saved_and_goes_back(folder):
    path, theirs = folder
    ours, ids = load_gpt2(path), torch.randint(23, (2, 10))
    torch.testing.assert_close(ours(ids), theirs(ids).logits, rtol=0, atol=1e-4)
    back, wanted = to_huggingface(ours), theirs.state_dict()
    assert back.keys() == wanted.keys() and all(torch.equal(back[name], wanted[name]) for name in back)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("transformer.h.1.mlp.c_fc.bias"), r"blocks\.1\.feed_forward\.w_1\.bias is missing, expected \(48,\)"),
        (lambda s: s.update({"transformer.h.2.ln_1.weight": torch.ones(12)}), r"blocks\.2.* is \(12,\), expected missing"),
        (lambda s: s.update({"transformer.wpe.weight": torch.ones(9, 12)}), r"position\.weight is \(9, 12\), expected \(10, 12\)"),
        (
            lambda s: s.update({"transformer.h.0.attn.c_attn.weight": torch.ones(36, 12)}),
            r"w_qkv\.weight is \(12, 36\), expected \(36, 12\)",
        ),
    ],
)
def test_names_and_shapes_that_do_not_fit_are_named(folder, change, message):
    from safetensors.torch import load_file, save_file

    path = folder[0] / "model.safetensors"
    state = load_file(path)
    change(state)
    save_file(state, path)
    with pytest.raises(ValueError, match=message):
        load_gpt2(path.parent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "llama"}, "'llama', not a GPT-2"),
        ({"activation_function": "swish"}, "swish"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse"),
        ({"scale_attn_weights": False}, "not supported"),
        ({"n_head": 5}, "d_model=12 is not divisible by num_heads=5"),
    ],
)
def test_other_architectures_are_refused(tmp_path, change, message):
    config = {
        "model_type": "gpt2",
        "vocab_size": 23,
        "n_embd": 12,
        "n_head": 3,
        "n_layer": 2,
        "n_positions": 10,
        "layer_norm_epsilon": 1e-5,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert read_config(tmp_path / "config.json").max_len == 10
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path / "config.json")
    with pytest.raises(FileNotFoundError):
        load_gpt2(tmp_path / "nowhere")


logit_rows = st.lists(st.integers(-40, 40), min_size=1, max_size=12, unique=True).map(lambda v: torch.tensor([v]) / 8)


@quick
@given(logits=logit_rows, k=st.integers(1, 14), temperature=st.sampled_from([0.5, 1.0, 3.0]))
def test_top_k_keeps_the_k_largest(logits, k, temperature):
    p, plain = next_distribution(logits, temperature, top_k=k), (logits / temperature).softmax(-1)
    kept = p[0] > 0
    assert kept.sum() == min(k, logits.shape[1]) and p.sum().item() == pytest.approx(1, abs=1e-5)
    assert set(torch.nonzero(kept)[:, 0].tolist()) == set(logits[0].topk(min(k, logits.shape[1])).indices.tolist())
    torch.testing.assert_close(p[0][kept], plain[0][kept] / plain[0][kept].sum())


@quick
@given(logits=logit_rows, top_p=st.floats(0.01, 0.999))
def test_top_p_keeps_the_smallest_set(logits, top_p):
    p, plain = next_distribution(logits, top_p=top_p)[0], logits.softmax(-1)[0].double()
    kept, ordered = int((p > 0).sum()), plain.sort(descending=True).values
    assert ordered[:kept].sum() >= top_p - 1e-5 and ordered[: kept - 1].sum() < top_p + 1e-5
    assert p.sum().item() == pytest.approx(1, abs=1e-5) and p.argmax() == plain.argmax()


@quick
@given(logits=logit_rows, penalty=st.sampled_from([0.5, 1.0, 2.0]), data=st.data())
def test_temperature_zero_and_repetition(logits, penalty, data):
    assert next_distribution(logits, 0).argmax() == logits.argmax() and next_distribution(logits, 0).sum() == 1
    seen = torch.tensor([data.draw(st.lists(st.integers(0, logits.shape[1] - 1), max_size=5))], dtype=torch.long)
    by_hand = [x if i not in seen[0] else x / penalty if x > 0 else x * penalty for i, x in enumerate(logits[0].tolist())]
    torch.testing.assert_close(next_distribution(logits, 2.0, seen=seen, repetition=penalty)[0], (torch.tensor(by_hand) / 2).softmax(-1))


def test_order_of_the_filters():
    logits = torch.tensor([[2.0, 1.8, 0.0, -1.0]])
    p = next_distribution(logits, top_k=1, seen=torch.tensor([[0]]), repetition=4.0)
    assert p.argmax() == 1  # the penalty comes before top-k
    hot = next_distribution(logits, 100.0, top_p=0.6)
    assert (hot > 0).sum() == 3  # and the temperature before top-p
    assert (next_distribution(logits, 1.0, top_k=2, top_p=0.52)[0] > 0).sum() == 1  # top-p sees what top-k left: .55 and .45
    assert (next_distribution(logits, 1.0, top_p=0.52)[0] > 0).sum() == 2


def test_frequencies_of_samples():
    """Each frequency of 20,000 draws lies within five standard deviations of its probability; what is filtered never comes."""
    model, prompt = small(vocab_size=6), torch.tensor([[1, 2, 3]])
    p = next_distribution(model(prompt)[:, -1].detach(), 1.5, top_k=4)[0]
    drawn = generate(model, prompt.expand(20_000, -1), 1, temperature=1.5, top_k=4, generator=torch.Generator().manual_seed(0))[:, -1]
    share = torch.bincount(drawn, minlength=6) / 20_000
    assert ((share - p).abs() <= 5 * (p * (1 - p) / 20_000).sqrt()).all() and (p > 0.01).sum() >= 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: small()(torch.zeros(1, 11, dtype=torch.long)), r"\(1, 11\) after 0 tokens.*max_len=10"),
        (lambda: small()(torch.zeros(1, 0, dtype=torch.long)), r"\(1, 0\)"),
        (lambda: small()(torch.zeros(3, dtype=torch.long)), r"\(3,\)"),
        (lambda: small(vocab_size=0), "vocab_size=0"),
        (lambda: small(max_len=0), "max_len=0"),
        (lambda: small(num_heads=5), "d_model=12 is not divisible by num_heads=5"),
        (lambda: small(dropout=1.0), "dropout=1.0"),
        (lambda: small(norm_place="middle"), "'middle'"),
        (lambda: small(activation="swoosh"), "'swoosh'"),
        (lambda: generate(small(), torch.zeros(1, 0, dtype=torch.long), 2), r"\(1, 0\) and steps=2"),
        (lambda: generate(small(), torch.zeros(1, 2, dtype=torch.long), -1), "steps=-1"),
        (lambda: next_distribution(torch.zeros(1, 3), -1.0), "temperature=-1.0"),
        (lambda: next_distribution(torch.zeros(1, 3), repetition=0), "repetition=0"),
        (lambda: next_distribution(torch.zeros(1, 3), top_k=0), "top_k=0"),
        (lambda: next_distribution(torch.zeros(1, 3), top_p=0.0), "top_p=0.0"),
        (lambda: next_distribution(torch.zeros(1, 3), top_p=1.5), "top_p=1.5"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_cache_that_is_full():
    model = small()
    caches = model.new_caches()
    model(torch.zeros(1, 8, dtype=torch.long), caches)
    with pytest.raises(ValueError, match=r"\(1, 3\) after 8 tokens.*n from 1 to 2"):
        model(torch.zeros(1, 3, dtype=torch.long), caches)


def test_ties_in_top_k_keep_exactly_k():
    assert (next_distribution(torch.tensor([[1.0, 1.0, 1.0, 0.0]]), top_k=2) > 0).sum() == 2


def test_gpt1_form():
    """Post-norm: no final norm, blocks end with their own; learns a cycle of tokens."""
    model = small(norm_place="post", d_model=24, vocab_size=7).train()
    assert isinstance(model.norm, torch.nn.Identity)
    optimizer, ids = torch.optim.Adam(model.parameters(), lr=1e-2), (torch.arange(11) + torch.arange(7)[:, None]) % 7
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.loss(ids)
        loss.backward()
        optimizer.step()
    assert loss < 0.3
    assert generate(model, torch.tensor([[2]]), 8, temperature=0)[0].tolist() == [2, 3, 4, 5, 6, 0, 1, 2, 3]
