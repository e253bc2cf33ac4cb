"""Pools of processes that a terminal's Ctrl-C, or the end of their parent, leaves no part of."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context, resource_tracker
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from evaluators.sandbox.confine import die_with_parent

P = ParamSpec("P")
T = TypeVar("T")
HEAR_S = 0.2
"""How long what waits for a result may not hear of Ctrl-C."""


class Pool:
    """A ProcessPoolExecutor for a main thread that Ctrl-C may interrupt."""

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        self._executor = executor

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        with uninterrupted():
            return self._executor.submit(function, *args, **kwargs)

    def cancel(self) -> None:
        """Calls that have not begun never do, and no further one is taken."""
        with uninterrupted():
            self._executor.shutdown(wait=False, cancel_futures=True)


def result_of(future: "Future[T]") -> T:
    """Waits for it. Raises what it raised."""
    while True:
        with uninterrupted():
            if wait([future], HEAR_S).done:
                return future.result()


@contextmanager
def pool_of(
    workers: int, begin: Callable[..., None] | None = None, begun_with: tuple[Any, ...] = ()
) -> Iterator[Pool]:
    """begin: called first in each process. What interrupts the caller ends them at once, also amid
    a result; it may have cancelled no future by then, on which Python 3.11's pools stumble."""
    given = (os.getpid(), begin, begun_with)
    executor = ProcessPoolExecutor(workers, get_context("spawn"), _born, given)
    try:
        with deaf():
            for _ in range(workers):
                executor.submit(_ready)  # each begins a process
        yield Pool(executor)
    except BaseException:
        with uninterrupted():
            for child in active_children():
                child.terminate()
            _close_pipes(executor)
            executor.shutdown()
        raise
    with uninterrupted():
        executor.shutdown()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What Ctrl-C raises in a main thread is raised afterwards. Inside it could leave a lock taken
    that another thread waits for: a Condition's, in queue.Queue and in Future."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    # As SIGALRM kept_interrupts() raises again what was lost.
    names = (signal.SIGINT, signal.SIGALRM)
    before = [signal.signal(name, lambda number, frame: heard.append(number)) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)
        for number in dict.fromkeys(heard):
            signal.raise_signal(number)


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that are started inside begin deaf to Ctrl-C, also while they import, until they
    listen(). The caller, a main thread, hears of it afterwards: a process that is half begun would
    tell of it by a traceback."""
    resource_tracker.ensure_running()  # multiprocessing's own; it would lift the mask
    with uninterrupted():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield  # a library's thread without the mask, as numpy's, may take the signal
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def listen(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """To Ctrl-C, in a process that was begun deaf."""
    signal.signal(signal.SIGINT, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _close_pipes(executor: ProcessPoolExecutor) -> None:
    """A process that was ended amid a result left a part of it, and the pool's thread waits for
    the rest as long as somebody could write it; and it writes calls as long as somebody could read
    them (Python 3.11.2 does). The last who could is this process."""
    inside: dict[str, Any] = vars(executor)
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
