"""Reasons that the engine finds without a misconception, and false ones that it must not give."""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from made import changed, made, mistake
from torch import nn

from course_checks.case import Case, Registered, refusal, register
from course_checks.clues import clues
from course_checks.engine import examine
from course_checks.exercise import Exercise, ModuleExercise, Prediction
from course_checks.lookup import find
from course_checks.sentences import mentions


def exercise(oracle, args, **more) -> Exercise:
    """A function exercise with the given cases."""
    cases = [Case(f"case {i}", case) for i, case in enumerate(args)]
    return made(oracle, cases, **more)


X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
SUM = exercise(lambda x: x.sum(-1), [{"x": X}, {"x": X[:2] * 3}, {"x": X[:1] - 1}])


# ---------------------------------------------------------------- later calls


def test_what_is_kept_between_calls_is_found():
    kept = []

    def f(x):
        kept.append(x)
        return kept[-1].sum(-1) + (len(kept) > 9)

    result = examine(SUM, f)
    assert (result.passed, result.mistake) == (False, "something is kept between calls")
    assert "The first call is right" in result.message


def test_a_cache_that_forgets_an_argument_is_found():
    power = exercise(lambda x, p: x.pow(p), [{"x": X, "p": p} for p in (1, 2, 3)])
    cache = {}

    def f(x, p):
        return cache.setdefault(tuple(x.shape), x.pow(p))

    assert not examine(power, f).passed
    assert examine(power, lambda x, p: x**p).passed


def test_chance_is_named():
    result = examine(SUM, lambda x: nn.functional.dropout(x, 0.5).sum(-1))
    assert (result.passed, result.mistake) == (False, "left to chance")


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(d))
        self.mask = torch.ones(9).bool()

    def forward(self, x):
        return x * self.w * self.mask[: len(x), None]


class Shrinking(Layer):
    def forward(self, x):
        self.mask = self.mask[: len(x)]
        return x * self.w * self.mask[:, None]


def test_a_module_is_called_short_long_short():
    cases = [
        Case(f"{n} rows", {"init": {"d": 4}, "parameters": {"w": torch.ones(4)}, "inputs": {"x": torch.randn(n, 4)}}) for n in (2, 3, 1)
    ]
    oracle = lambda init, parameters, inputs: inputs["x"] * parameters["w"]  # noqa: E731
    layer = made(oracle, cases, asks=ModuleExercise, name="Layer", right=Layer)
    assert examine(layer, Layer).passed
    result = examine(layer, Shrinking)
    assert (result.passed, result.mistake) == (False, "something is kept between calls")


# ---------------------------------------------------------------- types and structure

IDS = exercise(lambda x: x.argsort(-1), [{"x": X}])
LISTS = exercise(lambda ids: ([*ids, 90], [91]), [{"ids": [1, 2, 3]}, {"ids": [4]}], outputs=("source", "target"))


def test_whole_numbers_are_whole():
    assert examine(IDS, lambda x: x.argsort(-1).int()).passed
    result = examine(IDS, lambda x: x.argsort(-1).float())
    assert (result.passed, result.stage) == (False, "type")
    assert "whole numbers" in result.message


def test_the_nesting_of_lists_counts():
    result = examine(LISTS, lambda ids: ([*ids, 90, 91], []))
    assert (result.passed, result.message) == (False, "Your source holds 5 entries; expected 4.")
    assert "`source[0]`" in examine(LISTS, lambda ids: ([0, *ids[1:], 90], [91])).message.replace("source[0]", "`source[0]`")
    assert examine(LISTS, lambda ids: ([91], [*ids, 90])).mistake == "results swapped"


def test_texts_are_compared_exactly_but_words_of_predictions_are_not():
    texts = exercise(lambda words: [w + "s" for w in words], [{"words": ["cat", "dog"]}])
    assert examine(texts, lambda words: [f"{w}s" for w in words]).passed
    assert not examine(texts, lambda words: [w.upper() + "S" for w in words]).passed
    assert not examine(texts, lambda words: [w + "s " for w in words]).passed


def test_three_results_in_another_order():
    three = exercise(lambda x: (x.min(), x.max(), x.mean()), [{"x": X}])
    assert examine(three, lambda x: (x.mean(), x.min(), x.max())).mistake == "results swapped"


