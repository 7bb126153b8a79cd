"""Pictures are sharp, say how large they are to be shown, and are marked for dark themes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from course_utils.paths import ROOT
from course_utils.show import figures


@pytest.fixture
def shown(monkeypatch):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: found.append((data, metadata)))
    return found


def test_a_picture_has_two_pixels_for_one_and_says_so(shown):
    fig, ax = figures.panels(1, 5.0, 2.5)
    ax.plot([1, 3, 2])
    figures.picture(fig, "a line that rises and falls")
    ((data, metadata),) = shown
    image = Image.open(io.BytesIO(data["image/png"]))
    assert image.size == (960, 480)
    assert metadata["image/png"] == {"alt": "a line that rises and falls", "width": 480, "height": 240}
    assert not figures.plt.get_fignums()
    pixels = np.asarray(image.convert("RGB"))
    assert (pixels[0, 0] == 255).all()  # the ground is white wherever it is opened, and only our own lab turns it round
    assert np.abs(pixels.astype(int) - (0x3A, 0x7C, 0xBD)).sum(-1).min() <= 6  # 256 colours are enough


def test_the_lab_turns_what_is_marked(shown):
    fig, _ = figures.panels(1, 2.0, 1.0)
    figures.picture(fig, "nothing")
    assert shown[0][1]["needs_background"] == "light"  # JupyterLab's name; it becomes the class that our style sheet asks for
    assert "img.jp-needs-light-background" in (ROOT / "course_utils/show/lab/custom.css").read_text("utf-8")


@pytest.mark.parametrize("colour", figures.PALETTE)
def test_ink_can_be_read(colour):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(
            w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4) for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    assert 1.05 / (luminance(figures.ink(colour)) + 0.05) >= 4.5
