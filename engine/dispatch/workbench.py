"""What compile tasks and evaluators do, behind the one seam where a backend is plugged in."""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from engine.dispatch.task_here import TaskFiles, task_here
from evaluators import evaluate
from evaluators.device import Compiled, Compiler, backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict
from evaluators.kernel.seeds import on_backend
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.policy import Anchor, TimingPolicy, policy_of
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.sittings import brief, elsewhere
from evaluators.probes.probe import Answer, BuiltProbe, compile_probe
from evaluators.processes.child_evaluator import DeviceSick
from evaluators.processes.stand_by import StandBy
from evaluators.processes.stand_in import needs_stand_in, watched_elsewhere
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.weights import over_shapes


class Broken(Exception):
    """What works under the kernel broke, such as its process; another try may do."""


class Blameless(Broken):
    """Broken through no doing of the kernel that met it: it counts no attempt."""


class Sick(Blameless):
    """The device itself, not the kernel on it: leave it alone until it computes a known answer."""


class Displaced(Blameless):
    """The process ended before the kernel's turn in it came."""


class AnchorBroken(Blameless):
    """The anchor, which passed before, failed: neither the kernel nor the device is to blame."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status, self.reason = status, reason

    def __str__(self) -> str:
        return f"the anchor failed while a kernel was timed against it: {self.reason}"


class Exhausted(Broken):
    """Work that no kernel under test can break broke again and again, wherever it was done."""


Blocks = Mapping[str, tuple[float, ...]]
"""Paired ln ratios of times, by workload label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A kernel that compiled."""

    kernel: KernelSource
    compiled: Compiled

    @property
    def kernel_id(self) -> str:
        return self.kernel.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """verified: it is right on the held-out shapes too; looked at for the naive seed, and for what
    leads where nothing is timed. Others are looked at in contests."""

    evaluation: Evaluation
    verified: bool = False


class OpenDevice(Protocol):
    """What is asked of an open device itself: what it is."""

    @property
    def info(self) -> DeviceInfo: ...


class OpenEvaluator(Protocol):
    """What is used of an evaluator that has a device open; see evaluators.evaluate.Evaluator.

    Its faults are DeviceSick and AnchorFailed: call it within raising_broken().
    """

    @property
    def device(self) -> OpenDevice: ...

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """best: ln(anchor time / best time) by label, the early stop's bounds."""

    def verify(self, kernel: KernelSource, compiled: Compiled, suite: Suite) -> Verdict:
        """Whether it is right on the suite's shapes."""

    def watch(self, kernel: KernelSource) -> Verdict:
        """Whether it is free of races on every shape, as far as the backend can see them."""

    def link(self, kernel: KernelSource, compiled: Compiled, anchor: Anchor) -> Blocks:
        """Paired ln(anchor time / kernel time), enough of them for a new anchor.

        Raises Rejected when the kernel, which passed before, now does not.
        """

    def probe(self, built: BuiltProbe) -> Answer:
        """What its launches tell; one that fails is an answer, too."""


