"""What a kernel's author is told of a rejection, by the suite of the shape it came from.

Of tests everything; of benchmark shapes all but what should be there; of held-out shapes that
they are not mastered, and nothing that a kernel could choose so as to learn their sizes.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Array, Suite, Workload

_WITHHELD = {
    Status.INVALID: "its front matter is not valid",
    Status.UNSUPPORTED: "it is not supported",
    Status.COMPILE_ERROR: "it does not compile",
    Status.LAUNCH_ERROR: "a launch is refused",
    Status.WRONG: "its results are wrong, or it writes where it may not",
    Status.FORBIDDEN: "it tries what is forbidden",
    Status.CRASHED: "it crashes",
    Status.TIMEOUT: "it takes too long",
}


def withheld(rejected: Rejected) -> Rejected:
    """A rejection on a held-out shape: the status, and no word that depends on the shape."""
    reason = (
        f"{_WITHHELD.get(rejected.status, 'it fails')} on a held-out shape, of which no more is "
        "told: make the kernel right for every size"
    )
    return Rejected(rejected.status, reason, killed=rejected.killed)


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
