"""The Triton kernel under Triton's interpreter, where the package is there: equal to the blocks in plain PyTorch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

PROGRAM = """
import torch
from course_utils.models.blocks import forward_in_blocks
from course_utils.models.triton_blocks import triton_attention
g = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(2, rows, 32, generator=g) for rows in (37, 50, 50))
for ours, theirs in zip(triton_attention(q, k, v, 16), forward_in_blocks(q, k, v), strict=True):
    torch.testing.assert_close(ours, theirs)
try:
    triton_attention(q, k, v, 24)
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs the package triton")
def test_interpreted():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True, timeout=120
    )
    assert not done.returncode, done.stderr
    assert "size=24 and width 32" in done.stdout