class Workbench(Protocol):
    """Picklable: says how to compile, and how to open a device."""

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        """For a device like info; needs none. An Evaluation is the verdict on what fails."""

    def compile_probe(self, text: str, info: DeviceInfo) -> BuiltProbe | Answer:
        """The same for a probe file. An Answer says why it was refused."""

    def open(self, device: int) -> AbstractContextManager[OpenEvaluator]:
        """Raises evaluators.device_info.BackendMissing, DeviceSick."""

    def open_afresh(self, device: int, turn: int) -> AbstractContextManager[OpenEvaluator]:
        """The same for one sitting: new processes, a new secret, and short races.

        turn: where devices are alike, the sitting is held on the one so many places further.
        """

    def watch(self, built: Built, info: DeviceInfo, turn: int) -> Verdict:
        """Whether a kernel that its own device, like info, shows no races of has none, as far as
        the host can see; needs no such device. turn: others run beside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendWorkbench:
    """The workbench of every campaign. task: as load_task() takes it; secret: of the inputs.

    policy: how to time, by default the backend's own way. shapes: see TimingPolicy; sittings time
    all of them. files: of a task of one's own, for nodes that lack it.
    """

    task: str
    backend: str
    secret: int
    policy: TimingPolicy | None = None
    shapes: int | None = None
    files: TaskFiles | None = None

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        task = self._task()
        compiler = _compiler(self.backend, info.arch)
        try:
            kernel, compiled = evaluate.compile_kernel(source, task, compiler, self.backend)
        except Rejected as rejected:
            return evaluate.failed(kernel_id(source), task.hash, info.device_class, rejected)
        return Built(kernel=kernel, compiled=compiled)

    def compile_probe(self, text: str, info: DeviceInfo) -> BuiltProbe | Answer:
        try:
            return compile_probe(text, _compiler(self.backend, info.arch), info)
        except Rejected as rejected:
            return Answer.of_rejected(text, rejected)

    def open(self, device: int) -> AbstractContextManager[OpenEvaluator]:
        """On a GPU in a child process, which faults end."""
        policy = self.policy
        if self.shapes is not None:
            policy = replace(policy or policy_of(self.backend), shapes=self.shapes)
        return evaluate.opened(
            self._task(),
            self.backend,
            index=device,
            secret=self.secret,
            policy=policy,
            stand_by=_stand_by(self.backend, device),
            stand_in=False,
        )

    def watch(self, built: Built, info: DeviceInfo, turn: int) -> Verdict:
        if not needs_stand_in(built.kernel, info):
            return Verdict(status=Status.PASSED)
        return watched_elsewhere(built.kernel, self._task(), info, turn)

    def open_afresh(self, device: int, turn: int) -> AbstractContextManager[OpenEvaluator]:
        """On cpu on one core after another; a GPU's process sees that GPU alone."""
        seen = 0 if turn == 0 or backend(self.backend).private_process else _cores(self.backend)
        afresh = replace(
            self,
            secret=secrets.randbits(128),
            policy=brief(self.backend, self.policy),
            shapes=None,
        )
        return afresh.open((device + turn) % seen if seen else device)

    def _task(self) -> Task:
        if self.files is not None:
            self.files.put(self.task)
        return _task(task_here(self.task), self.backend)


def leads_untimed(evaluation: Evaluation, best: Mapping[str, float]) -> bool:
    """Whether it was not timed and costs less than the best, over all. best: see OpenEvaluator."""
    if not evaluation.passed or evaluation.timed:
        return False
    weights = evaluation.weights
    return not best or over_shapes(evaluation.gains, weights) > over_shapes(best, weights)


def verified(evaluator: OpenEvaluator, built: Built, evaluation: Evaluation) -> Measured:
    """The evaluation that it just made, of a kernel that is right on held-out shapes too."""
    if not evaluation.passed:
        return Measured(evaluation=evaluation)
    started = time.monotonic()
    verdict = elsewhere(evaluator, built.kernel, built.compiled)
    held_s = evaluation.seconds.get("device", 0.0) + time.monotonic() - started
    seconds = {**evaluation.seconds, "device": held_s}
    if verdict.passed:
        return Measured(evaluation=replace(evaluation, seconds=seconds), verified=True)
    return Measured(evaluation=replace(overruled(evaluation, verdict), seconds=seconds))


def overruled(evaluation: Evaluation, verdict: Verdict) -> Evaluation:
    """What became of a kernel that had passed: a verdict without times."""
    return replace(
        evaluation,
        status=verdict.status,
        reason=verdict.reason,
        log=verdict.log,
        times_us={},
        costs={},
        gains={},
        blocks={},
        speedup=None,
        ci95=None,
        ci99=None,
        speed_of_light={},
        launching_us={},
        errors={},
        seconds={},
    )


def linked(evaluator: OpenEvaluator, built: Built, anchor: Anchor) -> Blocks | None:
    """Paired ln(anchor time / built's time), enough of them for a new anchor.

    None when the kernel, which passed before, now does not.
    """
    try:
        return evaluator.link(built.kernel, built.compiled, anchor)
    except Rejected:
        return None


@contextmanager
def raising_broken() -> Iterator[None]:
    """What an evaluator says of a device or an anchor, as the Broken that it is to a campaign."""
    try:
        yield
    except DeviceSick as error:
        raise Sick(str(error)) from error
    except AnchorFailed as error:
        raise AnchorBroken(error.rejected.status, str(error.rejected)) from error


@cache
def _task(name_or_path: str, backend_name: str) -> Task:
    return on_backend(load_task(name_or_path), backend_name)


@cache
def _stand_by(name: str, device: int) -> StandBy:
    """One for the evaluator of a device and for its sittings; it ends with this process."""
    return StandBy(name, device)


@cache
def _cores(name: str) -> int:
    return backend(name).device_count()


@cache
def _compiler(name: str, arch: str) -> Compiler:
    return backend(name).compiler(arch=arch)
