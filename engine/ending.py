"""How a session is asked to end from outside: signals, and why."""

import signal
import sys
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
AGAIN_S = 0.01


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


@contextmanager
def kept_interrupts() -> Iterator[None]:
    """Inside, a KeyboardInterrupt that is raised where Python drops it, in the callback of a
    weakref or in __del__, is raised again a moment later, without a traceback. By SIGALRM."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals raise in the main thread only
        return
    hook, alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)

    def dropped(what: "sys.UnraisableHookArgs") -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            hook(what)
            return
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
