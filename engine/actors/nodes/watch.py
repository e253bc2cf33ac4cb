"""The nodes of a campaign: those that come bring devices and cores, those that go take them."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial

import ray

from engine.actors.layout import Layout
from engine.actors.lifeline import Driver
from engine.actors.nodes.evaluator import RayLane
from engine.actors.nodes.home import Home
from engine.actors.nodes.node import Node, NodeLost, living_nodes, look_at
from engine.actors.nodes.shares import Shares
from engine.config import CampaignConfig
from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.workbench import Broken, Workbench
from engine.dispatch.workers import Workers
from engine.ending import CampaignFailed
from evaluators.device_info import BackendMissing, DeviceInfo

LOOK_EVERY_S = 2.0
"""How often Ray is asked which nodes there are."""

AGAIN_S = 60.0
"""Before a node or device that could not be used is looked at again."""

SETTLE_S = 30.0
"""Once one device is open, how long a campaign waits for others before it begins."""

SOON_S = 0.1


class NodeWatch:
    """Devices of one class measure; a node without any, or with others, only compiles.

    Nodes go through the same steps at the start and later: they are looked at, their devices are
    opened, a kernel is compiled there.
    """

    def __init__(
        self,
        config: CampaignConfig,
        workbench: Workbench,
        driver: Driver,
        naive: str,
        failed: Callable[[BaseException], None],
    ) -> None:
        """naive: a kernel that compiles, for trying nodes. failed: told what ends the campaign."""
        self._config, self._workbench, self._driver = config, workbench, driver
        self._naive = naive
        self.fleet = Fleet(compile_workers=0)
        self._homes: dict[str, Home] = {}  # by the node's id
        self._lanes: dict[str, list[RayLane]] = defaultdict(list)  # by the node's id
        self._opened: list[tuple[Home, DeviceInfo]] = []
        self._chosen: asyncio.Future[DeviceInfo] = asyncio.get_running_loop().create_future()
        self._refused: dict[str, tuple[float, str]] = {}  # node's id -> until when, a sentence
        self._shares = Shares(config.devices.most)
        self._refusals: Counter[str] = Counter()  # of each node, by its id
        self._unfit: set[str] = set()  # ids of nodes with a device that could not be opened
        self._looking: set[str] = set()  # ids of nodes that are taken in just now
        self._opening = 0  # devices that have not answered yet
        self._failure: BaseException | None = None
        self._failed = failed
        self.tell: Callable[[Mapping[str, int]], None] = lambda nodes: None
        """Told once in a while, by name, of the devices that measure on each node."""
        self._begin = Workers(self._fail).begin

    @property
    def count(self) -> int:
        """Nodes of the campaign, whatever they do for it."""
        return len(self._homes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of nodes, a sentence each."""
        homes = self._homes.values()
        said = (f"node {home.node.name} {note}" for home in homes for note in home.notes)
        return (*dict.fromkeys(said), *(sentence for _, sentence in self._refused.values()))

    def told(self) -> list[str]:
        """What each node gives, in a clause after its name."""
        return [
            f"{home.node.name}: devices that measure {len(self._lanes[home.node.id])}, kernels "
            f"compiled at once {home.plan.compile_workers if home.compiles else 0}"
            for home in self._homes.values()
        ]

    async def taken_in(self, patience_s: float) -> None:
        """Once every node is looked at, but for what takes longer than that."""
        until = time.monotonic() + patience_s
        while self._looking and time.monotonic() < until:
            await asyncio.sleep(SOON_S)

    def to_compile(self) -> Home | None:
        """Where there is most room; None where no node compiles just now."""
        able = [home for home in self._homes.values() if home.compiles]
        return min(able, key=lambda home: home.load, default=None)

    # --- the beginning --------------------------------------------------------------------------

    async def open_own(self, plan: Layout) -> list[DeviceInfo]:
        """The devices of this machine, and no others. One that is not well joins in quarantine.

        Raises CampaignFailed when none is well.
        """
        home = self._homes[""] = Home(Node(), plan)
        lanes = [self._lane(home, device) for device in plan.devices]
        found = await asyncio.gather(*(lane.info() for lane in lanes))
        infos = [info for info in found if info is not None]
        if not infos:
            raise CampaignFailed(
                "no device computes a known answer; 'kernel-scientist doctor --device' says more"
            )
        for lane in lanes:
            self.fleet.join(lane)
        self.fleet.compile_with(plan.compile_workers)
        return infos

    async def open_cluster(
        self, before: str, *, patience_s: float | None = None
    ) -> list[DeviceInfo]:
        """The devices of the cluster's nodes, as far as they are of one class, and from now on
        those that come. before: the class of earlier sessions; empty: there were none. patience_s:
        for a first device, by default the configuration's.

        Raises CampaignFailed when none can be used.
        """
        self._begin(self._watch())
        await self._settle(patience_s)
        self._chosen.set_result(self._choose(before))
        while not (self.fleet.lanes and self.fleet.compile_workers):
            self._check()
            if not self._looking:
                why = "; ".join(self.notes) or "Ray shares out no CPUs"
                raise CampaignFailed(
                    f"no node of the cluster compiles kernels for {self._config.backend}: {why}"
                )
            await asyncio.sleep(SOON_S)
        wanted = self._chosen.result().device_class
        return [info for _, info in self._opened if info.device_class == wanted]

    async def _settle(self, given_s: float | None) -> None:
        """Until all devices are open, or one is and others take their time."""
        patience_s = given_s or self._config.devices.patience_s
        began, first_at = time.monotonic(), 0.0
        while True:
            self._check()
            now = time.monotonic()
            busy = bool(self._opening or self._looking - self._homes.keys())
            if self._opened:
                first_at = first_at or now
                if not busy or now > first_at + SETTLE_S:
                    return
            elif not busy and self._useless():
                why = "; ".join(self.notes)
                raise CampaignFailed(
                    f"no {self._config.backend} device of the cluster can be used: {why}"
                )
            elif now > began + patience_s:
                why = "; ".join(self.notes) or "no node has one, or others use them"
                key = "" if given_s else " (devices.patience_s)"
                raise CampaignFailed(
                    f"no {self._config.backend} device could be opened on the cluster within "
                    f"{patience_s:g} s{key}: {why}"
                )
            await asyncio.sleep(SOON_S)

    def _useless(self) -> bool:
        """Whether waiting is of no use: devices are there, or nodes, and none of them can be used,
        those nodes not at a second look either."""
        refused_again = any(count > 1 for count in self._refusals.values())
        return bool(self._unfit) or (refused_again and not self._homes)

    def _choose(self, before: str) -> DeviceInfo:
        """Whose class is the campaign's: as before, else that of the driver's node, else what most
        devices have."""
        infos = [info for _, info in self._opened]
        here = ray.get_runtime_context().get_node_id()
        near = [info.device_class for home, info in self._opened if home.node.id == here]
        usual = Counter(near or [info.device_class for info in infos]).most_common(1)[0][0]
        wanted = before or usual
        found = next((info for info in infos if info.device_class == wanted), None)
        if found is None:
            there = " and ".join(sorted({info.device_class for info in infos}))
            raise CampaignFailed(
                f"times of different devices can't be compared: this campaign's are of {before}, "
                f"and the cluster has {there}; add such nodes, or start a new campaign"
            )
        return found

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _fail(self, error: BaseException) -> None:
        self._failure = error
        self._failed(error)

    # --- nodes come and go ----------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            alive = {node.id: node for node in await asyncio.to_thread(living_nodes)}
            for lost in self._homes.keys() - alive.keys():
                self._lose(lost)
            now = time.monotonic()
            self._refused = {
                one: told for one, told in self._refused.items() if one in alive and told[0] > now
            }
            for node in alive.values():
                if node.id not in self._homes.keys() | self._looking | self._refused.keys():
                    self._looking.add(node.id)
                    self._begin(self._take_in(node))
            self.tell({home.node.name: len(self._lanes[id]) for id, home in self._homes.items()})
            await asyncio.sleep(LOOK_EVERY_S)

    async def _take_in(self, node: Node) -> None:
        config = self._config
        try:
            found, scout = await look_at(node, config.backend, config.devices, self._driver)
            home = Home(node, found.plan, scout, partial(self._lose, node.id))
            self._homes[node.id] = home
            opening = [self._open(home, device) for device in self._shares.claim(home, found)]
            await asyncio.gather(self._try_compiling(home), *opening)
        except NodeLost as lost:
            until = time.monotonic() + AGAIN_S
            self._refusals[node.id] += 1
            self._refused[node.id] = until, f"node {node.name} can't be used: {lost}"
        finally:
            self._looking.discard(node.id)

    async def _open(self, home: Home, device: int) -> None:
        """Let it join, if it is of the campaign's class."""
        lane = self._lane(home, device)
        self._opening += 1
        try:
            info = await lane.look()
        except (BackendMissing, Broken) as error:
            self._leave(home, lane)
            home.notes.append(f"has a device that can't be used: {error}")
            self._unfit.add(home.node.id)
            return
        finally:
            self._opening -= 1
        self._opened.append((home, info))
        chosen = await self._chosen
        if info.device_class != chosen.device_class:
            self._leave(home, lane)
            home.notes.append(
                f"only compiles: it has {info.device_class}, and times beside those of "
                f"{chosen.device_class} can't be compared"
            )
        elif home.left:
            lane.leave()
        else:
            self._lanes[home.node.id].append(lane)
            self.fleet.join(lane)

    def _leave(self, home: Home, lane: RayLane) -> None:
        """It will not measure."""
        lane.leave()
        self._shares.give_back(home)

    async def _try_compiling(self, home: Home) -> None:
        await home.try_compiling(self._workbench, self._naive, await self._chosen)
        self._count_compilers()

    def _lose(self, node_id: str) -> None:
        """The node is gone, with all that was at work there."""
        home = self._homes.pop(node_id, None)
        if home is None:
            return
        home.left = True
        self._unfit.discard(node_id)
        self._shares.lose(home)
        self._opened = [(one, info) for one, info in self._opened if one is not home]
        for lane in self._lanes.pop(node_id, ()):
            self.fleet.leave(lane)
        self._count_compilers()

    def _count_compilers(self) -> None:
        room = sum(home.plan.compile_workers for home in self._homes.values() if home.compiles)
        wanted = self._config.devices.compile_workers
        self.fleet.compile_with(room if wanted is None or not room else wanted)

    def _lane(self, home: Home, device: int) -> RayLane:
        return RayLane(self._workbench, device, self._driver, home)
