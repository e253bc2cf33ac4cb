"""What a kernel's author is told of a rejection, by the suite of the shape it came from.

Of tests everything; of benchmark shapes all but what should be there; of held-out shapes that
they are not mastered, and nothing that a kernel could choose so as to learn their sizes: neither
how it fails there, nor whether it can be compiled for them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Array, Suite, Workload

WITHHELD = (
    "it fails on a held-out shape, of which no more is told: make it right, and as exact as the "
    "naive seed, for every size"
)


def withheld(rejected: Rejected) -> Rejected:
    """A rejection on a held-out shape: of one status and one sentence, however it fails there."""
    return Rejected(Status.WRONG, WITHHELD, killed=rejected.killed, inexact=rejected.inexact)


@contextmanager
def withholding(suite: Suite) -> Iterator[None]:
    """Where shapes of a suite are planned, compiled or run for: rejections tell what they may."""
    try:
        yield
    except Rejected as rejected:
        if suite != "held_out":
            raise
        raise withheld(rejected) from None


@contextmanager
def on(workload: Workload) -> Iterator[None]:
    """A rejection inside tells the workload it happened on, if its author may know it."""
    with withholding(workload.suite):
        try:
            yield
        except Rejected as rejected:
            raise rejected.saying(f"{rejected.reason} on {workload.label}") from None


def shown(reference: Array, workload: Workload) -> Array | None:
    """What should be there, for sentences on shapes of which that may be told."""
    return reference if workload.suite == "tests" else None
