"""The child's side of evaluators.gpu.compile_child: requests on stdin, replies on stdout."""

import ctypes
import os
import resource
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaluators.kernel.static_memory import MAX_STATIC_BYTES
from evaluators.sandbox import landlock
from evaluators.sandbox.confine import cut_network, die_with_parent
from evaluators.sandbox.frames import MSGPACK, Ended, own_pipes, receive, send
from evaluators.sandbox.system_paths import system_paths

Compile = Callable[[Mapping[str, Any]], dict[str, Any]]

READS = "KERNEL_SCIENTIST_READS"
"""The variable that names, with colons between, what the child reads beside its libraries."""


def serve(
    start: Callable[[], tuple[str, Compile]],
    *,
    parent: int,
    memory_bytes: int | None,
    libraries: str = "",
    confined: bool = True,
) -> None:
    """Answer requests until stdin ends. start: the compiler's version, and what compiles.

    libraries: how the file names begin of those beside which the compiler finds others.

    The process dies with its parent, has no network, and at most memory_bytes of address space.
    Once the compiler is loaded, where confined, it sees only the files in its folder, the system's
    libraries and headers, those beside the libraries that it has loaded, and what READS names.
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
    if confined:
        named = map(Path, os.environ[READS].split(":"))
        reads = [*system_paths(), *named, *_beside(libraries)]
        landlock.restrict([*map(str, reads)], [os.getcwd()])
    send(answers, {"version": version}, MSGPACK)
    with suppress(Ended):
        while True:
            send(answers, _reply(compile_, receive(requests, codec=MSGPACK)), MSGPACK)


def _beside(libraries: str) -> Iterable[Path]:
    """The folders of the libraries of that name that this process has loaded."""
    rows = Path("/proc/self/maps").read_text().splitlines() if libraries else []
    files = {Path(row.split(maxsplit=5)[5]) for row in rows if row.count("/") > 1}
    return {file.parent for file in files if file.name.startswith(libraries)}


def _reply(compile_: Compile, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        reply = compile_(request)
    except RuntimeError as error:
        return {"error": str(error), "log": ""}
    made = len(reply.get("code", b""))
    if made > MAX_STATIC_BYTES:
        return {"error": f"it made {made:,} bytes, more than {MAX_STATIC_BYTES:,},", "log": ""}
    return reply
