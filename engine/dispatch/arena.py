"""The arena: compiled kernels that may race again, and the sittings in which they do."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from engine.dispatch.devices.lane import Lane
from engine.dispatch.retries import Retries
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Built, Exhausted
from engine.store.scoreboard import FIELD, Scoreboard
from evaluators.evaluation import Evaluation, Status, Verdict
from evaluators.measuring.policy import BaselineAnchor
from evaluators.measuring.sittings import Sitting

KEPT = 4 * FIELD
"""Compiled kernels that are kept for further sittings: the fastest by the search."""


class Arena:
    """device_s: spent on sittings."""

    def __init__(self, setting: DispatchSetting, scores: Scoreboard, retries: Retries) -> None:
        self._setting, self._scores, self._retries = setting, scores, retries
        self._built: dict[str, Built] = {}
        self._references: dict[str, Any] = {}
        self._sources: Mapping[str, str] = {}
        self._staying: Counter[str] = Counter()
        self._rng = np.random.default_rng()
        self._sittings = 0
        self.device_s = 0.0

    def asked_s(self) -> float:
        """device_s, and what one more sitting takes: as much as those so far, on average, or else
        as the naive seed's measurement took."""
        if self._sittings:
            return self.device_s * (1 + 1 / self._sittings)
        seed = self._scores.evaluations[self._scores.anchors[0]]
        return seed.seconds.get("device", 0.0)

    def begin(self, seed: Built, sources: Mapping[str, str]) -> None:
        """sources: of what Scoreboard.wanted() names, by kernel id."""
        self._built[seed.kernel_id], self._sources = seed, sources

    def keep(self, built: Built) -> None:
        """A kernel that passed."""
        self._built[built.kernel_id] = built
        if len(self._built) <= KEPT + FIELD:
            return
        staying = {*self._scores.titles.holders, *self._scores.anchors, *self._staying}
        ranked = sorted(self._built.keys() - staying, key=lambda one: -self._scores.lead(one))
        for kernel_id in ranked[KEPT:]:
            del self._built[kernel_id]
            self._references.pop(kernel_id, None)

    @contextmanager
    def staying(self, *kernel_ids: str) -> Iterator[None]:
        """Meanwhile these are kept, however many faster ones come."""
        self._staying.update(kernel_ids)
        try:
            yield
        finally:
            self._staying.subtract(kernel_ids)
            self._staying += Counter()  # drops what is zero

    def built(self, kernel_id: str) -> Built | None:
        """None for one that it does not keep."""
        return self._built.get(kernel_id)

    def knows(self, kernel_id: str) -> bool:
        return kernel_id in self._built or kernel_id in self._sources

    def field(self) -> list[str]:
        """To race the best: those that were it, the latest first, and the fastest that were not."""
        *before, _ = self._scores.titles.holders or [""]
        known = self._built.keys() | self._sources.keys()
        held = [one for one in reversed(before[1:][-2:]) if one in known]
        return [*dict.fromkeys([*held, *self._scores.ranked(FIELD, known)])][:FIELD]

    async def sit(
        self,
        kernel_id: str,
        rivals: Sequence[str],
        *,
        check: bool,
        turn: int,
        to: int = 0,
        baselines: Sequence[BaselineAnchor] = (),
    ) -> Sitting:
        """On one device after another, the rivals in random order, then baselines.

        turn: counts them; to: see Workbench.open_afresh(). A kernel that takes every process
        with it has a verdict of CRASHED; one of an earlier session that does not compile any
        more, the compiler's.
        """
        built = await self._compiled(kernel_id)
        if not isinstance(built, Built):
            return _not_held(Verdict(status=built.status, reason=built.reason))
        if not check:
            return await self._held(built, rivals, False, turn, to, baselines)
        watching = asyncio.create_task(self._watched(built))
        try:
            held = await self._held(built, rivals, True, turn, to, baselines)
            if not held.verdict.passed:
                return held
            seen = await watching
        finally:
            watching.cancel()
        log = "\n".join(filter(None, (held.verdict.log, seen.log)))
        return replace(held, verdict=replace(seen, log=log))

    async def _held(
        self,
        built: Built,
        rivals: Sequence[str],
        check: bool,
        turn: int,
        to: int,
        beside: Sequence[BaselineAnchor],
    ) -> Sitting:
        order = [rivals[int(i)] for i in self._rng.permutation(len(rivals))]
        references, failed = await self._published(order)
        lanes = self._setting.lanes
        first = lanes[turn % len(lanes)] if lanes else None
        work = partial(_sit, built, [*references, *beside], check, to)
        try:
            held = await self._retries.on_device(first, built.kernel_id, work)
        except Exhausted as error:
            reason = f"processes were lost: {error}"
            return _not_held(Verdict(status=Status.CRASHED, reason=reason))
        self.device_s += held.seconds
        self._sittings += 1
        return replace(held, failed={**held.failed, **failed})

    async def compiled(self, source: str) -> Built | Evaluation:
        """Of what was never a candidate."""
        return await self._retries.compile(source)

    async def _watched(self, built: Built) -> Verdict:
        """For races that its device does not show, on a processor, while that device measures."""
        watch = self._setting.watch
        if watch is None:
            return Verdict(status=Status.PASSED)
        try:
            return await self._retries.on_host(
                built.kernel_id, partial(watch, built, self._sittings)
            )
        except Exhausted as error:
            return Verdict(status=Status.CRASHED, reason=f"processes were lost: {error}")

    async def _compiled(self, kernel_id: str) -> Built | Evaluation:
        if kernel_id not in self._built:
            made = await self._retries.compile(self._sources[kernel_id])
            if isinstance(made, Evaluation):
                return made
            self._built[kernel_id] = made
        return self._built[kernel_id]

    async def _published(self, rivals: Sequence[str]) -> tuple[list[Any], dict[str, Verdict]]:
        """As lanes take them, each published once; and those that do not compile any more."""
        failed: dict[str, Verdict] = {}
        for kernel_id in rivals:
            if kernel_id in self._references:
                continue
            made = await self._compiled(kernel_id)
            if isinstance(made, Built):
                self._references[kernel_id] = self._setting.publish(made, ())
            else:
                failed[kernel_id] = Verdict(status=made.status, reason=made.reason)
        return [self._references[one] for one in rivals if one not in failed], failed


async def _sit(
    built: Built, references: Sequence[Any], check: bool, turn: int, lane: Lane
) -> Sitting:
    return await lane.sit(built, references, check, turn)


def _not_held(verdict: Verdict) -> Sitting:
    return Sitting(blocks={}, verdict=verdict, seconds=0.0)
