"""The decoder of today: switches off it is GPT-2, with LLaMA's switches it is Hugging Face's Llama; experts against plain loops."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from course_utils.models.decoder import Decoder, DecoderConfig, llama_style
from course_utils.models.experts import MixtureOfExperts
from course_utils.models.feedforward import GatedFeedForward
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.grouped import GroupedQueryAttention
from course_utils.paths import ROOT
from course_utils.training.sampling import generate

sys.path.insert(0, str(ROOT / "benchmarks"))
from modern_decoder import parameters_used  # noqa: E402
from pretrained_llama import load_llama, read_config  # noqa: E402

SIZES = {"vocab_size": 23, "d_model": 24, "num_heads": 4, "num_layers": 2, "max_len": 20, "dropout": 0.0}
SWITCHES: dict[str, dict[str, Any]] = {
    "rms": {"norm": "rms"},
    "gated": {"gated": True, "activation": "silu"},
    "no bias": {"bias": False},
    "rotary": {"rotary": True},
    "grouped": {"num_kv_heads": 2},
    "one key head": {"num_kv_heads": 1},
    "experts": {"num_experts": 4, "active_experts": 2},
    "untied": {"tied": False},
}
ALL = {key: value for switch in SWITCHES.values() for key, value in switch.items()}


def small(seed: int = 0, **changes) -> Decoder:
    torch.manual_seed(seed)
    model = Decoder(DecoderConfig(**SIZES | changes))
    with torch.no_grad():
        for p in model.parameters():  # far from the start, where all logits are alike
            p.add_(0.3 * torch.randn_like(p))
    return model.eval()


def test_without_switches_it_is_gpt2():
    ours, gpt, ids = small(), GPT(GPTConfig(**SIZES)).eval(), torch.randint(23, (2, 21))
    gpt.load_state_dict(ours.state_dict(), strict=True)
    torch.testing.assert_close(ours(ids[:, :-1]), gpt(ids[:, :-1]), rtol=0, atol=1e-5)
    ours.loss(ids).backward(), gpt.loss(ids).backward()
    for (name, a), b in zip(ours.named_parameters(), gpt.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-6, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("switch", [*SWITCHES, "all"])
def test_every_switch_is_causal_and_caches(switch):
    model = small(**(ALL if switch == "all" else SWITCHES[switch]))
    ids = torch.randint(23, (2, 12))
    changed = ids.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 23
    whole = model(ids)
    torch.testing.assert_close(whole[:, :7], model(changed)[:, :7], rtol=0, atol=1e-5)
    assert (whole[:, 7:] - model(changed)[:, 7:]).abs().max() > 1e-2
    caches = model.new_caches()
    parts = [model(part, caches) for part in (ids[:, :5], ids[:, 5:6], ids[:, 6:])]
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=0, atol=1e-5)
    assert caches[0].both()[0].shape == (2, model.config.num_kv_heads or 4, 12, 6)
    with torch.no_grad():
        longer = generate(model, ids[:1, :5], 6, temperature=0)
        for t in range(5, 11):  # the same without a cache
            assert longer[0, t] == model(longer[:, :t])[0, -1].argmax()


@pytest.mark.parametrize("switch", [*SWITCHES, "all"])
def test_every_switch_learns(switch):
    torch.manual_seed(0)
    model = Decoder(DecoderConfig(**SIZES | (ALL if switch == "all" else SWITCHES[switch])))
    ids = torch.arange(21).repeat(4, 1).add(torch.arange(4)[:, None]) % 23  # counting
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    before = model.eval().loss(ids).item()
    model.train()
    for _ in range(60):
        optimizer.zero_grad()
        model.loss(ids).backward()
        optimizer.step()
    assert all(p.grad is not None for p in model.parameters())
    assert model.eval().loss(ids).item() < 0.1 * before


def test_groups_equal_repeated_heads():
    torch.manual_seed(0)
    grouped, full, x = GroupedQueryAttention(24, 4, 2), GroupedQueryAttention(24, 4), torch.randn(2, 7, 24)
    q, k, v = grouped.w_qkv.weight.detach().split([24, 12, 12])
    wide = [part.view(2, 6, 24).repeat_interleave(2, 0).reshape(24, 24) for part in (k, v)]
    full.load_state_dict({"w_qkv.weight": torch.cat([q, *wide]), "w_o.weight": grouped.w_o.weight})
    torch.testing.assert_close(grouped(x), full(x))


def test_rotation_depends_on_distance_alone():
    torch.manual_seed(0)
    model, x = GroupedQueryAttention(24, 4), torch.randn(1, 3, 24)
    repeated = model(x.repeat(1, 2, 1))  # the second half sees twice as much, the first token of it the same vectors at new places
    alone = model(x)
    torch.testing.assert_close(repeated[:, :3], alone)
    plain = GroupedQueryAttention(24, 4, rope_base=None)
    plain.load_state_dict(model.state_dict())
    assert (plain(x)[:, 1:] - alone[:, 1:]).abs().max() > 1e-3
    torch.testing.assert_close(plain(x)[:, 0], alone[:, 0])  # one key: nothing to rotate against


def test_experts_against_a_loop():
    torch.manual_seed(0)
    mixture, x = MixtureOfExperts(8, 5, 2, lambda: GatedFeedForward(8, 12)), torch.randn(3, 4, 8)
    got = mixture(x)
    wanted, counts, mean = torch.zeros(3, 4, 8), torch.zeros(5), torch.zeros(5)
    for b in range(3):
        for t in range(4):
            p = torch.softmax(mixture.router.weight @ x[b, t], 0)
            best = p.argsort(descending=True)[:2].tolist()
            for e in best:
                wanted[b, t] += p[e] / sum(p[k] for k in best) * mixture.experts[e](x[b, t])
                counts[e] += 1
            mean += p / 12
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(mixture.share, counts / 24)
    torch.testing.assert_close(mixture.balance, 5 * (counts / 24 * mean).sum())


def test_balance_is_one_when_even_and_grows():
    mixture, x = MixtureOfExperts(4, 4, 1, lambda: GatedFeedForward(4, 4)), torch.eye(4)[None]
    with torch.no_grad():
        mixture.router.weight.copy_(50 * torch.eye(4))
        mixture(x)
        assert mixture.balance.item() == pytest.approx(1)
        mixture.router.weight.zero_()[0] = 50
        mixture(x)
        assert mixture.balance.item() == pytest.approx(4)


def test_parameters():
    plain, mixed = small(), small(num_experts=4, active_experts=2)
    one = sum(p.numel() for p in mixed.blocks[0].feed_forward.experts[0].parameters())
    assert parameters_used(plain) == sum(p.numel() for p in plain.parameters())
    assert parameters_used(mixed) == sum(p.numel() for p in mixed.parameters()) - 2 * 2 * one
    with torch.device("meta"):  # LLaMA-7B: 6,738,415,616 as published
        seven = Decoder(
            llama_style(
                DecoderConfig(vocab_size=32_000, d_model=4_096, num_heads=32, num_layers=32, max_len=2_048, d_ff=11_008, tied=False)
            )
        )
    assert sum(p.numel() for p in seven.parameters()) == 6_738_415_616


@pytest.mark.parametrize(("kv_heads", "tied", "theta"), [(4, False, 10_000.0), (2, True, 500_000.0), (1, False, 10_000.0)])
def test_huggingface_llama(tmp_path, kv_heads, tied, theta):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    theirs = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=61,
            hidden_size=32,
            intermediate_size=56,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=kv_heads,
            max_position_embeddings=40,
            rms_norm_eps=1e-5,
            rope_theta=theta,
            tie_word_embeddings=tied,
            initializer_range=0.3,
        )
    ).eval()
    with torch.no_grad():
        for name, p in theirs.named_parameters():
            if "norm" in name:
                p.uniform_(0.5, 2)  # ones would hide a norm that is loaded into the wrong place
    theirs.save_pretrained(tmp_path)
    ours, ids = load_llama(tmp_path), torch.randint(61, (2, 40))
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, rtol=1e-4, atol=1e-4)
    start = ids[:1, :6]
    assert (
        generate(ours, start, 12, temperature=0).tolist()
        == theirs.generate(
            start, attention_mask=torch.ones_like(start), max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0
        ).tolist()
    )


def llama_folder(folder):
    transformers = pytest.importorskip("transformers")
    transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=11,
            hidden_size=8,
            intermediate_size=12,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=9,
        )
    ).save_pretrained(folder)
    return folder


def test_folders_that_do_not_fit(tmp_path):
    folder = llama_folder(tmp_path)
    state, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    name = "model.layers.0.self_attn.k_proj.weight"
    save_file({k: v for k, v in state.items() if k != name}, folder / "model.safetensors")
    with pytest.raises(ValueError, match="lacks layers.0.self_attn.k_proj.weight"):
        load_llama(folder)
    save_file(state | {"model.norm.weight": torch.ones(9)}, folder / "model.safetensors")
    with pytest.raises(ValueError, match=r"norm.weight is \(9,\), expected \(8,\)"):
        load_llama(folder)
    for change, text in [
        ({"model_type": "mistral"}, "'mistral'"),
        ({"attention_bias": True}, "attention_bias"),
        ({"head_dim": 6}, "head_dim"),
        ({"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}}, "rope_type"),
    ]:
        (folder / "config.json").write_text(json.dumps(config | change))
        with pytest.raises(ValueError, match=text):
            read_config(folder / "config.json")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: small(num_kv_heads=3), "4 query heads cannot share 3 key heads"),
        (lambda: small(num_kv_heads=0), "4 query heads cannot share 0 key heads"),
        (lambda: small(num_experts=2, active_experts=3), "active=3 experts of num_experts=2"),
        (lambda: small(d_model=12, rotary=True), "heads of width 3"),
        (lambda: small(norm="batch"), "norm='batch' is unknown"),
        (lambda: small()(torch.zeros(1, 21, dtype=torch.long)), "max_len=20"),
    ],
)
def test_messages(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_evaluation_loss_has_no_balance_term():
    model, ids = small(num_experts=4, active_experts=1, balance_weight=5.0), torch.randint(23, (2, 9))
    plain = model.loss(ids)
    model.train()
    weighted = model.loss(ids)
    assert weighted - plain > 4.9 * 2  # two blocks; each balance is at least about 1
    torch.testing.assert_close(weighted - plain, 5 * sum(b.feed_forward.balance for b in model.blocks))
    with torch.no_grad():
        small_again = Decoder(replace(model.config, balance_weight=0.0))
        small_again.load_state_dict(model.state_dict())
        torch.testing.assert_close(small_again.train().loss(ids), plain)
