"""Values over a pipe, each behind its length; read with a deadline."""

import os
import pickle
import select
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgpack

from evaluators.sandbox.kept_waiting import Deadline


class Ended(Exception):
    """The other side closed the pipe."""


class Overdue(Exception):
    """Nothing came by the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """How a value becomes bytes and again a value, and the length in front of them."""

    pack: Callable[[Any], bytes]
    unpack: Callable[[bytearray], Any]
    length: struct.Struct


PICKLE = Codec(
    pack=partial(pickle.dumps, protocol=5), unpack=pickle.loads, length=struct.Struct(">Q")
)
"""Any value. Unpacking runs what the other side says: for processes that run our code only."""
MSGPACK = Codec(pack=msgpack.packb, unpack=msgpack.unpackb, length=struct.Struct(">I"))
"""Plain values up to 4 GiB. For processes that read code which is not believed."""


def send(descriptor: int, value: Any, codec: Codec = PICKLE) -> None:
    """Raises BrokenPipeError."""
    body = memoryview(codec.pack(value))
    for piece in (memoryview(codec.length.pack(len(body))), body):
        sent = 0
        while sent < len(piece):
            sent += os.write(descriptor, piece[sent:])


def receive(descriptor: int, deadline: Deadline | None = None, codec: Codec = PICKLE) -> Any:
    """Raises Ended and Overdue."""
    (size,) = codec.length.unpack(_read(descriptor, codec.length.size, deadline))
    return codec.unpack(_read(descriptor, size, deadline))


def own_pipes() -> tuple[int, int]:
    """In a child: descriptors of its requests and answers; what prints goes to stderr from here."""
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    return requests, answers


def _read(descriptor: int, nbytes: int, deadline: Deadline | None) -> bytearray:
    ready = select.poll()  # not select.select: it refuses descriptors above 1023
    ready.register(descriptor, select.POLLIN)
    held = bytearray()
    while len(held) < nbytes:
        if deadline and not deadline.until(lambda seconds: bool(ready.poll(seconds * 1000))):
            raise Overdue
        piece = os.read(descriptor, min(nbytes - len(held), 1 << 20))
        if not piece:
            raise Ended
        held += piece
    return held
