"""How a session begins: seed and anchor; with another toolchain the best, measured again."""

from collections.abc import Mapping
from typing import Protocol

from engine.dispatch.arena import Arena
from engine.dispatch.contests import Contests
from engine.dispatch.epochs import Epochs
from engine.dispatch.job import crashed, unfit
from engine.dispatch.retries import Retries
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Broken, Built, Exhausted, Measured
from engine.ending import CampaignFailed
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation
from operators.individual import Candidate


class StoreMeasured(Protocol):
    """Stores a measurement; number: see events.Evaluated."""

    async def __call__(self, measured: Measured, number: int = 0) -> None: ...


class Beginning:
    """Leaves a seed that passed, an anchor, and a best that was made with today's toolchain."""

    def __init__(
        self,
        setting: DispatchSetting,
        scores: Scoreboard,
        retries: Retries,
        epochs: Epochs,
        contests: Contests,
        arena: Arena,
        store: StoreMeasured,
    ) -> None:
        self._setting, self._scores = setting, scores
        self._retries, self._epochs, self._store = retries, epochs, store
        self._contests, self._arena = contests, arena

    async def begin(self, seed: Candidate, known: Mapping[str, Candidate]) -> Evaluation:
        """The seed's first evaluation. known: see Scoreboard.wanted(). Raises CampaignFailed."""
        try:
            built = await self._built(seed)
            if built.kernel_id not in self._scores.evaluations:
                await self._measure_seed(built)
            evaluation = self._scores.first(built.kernel_id)
            if not evaluation.passed:
                raise unfit(evaluation)
            sources = {kernel_id: one.source for kernel_id, one in known.items()}
            self._arena.begin(built, sources)
            self._contests.begin()
            await self._anchor(built, sources)
            await self._renew(built, known)
        except Broken as error:
            raise CampaignFailed(
                f"the naive seed can't be compiled or measured: {error}; look at this machine with "
                "'kernel-scientist doctor --device', then start again"
            ) from error
        return evaluation

    async def _built(self, seed: Candidate) -> Built:
        built = await self._retries.compile(seed.source)
        if isinstance(built, Evaluation):
            raise unfit(built)
        return built

    async def _measure_seed(self, built: Built) -> None:
        measured = await self._retries.on_device(
            None, built.kernel_id, lambda lane: lane.measure(built, None, {})
        )
        await self._store(measured, self._scores.next_number(built.kernel_id))

    async def _anchor(self, seed: Built, sources: Mapping[str, str]) -> None:
        before = self._scores.toolchain
        if self._scores.epoch < 0 or before not in (None, self._setting.toolchain):
            await self._epochs.begin(seed)
        else:
            await self._epochs.go_on(seed, sources)

    async def _renew(self, seed: Built, known: Mapping[str, Candidate]) -> None:
        """Where a new chain began: the seed again, then those that were the best, the last first,
        until one of them is shown to be faster than the seed again."""
        if not self._scores.is_current(seed.kernel_id):
            await self._measure_seed(seed)
            if not self._scores.evaluations[seed.kernel_id].passed:
                raise unfit(self._scores.evaluations[seed.kernel_id])
        while self._scores.stale:
            kernel_id = self._scores.stale[0]
            measured = await self._measured_again(kernel_id, known[kernel_id])
            number = self._scores.next_number(kernel_id)
            await self._store(measured, number)
            self._setting.revised(number, measured.evaluation)
            if measured.evaluation.passed and self._setting.timed:
                await self._contests.challenge(kernel_id)

    async def _measured_again(self, kernel_id: str, candidate: Candidate) -> Measured:
        try:
            built = await self._retries.compile(candidate.source)
            if isinstance(built, Evaluation):
                return Measured(evaluation=built)
            _, measured = await self._epochs.beside_anchor(
                None, kernel_id, lambda anchor, lane: lane.measure(built, anchor, {})
            )
        except Exhausted as error:
            return Measured(
                evaluation=crashed(kernel_id, self._setting, "processes were lost", error)
            )
        return measured
