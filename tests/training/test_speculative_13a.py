"""Accept or repair against sums in double precision; a whole text against plain decoding."""

from __future__ import annotations

import pytest
import torch

from course_utils.models.gpt import GPT, GPTConfig
from course_utils.training.sampling import generate
from course_utils.training.speculative import accept_or_repair, pick, speculate


def model() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab_size=11, d_model=24, num_heads=3, num_layers=2, max_len=40, dropout=0.0)).eval()


def test_pick_inverts_the_running_sum():
    weights = torch.tensor([[0.0, 2.0, 0.0, 6.0]]).expand(4, 4)
    assert pick(weights, torch.tensor([0.0, 0.2, 0.3, 0.999])).tolist() == [1, 1, 3, 3]


def test_exact_by_a_grid_of_uniform_numbers():
    """Every u and w of a fine grid stands for itself, so the shares are the probabilities, up to the grid."""
    p, q = torch.tensor([0.5, 0.2, 0.3, 0.0]).double(), torch.tensor([0.1, 0.6, 0.1, 0.2]).double()
    grid = (torch.arange(200).double() + 0.5) / 200
    u, w = (x.flatten() for x in torch.meshgrid(grid, grid, indexing="ij"))
    found = torch.zeros(4).double()
    for token in range(4):
        new, accepted = accept_or_repair(p.expand(len(u), 4), q.expand(len(u), 4), torch.full((len(u),), token), u, w)
        found += q[token] * torch.bincount(new, minlength=4) / len(u)
        assert abs(accepted.double().mean() - (p[token] / q[token]).clamp_max(1)) < 0.01
    torch.testing.assert_close(found, p, atol=0.01, rtol=0)


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_greedy_text_is_the_same(ahead):
    gpt, ids = model(), [3, 1, 4]
    plain = generate(gpt, torch.tensor([ids]), 30, temperature=0)[0].tolist()
    text, calls = speculate(gpt, ids, 30, lambda tokens: torch.full((11,), 1 / 11), ahead, temperature=0)
    assert text == plain and calls <= 30
    itself = speculate(gpt, ids, 30, lambda tokens: gpt(torch.tensor([tokens]))[0, -1].softmax(-1), ahead, temperature=1.0)
    assert len(itself[0]) == 33 and itself[1] == -(-30 // (ahead + 1))  # a perfect draft: every guess is accepted


def test_too_long():
    with pytest.raises(ValueError, match="max_len=40"):
        speculate(model(), [1, 2], 39, lambda tokens: torch.full((11,), 1 / 11))
