"""The relatives: sizes by formula against the released configurations, disentangled attention by loops and against Hugging Face,
sparse masks by counting, ALBERT's sharing."""

from __future__ import annotations

import math

import pytest
import torch

from course_utils.models.bert import Bert, BertConfig
from course_utils.models.zoo import counts
from course_utils.models.zoo.albert import Albert
from course_utils.models.zoo.deberta import DisentangledAttention, distance_index
from course_utils.models.zoo.sparse import bigbird_mask, global_mask, in_blocks, window_mask


@pytest.mark.parametrize("name", counts.PUBLISHED)
def test_formula_gives_the_released_size(name):
    formula, released = counts.PUBLISHED[name]
    assert formula == released


@pytest.mark.parametrize(
    ("name", "model", "config", "changes"),
    [
        ("DistilBERT", "DistilBertModel", "DistilBertConfig", {}),
        ("ALBERT base", "AlbertModel", "AlbertConfig", {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}),
        ("ELECTRA small", "ElectraModel", "ElectraConfig", {}),
        (
            "DeBERTa base",
            "DebertaModel",
            "DebertaConfig",
            {
                "vocab_size": 50_265,
                "type_vocab_size": 0,
                "relative_attention": True,
                "position_biased_input": False,
                "pos_att_type": ["c2p", "p2c"],
            },
        ),
        ("XLNet large", "XLNetModel", "XLNetConfig", {}),
        ("CTRL", "CTRLLMHeadModel", "CTRLConfig", {}),
        ("GPT-Neo 1.3B", "GPTNeoModel", "GPTNeoConfig", {}),
        ("GPT-J 6B", "GPTJForCausalLM", "GPTJConfig", {}),
        ("T5 small", "T5Model", "T5Config", {}),
        ("BART large", "BartModel", "BartConfig", {}),
        ("M2M-100 418M", "M2M100Model", "M2M100Config", {}),
        ("BigBird base", "BigBirdModel", "BigBirdConfig", {}),
    ],
)
def test_huggingface_builds_the_same_size(name, model, config, changes):
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        built = getattr(transformers, model)(getattr(transformers, config)(**changes))
    assert sum(p.numel() for p in built.parameters()) == counts.PUBLISHED[name][1]


def test_albert_against_its_formula_and_its_layers():
    with torch.device("meta"):
        model = Albert(BertConfig(vocab_size=30_000))
        wide, separate = Albert(BertConfig(vocab_size=30_000), narrow=None), Albert(BertConfig(vocab_size=30_000), shared=False)
    for built, options in ((model, {}), (wide, {"factorised": False}), (separate, {"shared": False})):
        assert sum(p.numel() for p in built.parameters()) == counts.albert(768, 3_072, **options)