def test_numbers_may_be_ints_floats_or_tensors():
    pair = exercise(lambda x: (int(x.argmax()), float(x.max())), [{"x": X}], outputs=("place", "score"))
    for answer in (lambda x: (x.argmax(), x.max()), lambda x: (int(x.argmax()), x.max())):
        assert examine(pair, answer).passed
    assert "place is 3, a number with a decimal point" in examine(pair, lambda x: (3.0, float(x.max()))).message
    assert "score is None" in examine(pair, lambda x: (x.argmax(), None)).message


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("message", "wanted", "said"),
    [
        ("order [1 0 1]", "1, 0, 1", True),
        ("1 → 0 → 1", "1, 0, 1", True),
        ("[1, 1, 0]", "1, 0, 1", False),
        ("must be above 0", "3", False),
        ("got -3", "-3", True),
        ("got 3", "-3", False),
        ("eps=-0.5", "0.5", True),
        ("10 tokens", "1", False),
        ("a 5x3 matrix", "3", True),
        ("no such Token", "token", True),
        ("width 3.0", "3", True),
        ("size must lie in 1..3", "3", True),
    ],
)
def test_numbers_in_messages(message, wanted, said):
    assert mentions(message, wanted) == said


def test_another_exception_raised_on_purpose():
    refusing = changed(SUM, fixed=lambda: [Case("no axis", {"x": torch.tensor(1.0)}, rejects=ValueError)])

    def f(x):
        assert x.dim(), "no axis"
        return x.sum(-1)

    result = examine(refusing, f)
    assert result.mistake == "not a ValueError"
    assert "You do test for this input" in str(result) and "-O" in str(result)


def test_an_accident_is_no_refusal():
    refusing = changed(SUM, fixed=lambda: [Case("no axis", {"x": torch.tensor(1.0)}, rejects=ValueError)])

    def f(x):
        return x[:, 0] * 0 + x.sum(-1)

    assert examine(refusing, f).mistake == "stops by accident"


def test_good_input_refused():
    def f(x):
        if len(x) < 3:
            raise ValueError("too short")
        return x.sum(-1)

    result = examine(SUM, f)
    assert result.mistake == "refuses good input"
    assert "your own test refuses it" in result.message


# ---------------------------------------------------------------- predictions, entry by entry


def test_each_wrong_entry_has_its_reason():
    right = {"a": 64.0, "b": 0.25, "c": 1_500_000, "d": "yes", "e": (2, 3)}
    misconceptions = (
        mistake("root forgotten", right | {"a": 8.0}, "Take the square."),
        mistake("said no", right | {"d": "no"}, "It does."),
    )
    predict = made(lambda: right, [Case("", {})], *misconceptions, asks=Prediction, name="p", points=5.0, right=None, choices=("yes", "no"))
    assert examine(predict, right | {"a": Fraction(64), "d": True}).passed
    result = examine(predict, right | {"a": 8, "d": "no", "c": 1.5})
    assert result.points == 2
    for text in (
        "In “a” the mistake is: root forgotten. Take the square.",
        "In “d” the mistake is: said no.",
        "In “c”: The digits are right, the unit is not",
    ):
        assert text in str(result)
    assert examine(predict, right | {"a": 8}).mistake == "root forgotten"
    assert "turned over" in str(examine(predict, right | {"b": 4}))
    assert "the answer to “b”" in str(examine(predict, right | {"a": 0.25}))
    assert "you wrote (3, 2)" in str(examine(predict, right | {"e": (3, 2)}))
    assert "Without quotes?" in str(examine(predict, right | {"e": "(2, 3)"}))


# ---------------------------------------------------------------- numbers alone


def test_clues_are_true():
    weights = X.softmax(-1)
    said = lambda got, want: " ".join(clues(got, want, 1e-4, 1e-5))  # noqa: E731
    assert "1/5" in said(X / 5, X) and "√" not in said(X / 5, X)
    assert "1/√8" in said(X / 8**0.5, X)
    assert "3 times the right ones" in said((3 * X).softmax(-1), weights)
    assert "logarithms" in said(X.log_softmax(-1), weights)
    assert "missing at the end" in said(X, weights)
    assert "sum to 1" not in said(torch.zeros(3, 3), torch.eye(3))
    assert "diagonal" in said(torch.ones(3, 3) - torch.eye(3), torch.ones(3, 3))
    assert "above the diagonal" in said(torch.ones(3, 3).triu(1) + 1, torch.ones(3, 3))
    assert "length 1" in said(X[:, None], X) and "length 1" not in said(X.reshape(-1), X)
    assert "Summed over axis 0" in said(torch.stack([X - 1, torch.ones_like(X)]), X)
    assert "axis more" in said(torch.stack([X, X * 2]), X)


def test_an_input_that_is_not_used_is_named():
    scaled = exercise(lambda x, scale: x * scale, [{"x": X, "scale": s} for s in (2.0, 3.0)])
    assert examine(scaled, lambda x, scale: x * 3).mistake == "`scale` has no effect"
    assert examine(scaled, lambda x, scale: x * 5 + 1).mistake == "`scale` has no effect"


def test_an_input_that_is_not_used_and_decides_nothing_comes_second():
    cut = exercise(lambda x, most: x.clamp(max=most), [{"x": X, "most": most} for most in (90.0, 80.0, 0.1)])
    result = examine(cut, lambda x, most: x + 1)
    assert result.mistake is None and "Besides, your result stays the same when `most` is changed" in str(result)


