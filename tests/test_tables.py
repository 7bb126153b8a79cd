"""Tables of results: what a page shows and what stands where it cannot."""

import pytest

from course_utils.show.tables import table


@pytest.fixture
def shown(monkeypatch):
    seen = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: seen.append(data))
    return seen


def test_best_of_each_column_is_bold_and_text_has_no_tags(shown):
    rows = {"plain": {"loss": 2.0, "right": 0.5}, "a <b>": {"loss": 1.25, "right": 0.25}}
    table(rows, form=("{:.2f}", "{:.0%}"), best="min", corner="model")
    (data,) = shown
    assert "<b>1.25</b>" in data["text/html"] and "<b>25%</b>" in data["text/html"] and data["text/html"].count("<b>") == 2
    assert "<b>1" not in data["text/plain"] and "50%" in data["text/plain"] and "model" in data["text/plain"]
    assert "a &lt;b&gt;" in data["text/html"] and "a <b>" in data["text/plain"]


def test_text_among_numbers_and_ties(shown):
    table({"x": [1, "none"], "y": [1, 3]}, ["n", "m"], form="{:.0f}", best="max")
    assert shown[0]["text/html"].count("<b>") == 3 and "none" in shown[0]["text/html"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (({},), "needs rows"),
        (({"x": [1]}, ["a", "b"]), "1 cells for 2 columns"),
        (({"x": {"a": 1}, "y": {"a": 1, "b": 2}},), "2 cells for 1 columns"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        table(*arguments)


def test_unknown_best():
    with pytest.raises(ValueError, match="most"):
        table({"x": [1]}, ["a"], best="most")
