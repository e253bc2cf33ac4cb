"""Lost processes: counted as faults; what no kernel under test can break is done again."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.dispatch.devices.lane import Lane
from engine.dispatch.devices.patience import first_fit
from engine.dispatch.idle import Occupancy
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import AnchorBroken, Broken, Built, Displaced, Exhausted, Sick
from engine.store.events import Fault
from evaluators.evaluation import Evaluation

_T = TypeVar("_T")

ATTEMPTS = 3
"""Processes that one kernel, or one piece of work on one device, may take with it."""

TURNS = 3
"""Devices that are tried before work that fails on each of them is given up."""


class Faults:
    """What was lost without a verdict, stored. count: so far in this session."""

    def __init__(self, setting: DispatchSetting) -> None:
        self._setting = setting
        self.count = 0

    def note(self, where: str, error: Broken, kernel_id: str) -> None:
        """where: a lane's name, or what else broke. kernel_id: of what met it, or empty."""
        self.count += 1
        self._setting.journal.post(
            Fault(
                session=self._setting.session,
                number=self.count,
                where=where,
                message=str(error),
                kernel_id=kernel_id,
            )
        )


class Retries:
    """For seeds, anchors and links: a lost process is no verdict on them.

    Work is done again where its process was lost, then on another device.
    """

    def __init__(self, setting: DispatchSetting, faults: Faults, occupancy: Occupancy) -> None:
        self._setting, self._faults, self._occupancy = setting, faults, occupancy

    async def compile(self, source: str) -> Built | Evaluation:
        """Raises Exhausted."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._setting.compile(source)
            except Broken as error:
                self._faults.note("compile task", error, "")
                if attempt == ATTEMPTS:
                    raise Exhausted(f"{ATTEMPTS} compile tasks were lost: {error}") from error
        raise AssertionError("unreachable")

    async def on_host(self, kernel_id: str, work: Callable[[], Awaitable[_T]]) -> _T:
        """Raises Exhausted."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await work()
            except Broken as error:
                self._faults.note("host", error, kernel_id)
                if attempt == ATTEMPTS:
                    raise Exhausted(f"{ATTEMPTS} processes were lost: {error}") from error
        raise AssertionError("unreachable")

    async def on_device(
        self, first: Lane | None, kernel_id: str, work: Callable[[Lane], Awaitable[_T]]
    ) -> _T:
        """Work for kernel_id, on the first lane where that is well, and on another after faults.

        A lane that loses ATTEMPTS processes over it is left alone. Raises AnchorBroken at once,
        Exhausted after TURNS lanes, CampaignFailed when all lanes stay away.
        """
        tried: list[Lane] = []
        for turn in range(1, TURNS + 1):
            lane = await self._choose(first, tried)
            try:
                return await self._turn(lane, kernel_id, work)
            except AnchorBroken:
                raise
            except Broken as error:
                lane.leave_alone(error)
                tried.append(lane)
                if turn == TURNS:
                    said = f"it failed on {TURNS} devices in turn, the last, {lane.name}: {error}"
                    raise Exhausted(said) from error
        raise AssertionError("unreachable")

    async def _turn(self, lane: Lane, kernel_id: str, work: Callable[[Lane], Awaitable[_T]]) -> _T:
        """On one lane, up to ATTEMPTS lost processes; Sick and AnchorBroken are raised at once."""
        lost = 0
        while True:
            try:
                with self._occupancy.on(lane):
                    return await work(lane)
            except Broken as error:
                self._faults.note(lane.name, error, kernel_id)
                lost += not isinstance(error, Displaced)
                if isinstance(error, Sick | AnchorBroken) or lost == ATTEMPTS:
                    raise

    async def _choose(self, first: Lane | None, tried: list[Lane]) -> Lane:
        """One that is well, best one not tried yet; where none is, the first that comes back."""
        lanes = self._setting.lanes if first is None else [first, *self._setting.lanes]
        well = [lane for lane in lanes if lane.well]
        fresh = [lane for lane in well if lane not in tried]
        if well:
            return (fresh or well)[0]
        return await first_fit(self._setting.fleet, self._setting.patience_s)