def test_what_has_an_effect_in_another_case_only_is_not_said_to_have_none():
    cut = exercise(lambda x, most: (x * most).round(), [{"x": X, "most": 0.01}, {"x": X * 5, "most": 7.0}, {"x": X, "most": 0.02}])
    assert "effect" not in str(examine(cut, lambda x, most: (x * most).round() + 1))


def test_one_mistake_in_one_case_and_another_elsewhere():
    powers = exercise(lambda x, k: x.exp() if k else x.sum(-1, keepdim=True) * x, [{"x": X, "k": k} for k in (True, False)])
    pages = mistake("not exponentiated", lambda x, k: x if k else x.sum(-1, keepdim=True) * x, "Think of the exponential of each entry.")
    powers = made(powers.oracle, powers.draw(0), pages)
    result = examine(powers, lambda x, k: x * 1 if k else x.sum(-1, keepdim=True) + x.exp())
    assert result.mistake == "not exponentiated" and "look for a second thing" in result.hint


def test_two_lists_of_long_texts_show_where_they_part():
    texts = [f"a text, long enough to be cut, with the number {i} in it, and more" for i in range(3)]
    lists = exercise(lambda x: texts, [{"x": X}])
    said = examine(lists, lambda x: [*texts[:2], texts[2].replace("more", "less")]).message
    assert "entry 2: yours is '…number 2 in it, and less'; expected '…number 2 in it, and more'" in said
    said = examine(lists, lambda x: texts[:2]).message
    assert "holds 2 entries; expected 3. The first that differs is entry 2: yours is not there" in said


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda x, mask=None: x.masked_fill(~mask, 0), ["In this case `mask` is None"]),
        (lambda x, mask=None: x @ x, ["must be equally long", "The sizes of this input: x (3, 4)"]),
        (lambda x, mask=None: min(x, 2 * x), ["truth value"]),  # its line cannot be read here
        (lambda x, mask=None: x.sum(dim=2), ["Dimension out of range", "fewer axes", "x (3, 4)"]),
        (lambda x, mask=None: x.mT.view(-1), ["`reshape` copies"]),
        (lambda x, mask=None: 1 - (x > 0), ["`~mask` turns it round"]),
        (lambda x, mask=None: torch.where(mask, x, 0), ["a tensor of True and False", "`mask` is None"]),
        (lambda x, mask=None: x.long().mean(), ["`.float()` first"]),
    ],
)
def test_what_python_and_torch_say_is_put_into_plain_words(answer, says):
    panel = str(examine(made(lambda x, mask=None: x, [Case("one", {"x": X})]), answer))
    assert all(text in panel for text in says) and "but expected one of" not in panel, panel


def test_an_accident_of_python_is_no_test():
    steps = made(lambda x, size: x, [Case("one", {"x": X, "size": 1}), refusal("size 0", {"x": X, "size": 0}, "0")])
    result = examine(steps, lambda x, size: torch.stack([x[i] for i in range(0, len(x), size)]))
    assert result.mistake == "stops by accident" and "as it should" not in result.message


def test_clues_of_almost_right_results():
    told = lambda got, expected: " ".join(clues(got, expected, 1e-4, 1e-5))  # noqa: E731
    assert "nearly right" in told(X.bfloat16().float(), X) and "nearly right" not in told(X + 1, X)
    assert "At the front of axis 0 stand 1 too many" in told(torch.cat([X[:1], X]), X)
    assert "At the end of axis 1 stand 2 too few" in told(X[:, :2], X)


def test_the_output_without_a_gradient_is_named():
    cases = [Case("two results", {"x": X}, gradients=("x",))]
    two = made(lambda x: (x.exp(), x * 2), cases, right=twice, outputs=("output", "weights"))
    assert "None comes out of your `weights`." in str(examine(two, lambda x: (x.exp(), (x * 2).detach())))


# ---------------------------------------------------------------- counted calls, derived classes


@register
def twice(x):
    """Handed to an answer by a test."""
    return 2 * x


def test_calls_are_counted():
    cases = [Case("once", {"x": X, "model": Registered("twice")}, calls={"model": 1})]
    once = made(lambda x, model: 2 * x, cases, right=twice)
    assert examine(once, lambda x, model: model(x)).passed
    result = examine(once, lambda x, model: torch.stack([model(row) for row in x]))
    assert not result.passed
    assert "`model` was called 3 times; the task asks for 1" in result.message


def test_a_class_derived_from_the_forbidden_one():
    class Mine(nn.Linear):
        pass

    assert "forbidden" in examine(replace(find("01.6"), forbidden=("torch.nn.Linear",)), Mine).stage
