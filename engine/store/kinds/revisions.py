"""Verdicts that changed, as a campaign's log keeps them: a failed anchor, an island that hears."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from evaluators.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorWithdrawn:
    """An anchor failed again and again, or could not be had: the one before it is back.

    epoch: the one that ended; anchor_id: the anchor that is back; reason: a sentence. The failed
    kernel's new verdict is stored before, as one more Evaluated.
    """

    kind: ClassVar[str] = "anchor_withdrawn"
    epoch: int
    kernel_id: str
    anchor_id: str
    reason: str

    @property
    def key(self) -> str:
        return self.kernel_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """An island heard of a kernel's new verdict. number: of that Evaluated."""

    kind: ClassVar[str] = "revised"
    island: int
    kernel_id: str
    number: int

    @property
    def key(self) -> str:
        return f"i{self.island}/{self.kernel_id}/{self.number}"


RevisionEvent = AnchorWithdrawn | Revised

TellRevised = Callable[[int, Evaluation], None]
"""(number of the measurement, verdict): hand a kernel's new verdict to the islands."""
