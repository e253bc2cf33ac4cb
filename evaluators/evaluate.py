"""The cascade: parse, static checks, compile | check, time. evaluate_file() does it all."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from evaluators.checks.disclosure import on
from evaluators.checks.shapes import costed, shapes_for
from evaluators.device import Compiled, Compiler, backend, times
from evaluators.device_info import DeviceInfo, target_of
from evaluators.evaluation import Beside, Evaluation, Rejected, Verdict, failed
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.measuring.baselines import anchor_of, anchor_of_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.final_sittings import hold, settled
from evaluators.measuring.policy import Anchor, BaselineAnchor, TimingPolicy, policy_of
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.sittings import (
    brief,
    spread_of,
    watched,
)
from evaluators.measuring.trusted_kernels import compiled_naive
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.processes.stand_by import StandBy
from evaluators.tasks.arguments import SUITES, Suite, TaskError, Workload
from evaluators.tasks.baselines import baselines_on
from evaluators.tasks.reference import check_reference
from evaluators.tasks.task import Task
from evaluators.tasks.task import read_text as task_text
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text

__all__ = [
    "Anchor",
    "Evaluator",
    "TimingPolicy",
    "Verdict",
    "compile_kernel",
    "compile_shown",
    "evaluate_file",
    "failed",
    "opened",
]


FINAL_S = 24.0
"""For the sittings of one kernel that a person waits for."""

Opened = AbstractContextManager[Evaluator | ChildEvaluator]


def compile_kernel(
    source: str, task: Task, compiler: Compiler, backend: str
) -> tuple[KernelSource, Compiled]:
    """Parse, plan every workload of the backend, compile each set of defines once.

    Whether it fails on held-out shapes is told by Evaluator.verify, as any failure there.
    Raises Rejected: INVALID, UNSUPPORTED, COMPILE_ERROR, TIMEOUT.
    """
    kernel, compiled = compile_shown(source, task, compiler, backend)
    try:
        return kernel, _with_held_out(kernel, compiled, task, compiler, backend)
    except Rejected:
        return kernel, replace(compiled, held_out=False)


def compile_shown(
    source: str, task: Task, compiler: Compiler, backend: str
) -> tuple[KernelSource, Compiled]:
    """The same for the shapes that a kernel's author may know: tests and benchmarks."""
    kernel = parse_kernel(source)
    return kernel, compiler.compile(kernel, _distinct(_shown_plans(kernel, task, backend)))


def _with_held_out(
    kernel: KernelSource, compiled: Compiled, task: Task, compiler: Compiler, backend: str
) -> Compiled:
    """Raises Rejected: it can't be planned or compiled for a held-out shape."""
    told = _shown_plans(kernel, task, backend)
    known = {build for plan in told for build in plan.builds}
    plans = _plans(kernel, task, "held_out", backend)
    further = [plan for plan in plans if not known.issuperset(plan.builds)]
    if not further:
        return compiled
    beside = {plan.defines for plan in further}
    again = [plan for plan in told if plan.defines in beside]
    more = compiler.compile(kernel, _distinct([*again, *further]))
    return replace(
        compiled,
        binaries={**compiled.binaries, **more.binaries},
        hidden=more.resources,
        seconds=compiled.seconds + more.seconds,
    )


def _shown_plans(kernel: KernelSource, task: Task, backend: str) -> list[Plan]:
    suites: tuple[Suite, ...] = ("tests", "benchmarks")
    plans = [plan for suite in suites for plan in _plans(kernel, task, suite, backend)]
    return (
        plans
        if times(backend)
        else [*plans, *_planned(kernel, task, costed(task, backend), backend)]
    )


def _plans(kernel: KernelSource, task: Task, suite: Suite, backend: str) -> list[Plan]:
    return _planned(kernel, task, shapes_for(kernel, task, suite, backend), backend)


def _planned(
    kernel: KernelSource, task: Task, shapes: Sequence[Workload], backend: str
) -> list[Plan]:
    plans = []
    for workload in shapes:
        with on(workload):
            plans.append(kernel.plan(task, workload, target_of(backend)))
    return plans


def _distinct(plans: Sequence[Plan]) -> list[Plan]:
    """Without those that are there already; plans can't be hashed."""
    return [plan for i, plan in enumerate(plans) if plan not in plans[:i]]


