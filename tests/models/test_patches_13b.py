"""Patches against PyTorch's unfold, and the strips of digits that chapter 13b cuts into them."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from course_utils.experiments import ch13b_digits as digits_13b
from course_utils.models.patches import patches
from course_utils.text.numbers import number_tokens


@pytest.mark.parametrize(("batch", "height", "width", "size"), [(2, 8, 24, 4), (1, 6, 4, 2), (3, 5, 10, 5), (2, 3, 2, 1), (1, 4, 4, 4)])
def test_patches_are_what_unfold_finds(batch, height, width, size):
    images = torch.randn(batch, height, width, generator=torch.Generator().manual_seed(size))
    wanted = F.unfold(images[:, None], size, stride=size).mT
    assert torch.equal(patches(images, size), wanted)
    assert torch.equal(patches(images.mT.contiguous().mT, size), wanted)


@pytest.mark.parametrize(("height", "width", "size"), [(8, 22, 4), (9, 24, 4), (8, 24, 0), (2, 2, 4), (8, 24, -4)])
def test_sizes_that_do_not_fit_are_named(height, width, size):
    with pytest.raises(ValueError) as refused:
        patches(torch.zeros(1, height, width), size)
    assert all(f"{name}={value}" in str(refused.value) for name, value in (("height", height), ("width", width), ("size", size)))


def test_a_tensor_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"\(8, 24\)"):
        patches(torch.zeros(8, 24), 4)


@pytest.fixture(scope="module")
def digits():
    return digits_13b.read_digits()


def test_the_sheet_holds_all_digits(digits):
    assert digits.images.shape == (1797, 8, 8) and (digits.images.min(), digits.images.max()) == (0, 16)
    assert digits.labels.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert digits_13b.FILE.stat().st_size < 60_000
    assert "CC BY 4.0" in digits_13b.FILE.with_name("LICENSE-digits.txt").read_text(encoding="utf-8")


def test_no_image_and_no_number_is_in_both_halves(digits):
    halves = digits_13b.split_digits(digits)
    kept, held_out = ({tuple(image.flatten().tolist()) for image in half.images} for half in halves)
    assert (len(kept), len(held_out)) == (1437, 360) and not kept & held_out  # no two images are alike
    again = digits_13b.split_digits(digits)
    assert all(torch.equal(a, b) for one, two in zip(halves, again, strict=True) for a, b in zip(one, two, strict=True))
    assert (len(digits_13b.SEEN), len(digits_13b.NEVER)) == (720, 180) and not set(digits_13b.SEEN) & set(digits_13b.NEVER)
    pieces = {piece for number in digits_13b.NEVER for piece in number_tokens(number, "de")}
    assert all(piece in digits_13b.PIECES for piece in pieces)


def test_strips_show_the_number(digits):
    label = {tuple(image.flatten().tolist()): int(k) for image, k in zip(digits.images, digits.labels, strict=True)}
    numbers = [100, 843, 999, 210, 567]
    drawn = digits_13b.strips(numbers, digits, torch.Generator().manual_seed(0))
    assert drawn.shape == (5, 8, 24)
    for strip, number in zip(drawn, numbers, strict=True):
        assert [label[tuple(part.flatten().tolist())] for part in strip.split(8, 1)] == [int(c) for c in str(number)]
    other = digits_13b.strips(numbers, digits, torch.Generator().manual_seed(1))
    assert not torch.equal(drawn, other)
    for bad in (99, 1000):
        with pytest.raises(ValueError, match=str(bad)):
            digits_13b.strips([123, bad], digits, torch.Generator())


def test_looks_are_shares_of_three_digits(digits):
    torch.manual_seed(0)
    model, numbers = digits_13b.Writer().eval(), [843, 100]
    source, target = digits_13b.strips(numbers, digits, torch.Generator().manual_seed(0)), digits_13b.written(numbers)
    share = digits_13b.looks(model, source, target)
    assert share.shape == (2, target.shape[1] - 1, 3)
    torch.testing.assert_close(share.sum(-1), torch.ones(2, target.shape[1] - 1))
    with torch.no_grad():  # weights on the four patches of the middle digit
        model.decoder.blocks[-1].cross_attention.weights = lambda *args: torch.tensor([0, 0, 0.25, 0.25, 0, 0] * 2).expand(
            2, 4, target.shape[1] - 1, 12
        )
    assert digits_13b.looks(model, source, target)[..., 1].eq(1).all()
    assert len(digits_13b.write(model, source)) == 2
