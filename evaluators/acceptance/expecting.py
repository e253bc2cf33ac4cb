"""How a check says what it found that should have been otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected, Status


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
