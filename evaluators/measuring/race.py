"""A race: blocks of paired timings of a kernel and its anchor, until enough is known."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from statistics import fmean, median

import numpy as np

from evaluators.checks.inputs import Draw, InputPool
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.intervals import (
    MEMORY_PAIRS,
    half_width,
    no_memory,
    shown_behind,
    shown_slower_by,
    tight,
)
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import TimingPolicy, balanced
from evaluators.tasks.arguments import Workload
from evaluators.weights import over_shapes, weights_of

SPARE_DRAWS = 0.5
"""More draws than bindings: those that a call does not use may be what its outputs hold before."""

UNMET, MEMORY_APPLICATIONS = 8, 4
"""Draws of the pool, or more, that a race leaves for the check of memory, and how often at most a
kernel is applied in each of its calls."""

MEMORY_SERIES = 3
"""Series of pairs that must each speak against a kernel: on a busy machine one did against a right
one, in 5,000 evaluations or so."""


class AnchorFailed(Exception):
    """The anchor, which passed before, failed, and not the candidate. rejected: how."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(rejected)
        self.rejected = rejected

    def __str__(self) -> str:
        return f"the anchor failed while it was timed: {self.rejected}"


class StoppedEarly(Exception):
    """Every shape is shown to be hopelessly slower. bounds: the factor shown, by label."""

    def __init__(self, bounds: Mapping[str, float]) -> None:
        super().__init__(bounds)
        self.bounds = bounds

    @property
    def reason(self) -> str:
        label, least = min(self.bounds.items(), key=lambda item: item[1])
        return (
            f"shown with 99% confidence to be more than {least:.2f}x slower than the best "
            f"on every benchmark shape (least on {label})"
        )

    @property
    def log(self) -> str:
        return "\n".join(
            f"{label}: more than {bound:.2f}x slower than the best"
            for label, bound in self.bounds.items()
        )


@contextmanager
def blaming_anchor() -> Iterator[None]:
    try:
        yield
    except Rejected as rejected:
        raise AnchorFailed(rejected) from rejected


