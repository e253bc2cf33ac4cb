"""The scoreboard: what all evaluations so far amount to; the same from a replay as live."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from engine.events import EpochStarted, Evaluated, Event
from engine.profiles import Profiled
from evaluators.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The fastest kernel that is also right on the held-out shapes; speedup over the seed."""

    kernel_id: str
    speedup: float
    ci95: tuple[float, float] | None


class Scoreboard:
    """Evaluations and profiles by kernel id, the best, also on each shape, and the anchors."""

    def __init__(self) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self.by_status: Counter[str] = Counter()
        self.best: Best | None = None
        self.profiles: dict[str, Profiled] = {}  # by kernel id, those that say something
        self.epoch = -1
        self.anchor_id = ""
        self.links: tuple[Mapping[str, tuple[float, ...]], ...] = ()  # seed .. current anchor
        self._fastest: dict[str, float] = {}  # ln(seed time / best time) by label
        self._offsets: dict[str, dict[str, float]] = {}  # anchor id -> ln(seed / anchor) by label

    def apply(self, event: Event) -> None:
        match event:
            case Evaluated():
                self._evaluated(event)
            case EpochStarted():
                self._epoch_started(event)
            case Profiled() if event.advice:
                self.profiles[event.kernel_id] = event
            case _:
                pass  # nothing else changes what is known of kernels

    def bounds(self) -> dict[str, float]:
        """ln(current anchor's time / best time) by label, for the early stop."""
        offsets = self._offsets.get(self.anchor_id, {})
        return {label: gain - offsets.get(label, 0.0) for label, gain in self._fastest.items()}

    def speedup_of_anchor(self) -> float:
        anchor = self.evaluations.get(self.anchor_id)
        return (anchor.speedup if anchor else None) or 1.0

    def _evaluated(self, event: Evaluated) -> None:
        evaluation = event.evaluation
        if event.number:
            return  # measured again: kept in the store; the first one stays the score
        self.evaluations[evaluation.kernel_id] = evaluation
        self.by_status[evaluation.status.value] += 1
        if not evaluation.passed:
            return
        offsets = self._offsets.get(evaluation.anchor_id or "", {})
        for label in evaluation.times_us:
            blocks = evaluation.blocks.get(label)
            gain = offsets.get(label, 0.0) + (fmean(blocks) if blocks else 0.0)
            self._fastest[label] = max(gain, self._fastest.get(label, gain))
        speedup = evaluation.speedup or 0.0
        if event.verified and (self.best is None or speedup > self.best.speedup):
            self.best = Best(kernel_id=evaluation.kernel_id, speedup=speedup, ci95=evaluation.ci95)

    def _epoch_started(self, event: EpochStarted) -> None:
        before = self._offsets.get(self.anchor_id, {})
        self._offsets[event.anchor_id] = {
            label: before.get(label, 0.0) + fmean(blocks) for label, blocks in event.link.items()
        }
        if event.link:
            self.links = (*self.links, event.link)
        self.epoch, self.anchor_id = event.number, event.anchor_id
