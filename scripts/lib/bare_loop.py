"""The bare loop that the engine is compared with: compile processes, one device, no Ray."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from engine.dispatch.epochs import EPOCH_GAIN
from engine.dispatch.workbench import (
    Built,
    Measured,
    OpenEvaluator,
    Workbench,
    linked,
    raising_broken,
    verified,
)
from engine.store.events import EpochStarted, Evaluated
from engine.store.scoreboard import Scoreboard
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.measuring.policy import Anchor
from scripts.lib.pools import Pool, pool_of, result_of

AHEAD = 4
"""Kernels compiled, or being compiled, for each compile process."""


AT_LEAST = 3
"""Candidates that a rate is taken from, however long they take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One kernel's evaluation. at: seconds since 1970, when it was known."""

    at: float
    evaluation: Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What of an arm counts: what is known in so many seconds after the warm-up.

    Where that is less than AT_LEAST candidates, it lasts until so many are known. The warm-up
    begins with the first candidate.
    """

    warm_up_s: float
    seconds: float

    def bounds(self, done: Sequence[Done]) -> tuple[float, float]:
        """In seconds since 1970: nothing of what is done, in order, counts up to the first."""
        begin = done[0].at + self.warm_up_s
        last = [begin, *self._after(begin, done)[:AT_LEAST]][-1]
        return begin, max(begin + self.seconds, last)

    def closed(self, done: Sequence[Done], now: float) -> bool:
        if not done:
            return False
        begin, end = self.bounds(done)
        return now > end and len(self._after(begin, done)) >= AT_LEAST

    def _after(self, begin: float, done: Sequence[Done]) -> list[float]:
        return [one.at for one in done if one.at > begin]


def bare_loop(
    workbench: Workbench,
    sources: Sequence[str],
    naive: str,
    *,
    device: int,
    workers: int,
    cores: frozenset[int],
    window: Window,
) -> list[Done]:
    """What a dispatcher does with the same kernels in turn, again from the first at the end.

    Anchors, early stops and held-out shapes are as in a campaign; nothing is stored, and
    nothing is known from before. workers: compile processes, on cores, or with none named
    anywhere. It goes on until the window is closed. Raises Broken.
    """
    with raising_broken(), workbench.open(device) as evaluator:
        begun = (workbench, evaluator.device.info, cores)
        with pool_of(workers, begin_compiling, begun) as pool:
            loop = _Loop(evaluator)
            loop.begin(result_of(pool.submit(compile_in_process, naive)))
            compiled = _compiled(pool, sources, workers)
            done: list[Done] = []
            while not window.closed(done, time.time()):
                done.append(loop.evaluate(next(compiled)))
            pool.cancel()
    return done


def _compiled(pool: Pool, sources: Sequence[str], workers: int) -> Iterator[Built | Evaluation]:
    """In order, compiled ahead by as much as keeps every process busy."""
    waiting: list[Future[Built | Evaluation]] = []
    place = 0
    while True:
        while len(waiting) < AHEAD * workers:
            waiting.append(pool.submit(compile_in_process, sources[place % len(sources)]))
            place += 1
        yield result_of(waiting.pop(0))


class _Loop:
    """Measures one kernel after another; decides on anchors as engine.dispatch.dispatcher does."""

    def __init__(self, evaluator: OpenEvaluator) -> None:
        self._evaluator = evaluator
        self._scores = Scoreboard()
        self._anchor: Anchor | None = None

    def begin(self, naive: Built | Evaluation) -> None:
        if isinstance(naive, Evaluation):
            raise ValueError(f"the naive seed does not compile: {naive.reason}")
        measured = self._measure(naive, 0.0)
        self._scores.apply(Evaluated(evaluation=measured.evaluation, verified=measured.verified))
        self._start_epoch(naive, EpochStarted(number=0, anchor_id=naive.kernel_id))

    def evaluate(self, built: Built | Evaluation) -> Done:
        if isinstance(built, Evaluation):
            self._scores.apply(Evaluated(evaluation=built))
            return Done(at=time.time(), evaluation=built)
        best = self._scores.best.speedup if self._scores.best else 0.0
        measured = self._measure(built, best)
        self._scores.apply(Evaluated(evaluation=measured.evaluation, verified=measured.verified))
        done = Done(at=time.time(), evaluation=measured.evaluation)
        if measured.verified and self._anchor is not None and self._outgrown():
            blocks = linked(self._evaluator, built, self._anchor)
            if blocks is not None:
                number = self._scores.epoch + 1
                event = EpochStarted(number=number, anchor_id=built.kernel_id, link=blocks)
                self._start_epoch(built, event)
        return done

    def _measure(self, built: Built, best_speedup: float) -> Measured:
        bounds = self._scores.bounds() or None
        made = self._evaluator.measure(built.kernel, built.compiled, self._anchor, bounds)
        if made.passed and (made.speedup or 0.0) > best_speedup:
            return verified(self._evaluator, built, made)
        return Measured(evaluation=made)

    def _outgrown(self) -> bool:
        return self._scores.best_over_anchor() >= EPOCH_GAIN

    def _start_epoch(self, built: Built, event: EpochStarted) -> None:
        self._scores.apply(event)
        self._anchor = Anchor(
            kernel_id=built.kernel_id,
            kernel=built.kernel,
            compiled=built.compiled,
            links=self._scores.links,
        )


_work: tuple[Workbench, DeviceInfo]


def begin_compiling(workbench: Workbench, info: DeviceInfo, cores: frozenset[int]) -> None:
    """In each compile process, once."""
    global _work  # noqa: PLW0603 (a process of this pool does nothing else)
    _work = workbench, info
    if cores:
        os.sched_setaffinity(0, cores)


def compile_in_process(source: str) -> Built | Evaluation:
    """In a process of a pool that begin_compiling() began."""
    workbench, info = _work
    return workbench.compile(source, info)