def test_the_shared_block_gets_the_sum_of_the_gradients():
    config = BertConfig(vocab_size=31, d_model=12, num_heads=3, d_ff=20, num_layers=3, max_len=9, dropout=0.0, init_std=0.3)
    torch.manual_seed(0)
    shared, plain, ids = Albert(config, narrow=4), Albert(config, narrow=4, shared=False), torch.randint(31, (2, 7))
    plain.load_state_dict(shared.state_dict(), strict=True)  # a shared block is stored once for each depth
    torch.testing.assert_close(shared(ids), plain(ids))
    for model in (shared, plain):
        model(ids).square().sum().backward()
    for name, p in shared.encoder.blocks[0].named_parameters():
        wanted = sum(block.get_parameter(name).grad for block in plain.encoder.blocks)
        torch.testing.assert_close(p.grad, wanted, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(shared(ids), Bert(config)(ids))


@pytest.mark.parametrize("largest", [2, 5, 20])
def test_disentangled_scores_by_loops(largest):
    torch.manual_seed(largest)
    layer, x = DisentangledAttention(12, 3, largest), torch.randn(2, 7, 12)
    torch.nn.init.normal_(layer.distance)
    q, k, _ = (part.view(2, 7, 3, 4) for part in layer.w_qkv(x).chunk(3, -1))
    far_q, far_k = (part.view(-1, 3, 4) for part in layer.w_distance(layer.distance).chunk(2, -1))

    def row(a, b):
        return 0 if a - b <= -largest else 2 * largest - 1 if a - b >= largest else a - b + largest

    wanted = torch.zeros(2, 3, 7, 7)
    for b in range(2):
        for h in range(3):
            for i in range(7):
                for j in range(7):
                    wanted[b, h, i, j] = (
                        q[b, i, h] @ k[b, j, h] + q[b, i, h] @ far_k[row(i, j), h] + k[b, j, h] @ far_q[row(j, i), h]
                    ) / math.sqrt(3 * 4)
    torch.testing.assert_close(layer.scores(x), wanted, rtol=1e-4, atol=1e-4)


class Fixed(torch.nn.Module):
    """Gives the same table whatever it is asked."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, _):
        return self.table.clone()[None]  # theirs divides it in place


def test_disentangled_attention_against_huggingface():
    """The released code looks up the distance of the query terms the other way round than the paper: with that table turned, equal."""
    transformers = pytest.importorskip("transformers")
    from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention, build_relative_position

    torch.manual_seed(0)
    config = transformers.DebertaConfig(
        hidden_size=12,
        num_attention_heads=3,
        relative_attention=True,
        max_relative_positions=8,
        pos_att_type=["c2p", "p2c"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    theirs, ours, x = DisentangledSelfAttention(config), DisentangledAttention(12, 3, 8), torch.randn(2, 8, 12)
    torch.nn.init.normal_(ours.distance)
    with torch.no_grad():
        q, k, v = ours.w_qkv.weight.view(3, 3, 4, 12)
        theirs.in_proj.weight.copy_(torch.stack([q, k, v], 1).flatten(0, 2))  # head by head
        theirs.q_bias.copy_(ours.w_qkv.bias[:12]), theirs.v_bias.copy_(ours.w_qkv.bias[24:])
        ours.w_qkv.bias[12:24] = 0  # theirs has none on the keys
        ours.w_o.weight.copy_(torch.eye(12)), ours.w_o.bias.zero_()
        query_of, key_of = ours.w_distance(ours.distance).chunk(2, -1)

        def got(table):
            theirs.pos_q_proj, theirs.pos_proj = Fixed(table), Fixed(key_of)
            return theirs(
                x, torch.ones(2, 1, 8, 8, dtype=torch.bool), relative_pos=build_relative_position(x, x), rel_embeddings=ours.distance
            )[0]

        turned = torch.cat([query_of[:1], query_of[1:].flip(0)])  # the row of distance d becomes that of -d
        torch.testing.assert_close(got(turned), ours(x), rtol=1e-4, atol=1e-5)
        assert (got(query_of) - ours(x)).abs().max() > 1e-2


def test_disentangled_mask_and_distance():
    torch.manual_seed(0)
    layer, x = DisentangledAttention(12, 3, 4), torch.randn(2, 6, 12)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    changed = x.clone()
    changed[:, 4:] += 1
    torch.testing.assert_close(layer(x, mask)[:, :4], layer(changed, mask)[:, :4])
    assert (layer(x)[:, :4] - layer(changed)[:, :4]).abs().max() > 1e-3
    assert distance_index(3, 2).tolist() == [[2, 1, 0], [3, 2, 1], [3, 3, 2]]


def test_patterns_by_counting():
    assert window_mask(6, 1).sum() == 3 * 6 - 2 and window_mask(6, 0).equal(torch.eye(6, dtype=torch.bool))
    assert global_mask(6, [0, 5]).sum() == 36 - 16
    assert in_blocks(window_mask(3, 0), 2).sum() == 12
    mask = bigbird_mask(4096, 64, generator=torch.Generator().manual_seed(0))
    inner = mask[64 * 5 : 64 * 59]
    assert inner.sum(-1).min() >= 64 * (3 + 3) and inner.sum(-1).max() == 64 * (3 + 2 + 3)  # window, global ones, random ones
    assert mask[:64].all() and mask[-64:].all() and mask[:, :64].all()
    longer = bigbird_mask(8192, 64, generator=torch.Generator().manual_seed(0))
    assert 1.9 < longer.sum() / mask.sum() < 2.1  # linear, not quadratic
    assert bigbird_mask(4, 2).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: window_mask(0, 1), "n=0"),
        (lambda: window_mask(3, -1), "reach=-1"),
        (lambda: global_mask(4, [4]), "0 to 3"),
        (lambda: bigbird_mask(10, 4), "n=10 is not a multiple of block=4"),
        (lambda: DisentangledAttention(10, 3, 2), "d_model=10"),
        (lambda: distance_index(2, 0), "largest=0"),
        (lambda: Albert(BertConfig(vocab_size=31, d_model=12, num_heads=3, d_ff=20, num_layers=1, max_len=9), narrow=13), "narrow=13"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
