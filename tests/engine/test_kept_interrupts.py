"""Tests of Ctrl-C where Python drops what a handler raises."""

import signal
import sys
import time
import weakref
from collections.abc import Callable

import pytest

from engine.ending import kept_interrupts

PATIENCE_S = 60.0


class Thing:
    """Its end calls somebody back."""


class Deaf:
    """Its end is when the signal comes."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def interrupted_in_a_callback() -> None:
    thing = Thing()
    _reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing


def interrupted_in_del() -> None:
    Deaf()


@pytest.mark.parametrize("moment", [interrupted_in_a_callback, interrupted_in_del])
def test_what_python_drops_comes_again_without_a_traceback(
    moment: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt), kept_interrupts():
        moment()
        time.sleep(PATIENCE_S)
    assert capfd.readouterr().err == ""


def test_also_when_it_is_dropped_twice() -> None:
    with pytest.raises(KeyboardInterrupt), kept_interrupts():
        for _ in range(2):
            thing = Thing()
            _reference = weakref.ref(thing, lambda _: time.sleep(PATIENCE_S))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            del thing
        time.sleep(PATIENCE_S)


def test_other_things_that_python_drops_are_told_as_ever() -> None:
    class Broken:
        def __del__(self) -> None:
            raise RuntimeError("in __del__")

    told: list[str] = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda what: told.append(str(what.exc_value))
    mine = sys.unraisablehook
    try:
        with kept_interrupts():
            Broken()
        assert sys.unraisablehook is mine
    finally:
        sys.unraisablehook = before
    assert told == ["in __del__"]


def test_nothing_comes_after_it() -> None:
    alarm = signal.getsignal(signal.SIGALRM)
    with kept_interrupts():
        interrupted_in_del()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is alarm
