"""ChildEvaluator: an Evaluator in a process of its own, replaced after a fault or a deadline."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from evaluators.checks.disclosure import withholding
from evaluators.checks.gpu_kernels import Trusted
from evaluators.device import Compiled, Compiler, shown_alone
from evaluators.device_info import DeviceFault, DeviceInfo, MemorySpoilt
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict, failed
from evaluators.kernel.baseline import Planned
from evaluators.kernel.source import KernelSource
from evaluators.measuring.kills import PROCESSES, all_killed
from evaluators.measuring.policy import Anchor, BaselineAnchor, Rival, TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.trusted_kernels import compile_all_trusted, compiled_trusted
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.processes.memory_needs import require_memory
from evaluators.processes.messages import Call, Hello, Reply, Setting
from evaluators.processes.process import Lost, MeasuringProcess
from evaluators.processes.stand_by import StandBy
from evaluators.processes.stand_in import needs_stand_in, watched_elsewhere
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task import Task

OPENINGS = 3
FAULTS = 3


class DeviceSick(DeviceFault):
    """Faults in a row that no kernel explains: leave the device alone for a while."""


class RemoteDevice:
    """What is known of the child's device."""

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info


class ChildEvaluator:
    """The methods of Evaluator (evaluator.py), on a device that faults can't take along.

    A child dies with the thread that calls here: call from one that lives as long as the work.
    device.info is there from the start. Every call may raise DeviceSick; the call after that
    tries the device anew.
    """

    def __init__(
        self,
        *,
        task: Task,
        backend_name: str,
        secret: int,
        index: int = 0,
        policy: TimingPolicy | None = None,
        compiler: Compiler | None = None,
        stand_by: StandBy | None = None,
        stand_in: bool = True,
    ) -> None:
        """index: among the devices that this process may use. compiler: for the harness's own
        kernels, by default the backend's. stand_by: where processes on that device come from,
        by default its own; one that is given is the caller's to close. stand_in: whether watch()
        asks another device where its own shows no races; else that is the caller's to do.
        Raises BackendMissing, DeviceSick, TaskError.
        """
        self.task = task
        self.backend = backend_name
        self._index = index
        self._secret = secret
        self._policy = policy
        self._stand_in = stand_in
        self._compiler = compiler
        self._own_stand_by = stand_by is None
        self._stand_by = stand_by or StandBy(backend_name, index)
        self._trusted: Trusted | None = None
        self._faults = 0
        self._child: MeasuringProcess | None = None
        self.device = RemoteDevice(self._ready().info)

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """See Evaluator.measure."""
        started = time.perf_counter()
        try:
            made = self._call(
                Call(method="measure", arguments=(kernel, compiled, anchor, best)), kernel, anchor
            )
        except Rejected as rejected:
            seconds = {"compile": compiled.seconds, "device": time.perf_counter() - started}
            info = self.device.info
            return failed(
                kernel.id, self.task.hash, info.device_class, rejected, info=info, seconds=seconds
            )
        assert isinstance(made, Evaluation)
        return made

    def link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> dict[str, tuple[float, ...]]:
        """See Evaluator.link."""
        blocks: dict[str, tuple[float, ...]] = self._call(
            Call(method="link", arguments=(kernel, compiled, anchor)), kernel, anchor
        )
        return blocks

    def fit(self, baseline: BaselineAnchor) -> Verdict:
        """See Evaluator.fit."""
        try:
            made = self._call(Call(method="fit", arguments=(baseline,)), baseline.kernel)
        except Rejected as rejected:
            return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)
        assert isinstance(made, Verdict)
        return made

    def beside(
        self, kernel: KernelSource, compiled: Compiled, baseline: BaselineAnchor
    ) -> dict[str, tuple[float, ...]]:
        """See Evaluator.beside."""
        call = Call(method="beside", arguments=(kernel, compiled, baseline))
        blocks: dict[str, tuple[float, ...]] = self._call(call, kernel, baseline)
        return blocks

    def verify(
        self, kernel: KernelSource, compiled: Compiled, suite: Suite = "held_out"
    ) -> Verdict:
        """See Evaluator.verify."""
        try:
            with withholding(suite):
                call = Call(method="verify", arguments=(kernel, compiled, suite))
                made = self._call(call, kernel)
        except Rejected as rejected:
            return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)
        assert isinstance(made, Verdict)
        return made

    def watch(self, kernel: KernelSource) -> Verdict:
        """See Evaluator.watch; where the device shows no races, another one stands in."""
        made = self._call(Call(method="watch", arguments=(kernel,)), kernel)
        assert isinstance(made, Verdict)
        if not (made.passed and self._stand_in and needs_stand_in(kernel, self.device.info)):
            return made
        there = watched_elsewhere(kernel, self.task, self.device.info, self._index)
        return replace(there, log="\n".join(filter(None, (made.log, there.log))))

    def probe(self, built: BuiltProbe) -> Answer:
        """See Evaluator.probe."""
        started = time.perf_counter()
        try:
            made = self._call(Call(method="probe", arguments=(built,)), built.probe.kernel)
        except Rejected as rejected:
            seconds = time.perf_counter() - started
            return Answer.of_rejected(built.probe.text, rejected, seconds=seconds)
        assert isinstance(made, Answer)
        return made

    def close(self) -> None:
        self._retire()
        if self._own_stand_by:
            self._stand_by.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, call: Call, kernel: Planned, anchor: Rival | None = None) -> Any:
        """Raises what the method raises; Rejected or AnchorFailed when one of the two ended the
        child; DeviceSick. What no kernel explains is tried in PROCESSES children, what one
        kernel may have done to another in two."""
        suspected = False
        for _ in range(PROCESSES):
            reply = self._asked(call, kernel, anchor)
            fault = reply.error
            if isinstance(fault, AnchorFailed | MemorySpoilt) and not _killed(fault):
                if suspected:
                    raise self._convicted(fault, anchor)
                suspected = True
            elif not isinstance(fault, DeviceFault) and not _killed(fault):
                self._faults = 0
                if fault is not None:
                    raise fault
                return reply.value
        if isinstance(fault, DeviceFault):
            raise self._count(fault)
        assert isinstance(fault, Rejected | AnchorFailed)
        raise all_killed(fault)

    def _asked(self, call: Call, kernel: Planned, anchor: Rival | None) -> Reply:
        """One child's answer; after one that may be spoilt the next call goes to another."""
        try:
            reply = self._ready().ask(call)
        except Lost as lost:
            self._retire()
            return Reply(error=self._explained(lost, kernel, anchor))
        if reply.lost or isinstance(reply.error, AnchorFailed):
            self._retire()
        return reply

    def _explained(
        self, lost: Lost, kernel: Planned, anchor: Rival | None
    ) -> Rejected | AnchorFailed | DeviceFault:
        """Whose kernel ended the child."""
        verdict = _verdict(lost)
        if lost.running.kernel_id == kernel.id:
            self._faults = 0
            return verdict
        if anchor is not None and lost.running.kernel_id == anchor.kernel_id:
            self._faults = 0
            return AnchorFailed(verdict)
        return DeviceFault(f"the measuring process was lost: {lost.said}")

    def _convicted(
        self, fault: AnchorFailed | MemorySpoilt, anchor: Rival | None
    ) -> Rejected | AnchorFailed:
        """What came in two processes is the kernel's doing, unless the anchor fails alone too."""
        self._faults = 0
        if isinstance(fault, MemorySpoilt) or anchor is None:
            return Rejected(
                Status.WRONG, f"wrote outside of its buffers, in two processes: {fault}"
            )
        if isinstance(anchor, BaselineAnchor):  # not believed either: it was right just now
            return fault
        if not self.verify(anchor.kernel, anchor.compiled, "benchmarks").passed:
            return fault
        return Rejected(
            Status.WRONG,
            "beside it the anchor failed in two processes, though it is right alone "
            f"({fault.rejected.reason}): does this kernel write outside of its buffers?",
        )

    def _count(self, fault: DeviceFault) -> Exception:
        """A fault that came again, in a new process that had computed a known answer before."""
        self._faults += 1
        if self._faults >= FAULTS:
            return DeviceSick(f"{self._faults} kernels in a row met a fault, the last: {fault}")
        reason = f"the device failed {PROCESSES} times while this kernel was measured: {fault}"
        return Rejected(Status.CRASHED, reason)

    def _ready(self) -> MeasuringProcess:
        """A child with an Evaluator; another one, that has no device yet, stands by."""
        if self._child is not None and self._child.alive():
            return self._child
        self._retire()
        said = ""
        for _ in range(OPENINGS):
            child = self._stand_by.take()
            try:
                self._open(child)
            except (Lost, DeviceFault) as error:
                child.end()
                said = str(error)
                continue
            except BaseException:
                child.end()
                raise
            self._child = child
            self._stand_by.prepare()
            return child
        raise DeviceSick(f"{self.backend} device {self._index} can't be used: {said}")

    def _open(self, child: MeasuringProcess) -> None:
        index = 0 if shown_alone(self.backend) else self._index  # it sees that GPU only
        info = _value(child.ask(Hello(backend=self.backend, index=index)))
        assert isinstance(info, DeviceInfo)
        child.info = info
        require_memory(self.task, info)
        if self._trusted is None and info.judges_on_device and info.timed:
            self._trusted = (
                compile_all_trusted(self.task, self._compiler, self.backend)
                if self._compiler
                else compiled_trusted(self.task, info)
            )
        setting = Setting(
            task=self.task, secret=self._secret, policy=self._policy, trusted=self._trusted
        )
        _value(child.ask(setting))

    def _retire(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def _value(reply: Reply) -> Any:
    if reply.error is not None:
        raise reply.error
    return reply.value


def _killed(error: Exception | None) -> bool:
    """Whether a kernel's process was ended from outside."""
    rejected = error.rejected if isinstance(error, AnchorFailed) else error
    return isinstance(rejected, Rejected) and rejected.killed


def _verdict(lost: Lost) -> Rejected:
    if lost.late:
        return Rejected(
            Status.TIMEOUT,
            f"the launches took longer than {lost.running.deadline_s:g} s and could not be ended",
        )
    ran = ", ".join(lost.running.entries)
    reason = f"the process that ran {ran} ended with {lost.said}"
    return Rejected(Status.CRASHED, reason, killed=lost.killed)
