"""The child's side of evaluators.compile_child: requests on stdin, replies on stdout."""

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import msgpack

from evaluators.confine import cut_network

Compile = Callable[[Mapping[str, Any]], dict[str, Any]]


def serve(
    start: Callable[[], tuple[str, Compile]], *, parent: int, memory_bytes: int | None
) -> None:
    """Answer requests until stdin ends. start: the compiler's version, and what compiles.

    The process dies with its parent, has no network, and at most memory_bytes of address space.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        raise SystemExit("the parent is gone")
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cut_network(libc)
    # What the compiler itself prints must not mix with the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        version, compile_ = start()
    except (ImportError, OSError, RuntimeError) as error:
        _write(replies, {"missing": f"{type(error).__name__}: {error}"})
        return
    _write(replies, {"version": version})
    while header := sys.stdin.buffer.read(4):
        request = msgpack.unpackb(sys.stdin.buffer.read(struct.unpack(">I", header)[0]))
        try:
            reply = compile_(request)
        except RuntimeError as error:
            reply = {"error": str(error), "log": ""}
        _write(replies, reply)


def _write(stream: BinaryIO, message: Mapping[str, Any]) -> None:
    """Raises BrokenPipeError when the other side is gone."""
    body = msgpack.packb(message)
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()
