"""The stored models in a reader's own parts, however they were written; and the course's class where they do not take the numbers."""

import pytest
import torch
from torch import nn

from course_checks.lookup import find
from course_utils.mine.whole import by_itself
from course_utils.training.gazette_bert import gazette_body
from course_utils.training.mini_gpt import load_mini_gpt
from course_utils.training.own_parts import OwnGPT, carry_on

RELUS = {
    "torch.relu": "torch.relu(self.linear1(x))",
    "clamp": "self.linear1(x).clamp(min=0)",
    "maximum": "torch.maximum(self.linear1(x), torch.zeros(()))",
    "where": "(lambda h: torch.where(h > 0, h, 0.0))(self.linear1(x))",
}


def typed(exercise, old="", new=""):
    """The course's version of a part as somebody may have typed it: three matrices, and this for that."""
    space, text = {"__name__": "part"}, by_itself(exercise)
    assert not old or old in text
    exec(compile(text.replace(old, new) if old else text, exercise, "exec", dont_inherit=True), space)
    return space[find(exercise).name]


def parts(**edit):
    return typed("07a.4", **edit), typed("06.1"), typed("11a.2")


@pytest.mark.parametrize("relu", RELUS)
def test_a_readers_gpt_says_what_the_stored_one_says(relu, capsys):
    stored, _ = load_mini_gpt()
    own = carry_on(stored, *parts(old=RELUS["torch.relu"], new=RELUS[relu]))
    assert isinstance(own, OwnGPT) and "661,560 stored numbers, now in these parts" in capsys.readouterr().out
    ids = torch.randint(1_024, (2, 100), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(own(ids), stored(ids), rtol=1e-3, atol=1e-3)


def test_the_courses_parts_take_them_too():
    assert isinstance(carry_on(load_mini_gpt()[0], *(find(key).reference for key in ("07a.4", "06.1", "11a.2"))), OwnGPT)


@pytest.mark.parametrize(
    "edit",
    [
        {"old": "self.linear1", "new": "self.first"},
        {"old": "x = x + self.dropout(self.attention", "new": "x = self.dropout(self.attention"},
        {"old": "self.linear1(x)", "new": "F.linear(x, self.linear1.weight, self.linear1.bias)"},
        {"old": "super().__init__()", "new": "raise NotImplementedError"},
    ],
    ids=["other names", "another block", "past the layer", "blank"],
)
def test_other_parts_leave_the_courses_class(edit, capsys):
    stored, _ = load_mini_gpt()
    assert carry_on(stored, *parts(**edit)) is stored
    said = capsys.readouterr().out
    assert said.startswith("The course's own class holds the stored numbers") and said.count("\n") == 1


@pytest.mark.parametrize("encoder", [typed("07a.5"), find("07a.5").reference], ids=["typed", "course"])
def test_a_readers_bert_learns_as_the_stored_one(encoder):
    stored, ids = gazette_body()[0], torch.randint(5, 300, (3, 20), generator=torch.Generator().manual_seed(0))
    own, mask = carry_on(gazette_body()[0], encoder), torch.arange(20) < torch.tensor([[20], [12], [7]])
    assert own is not stored and not isinstance(own.encoder, type(stored.encoder))
    for body in (own, stored):
        body(ids, ids % 2, mask)[mask].square().sum().backward()
    for name in ("token", "position", "segment"):
        slopes = [getattr(body.embeddings, name).weight.grad for body in (own, stored)]
        torch.testing.assert_close(*slopes, rtol=1e-3, atol=1e-3)
    slopes = [own.encoder.layers[0].linear1.weight.grad, stored.encoder.blocks[0].feed_forward.w_1.weight.grad]
    torch.testing.assert_close(*slopes, rtol=1e-3, atol=1e-3)


def test_an_encoder_without_layers_leaves_the_courses_class():
    stored = gazette_body()[0]
    assert carry_on(stored, lambda *sizes: nn.Identity()) is stored
