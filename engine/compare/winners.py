"""The kernels that campaigns found, measured again together, and whose is shown to be faster."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from engine.compare.arms import Arm, listed
from engine.compare.campaign import Campaign, CompareError
from evaluators.device import Compiled, backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluate import Opened, compile_kernel, opened
from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.intervals import Blocks, Ratio, Sittings
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.sittings import LEAST, MOST, Sitting, brief, busy_text, sit, spread_of
from evaluators.measuring.trusted_kernels import compiled_naive
from evaluators.processes.stand_by import StandBy
from evaluators.tasks.task import Task
from evaluators.weights import weights_of

TOGETHER = 6
"""Kernels of a task that are measured together: every two of them meet in every sitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Winner:
    """A kernel that one campaign found, or several. names: of the campaigns."""

    names: tuple[str, ...]
    kernel_id: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """ratio: how many times as fast the first is as the second, with its 95% interval. shown:
    whether one is faster, with 95% confidence over all duels."""

    first: Winner
    second: Winner
    ratio: Ratio
    shown: bool

    def of(self, one: str, other: str) -> bool:
        return {self.first.kernel_id, self.second.kernel_id} == {one, other}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remeasured:
    """over_seed: by kernel id, over the naive seed, with a 95% interval that is to hold a later
    measurement too; so are those of the duels. wrong: by kernel id, what failed now."""

    task: str
    device: DeviceInfo
    winners: tuple[Winner, ...]
    sittings: int
    seconds: float
    over_seed: Mapping[str, Ratio]
    duels: tuple[Duel, ...]
    wrong: Mapping[str, str]
    busy: str


def choose(arms: Sequence[Arm], task: str) -> tuple[list[Winner], list[str]]:
    """The winners of a task's campaigns, of each arm the fastest first; and sentences on those
    that are left out. Raises CompareError."""
    found = [[one for one in arm.of_task(task) if has_found(one)] for arm in arms]
    told = [
        f"{one.name} found nothing faster than the naive seed"
        for arm in arms
        for one in arm.of_task(task)
        if not has_found(one)
    ]
    ranked = [sorted(members, key=_speed, reverse=True) for members in found if members]
    first = sorted((members[0] for members in ranked), key=_speed, reverse=True)
    rest = sorted((one for members in ranked for one in members[1:]), key=_speed, reverse=True)
    chosen, left = [*first, *rest][:TOGETHER], [*first, *rest][TOGETHER:]
    if left:
        names = listed([one.name for one in left])
        told.append(f"{TOGETHER} winners are measured together; left out: {names}")
    return list(_distinct(chosen)), told


def has_found(campaign: Campaign) -> bool:
    """Whether it has a best beside the naive seed."""
    best = campaign.best
    return best is not None and (best.final or best.speedup != 1.0)


def remeasure(
    winners: Sequence[Winner],
    task: Task,
    backend_name: str,
    *,
    seconds: float,
    tell: Callable[[str], None] = lambda _: None,
    policy: TimingPolicy | None = None,
) -> Remeasured:
    """Measure kernels beside each other and the naive seed, on this machine.

    In sittings of new processes on new inputs, in random order, every two of them in each; in the
    first they are checked too. seconds: LEAST sittings are held however long they take. policy: of
    a campaign, by default the backend's.
    Raises CompareError, TaskError, BackendMissing, DeviceFault.
    """
    began = time.monotonic()
    with StandBy(backend_name) as stand_by:
        table = _Table(task, backend_name, stand_by, brief(backend_name, policy))
        wrong = table.compile(winners)
        held = 0
        while held < LEAST or (held < 2 * MOST and time.monotonic() - began < seconds):
            tell(f"{task.name}: sitting {held + 1}, {time.monotonic() - began:.0f} s")
            wrong |= table.sit_all(held)
            held += 1
            if not table.built:
                break
    return table.told(winners, wrong, held, time.monotonic() - began)


