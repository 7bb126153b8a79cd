"""The tree tells no false descent: no way to a member leads through another one, and every colour can be read."""

from __future__ import annotations

import itertools

import pytest

from course_utils.show.family import BRANCHES, MARKS, MEMBERS, _drawn, plt, route


def touches(start, end, point, room=0.45):
    """Whether a line along a column or a row comes nearer than ``room`` to a point."""
    return all(min(a, b) - room < p < max(a, b) + room for a, b, p in zip(start, end, point, strict=True))


def test_no_way_leads_through_a_stranger():
    place = {m.name: (m.lane, row) for row, m in enumerate(MEMBERS)}
    for m in MEMBERS:
        for start, end in itertools.pairwise(route(m)):
            assert start[0] == end[0] or start[1] == end[1]
            met = {name for name, point in place.items() if touches(start, end, point)}
            assert met <= {m.name, m.parent}, f"the way from {m.parent} to {m.name} passes {met}"


def test_two_ways_share_a_piece_only_if_they_share_the_parent():
    pieces = {}
    for m in MEMBERS:
        for (x, y), (to_x, to_y) in itertools.pairwise(route(m)):
            down, along = [(x, row, "down") for row in range(y, to_y)], [(lane, to_y, "along") for lane in range(*sorted((x, to_x)))]
            for step in down + along:
                assert pieces.setdefault(step, m.parent) == m.parent
    assert route(MEMBERS[0]) == []


@pytest.mark.parametrize("colour", BRANCHES.values())
def test_names_can_be_read_on_light_and_tinted_rows(colour):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(
            w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4) for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    assert (luminance("#f1f3f5") + 0.05) / (luminance(colour) + 0.05) >= 4.5


def test_the_picture_fits_a_page():
    fig = _drawn()
    assert fig.get_size_inches()[0] <= 7.5 and set(MARKS) == set(BRANCHES)  # 720 px: a cell of a lab of 1,024 px is 600 px wide
    fig.canvas.draw()
    texts = fig.axes[0].texts
    edge = max(text.get_window_extent().x1 for text in texts)
    assert edge <= fig.bbox.x1 and min(text.get_fontsize() for text in texts) >= 9
    plt.close(fig)
