"""The drawings of chapter 00b."""

import matplotlib.pyplot as plt
import pytest
import torch

from course_utils.show import grids


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_broadcasting_shows_copies_and_results():
    fig = grids.broadcasting(torch.tensor([[3.0], [5.0]]), torch.tensor([1.0, 2.0, 4.0]), "−", lambda a, b: a - b)
    shown = texts(fig)
    assert {"shape (2, 1)", "shape (3,)", "shape (2, 3)", "−", "="} <= set(shown)
    assert shown.count("3") == 4 and len(shown) == 18 + 3 + 2  # copied three times, and 5 - 2
    plt.close(fig)


def test_broadcasting_needs_two_axes():
    with pytest.raises(ValueError, match="two axes"):
        grids.broadcasting(torch.ones(3), torch.ones(3), "+", lambda a, b: a + b)


def test_a_product_and_a_chain():
    fig = grids.product(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]]), 0, 1, ("a", "b", "c"))
    assert {"13", "16", "@"} <= set(texts(fig))
    plt.close(fig)
    fig = grids.chain(["w", "3w", "(3w)²"], [1, 3, 9], [3, 6])
    assert {"slope 18", "slope 6", "slope 1", "× 3"} <= set(texts(fig))
    plt.close(fig)
    with pytest.raises(ValueError, match="one slope for each arrow"):
        grids.chain(["w"], [1], [2])


def test_a_valley_has_its_paths():
    fig, ax = plt.subplots()
    grids.valley(lambda a, b: a**2 + b**2, {"plain": torch.tensor([[1.0, 1.0], [0.0, 0.5]])}, ax, (-1, 1, -1, 1), "down")
    assert ax.get_title() == "down" and [line.get_label() for line in ax.lines][0] == "plain"
    plt.close(fig)
