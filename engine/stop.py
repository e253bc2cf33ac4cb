"""How a session is asked to end from outside: signals, and why."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = "interrupted"


class Stop:
    """What ends a session from outside, and why."""

    def __init__(self) -> None:
        self.reason = ""

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM asks for an orderly end, a second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread can be told of signals
            return
        names = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(name, self._on_signal) for name in names]
        try:
            yield
        finally:
            for name, handler in zip(names, before, strict=True):
                signal.signal(name, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.reason == INTERRUPTED:
            raise KeyboardInterrupt
        self.reason = INTERRUPTED