class Race:
    """lanes: a candidate's and, unless it runs alone, its anchor's.

    expected_us: by lane and label, rough times where they are known.

    times_us: by label, microseconds an application, one a call. blocks: by label, paired
    ln(anchor time / candidate time); empty for a candidate that runs alone.
    """

    def __init__(
        self,
        lanes: Sequence[Lane],
        workloads: Sequence[Workload],
        pool: InputPool,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        expected_us: Sequence[Mapping[str, float]],
    ) -> None:
        self.policy = policy
        self.rng = rng
        self.lanes = lanes
        self.pool = pool
        self.workloads = workloads
        self.labels = [w.label for w in workloads]
        self.weights = weights_of(workloads)
        self.times_us: list[dict[str, list[float]]] = [
            {label: [] for label in self.labels} for _ in lanes
        ]
        self.blocks: dict[str, list[float]] = {label: [] for label in self.labels}
        self._expected_us = [dict(times) for times in expected_us]
        self._mirror: dict[str, list[int]] = {}
        self._counts: dict[str, list[int]] = {}
        self._draws: dict[str, tuple[Draw, ...]] = {}
        for w in workloads:
            copies = len(lanes[0].memories[w.label].copies)
            count = copies + 2 + int(SPARE_DRAWS * copies)
            self._draws[w.label] = pool.draws(w, rng, max(copies, min(count, pool.size - UNMET)))

    def warm_up(self) -> None:
        """Learn how long an application takes, on memory that is in use."""
        for label in self.labels:
            for i in range(len(self.lanes)):
                with self._blame(i):
                    self._warm(i, label)

    def _warm(self, i: int, label: str) -> None:
        expected = self._expected_us[i]
        if expected.get(label, 0.0) >= self.policy.skip_warmup_us:
            return
        unknown = label not in expected
        if unknown:
            expected[label] = self._call(i, label, 1)
        wanted = math.ceil(self.policy.interval_us / 4 / expected[label])
        if wanted > 1 or not unknown:
            expected[label] = self._call(i, label, wanted)

    def _blame(self, i: int) -> AbstractContextManager[None]:
        return nullcontext() if i == 0 else blaming_anchor()

    def _call(self, i: int, label: str, wanted: int) -> float:
        applications = self.lanes[i].applications(label, wanted)
        return self._timed(i, label, applications, self._shuffled(label))

    def _shuffled(self, label: str) -> tuple[Draw, ...]:
        draws = self._draws[label]
        return tuple(draws[int(k)] for k in self.rng.permutation(len(draws)))

    def _timed(
        self, i: int, label: str, applications: int, draws: Sequence[Draw], *, in_full: bool = False
    ) -> float:
        expected = self._expected_us[i].get(label)
        deadline_s = self.policy.deadline_s(expected and expected * applications)
        time_us = self.lanes[i].call(
            label, applications, draws, self.rng, deadline_s=deadline_s, in_full=in_full
        )
        return max(1e-3, time_us)

    def run(self, best: Mapping[str, float] | None = None) -> None:
        """Rounds over all shapes in random order until the interval is tight, or a cap.

        best: ln(anchor time / best time) by label; of who is shown to be behind it little more is
        asked. Raises StoppedEarly, Rejected, AnchorFailed.
        """
        policy = self.policy
        deadline = time.monotonic() + policy.budget_s
        for rounds in range(1, policy.max_blocks + 1):
            self.round()
            if best is not None and rounds >= 2:
                self._stop_if_hopeless(best)
            late = time.monotonic() > deadline
            if rounds >= policy.min_blocks and (late or self._tight()):
                return
            if best is not None and rounds >= policy.least_blocks and self._behind(best):
                return

    def run_link(self) -> None:
        """link_blocks a shape; once link_budget_s is spent, that many over all shapes."""
        policy = self.policy
        deadline = time.monotonic() + policy.link_budget_s
        for rounds in range(1, policy.link_blocks + 1):
            self.round()
            enough = rounds * len(self.labels) >= policy.link_blocks
            if enough and rounds >= policy.min_blocks and time.monotonic() > deadline:
                return

    def check_memory(self) -> None:
        """Raises Rejected(WRONG): the candidate is quicker on inputs that it has met before.

        Results kept in device memory and found again by the inputs' content would pass every
        comparison. Calls on draws that it knows, which to it are calls like any in the race, are
        paired with calls on as many that it never met; of both, every element is judged.
        """
        for workload in self.workloads:
            for _ in range(MEMORY_SERIES):
                pairs = self._memory_pairs(workload)
                if no_memory(pairs):
                    break
            else:
                known, new = (median(times) for times in zip(*pairs, strict=True))
                raise Rejected(
                    Status.WRONG,
                    f"takes {new:.3g} us on new data but {known:.3g} us on data that it has met "
                    f"before on {workload.label}: it keeps results between launches",
                )

    def _memory_pairs(self, workload: Workload) -> list[tuple[float, float]]:
        """Until they clear the candidate, or are as many as may be.

        Which call comes first is random, then the other way round: the second may be slower.
        """
        pairs: list[tuple[float, float]] = []
        known_first = bool(self.rng.integers(2))
        while not pairs or (len(pairs) < MEMORY_PAIRS and not no_memory(pairs)):
            pairs.append(self._known_and_new_us(workload, known_first=known_first))
            known_first = bool(self.rng.integers(2)) if len(pairs) % 2 == 0 else not known_first
        return pairs

    def _known_and_new_us(self, workload: Workload, *, known_first: bool) -> tuple[float, float]:
        """Microseconds an application, of two calls."""
        label, lane = workload.label, self.lanes[0]
        wanted = math.ceil(self.policy.interval_us / 4 / self._expected_us[0][label])
        count = lane.applications(label, min(wanted, MEMORY_APPLICATIONS))
        calls = {
            True: [draw for draw in self._shuffled(label) if draw.index in lane.met[label]],
            False: self.pool.draws(workload, self.rng, count, met=lane.met[label]),
        }
        # Made only now they would sweep the cache: up to 1.3 times the time (softmax, R = C = 512).
        lane.prefetch(label, [draw for draws in calls.values() for draw in draws])
        taken = {
            which: self._timed(0, label, count, calls[which], in_full=True)
            for which in (known_first, not known_first)
        }
        return taken[True], taken[False]

    def round(self) -> None:
        """One block of every shape."""
        for k in self.rng.permutation(len(self.labels)):
            self._block(self.labels[int(k)])

    def _block(self, label: str) -> None:
        """Each lane once; the next block of the shape goes the other way round (ABBA)."""
        order = self.order(label)
        times = [self._expected_us[i][label] for i in range(len(self.lanes))]
        wanted = self._steady(label, balanced(times, self.policy))
        taken_us: dict[int, float] = {}
        for i in order:
            with self._blame(i):
                taken_us[i] = self._call(i, label, wanted[i])
        for i, time_us in taken_us.items():
            self.times_us[i][label].append(time_us)
            self._expected_us[i][label] = median(self.times_us[i][label])
        if len(self.lanes) == 2:
            self.blocks[label].append(math.log(taken_us[1] / taken_us[0]))

    def _steady(self, label: str, wanted: list[int]) -> list[int]:
        """The last counts again where these are near them, so that captured graphs serve on."""
        last = self._counts.get(label, wanted)
        near = all(abs(a - b) <= b / 4 for a, b in zip(wanted, last, strict=True))
        self._counts[label] = last if near else wanted
        return self._counts[label]

    def order(self, label: str) -> list[int]:
        """Which lane goes first in the shape's next block: random, then the other way round."""
        order = self._mirror.pop(label, None)
        if order is None:
            order = [int(i) for i in self.rng.permutation(len(self.lanes))]
            self._mirror[label] = order[::-1]
        return order

    def _tight(self) -> bool:
        if len(self.lanes) == 1:
            return True
        width, loosest = self.policy.width, self.policy.loosest
        return tight(self.blocks, width=width, loosest=loosest, weights=self.weights)

    def _behind(self, best: Mapping[str, float]) -> bool:
        """Whether it won't be the best, and about how fast it is."""
        weights, by = self.weights, math.log1p(self.policy.behind)
        roughly = half_width(self.blocks, weights=weights) <= self.policy.loosest
        return roughly and shown_behind(self.blocks, best, by, weights=weights)

    def _stop_if_hopeless(self, best: Mapping[str, float]) -> None:
        bounds = {
            label: shown_slower_by(values, best[label]) for label, values in self.blocks.items()
        }
        if min(bounds.values()) > self.policy.slower:
            raise StoppedEarly(bounds)

    def ahead(self, best: Mapping[str, float] | None = None) -> bool:
        """Whether the candidate seems to be faster than the anchor, or runs alone; than the best,
        where that is given."""
        ratios = {label: fmean(values) for label, values in self.blocks.items() if values}
        leads = {label: one - (best[label] if best else 0.0) for label, one in ratios.items()}
        return not leads or over_shapes(leads, self.weights) > 0

    def medians_us(self, lane: int = 0) -> dict[str, float]:
        return {label: median(times) for label, times in self.times_us[lane].items()}
