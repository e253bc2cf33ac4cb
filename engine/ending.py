"""How a session is asked to end from outside: signals, and why."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(Exception):
    """The campaign takes no further candidates."""


class CampaignFailed(Exception):
    """The campaign can't go on. One sentence: what broke, and what to do."""


INTERRUPTED = "interrupted"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """What ends a session from outside, and why.

    searching: the first Ctrl-C or SIGTERM asks for an orderly end by `reason`. Before the search
    and after it there is nothing to finish: a signal raises KeyboardInterrupt, as a second does.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.searching = False

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Inside, signals come here."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread can be told of signals
            return
        before = [signal.getsignal(name) for name in SIGNALS]
        self.listen()
        try:
            yield
        finally:
            for name, handler in zip(SIGNALS, before, strict=True):
                signal.signal(name, handler)

    def listen(self) -> None:
        """Take the signals, also from Ray, which sets a handler of its own as it starts."""
        if threading.current_thread() is threading.main_thread():
            for name in SIGNALS:
                signal.signal(name, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.searching or self.reason == INTERRUPTED:
            raise KeyboardInterrupt
        self.reason = INTERRUPTED
