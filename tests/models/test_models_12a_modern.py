"""ModernBERT's block: against its formula, its window by gradients, its places by moving the text; no bias anywhere in a block."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course_utils.models.bert import BertConfig
from course_utils.models.positions import rope
from course_utils.models.zoo.modern import ModernBert, ModernBlock

CONFIG = BertConfig(vocab_size=20, d_model=12, num_heads=3, d_ff=24, num_layers=4, max_len=16, dropout=0.0, pooler=False, init_std=0.3)


def test_the_block_is_its_formula():
    torch.manual_seed(0)
    block, x = ModernBlock(12, 3, 10, reach=2, base=50.0), torch.randn(2, 7, 12)
    h = F.layer_norm(x, (12,), block.norm_1.weight)
    q, k, v = ((h @ part.T).view(2, 7, 3, 4).transpose(1, 2) for part in block.w_qkv.weight.chunk(3))
    scores = rope(q, base=50.0, halves=True) @ rope(k, base=50.0, halves=True).mT / 2
    place = torch.arange(7)
    weights = scores.masked_fill((place[:, None] - place).abs() > 2, -torch.inf).softmax(-1)
    y = x + (weights @ v).transpose(1, 2).reshape(2, 7, 12) @ block.w_o.weight.T
    gate, value = (F.layer_norm(y, (12,), block.norm_2.weight) @ block.feed_forward.w_1.weight.T).chunk(2, -1)
    torch.testing.assert_close(block(x), y + (F.gelu(gate) * value) @ block.feed_forward.w_2.weight.T)
    assert not [name for name, _ in block.named_parameters() if "bias" in name]


def test_a_window_sees_its_reach_and_a_mask_closes_more():
    torch.manual_seed(0)
    block, x = ModernBlock(12, 3, 10, reach=2), torch.randn(1, 9, 12, requires_grad=True)
    block(x)[0, 4].sum().backward()
    assert (x.grad[0].abs().sum(-1) > 0).nonzero().flatten().tolist() == [2, 3, 4, 5, 6]
    causal = torch.ones(9, 9, dtype=torch.bool).tril()
    (slope,) = torch.autograd.grad(block(x, causal[None])[0, 4].sum(), x)
    assert (slope[0].abs().sum(-1) > 0).nonzero().flatten().tolist() == [2, 3, 4]


def test_the_body_knows_distances_and_lets_some_blocks_see_all():
    torch.manual_seed(0)
    model, ids = ModernBert(CONFIG, 16, reach=2, every=3).eval(), torch.randint(20, (1, 10))
    assert [block.reach for block in model.encoder.blocks] == [None, 2, 2, None]
    assert [block.base for block in model.encoder.blocks] == [160_000.0, 10_000.0, 10_000.0, 160_000.0]
    assert (model(ids)[0] - model(ids.flip(1))[0].flip(0)).abs().max() > 1e-3  # it sees the direction
    same = torch.full((1, 10), 7)
    torch.testing.assert_close(model(same)[0], model(same)[0, :1].expand(10, -1), rtol=1e-4, atol=1e-4)  # and no places
    assert not model.embeddings.position.weight.requires_grad
