"""ELECTRA's two losses, ELMo's two directions, distillation: against closed forms and by changing what must not matter."""

from __future__ import annotations

import sys

import pytest
import torch
from torch.nn import functional as F

from course_utils.experiments.ch12a_distil import distillation_loss
from course_utils.models.bert import BertConfig
from course_utils.models.zoo.elmo import Elmo
from course_utils.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from family_letters import Electra, ScalarMix  # noqa: E402

GENERATOR, BODY = (
    BertConfig(vocab_size=19, d_model=width, num_heads=2, d_ff=16, num_layers=1, max_len=8, dropout=0.0, init_std=0.3) for width in (8, 12)
)


def electra(**changes):
    torch.manual_seed(0)
    model = Electra(changes.get("generator", GENERATOR), changes.get("discriminator", BODY)).eval()
    ids = torch.randint(1, 19, (3, 7))
    mask = torch.arange(7) < torch.tensor([7, 5, 6])[:, None]
    return model, ids, mask


def test_electra_replaces_chosen_places_alone():
    model, ids, mask = electra()
    chosen = mask & (torch.rand(3, 7) < 0.4)
    spoiled, loss = model.spoil(ids, chosen, mask, 0)
    assert torch.equal(spoiled[~chosen], ids[~chosen]) and not torch.equal(spoiled, ids)
    logits = model.generator(ids.masked_fill(chosen, 0), None, mask)[0][chosen]
    torch.testing.assert_close(loss, F.cross_entropy(logits, ids[chosen]))


def test_electra_counts_a_lucky_guess_as_original():
    model, ids, mask = electra()
    chosen = mask & (torch.arange(7) == 1)
    with torch.no_grad():  # a generator that always says 5
        model.generator.bias.fill_(-1e4)[5] = 1e4
    ids[0, 1] = 5
    _, found = model.losses(ids, chosen, mask, 0)
    spoiled = ids.clone()
    spoiled[:, 1] = 5
    wanted = (spoiled != ids).double()
    assert wanted.sum() == 2
    logits = model(spoiled, mask).double()
    each = -(wanted * logits.sigmoid().log() + (1 - wanted) * (-logits).sigmoid().log())
    torch.testing.assert_close(found.double(), each[mask].mean())


def test_electra_gradients_do_not_cross():
    model, ids, mask = electra()
    chosen = mask & (torch.rand(3, 7) < 0.4)
    _, second = model.losses(ids, chosen, mask, 0)
    second.backward()
    assert all(p.grad is None for p in model.generator.parameters())
    assert all(p.grad is not None for name, p in model.body.named_parameters() if "pooler" not in name and "segment" not in name)
    same, _, _ = electra(generator=BODY)
    assert same.generator.bert.embeddings.token is same.body.embeddings.token
    first, second = model.losses(ids, torch.zeros_like(chosen), mask, 0)
    assert first == 0 and second.isfinite()


def test_elmo_directions_do_not_meet():
    torch.manual_seed(0)
    model, ids = Elmo(19, 6), torch.randint(19, (2, 7))
    changed = ids.clone()
    changed[:, 3] = (changed[:, 3] + 1) % 19
    before, after = (zip(*model.directions(tokens), strict=True) for tokens in (ids, changed))
    for (left, right), (left2, right2) in zip(before, after, strict=True):
        assert torch.equal(left[:, :3], left2[:, :3]) and torch.equal(right[:, 4:], right2[:, 4:])
    assert not torch.equal(left[:, 4:], left2[:, 4:]) and not torch.equal(right[:, :3], right2[:, :3])
    assert [h.shape for h in model.layers(ids)] == [(2, 7, 12)] * 3


def test_elmo_loss_by_loops():
    torch.manual_seed(0)
    model, ids = Elmo(19, 6), torch.randint(19, (2, 5))
    left, right = (states[-1] for states in model.directions(ids))
    total = 0.0
    for b in range(2):
        for k in range(5):
            if k < 4:
                total -= model.output(left[b, k]).log_softmax(-1)[ids[b, k + 1]]
            if k > 0:
                total -= model.output(right[b, k]).log_softmax(-1)[ids[b, k - 1]]
    torch.testing.assert_close(model.loss(ids), total / 16)
    model.loss(ids).backward()
    assert all(p.grad is not None for p in model.parameters())


def test_scalar_mix():
    mix, layers = ScalarMix(3), [torch.randn(2, 4) for _ in range(3)]
    torch.testing.assert_close(mix(layers), torch.stack(layers).mean(0))
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([0.0, 50.0, 0.0])), mix.gamma.fill_(2)
    torch.testing.assert_close(mix(layers), 2 * layers[1])
    with pytest.raises(ValueError, match="2 layers for 3 weights"):
        mix(layers[:2])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_distillation(temperature):
    torch.manual_seed(0)
    student, teacher = torch.randn(5, 7, requires_grad=True), torch.randn(5, 7, requires_grad=True)
    p, q = (teacher / temperature).softmax(-1), (student / temperature).softmax(-1)
    loss = distillation_loss(student, teacher, temperature)
    torch.testing.assert_close(loss, temperature**2 * (p * (p / q).log()).sum(-1).mean())
    (gradient,) = torch.autograd.grad(loss, student)
    torch.testing.assert_close(gradient, temperature * (q - p) / 5)  # the closed form
    loss = distillation_loss(student, teacher, temperature)
    loss.backward()
    assert teacher.grad is None and distillation_loss(teacher, teacher, temperature).abs() < 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distillation_loss(torch.zeros(2, 3), torch.zeros(2, 4)), r"student \(2, 3\), teacher \(2, 4\)"),
        (lambda: distillation_loss(torch.zeros(2, 3), torch.zeros(2, 3), 0), "temperature=0"),
        (lambda: Elmo(0, 4), "vocab_size=0"),
        (
            lambda: Electra(GENERATOR, BertConfig(vocab_size=20, d_model=12, num_heads=2, d_ff=16, num_layers=1, max_len=8)),
            "share vocab_size",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
