"""Norms, feed-forward networks and the encoder are PyTorch's own, forward and backward, for random shapes and masks."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course_utils.models.attention import attention
from course_utils.models.encoder_decoder import DecoderBlock
from course_utils.models.feedforward import ACTIVATIONS, FeedForward, GatedFeedForward, gated_width
from course_utils.models.gpt import GPTBlock
from course_utils.models.norms import RMSNorm, deepnorm_factors, make_norm
from course_utils.models.transformer import Encoder, EncoderBlock, TransformerConfig

sizes = st.integers(1, 6)
quick = settings(max_examples=30, deadline=None)
RENAMED = {
    "self_attn.in_proj_": "attention.w_qkv.",
    "self_attn.out_proj.": "attention.w_o.",
    "linear1.": "feed_forward.w_1.",
    "linear2.": "feed_forward.w_2.",
    "norm1.": "norm_1.",
    "norm2.": "norm_2.",
    "layers.": "blocks.",
}


def our_name(name: str) -> str:
    for theirs, ours in RENAMED.items():
        name = name.replace(theirs, ours)
    return name


def compare(ours, theirs, mine, other, inputs):
    """Outputs and all gradients agree to 1e-5."""
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    direction = torch.sin(torch.arange(mine.numel(), dtype=torch.float32)).reshape(mine.shape)
    by_name = {our_name(name): p for name, p in theirs.named_parameters()}
    own = dict(ours.named_parameters())
    assert own.keys() == by_name.keys()
    left = torch.autograd.grad(mine, [*inputs, *own.values()], direction)
    right = torch.autograd.grad(other, [*inputs, *(by_name[name] for name in own)], direction)
    for a, b in zip(left, right, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def shaken(module: nn.Module) -> nn.Module:
    """Random norms and biases: fresh ones and zeros would hide what is not copied."""
    for name, parameter in module.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=1.0 if "norm" in name and name.endswith("weight") else 0.0, std=0.3)
    return module


@quick
@given(
    batch=sizes,
    n=sizes,
    heads=st.integers(1, 4),
    width=st.integers(1, 5),
    d_ff=st.integers(1, 20),
    bias=st.booleans(),
    norm_first=st.booleans(),
    activation=st.sampled_from(["relu", "gelu"]),
    masked=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_encoder_block_equals_pytorch(batch, n, heads, width, d_ff, bias, norm_first, activation, masked, seed):
    torch.manual_seed(seed)
    theirs = shaken(
        nn.TransformerEncoderLayer(heads * width, heads, d_ff, 0.0, activation, batch_first=True, norm_first=norm_first, bias=bias)
    )
    x = torch.randn(batch, n, heads * width, requires_grad=True)
    mask = torch.rand(n, n) < 0.6
    mask |= torch.eye(n, dtype=torch.bool)
    if not bias:  # our LayerNorm keeps its bias
        with pytest.raises(ValueError, match="without biases"):
            EncoderBlock.from_torch(theirs)
        return
    ours = EncoderBlock.from_torch(theirs)
    compare(ours, theirs, ours(x, mask if masked else None), theirs(x, src_mask=~mask if masked else None), [x])


@quick
@given(layers=st.integers(1, 3), norm_first=st.booleans(), final=st.booleans(), pads=st.booleans(), seed=st.integers(0, 10_000))
def test_encoder_equals_pytorch(layers, norm_first, final, pads, seed):
    torch.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(12, 3, 20, 0.0, batch_first=True, norm_first=norm_first)
    theirs = shaken(nn.TransformerEncoder(layer, layers, nn.LayerNorm(12) if final else None, enable_nested_tensor=False))
    ours = Encoder.from_torch(theirs)
    x = torch.randn(2, 5, 12, requires_grad=True)
    keep = torch.arange(5) < torch.tensor([[5], [3]])
    mine = ours(x, keep[:, None] if pads else None)
    other = theirs(x, src_key_padding_mask=~keep if pads else None)
    compare(ours, theirs, mine, other, [x])


@pytest.mark.parametrize("place", ["pre", "post", "sandwich"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("gated", [False, True])
def test_block_against_its_formula(place, norm, gated):
    torch.manual_seed(0)
    block = shaken(
        EncoderBlock(
            TransformerConfig(
                d_model=12, num_heads=3, d_ff=20, num_layers=1, dropout=0.0, activation="gelu", gated=gated, norm=norm, norm_place=place
            )
        )
    )
    x = torch.randn(2, 5, 12)

    def around(x, sublayer, norm, after):
        if place == "post":
            return norm(x + sublayer(x))
        branch = sublayer(norm(x))
        return x + (after(branch) if place == "sandwich" else branch)

    hidden = around(x, lambda h: block.attention(h), block.norm_1, block.after_1)
    torch.testing.assert_close(block(x), around(hidden, block.feed_forward, block.norm_2, block.after_2))


@quick
@given(shape=st.lists(sizes, min_size=0, max_size=2), width=st.integers(2, 9), seed=st.integers(0, 10_000))
def test_rms_norm_equals_pytorch(shape, width, seed):
    torch.manual_seed(seed)
    ours, theirs = RMSNorm(width, 1e-6), nn.RMSNorm(width, 1e-6)
    with torch.no_grad():
        theirs.weight.copy_(nn.init.normal_(ours.weight))
    x = torch.randn(*shape, width, requires_grad=True)
    compare(ours, theirs, ours(x), theirs(x), [x])


def test_rms_norm_in_sixteen_bits_does_not_overflow():
    x = torch.full((3, 8), 1000.0, dtype=torch.float16)
    torch.testing.assert_close(RMSNorm(8).half()(x), torch.ones_like(x))
    assert not torch.isfinite(x.square().mean(-1)).any()  # what it avoids


@quick
@given(name=st.sampled_from(list(ACTIVATIONS)), bias=st.booleans(), seed=st.integers(0, 10_000))
def test_feed_forward_by_its_formula(name, bias, seed):
    torch.manual_seed(seed)
    closed = {
        "relu": lambda x: x.clamp(min=0),
        "gelu": lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
        "gelu_tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "gelu_sigmoid": lambda x: x / (1 + torch.exp(-1.702 * x)),
        "silu": lambda x: x / (1 + torch.exp(-x)),
        "sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
        "tanh": torch.tanh,
        "identity": lambda x: x,
    }[name]
    x = torch.randn(2, 3, 5, requires_grad=True)
    plain = FeedForward(5, 7, name, bias=bias)
    by_hand = F.linear(closed(F.linear(x, plain.w_1.weight, plain.w_1.bias)), plain.w_2.weight, plain.w_2.bias)
    compare(plain, plain, plain(x), by_hand, [x])
    gated = GatedFeedForward(5, 7, name, bias=bias)
    gate, value = F.linear(x, gated.w_1.weight, gated.w_1.bias).split(7, dim=-1)
    compare(gated, gated, gated(x), F.linear(closed(gate) * value, gated.w_2.weight, gated.w_2.bias), [x])


def test_gated_width_matches_parameters():
    assert gated_width(3072) == 2048 and gated_width(4 * 4096, 256) == 11008  # LLaMA-7B
    plain, gated = FeedForward(48, 192, bias=False), GatedFeedForward(48, gated_width(192))
    assert sum(p.numel() for p in plain.parameters()) == sum(p.numel() for p in gated.parameters())


def test_deepnorm_factors_of_the_paper():
    assert deepnorm_factors(6)["stack"] == pytest.approx((1.861, 0.380), abs=1e-3)
    assert deepnorm_factors(0, 100)["stack"] == pytest.approx((3.761, 0.188), abs=1e-3)
    both = deepnorm_factors(6, 6)
    assert both["encoder"] == pytest.approx((1.418, 0.497), abs=1e-3) and both["decoder"] == pytest.approx((2.060, 0.343), abs=1e-3)


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("kind", [EncoderBlock, DecoderBlock, GPTBlock])
def test_every_branch_is_dropped_before_it_is_added(kind, place):
    """Branches whose output is 1 everywhere: each number gets 0 or 2 from every branch."""
    torch.manual_seed(0)
    block = kind(TransformerConfig(d_model=12, num_heads=3, d_ff=20, num_layers=1, dropout=0.5, norm_place=place))
    for layer in [m for n, m in block.named_modules() if n.endswith(("w_o", "w_2"))]:
        nn.init.zeros_(layer.weight), nn.init.ones_(layer.bias)
    seen = []
    if place == "post":  # a norm sees the sum
        for norm in (m for n, m in block.named_children() if n.startswith("norm_")):
            norm.register_forward_hook(lambda module, args, out: seen.append((args[0], out)))
    x = torch.randn(2, 50, 12)
    memory = (torch.randn(2, 3, 12),) if kind is DecoderBlock else ()
    result = block(x, *memory)
    sums = [inside - before for (inside, _), before in zip(seen, [x] + [out for _, out in seen], strict=False)]
    branches = 3 if kind is DecoderBlock else 2
    for found, most in [(result - x, 2 * branches)] if place == "pre" else [(part, 2) for part in sums]:
        assert set(found.round().unique().tolist()) == set(map(float, range(0, most + 1, 2)))
        torch.testing.assert_close(found, found.round(), rtol=0, atol=1e-5)
    assert place == "pre" or len(sums) == branches


def test_attention_dropout_keeps_the_mean():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 5, 8)
    mask = torch.rand(5, 5) < 0.7
    mask[2] = False  # an empty row stays 0
    mean = sum(attention(q, k, v, mask, dropout=0.3) for _ in range(4000)) / 4000
    torch.testing.assert_close(mean, attention(q, k, v, mask), rtol=0, atol=0.06)
    assert (mean[:, :, 2] == 0).all()


def test_dropout_only_while_training():
    torch.manual_seed(0)
    block = EncoderBlock(TransformerConfig(d_model=12, num_heads=3, d_ff=20, num_layers=1, dropout=0.5))
    x = torch.randn(2, 5, 12)
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


def test_layer_sizes_of_the_paper():
    count = sum(p.numel() for p in EncoderBlock(TransformerConfig()).parameters())
    assert count == 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512
    bert = EncoderBlock(TransformerConfig(d_model=768, num_heads=12, d_ff=3072, num_layers=1, activation="gelu"))
    assert sum(p.numel() for p in bert.parameters()) == 7_087_872


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: TransformerConfig(d_model=30, num_heads=4), "d_model=30 is not divisible by num_heads=4"),
        (lambda: TransformerConfig(dropout=1.0), "dropout=1.0"),
        (lambda: TransformerConfig(norm_place="before"), "norm_place='before'"),
        (lambda: TransformerConfig(num_layers=0), "num_layers=0"),
        (lambda: make_norm("batch", 4), "norm='batch'"),
        (lambda: FeedForward(4, 8, "swish"), "activation='swish'"),
        (lambda: gated_width(0), "d_ff=0"),
        (lambda: FeedForward(4, 8, dropout=-0.1), "dropout probability .* got -0.1"),
        (lambda: deepnorm_factors(0), "at least one layer"),
        (lambda: EncoderBlock.from_torch(nn.TransformerEncoderLayer(4, 2, 8)), "batch first"),
        (lambda: EncoderBlock.from_torch(nn.TransformerEncoderLayer(4, 2, 8, activation=F.silu, batch_first=True)), "not supported"),
        (lambda: EncoderBlock(TransformerConfig(d_model=4, num_heads=2, d_ff=8))(torch.randn(1, 3, 5)), "d_model=4"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
