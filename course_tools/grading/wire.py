"""Plain data as bytes and back, without pickle: a JSON head, then the raw numbers of the tensors.

A frame is ``length of the head (4 bytes) · length of the body (8 bytes) · head · body``. Both lengths are checked before
anything is read. Used between the judge and the sandbox, in both directions; what comes out of the sandbox is hostile.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import torch

from course_checks.case import Registered
from course_checks.plain_data import DTYPES

HEAD, BODY, DEPTH = 8 * 2**20, 64 * 2**20, 12
PREFIX = struct.Struct("!IQ")
NAMES = {str(dtype).removeprefix("torch."): dtype for dtype in DTYPES}


class ProtocolError(ValueError):
    """Bytes that are not a frame, or a frame that is too large: whoever sent it is not the worker we started."""


def pack(value: Any) -> bytes:
    """A frame that holds ``value``: None, bool, int, float, str, bytes, list, tuple, dict, tensor or Registered."""
    body = bytearray()
    head = json.dumps(_pack(value, body)).encode()
    return PREFIX.pack(len(head), len(body)) + head + bytes(body)


def _pack(value: Any, body: bytearray) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, torch.Tensor):
        plain = value.detach()
        start = len(body)
        body += plain.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        name = str(plain.dtype).removeprefix("torch.")
        return {"t": [name, list(plain.shape), list(plain.stride()), start]}
    if isinstance(value, bytes):
        start = len(body)
        body += value
        return {"b": [start, len(value)]}
    if isinstance(value, Registered):
        return {"r": value.name}
    if isinstance(value, dict):
        return {"d": [[_pack(k, body), _pack(v, body)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"l" if isinstance(value, list) else "u": [_pack(item, body) for item in value]}
    raise TypeError(f"{type(value).__name__} is not plain data")


def lengths(prefix: bytes) -> tuple[int, int]:
    """Lengths of head and body; ProtocolError when they are larger than anything we send."""
    if len(prefix) != PREFIX.size:
        raise ProtocolError("no answer" if not prefix else "the answer breaks off")
    head, body = PREFIX.unpack(prefix)
    if head > HEAD or body > BODY:
        raise ProtocolError(f"a frame of {head + body:,} bytes is too large")
    return head, body


def read(receive: Callable[[int], bytes]) -> Any:
    """Read one frame; ``receive(n)`` returns exactly n bytes, or fewer at the end."""
    head, body = lengths(receive(PREFIX.size))
    text, numbers = receive(head), receive(body)
    if len(text) != head or len(numbers) != body:
        raise ProtocolError("the answer breaks off")
    return unpack(text, numbers)


def unpack(head: bytes, body: bytes) -> Any:
    """The value of a frame; ProtocolError for anything that :func:`pack` would not have written."""
    try:
        return _unpack(json.loads(head), _Body(body), 0)
    except ProtocolError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, RuntimeError, OverflowError) as error:
        raise ProtocolError(f"the answer is not readable ({type(error).__name__})") from None


class _Body:
    """The numbers of a frame, handed out once: a short body must not become a thousand large tensors."""

    def __init__(self, data: bytes):
        self.data, self.left = data, len(data)

    def take(self, start: int, size: int) -> bytes:
        """A piece; ProtocolError when it is not there or more is taken than was sent."""
        whole = type(start) is int and type(size) is int and start >= 0 and size >= 0
        if not whole or start + size > len(self.data) or size > self.left:
            raise ProtocolError("the answer has numbers that were not sent")
        self.left -= size
        return self.data[start : start + size]


def _unpack(value: Any, body: _Body, depth: int) -> Any:
    if depth > DEPTH:
        raise ProtocolError("the answer is nested too deeply")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ProtocolError("the answer has an unknown form")
    ((kind, content),) = value.items()
    if kind == "t":
        return _tensor(content, body)
    if kind == "b":
        return body.take(*content)
    if kind == "r":
        return Registered(str(content))
    if kind in ("d", "l", "u") and not isinstance(content, list):
        raise ProtocolError("the answer has an unknown form")
    if kind == "d":
        return {_unpack(k, body, depth + 1): _unpack(v, body, depth + 1) for k, v in content}
    if kind in ("l", "u"):
        items = [_unpack(item, body, depth + 1) for item in content]
        return items if kind == "l" else tuple(items)
    raise ProtocolError(f"the answer has an unknown form {kind!r}")


def _tensor(content: Any, body: _Body) -> torch.Tensor:
    name, shape, stride, start = content
    dtype = NAMES[name]
    if not all(type(n) is int and n >= 0 for n in [*shape, *stride, start]) or len(shape) != len(stride) or len(shape) > 16:
        raise ProtocolError("the answer has a tensor of no shape")
    count = math.prod(shape)
    size = count * dtype.itemsize
    if sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) > 4 * count + 4096:
        raise ProtocolError("the answer has a tensor with impossible strides")
    if not count:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(bytearray(body.take(start, size)), dtype=dtype).reshape(shape)
    spread = [s if s or n == 1 else None for n, s in zip(shape, stride, strict=True)]
    return flat if None in spread else torch.empty_strided(shape, stride, dtype=dtype).copy_(flat)
