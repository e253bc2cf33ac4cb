"""Kernels whose process was killed from outside: run in another one before that is a verdict."""

from collections.abc import Callable
from typing import TypeVar

from evaluators.evaluation import Rejected, Status
from evaluators.measuring.race import AnchorFailed

_T = TypeVar("_T")

PROCESSES = 3
"""That a kernel, or its anchor, takes with it before this is its verdict."""


def despite_kills(work: Callable[[], _T]) -> _T:
    """Work that runs kernels, again where the process of one was killed from outside.

    Raises what work raises; after PROCESSES kills what all_killed() makes of the last.
    """
    for _ in range(PROCESSES - 1):
        try:
            return work()
        except (Rejected, AnchorFailed) as error:
            if not _rejected(error).killed:
                raise
    try:
        return work()
    except (Rejected, AnchorFailed) as error:
        raise all_killed(error) from None


def all_killed(error: Rejected | AnchorFailed) -> Rejected | AnchorFailed:
    """After the last process: a kill is the kernel's, or the anchor's, own; else as it is."""
    rejected = _rejected(error)
    if not rejected.killed:
        return error
    reason = f"{PROCESSES} processes that ran it were killed, the last: {rejected.reason}"
    own = Rejected(Status.CRASHED, reason, log=rejected.log)
    return AnchorFailed(own) if isinstance(error, AnchorFailed) else own


def _rejected(error: Rejected | AnchorFailed) -> Rejected:
    return error.rejected if isinstance(error, AnchorFailed) else error
