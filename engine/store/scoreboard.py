"""The scoreboard: what all evaluations so far amount to; the same from a replay as live."""

import heapq
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from statistics import fmean

from engine.store.events import EpochStarted, Evaluated, Event
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.revisions import AnchorWithdrawn
from engine.store.kinds.sessions import SessionStarted
from engine.store.titles import Best, Titles
from engine.store.toolchain import Toolchain, toolchain_of
from evaluators.evaluation import Evaluation
from evaluators.weights import Weights, over_shapes

__all__ = ["Best", "Scoreboard"]


FIELD = 5
"""Kernels that are measured again beside the best, every so often."""


class Scoreboard:
    """Evaluations and profiles by kernel id, the best, also on each shape, and the anchors.

    The latest verdict on a kernel counts. A chain of anchors leads from the seed to the current
    one; where the toolchain changes another chain begins, and nothing is the best any more until
    it is measured in it.
    """

    def __init__(self) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self.by_status: Counter[str] = Counter()
        self.tuned = 0  # of them, how many were measured in idle device time
        self.profiles: dict[str, Profiled] = {}  # by kernel id, those that say something
        self.withdrawn: list[AnchorWithdrawn] = []
        self.steps: list[tuple[int, float]] = []
        """Of each new best that won a contest: `asked` by then, and ln of its gain on the last."""
        self.epoch = -1
        self.anchors: tuple[str, ...] = ()  # kernel ids: seed .. current anchor
        self.links: tuple[Mapping[str, tuple[float, ...]], ...] = ()  # between them
        self.toolchain: Toolchain | None = None  # the chain's; None: not known
        self.stale: list[str] = []
        """What was right and fast in an earlier chain, fastest first, until one is so again."""
        self._session: Toolchain | None = None
        self._chain_at = 0  # `asked` when the present chain began
        self._revisions: dict[str, list[Evaluation]] = {}  # all verdicts on what has several
        self.weights: Weights = {}  # of the shapes, as the task states them
        self.titles = Titles()  # in this chain, as all below
        self._gains: dict[str, dict[str, float]] = {}  # ln(seed time / time) by kernel and label
        self._fastest: dict[str, float] = {}  # the largest of them by label
        self._offsets: dict[str, dict[str, float]] = {}  # anchor id -> ln(seed / anchor) by label

    @property
    def best(self) -> Best | None:
        return self.titles.best

    @property
    def asked(self) -> int:
        """Evaluations that budgets.evaluations counts."""
        return self.by_status.total() - self.tuned

    @property
    def barren(self) -> int:
        """Such evaluations in a row without a new best, in this chain."""
        last = self.steps[-1][0] if self.steps else 0
        return self.asked - max(last, self._chain_at)

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
        return {*self.anchors, *self.stale, *self.titles.holders, *self.ranked(FIELD)}

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
            case Contested() | FinalMeasurement():
                self.titles.apply(event)
                if isinstance(event, Contested) and event.outcome == "won" and not event.demotes:
                    gain = math.log(event.ratio[0]) if event.ratio else 0.0
                    self.steps.append((self.asked, gain))
                if self.titles.best and self.titles.best.kernel_id not in self.anchors[:1]:
                    self.stale.clear()
            case Profiled() if event.advice:
                self.profiles[event.kernel_id] = event
            case _:
                pass  # nothing else changes what is known of kernels

    def bounds(self) -> dict[str, float]:
        """ln(current anchor's time / best time) by label, for the early stop: of each shape's best.
        Where nothing is timed those of the best over all, which is told by them."""
        if self.best is not None and not self.best.timed:
            return dict(self._gains.get(self.best.kernel_id, {}))
        offsets = self._offsets.get(self.anchor_id, {})
        return {label: gain - offsets.get(label, 0.0) for label, gain in self._fastest.items()}

    def best_over_anchor(self) -> float:
        """How many times as fast the best is as the anchor."""
        offsets = self._offsets.get(self.anchor_id, {})
        place = self._place(self.best.kernel_id) if self.best else {}
        linked = place.keys() & offsets.keys() or place.keys()
        gains = {
            label: place[label] - offsets.get(label, 0.0) for label in place if label in linked
        }
        return math.exp(over_shapes(gains, self.weights))

    def lead(self, kernel_id: str) -> float:
        """ln of how many times as fast as the best the search found a kernel."""
        gains = self._gains.get(kernel_id, {})
        place = self._place(self.best.kernel_id) if self.best else {}
        shared = {label: gain - place[label] for label, gain in gains.items() if label in place}
        return over_shapes(shared, self.weights)

    def ranked(self, most: int, among: Collection[str] | None = None) -> list[str]:
        """The fastest by the search, without seed and best. among: by default all."""
        out = {*self.anchors[:1], self.best.kernel_id if self.best else ""}
        left = self._gains.keys() if among is None else self._gains.keys() & among
        return heapq.nlargest(
            most, left - out, lambda one: over_shapes(self._gains[one], self.weights)
        )

    def _place(self, kernel_id: str) -> Mapping[str, float]:
        """ln(seed's time / its time) by label: by contests and links, else by the search."""
        return self.titles.places.get(kernel_id) or self._gains.get(kernel_id, {})

    def _evaluated(self, event: Evaluated) -> None:
        evaluation, kernel_id = event.evaluation, event.evaluation.kernel_id
        if event.number:
            self._forget(kernel_id)
            self._revisions.setdefault(kernel_id, [self.evaluations[kernel_id]]).append(evaluation)
        self.evaluations[kernel_id] = evaluation
        self.by_status[evaluation.status.value] += 1
        self.tuned += event.tuning
        if kernel_id in self.stale:
            self.stale.remove(kernel_id)
        if not evaluation.passed:
            return
        self.weights = evaluation.weights
        self._gains[kernel_id] = gains = self._gains_of(evaluation)
        for label, gain in gains.items():
            self._fastest[label] = max(gain, self._fastest.get(label, gain))
        if event.verified:
            before = self.best
            self.titles.claim(evaluation, gains)
            if before and not evaluation.timed and self.best is not before and self.best:
                self.steps.append((self.asked, math.log(self.best.speedup / before.speedup)))
            if kernel_id not in self.anchors[:1]:  # the seed is in every chain
                self.stale.clear()

    def with_gains(self, evaluation: Evaluation) -> Evaluation:
        """With paired gains, of a store of before they were kept, where its blocks say what its
        speedup is. Asked before it is applied."""
        if evaluation.gains or not any(evaluation.blocks.values()):
            return evaluation
        gains = self._gains_of(evaluation)
        told = math.log(evaluation.speedup or 1.0)
        mean = over_shapes(gains, evaluation.weights)
        agrees = bool(gains) and math.isclose(mean, told, abs_tol=0.05)
        return replace(evaluation, gains=gains) if agrees else evaluation

    def _gains_of(self, evaluation: Evaluation) -> dict[str, float]:
        if not evaluation.timed:
            return dict(evaluation.gains)
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
        self.titles.forget(kernel_id)
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
        # A link is of the shapes that the search times; of others contests have told.
        known = self.titles.places.get(event.anchor_id, {})
        self.titles.places[event.anchor_id] = {**known, **self._offsets[event.anchor_id]}
        self.links = (*self.links, event.link)
        self.anchors = (*self.anchors, event.anchor_id)
        self.epoch = event.number

    def _begin_chain(self, event: EpochStarted) -> None:
        self._chain_at = self.asked
        if event.number:
            held = reversed(self.titles.holders)
            self.stale = [*(one for one in held if one != event.anchor_id), *self.stale]
            self.titles = Titles(contests=self.titles.contests)
            for of_the_chain in (self._gains, self._fastest, self._offsets):
                of_the_chain.clear()
        self.anchors, self.links = (event.anchor_id,), ()
        self._offsets[event.anchor_id] = {}
        self.toolchain, self.epoch = self._session, event.number
