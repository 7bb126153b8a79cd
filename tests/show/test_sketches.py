"""Drawings from data: what they compute is right, what does not fit is refused, no text is small."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course_utils.show import sequences, sketches
from course_utils.show.architecture import LEVELS, fine_tuning, timeline, transformer
from course_utils.show.figures import panels, plt

CANDIDATE, REFERENCE = "the cat sat on the mat".split(), "the cat sat on a mat".split()


@pytest.fixture
def ax():
    fig, ax = panels()
    yield ax
    plt.close(fig)


def words(figure):
    figure.canvas.draw()
    found = [text for ax in figure.axes for text in ax.texts if text.get_text()]  # arrows are texts without words
    assert all(text.get_fontsize() >= 9 for text in found)
    plt.close(figure)
    return [text.get_text() for text in found]


def test_runs_in_common_are_clipped():
    found = words(sequences.common_runs(CANDIDATE, REFERENCE))
    assert [text for text in found if "found" in text] == ["5 of 6 found", "3 of 5 found", "2 of 4 found", "1 of 3 found"]


def test_merges_show_their_pieces():
    rows = [("letters", [["h", "u"], ["u"]]), ("h + u", [["hu"], ["u"]])]
    assert words(sequences.merge_steps(rows)) == ["letters", "h", "u", "u", "h + u", "hu", "u"]


def test_an_angle_is_that_of_the_two_vectors(ax):
    sketches.angles([2.0, 0.0], {"near": [1.0, 1.0], "across": [0.0, 3.0]}, ax)
    assert {"near\nq·k = 2.0\n45°", "across\nq·k = 0.0\n90°"} <= {text.get_text() for text in ax.texts}


def test_the_output_lies_in_the_hull(ax):
    points, weights = torch.randn(7, 2, generator=torch.Generator().manual_seed(0)), torch.arange(7.0).softmax(0)
    mean = sketches.hull(points, weights, list("abcdefg"), ax)
    np.testing.assert_allclose(mean, weights @ points, rtol=1e-5)
    around = points[sketches._around(points.numpy())].double()
    sides = around.roll(-1, 0) - around
    for p in points.double():
        way = p - around
        assert (sides[:, 0] * way[:, 1] - sides[:, 1] * way[:, 0] > -1e-6).all()


def test_one_change_marks_what_differs():
    assert words(sketches.one_change(["a", "b", "c"], ["a", "d", "c", "e"])) == ["a", "− b", "c", "a", "+ d", "c", "+ e"]


def test_the_large_drawings_have_no_small_text():
    for level in range(1, len(LEVELS) + 1):
        assert words(transformer(level))
    assert "the weights are copied" in words(fine_tuning())


def test_relatives_say_what_they_change():
    rows = {"before": ["a", "", "c"], "after": ["a", "<0>"]}
    assert words(sketches.tokens(rows, {"after": (1,)})) == ["before", "a", "c", "after", "a", "<0>"]  # no box for an empty word
    assert words(sketches.grids({"x": torch.arange(4).view(2, 2)}, "key", "query", numbers=True)) == ["0", "1", "2", "3"]
    fig = sketches.bars({"one": {"a": 1.0, "b": 0.0}, "two": {"a": 0.5, "b": 0.5}}, "share")
    heights = [[bar.get_height() for bar in ax.patches] for ax in fig.axes]
    assert heights == [[1.0, 0.0], [0.5, 0.5]]
    plt.close(fig)


def test_a_timeline_names_its_models():
    assert {"T5", "BERT"} <= set(words(timeline({"T5": (2019.8, "both"), "BERT": (2018.8, "encoder"), "GPT": (2018.4, "decoder")})))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ax: sequences.common_runs([], ["a"]), "0 and 1 tokens"),
        (lambda ax: sequences.merge_steps([("", [["a"]]), ("", [["b"]])]), "same words"),
        (lambda ax: sketches.angles([0.0, 0.0], {}, ax), "query must be"),
        (lambda ax: sketches.hull(torch.zeros(2, 2), torch.tensor([0.5, 0.6]), "ab", ax), "sum to 1"),
        (lambda ax: sketches.hull(torch.zeros(2, 2), torch.tensor([1.0]), "ab", ax), "do not match"),
        (lambda ax: sketches.one_change([], ["a"]), "at least one box"),
        (lambda ax: transformer(6), "1 to 5"),
        (lambda ax: timeline({"x": (2020.0, "none")}), "none"),
        (lambda ax: sketches.grids({"a": torch.zeros(3)}, "", ""), "two axes"),
        (lambda ax: sketches.bars({}, ""), "one panel"),
        (lambda ax: sketches.tokens({"a": ["x"]}, {"b": [0]}), "do not fit"),
    ],
)
def test_what_does_not_fit(call, message, ax):
    with pytest.raises(ValueError, match=message):
        call(ax)
