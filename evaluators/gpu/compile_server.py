"""The child's side of evaluators.gpu.compile_child: requests on stdin, replies on stdout."""

import ctypes
import resource
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from evaluators.sandbox.confine import cut_network, die_with_parent
from evaluators.sandbox.frames import MSGPACK, Ended, own_pipes, receive, send

Compile = Callable[[Mapping[str, Any]], dict[str, Any]]


def serve(
    start: Callable[[], tuple[str, Compile]], *, parent: int, memory_bytes: int | None
) -> None:
    """Answer requests until stdin ends. start: the compiler's version, and what compiles.

    The process dies with its parent, has no network, and at most memory_bytes of address space.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    die_with_parent(libc, parent)
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cut_network(libc)
    requests, answers = own_pipes()
    try:
        version, compile_ = start()
    except (ImportError, OSError, RuntimeError) as error:
        send(answers, {"missing": f"{type(error).__name__}: {error}"}, MSGPACK)
        return
    send(answers, {"version": version}, MSGPACK)
    with suppress(Ended):
        while True:
            send(answers, _reply(compile_, receive(requests, codec=MSGPACK)), MSGPACK)


def _reply(compile_: Compile, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return compile_(request)
    except RuntimeError as error:
        return {"error": str(error), "log": ""}
