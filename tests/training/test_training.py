"""The training loop: accumulates, clips, stops early, and says why a loss is not a number."""

from __future__ import annotations

import sys

import pytest
import torch
from safetensors import safe_open
from torch import nn

from course_tools.makers.stopping import fit_until_best
from course_utils.paths import PACKAGE, ROOT
from course_utils.training.loop import History, evaluating, fit

sys.path.insert(0, str(ROOT / "benchmarks"))
from stored_models import MODELS  # noqa: E402


def line(seed=0):
    torch.manual_seed(seed)
    module = nn.Linear(4, 1)
    x = torch.randn(64, 4)
    y = x @ torch.tensor([1.0, -2.0, 0.5, 3.0]) + 1
    return module, x, y


def test_clipping_bounds_the_step():
    module, x, y = line()
    before = module.weight.detach().clone()
    fit(module, lambda: 1e6 * (module(x)[:, 0] - y).square().mean(), 1, 1.0, optimizer=torch.optim.SGD(module.parameters(), 1.0), clip=0.5)
    moved = torch.cat([(module.weight - before).flatten()]).norm()
    assert 0 < moved <= 0.5 + 1e-6


def test_early_stop_keeps_the_best_weights():
    module, x, y = line()
    held_out = iter([3.0, 2.0, 1.0, 4.0, 5.0, 0.0])
    seen = []

    def validate():
        seen.append(module.weight.detach().clone())
        assert not module.training
        return next(held_out)

    optimizer = torch.optim.Adam(module.parameters())
    options = {"optimizer": optimizer, "schedule": lambda step: 1 / step, "validate": validate, "every": 5, "patience": 2}
    history = fit_until_best(module, lambda: (module(x)[:, 0] - y).square().mean(), 100, 0.05, "", **options)
    assert len(history) == 25
    assert module.training
    assert torch.equal(module.weight, seen[2])
    assert history.validation == [(5, 3.0), (10, 2.0), (15, 1.0), (20, 4.0), (25, 5.0)]
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05 / 25)  # the schedule goes on from stretch to stretch
    with pytest.raises(ValueError, match="patience=0"):
        fit_until_best(module, module, 9, 0.1, "", **options | {"patience": 0})


def test_schedule_sets_the_rate_of_each_step():
    module, x, y = line()
    optimizer = torch.optim.SGD(module.parameters(), lr=9.0)
    rates = []
    fit(
        module,
        lambda: (rates.append(optimizer.param_groups[0]["lr"]), module(x).square().mean())[1],
        3,
        0.1,
        optimizer=optimizer,
        schedule=lambda step: 1 / step,
    )
    assert rates == pytest.approx([0.1, 0.05, 0.1 / 3])


def test_a_history_reads_like_the_list_of_losses():
    history = History([3.0, 2.0, 1.0])
    assert history[-1] == 1.0
    assert history[:2] == [3.0, 2.0]
    assert sum(history) / len(history) == 2.0
    assert torch.tensor(history).tolist() == list(history) == history.losses
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    ax.plot(history)
    assert ax.lines[0].get_ydata().tolist() == history.losses
    plt.close("all")


def test_non_finite_loss_names_step_and_cause():
    module, x, y = line()
    with pytest.raises(FloatingPointError, match=r"(?s)step \d+.*(not finite any more|diverges).*Lower lr=1e\+20"):
        fit(module, lambda: (module(x)[:, 0] - y).square().mean(), 50, 1e20)
    module, x, y = line()
    calls = iter(range(10))
    with pytest.raises(FloatingPointError, match="inf at step 3, although all weights are finite: look for log"):
        fit(module, lambda: module(x).square().mean() + (torch.tensor(0.0).log().abs() if next(calls) == 2 else 0), 10, 0.01)
    assert torch.isfinite(module.weight).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"lr": 0}, "lr=0"),
        ({"every": 0}, "every=0"),
        ({"clip": 0}, "clip=0"),
        ({"loss": lambda: torch.zeros(2)}, "one number"),
    ],
)
def test_bad_numbers_are_named(options, message):
    module = nn.Linear(2, 1)
    given = {"loss": lambda: module(torch.ones(1, 2)).mean(), "steps": 2, "lr": 0.1} | options
    with pytest.raises(ValueError, match=message):
        fit(module, **given)


def test_the_mode_is_put_back_whatever_happens():
    for mode in (True, False):
        module = nn.Dropout().train(mode)
        with pytest.raises(KeyError), evaluating(module):
            assert not module.training
            raise KeyError
        assert module.training is mode


def test_every_stored_model_names_the_command_that_makes_it():
    names = set()
    for path in PACKAGE.rglob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            program, name = file.metadata()["command"].rsplit(" ", 1)
        assert program == "python benchmarks/stored_models.py"
        names.add(name)
    assert names == set(MODELS)
