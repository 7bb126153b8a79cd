"""The judge's end of the channel to a worker."""

from __future__ import annotations

import socket
import time
from typing import Any

from . import wire


class Channel:
    """Sends and receives frames, until the clock of ``time.monotonic`` says ``until``. ``ended`` says afterwards how the worker ended."""

    def __init__(self, connection: socket.socket, until: float):
        self.connection, self.until, self.ended = connection, until, ""

    def send(self, value: Any) -> None:
        """Send one frame; ProtocolError when nobody takes it."""
        self.connection.settimeout(max(0.01, self.until - time.monotonic()))
        try:
            self.connection.sendall(wire.pack(value))
        except OSError as error:
            raise wire.ProtocolError(f"the worker does not listen ({type(error).__name__})") from None

    def receive(self, within: float) -> Any:
        """Receive one frame within so many seconds; TimeoutError, ProtocolError."""
        deadline = min(self.until, time.monotonic() + within)

        def take(count: int) -> bytes:
            data = bytearray()
            while len(data) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self.connection.settimeout(left)
                try:
                    piece = self.connection.recv(min(count - len(data), 1 << 20))
                except ConnectionError:
                    break
                if not piece:
                    break
                data += piece
            return bytes(data)

        return wire.read(take)
