"""Pickled values over a pipe, each behind 8 bytes of length; read with a deadline."""

import os
import pickle
import select
import struct
import time
from typing import Any

_LENGTH = struct.Struct(">Q")


class Ended(Exception):
    """The other side closed the pipe."""


class Overdue(Exception):
    """Nothing came by the deadline."""


def send(descriptor: int, value: Any) -> None:
    """Raises BrokenPipeError."""
    body = memoryview(pickle.dumps(value, protocol=5))
    for piece in (memoryview(_LENGTH.pack(len(body))), body):
        sent = 0
        while sent < len(piece):
            sent += os.write(descriptor, piece[sent:])


def receive(descriptor: int, deadline: float | None = None) -> Any:
    """deadline: of time.monotonic(). Raises Ended and Overdue."""
    (size,) = _LENGTH.unpack(_read(descriptor, _LENGTH.size, deadline))
    return pickle.loads(_read(descriptor, size, deadline))


def _read(descriptor: int, nbytes: int, deadline: float | None) -> bytearray:
    ready = select.poll()  # not select.select: it refuses descriptors above 1023
    ready.register(descriptor, select.POLLIN)
    held = bytearray()
    while len(held) < nbytes:
        left_ms = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if not ready.poll(left_ms):
            raise Overdue
        piece = os.read(descriptor, min(nbytes - len(held), 1 << 20))
        if not piece:
            raise Ended
        held += piece
    return held