def evaluate_file(
    path: str | Path,
    task: str | Path | Task,
    backend_name: str,
    *,
    policy: TimingPolicy | None = None,
    seconds: float = FINAL_S,
) -> Evaluation:
    """Everything about one kernel file: right on every shape, timed against the naive seed.

    Its speedup is that of several sittings, for which seconds are enough (see sittings.py);
    with 0 seconds that of one race. Where nothing is timed it has costs and no speedup.
    policy: by default the backend's. On a GPU it runs in a process of its own.
    Raises OSError (no such file), TaskError (also for a naive seed or a reference that is wrong),
    BackendMissing, DeviceFault.
    """
    source = read_text(Path(path), "surrogateescape")
    task = task if isinstance(task, Task) else load_task(task)
    check_reference(task, backend_name)
    private = backend(backend_name).private_process
    devices = 1 if private else backend(backend_name).device_count()
    thorough = replace(policy or policy_of(backend_name), thorough=times(backend_name))
    with (
        StandBy(backend_name) as stand_by,
        opened(task, backend_name, policy=thorough, stand_by=stand_by) as evaluator,
    ):
        info = evaluator.device.info
        compiler = backend(backend_name).compiler(arch=info.arch)
        try:
            kernel, compiled = compile_kernel(source, task, compiler, backend_name)
        except Rejected as rejected:
            return failed(kernel_id(source), task.hash, info.device_class, rejected, info=info)
        naive, naive_compiled = compiled_naive(task, info)
        anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=naive_compiled)

        def afresh(index: int) -> Opened:
            timing = brief(backend_name, policy)
            return opened(task, backend_name, index=index, policy=timing, stand_by=stand_by)

        try:
            evaluation = _checked(evaluator, kernel, compiled, anchor)
            if not evaluation.passed or not seconds or not evaluation.timed:
                return evaluation
            # What is open here is not used any more: sittings are in processes of their own.
            beside, refused = _baselines(task, compiler, info)
            held = hold(afresh, devices, kernel, compiled, anchor, beside, seconds)
        except AnchorFailed as error:
            raise _wrong_naive(evaluator, anchor, error) from error
    return settled(evaluation, held, anchor, beside, refused, spread_of(backend_name))


def _baselines(
    task: Task, compiler: Compiler, info: DeviceInfo
) -> tuple[list[BaselineAnchor], dict[str, Beside]]:
    """Those that the task names for the backend: to be raced with, and those that can't be."""
    anchors: list[BaselineAnchor] = []
    refused: dict[str, Beside] = {}
    for one in baselines_on(task.baselines, info.backend):
        if one.kind != "kernel":
            anchors.append(anchor_of(one, info))
            continue
        try:
            source = task_text(one.file)
            kernel, compiled = compile_kernel(source, task, compiler, info.backend)
        except (TaskError, Rejected) as error:
            why = error.reason if isinstance(error, Rejected) else str(error)
            refused[one.name] = Beside(refused=f"was refused: {why}")
        else:
            anchors.append(anchor_of_kernel(one, kernel, compiled))
    return anchors, refused


def _checked(
    evaluator: Evaluator | ChildEvaluator, kernel: KernelSource, compiled: Compiled, anchor: Anchor
) -> Evaluation:
    """One measurement, of a kernel that is right on held-out shapes too, and free of races."""
    evaluation = evaluator.measure(kernel, compiled, anchor)
    if not evaluation.passed:
        return evaluation
    verdict = watched(evaluator, kernel, compiled)
    if verdict.passed:
        known = evaluation.log.splitlines()
        untried = [line for line in verdict.log.splitlines() if line not in known]
        return replace(evaluation, log="\n".join([*known, *untried]))
    info = evaluator.device.info
    rejected = Rejected(verdict.status, verdict.reason)
    return failed(
        kernel.id,
        evaluation.task_hash,
        info.device_class,
        rejected,
        info=info,
        seconds=evaluation.seconds,
    )


@contextmanager
def opened(
    task: Task,
    backend_name: str,
    *,
    index: int = 0,
    secret: int | None = None,
    policy: TimingPolicy | None = None,
    stand_by: StandBy | None = None,
    stand_in: bool = True,
) -> Iterator[Evaluator | ChildEvaluator]:
    """An evaluator on the index-th device: on a GPU in a process of its own, which faults end.

    secret: of the inputs, by default a new one. stand_by: where such a process comes from.
    stand_in: see ChildEvaluator.
    Raises BackendMissing, DeviceSick, TaskError.
    """
    secret = secrets.randbits(128) if secret is None else secret
    if backend(backend_name).private_process:
        with ChildEvaluator(
            task=task,
            backend_name=backend_name,
            index=index,
            secret=secret,
            policy=policy,
            stand_by=stand_by,
            stand_in=stand_in,
        ) as child:
            yield child
        return
    device = backend(backend_name).open_device(index)
    try:
        yield Evaluator(task=task, device=device, secret=secret, policy=policy)
    finally:
        device.close()


def _wrong_naive(
    evaluator: Evaluator | ChildEvaluator, naive: Anchor, error: AnchorFailed
) -> TaskError:
    """What is wrong with the naive seed: its first failing test, or else how it failed."""
    verdicts = (evaluator.verify(naive.kernel, naive.compiled, suite) for suite in SUITES)
    wrong = next((verdict for verdict in verdicts if not verdict.passed), None)
    found = f"is {wrong.status}: {wrong.reason}" if wrong else f"failed once: {error}"
    return TaskError(
        f"{evaluator.task.folder}: its naive seed, against which kernels are timed, {found}; mend "
        "the seed, or the task's tolerance or values"
    )
