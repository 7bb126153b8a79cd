"""Accept or repair against sums in double precision."""

from __future__ import annotations

import torch

from course_utils.training.speculative import accept_or_repair, pick


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
