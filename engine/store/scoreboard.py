"""The scoreboard: what all evaluations so far amount to; the same from a replay as live."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from engine.store.events import EpochStarted, Evaluated, Event, SessionStarted
from engine.store.profiles import Profiled
from engine.store.revisions import AnchorWithdrawn
from engine.store.toolchain import Toolchain, toolchain_of
from evaluators.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The fastest kernel that is also right on the held-out shapes; speedup over the seed."""

    kernel_id: str
    speedup: float
    ci95: tuple[float, float] | None


class Scoreboard:
    """Evaluations and profiles by kernel id, the best, also on each shape, and the anchors.

    The latest verdict on a kernel counts. A chain of anchors leads from the seed to the current
    one; where the toolchain changes another chain begins, and nothing is the best any more until
    it is measured in it.
    """

    def __init__(self) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self.by_status: Counter[str] = Counter()
        self.profiles: dict[str, Profiled] = {}  # by kernel id, those that say something
        self.withdrawn: list[AnchorWithdrawn] = []
        self.epoch = -1
        self.anchors: tuple[str, ...] = ()  # kernel ids: seed .. current anchor
        self.links: tuple[Mapping[str, tuple[float, ...]], ...] = ()  # between them
        self.toolchain: Toolchain | None = None  # the chain's; None: not known
        self.stale: list[str] = []
        """What was right and fast in an earlier chain, fastest first, until one is so again."""
        self._session: Toolchain | None = None
        self._revisions: dict[str, list[Evaluation]] = {}  # all verdicts on what has several
        self._verified: dict[str, Best] = {}  # in this chain, as all below
        self._gains: dict[str, dict[str, float]] = {}  # ln(seed time / time) by kernel and label
        self._fastest: dict[str, float] = {}  # the largest of them by label
        self._offsets: dict[str, dict[str, float]] = {}  # anchor id -> ln(seed / anchor) by label

    @property
    def best(self) -> Best | None:
        return max(self._verified.values(), key=lambda one: one.speedup, default=None)

    @property
    def anchor_id(self) -> str:
        return self.anchors[-1] if self.anchors else ""

    def first(self, kernel_id: str) -> Evaluation:
        """As it was first measured; islands hear of further verdicts one by one."""
        return self.verdict(kernel_id, 0)

    def verdict(self, kernel_id: str, number: int) -> Evaluation:
        """number: of the Evaluated that gave it."""
        revisions = self._revisions.get(kernel_id)
        return revisions[number] if revisions else self.evaluations[kernel_id]

    def revisions(self) -> list[tuple[int, Evaluation]]:
        """The latest verdict on each kernel that has several, with its number."""
        return [(len(all_of_it) - 1, all_of_it[-1]) for all_of_it in self._revisions.values()]

    def next_number(self, kernel_id: str) -> int:
        """Of the next Evaluated."""
        if kernel_id not in self.evaluations:
            return 0
        return len(self._revisions.get(kernel_id, (None,)))

    def is_current(self, kernel_id: str) -> bool:
        """Whether it passed in this chain."""
        return kernel_id in self._gains

    def wanted(self) -> set[str]:
        """Kernels whose sources a session needs at its beginning."""
        return {*self.anchors, *self.stale, *self._verified}

    def apply(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self._session = toolchain_of(event)
            case Evaluated():
                self._evaluated(event)
            case EpochStarted():
                self._epoch_started(event)
            case AnchorWithdrawn():
                self.withdrawn.append(event)
                self.anchors, self.links = self.anchors[:-1], self.links[:-1]
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
        evaluation, kernel_id = event.evaluation, event.evaluation.kernel_id
        if event.number:
            self._forget(kernel_id)
            self._revisions.setdefault(kernel_id, [self.evaluations[kernel_id]]).append(evaluation)
        self.evaluations[kernel_id] = evaluation
        self.by_status[evaluation.status.value] += 1
        if kernel_id in self.stale:
            self.stale.remove(kernel_id)
        if not evaluation.passed:
            return
        self._gains[kernel_id] = gains = self._gains_of(evaluation)
        for label, gain in gains.items():
            self._fastest[label] = max(gain, self._fastest.get(label, gain))
        if event.verified:
            speedup = evaluation.speedup or 0.0
            self._verified[kernel_id] = Best(
                kernel_id=kernel_id, speedup=speedup, ci95=evaluation.ci95
            )
            if kernel_id not in self.anchors[:1]:  # the seed is in every chain
                self.stale.clear()

    def _gains_of(self, evaluation: Evaluation) -> dict[str, float]:
        offsets = self._offsets.get(evaluation.anchor_id or "", {})
        gains = {}
        for label in evaluation.times_us:
            blocks = evaluation.blocks.get(label)
            gains[label] = offsets.get(label, 0.0) + (fmean(blocks) if blocks else 0.0)
        return gains

    def _forget(self, kernel_id: str) -> None:
        """What an earlier verdict on it amounted to."""
        self.by_status[self.evaluations[kernel_id].status.value] -= 1
        self.by_status += Counter()  # drops what is zero
        self._verified.pop(kernel_id, None)
        if self._gains.pop(kernel_id, None) is None:
            return
        self._fastest.clear()
        for gains in self._gains.values():
            for label, gain in gains.items():
                self._fastest[label] = max(gain, self._fastest.get(label, gain))

    def _epoch_started(self, event: EpochStarted) -> None:
        if not event.link:
            self._begin_chain(event)
            return
        before = self._offsets.get(self.anchor_id, {})
        self._offsets[event.anchor_id] = {
            label: before.get(label, 0.0) + fmean(blocks) for label, blocks in event.link.items()
        }
        self.links = (*self.links, event.link)
        self.anchors = (*self.anchors, event.anchor_id)
        self.epoch = event.number

    def _begin_chain(self, event: EpochStarted) -> None:
        if event.number:
            ranked = sorted(self._verified.values(), key=lambda one: -one.speedup)
            fast = [one.kernel_id for one in ranked if one.kernel_id != event.anchor_id]
            self.stale = [*fast, *self.stale]
            for of_the_chain in (self._verified, self._gains, self._fastest, self._offsets):
                of_the_chain.clear()
        self.anchors, self.links = (event.anchor_id,), ()
        self._offsets[event.anchor_id] = {}
        self.toolchain, self.epoch = self._session, event.number
