"""Pools of processes that a terminal's Ctrl-C, or the end of their parent, leaves no part of."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, resource_tracker
from types import FrameType
from typing import Any

from evaluators.sandbox.confine import die_with_parent


@contextmanager
def pool_of(
    workers: int, begin: Callable[..., None] | None = None, begun_with: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """begin: called first in each process. What interrupts the caller ends them at once, also amid
    a result; it may have cancelled no future by then, on which Python 3.11's pools stumble."""
    given = (os.getpid(), begin, begun_with)
    with ProcessPoolExecutor(workers, get_context("spawn"), _born, given) as pool:
        try:
            with deaf():
                for _ in range(workers):
                    pool.submit(_ready)  # each begins a process
            yield pool
        except BaseException:
            for child in active_children():
                child.terminate()
            _close_pipes(pool)
            raise


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that are started inside begin deaf to Ctrl-C, also while they import, until they
    listen(). The caller, a main thread, hears of it afterwards: a process that is half begun would
    tell of it by a traceback."""
    resource_tracker.ensure_running()  # multiprocessing's own; it would lift the mask
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield  # a library's thread without the mask, as numpy's, may take the signal
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


def listen(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """To Ctrl-C, in a process that was begun deaf."""
    signal.signal(signal.SIGINT, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _close_pipes(pool: ProcessPoolExecutor) -> None:
    """A process that was ended amid a result left a part of it, and the pool's thread waits for
    the rest as long as somebody could write it; and it writes calls as long as somebody could read
    them (Python 3.11.2 does). The last who could is this process."""
    inside: dict[str, Any] = vars(pool)
    inside["_result_queue"]._writer.close()
    inside["_call_queue"]._reader.close()


def _ready() -> None:
    """Nothing to do."""


def _born(parent: int, begin: Callable[..., None] | None, begun_with: tuple[Any, ...]) -> None:
    """Ctrl-C is for the parent, which ends its processes."""
    die_with_parent(ctypes.CDLL(None, use_errno=True), parent)
    listen(signal.SIG_IGN)
    if begin:
        begin(*begun_with)
