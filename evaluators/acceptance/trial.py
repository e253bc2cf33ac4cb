"""Trial: one thing that a device must show; Result: what became of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from evaluators.device import Compiler, Device, backend
from evaluators.evaluation import Rejected, Status

State = Literal["PASS", "FAIL", "SKIPPED"]


class Setup:
    """The backend under trial; its device and compiler are opened when first asked for."""

    def __init__(self, backend_name: str) -> None:
        self.backend_name: str = backend_name

    @cached_property
    def device(self) -> Device:
        return backend(self.backend_name).open_device(0)

    @cached_property
    def compiler(self) -> Compiler:
        return backend(self.backend_name).compiler()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """run returns what was found, in a sentence, or raises Broken, Skipped, or what it met.

    todo: what to do when it fails, in a sentence. times: it takes times, and is SKIPPED where the
    device is not timed.
    """

    name: str
    run: Callable[[Setup], str]
    todo: str
    times: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Trials that share a process, until one of them kills it. deadline_s: for all of them."""

    name: str
    title: str
    trials: tuple[Trial, ...]
    deadline_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """found: one sentence, with numbers. todo: only of a failure."""

    section: str
    name: str
    state: State
    found: str
    todo: str = ""
    seconds: float = 0.0


class Broken(Exception):
    """A device that does not do what kernels and their measuring rely on: one sentence."""


class Skipped(Exception):
    """A check that does not apply here: why, in one sentence."""


def expect(found: Any, wanted: Any, what: str) -> None:
    """Raises Broken when they are not equal; arrays element by element, NaN equal to nothing."""
    if not np.array_equal(found, wanted):
        raise Broken(f"{what}: {_shown(found)} where {_shown(wanted)} should be")


def expect_that(holds: bool, sentence: str) -> None:
    """Raises Broken with the sentence when it does not hold."""
    if not holds:
        raise Broken(sentence)


@contextmanager
def expect_rejected(status: Status, *words: str) -> Iterator[None]:
    """Raises Broken unless the body raises Rejected: that status, one line, all the words."""
    try:
        yield
    except Rejected as rejected:
        expect_refusal(rejected.status, rejected.reason, status, *words)
        return
    raise Broken(f"nothing was refused where {status} should be")


def expect_refusal(found: Status, reason: str, status: Status, *words: str) -> None:
    """Raises Broken unless status and reason are as they should be."""
    expect_that(found is status, f"{found} ({reason}) where {status} should be")
    expect_that("\n" not in reason, f"a reason of several lines: {reason!r}")
    missing = [word for word in words if word not in reason]
    expect_that(not missing, f"{', '.join(map(repr, missing))} not in the reason {reason!r}")


def _shown(value: Any) -> str:
    return np.array2string(np.asarray(value), threshold=16, edgeitems=4).replace("\n", "")