class _Table:
    """Compiled kernels, and the paired blocks of every two of them."""

    def __init__(
        self, task: Task, backend_name: str, stand_by: StandBy, policy: TimingPolicy
    ) -> None:
        self._task, self._backend = task, backend_name
        self._stand_by, self._policy = stand_by, policy
        self._devices = 1
        if not backend(backend_name).private_process:
            self._devices = backend(backend_name).device_count()
        with self._opened(0) as evaluator:
            self.info = evaluator.device.info
        naive, compiled = compiled_naive(task, self.info)
        self._seed = Anchor(kernel_id=naive.id, kernel=naive, compiled=compiled)
        self.built: dict[str, tuple[KernelSource, Compiled]] = {}
        self._blocks: dict[tuple[str, str], list[Blocks]] = {}
        self._pressures: list[float] = []
        self._rng = np.random.default_rng(secrets.randbits(64))

    def compile(self, winners: Sequence[Winner]) -> dict[str, str]:
        """What does not compile, and why, by kernel id."""
        compiler = backend(self._backend).compiler(arch=self.info.arch)
        wrong = {}
        for one in winners:
            try:
                built = compile_kernel(one.source, self._task, compiler, self._backend)
                self.built[one.kernel_id] = built
            except Rejected as rejected:
                wrong[one.kernel_id] = str(rejected)
        return wrong

    def sit_all(self, turn: int) -> dict[str, str]:
        """Each beside the seed and those that come after it, in random order; what failed."""
        wrong: dict[str, str] = {}
        order = list(self.built)
        self._rng.shuffle(order)
        for place, identity in enumerate(order):
            if identity not in self.built:
                continue  # it failed as another's rival
            rivals = [one for one in order[place + 1 :] if one in self.built]
            anchors = [self._seed, *(self._anchor(one) for one in rivals)]
            self._rng.shuffle(anchors)
            made = self._sit(identity, anchors, turn)
            failed = {} if made.verdict.passed else {identity: made.verdict.reason}
            failed |= {one: verdict.reason for one, verdict in made.failed.items()}
            for one, reason in failed.items():
                if one == self._seed.kernel_id:
                    raise CompareError(f"{self._task.name}: its naive seed failed now: {reason}")
                wrong[one] = reason
                self.built.pop(one, None)
            for rival, blocks in made.blocks.items():
                self._blocks.setdefault((identity, rival), []).append(blocks)
            self._pressures.append(made.pressure)
        return wrong

    def told(
        self, winners: Sequence[Winner], wrong: Mapping[str, str], held: int, seconds: float
    ) -> Remeasured:
        right = [one for one in winners if one.kernel_id in self.built]
        pairs = list(combinations(right, 2))
        confidence = 1 - 0.05 / max(1, len(pairs))
        over_seed = {
            one.kernel_id: self._sittings(one.kernel_id, self._seed.kernel_id).ratio(
                0.95, later=True
            )
            for one in right
        }
        return Remeasured(
            task=self._task.name,
            device=self.info,
            winners=tuple(winners),
            sittings=held,
            seconds=seconds,
            over_seed=over_seed,
            duels=tuple(self._duel(first, second, confidence) for first, second in pairs),
            wrong=wrong,
            busy=busy_text(self._pressures),
        )

    def _duel(self, first: Winner, second: Winner, confidence: float) -> Duel:
        made = self._sittings(first.kernel_id, second.kernel_id)
        low, high = made.interval(confidence, later=True)
        return Duel(
            first=first,
            second=second,
            ratio=made.ratio(0.95, later=True),
            shown=not low <= 0 <= high,
        )

    def _sittings(self, first: str, second: str) -> Sittings:
        """Whoever of them sat, and beside whom."""
        turned = [_turned(one) for one in self._blocks.get((second, first), ())]
        blocks = [*self._blocks.get((first, second), ()), *turned]
        weights = weights_of(self._task.workloads("benchmarks", self._backend))
        return Sittings(blocks, spread_of(self._backend), weights)

    def _sit(self, identity: str, rivals: Sequence[Anchor], turn: int) -> Sitting:
        kernel, compiled = self.built[identity]
        with self._opened(turn) as evaluator:
            return sit(evaluator, kernel, compiled, rivals, check=turn == 0)

    def _opened(self, turn: int) -> Opened:
        return opened(
            self._task,
            self._backend,
            index=turn % self._devices,
            policy=self._policy,
            stand_by=self._stand_by,
        )

    def _anchor(self, identity: str) -> Anchor:
        kernel, compiled = self.built[identity]
        return Anchor(kernel_id=identity, kernel=kernel, compiled=compiled)


def inverse(ratio: Ratio) -> Ratio:
    return 1 / ratio[0], 1 / ratio[2], 1 / ratio[1]


def _turned(blocks: Blocks) -> Blocks:
    return {label: [-value for value in values] for label, values in blocks.items()}


def _distinct(campaigns: Sequence[Campaign]) -> Iterator[Winner]:
    """Several campaigns may have found one kernel."""
    names: dict[str, list[str]] = {}
    sources = {}
    for one in campaigns:
        source = one.source()
        identity = kernel_id(source)
        sources[identity] = source
        names.setdefault(identity, []).append(one.name)
    for identity, source in sources.items():
        yield Winner(names=tuple(names[identity]), kernel_id=identity, source=source)


def _speed(campaign: Campaign) -> float:
    return campaign.best.speedup if campaign.best else 0.0
