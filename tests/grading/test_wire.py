"""The protocol between judge and worker: it carries what it is given, and refuses what is hostile."""

from __future__ import annotations

import io
import random

import pytest
import torch

from course_checks.case import Registered
from course_tools.grading import wire


def test_frames_carry_what_they_are_given():
    strided = torch.randn(4, 6).T
    value = {
        "a": [1, 2.5, None, True, "ü", b"\x00\xff", (1, 2)],
        "t": strided,
        "r": Registered("f"),
        3: torch.zeros(0, 2),
        "h": torch.randn(3).bfloat16(),
        "b": torch.tensor([True, False]),
        "e": torch.randn(2, 1).expand(2, 3),
        "inf": float("inf"),
    }
    back = wire.read(io.BytesIO(wire.pack(value)).read)
    assert back["a"] == value["a"]
    assert back["r"] == value["r"]
    assert back["inf"] == float("inf")
    for key in ("t", 3, "h", "b", "e"):
        assert torch.equal(back[key], value[key])
        assert back[key].dtype == value[key].dtype
    assert back["t"].stride() == strided.stride()


def test_hostile_frames_are_refused():
    good = wire.pack({"x": torch.ones(2)})
    rng = random.Random(0)
    for _ in range(500):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            bad[rng.randrange(12, len(bad))] = rng.randrange(256)
        try:
            wire.read(io.BytesIO(bytes(bad)).read)
        except wire.ProtocolError:
            pass
    for head in (
        b'{"t": ["float32", [1000000, 1000000], [1, 1], 0]}',
        b'{"t": ["float32", [2], [99999999999], 0]}',
        b'{"t": ["object", [], [], 0]}',
        b'{"d": [[[], 1]]}',
        b'{"l": ' * 20 + b"1" + b"}" * 20,
        b"[" * 100_000,
        b'{"x": 1}',
        b'{"t": ["float32", [-1], [1], 0]}',
    ):
        with pytest.raises(wire.ProtocolError):
            wire.unpack(head, b"")
    with pytest.raises(wire.ProtocolError, match="too large"):
        wire.read(io.BytesIO(wire.PREFIX.pack(2**31, 2**40)).read)
