"""The cascade: parse, static checks, compile | check, time. evaluate_file() does it all."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evaluators.checks.disclosure import on, withholding
from evaluators.device import Compiled, Compiler, backend
from evaluators.evaluation import Evaluation, Rejected, Verdict, failed
from evaluators.kernel.plan import Defines, Dim3, Plan
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.measuring.child_evaluator import ChildEvaluator
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import Anchor, TimingPolicy, policy_of
from evaluators.measuring.race import AnchorFailed
from evaluators.tasks.arguments import SUITES, Suite, TaskError
from evaluators.tasks.reference import check_reference
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

__all__ = [
    "Anchor",
    "Evaluator",
    "TimingPolicy",
    "Verdict",
    "careful",
    "compile_kernel",
    "evaluate_file",
    "failed",
    "opened",
]


def careful(backend_name: str) -> TimingPolicy:
    """For one kernel that a person waits for."""
    policy = policy_of(backend_name)
    return replace(policy, min_blocks=5, budget_s=5.0, width=0.004, loosest=0.02)


def compile_kernel(
    source: str, task: Task, compiler: Compiler, backend: str
) -> tuple[KernelSource, Compiled]:
    """Parse, plan every workload of the backend, compile each set of defines once.

    Raises Rejected: INVALID, UNSUPPORTED, COMPILE_ERROR, TIMEOUT.
    """
    kernel = parse_kernel(source)
    plans = {suite: _plans(kernel, task, suite, backend) for suite in SUITES}
    told = [*plans["tests"], *plans["benchmarks"]]
    compiled = compiler.compile(kernel, _distinct(told))
    known = {build for plan in told for build in _builds(plan)}
    further = [plan for plan in plans["held_out"] if not known.issuperset(_builds(plan))]
    if not further:
        return kernel, compiled
    beside = {plan.defines for plan in further}
    again = [plan for plan in told if plan.defines in beside]
    with withholding("held_out"):
        more = compiler.compile(kernel, _distinct([*again, *further]))
    kept = [r for r in compiled.resources if tuple(sorted(r["defines"].items())) not in beside]
    return kernel, replace(
        compiled,
        binaries={**compiled.binaries, **more.binaries},
        resources=(*kept, *more.resources),
        seconds=compiled.seconds + more.seconds,
        shown=compiled.resources,
    )


def _plans(kernel: KernelSource, task: Task, suite: Suite, backend: str) -> list[Plan]:
    plans = []
    for workload in task.workloads(suite, backend):
        with on(workload):
            plans.append(kernel.plan(task, workload.dims))
    return plans


def _distinct(plans: Sequence[Plan]) -> list[Plan]:
    """Without those that are there already; plans can't be hashed."""
    return [plan for i, plan in enumerate(plans) if plan not in plans[:i]]


def _builds(plan: Plan) -> set[tuple[Defines, str, Dim3, int]]:
    """What a compiler, and what it tells of resources, depends on."""
    return {(plan.defines, step.entry, step.block, step.lds_bytes) for step in plan.launches}


def evaluate_file(
    path: str | Path,
    task: str | Path | Task,
    backend_name: str,
    *,
    policy: TimingPolicy | None = None,
) -> Evaluation:
    """Everything about one kernel file, timed against the task's naive seed.

    policy: by default a careful one. On a GPU it runs in a process of its own.
    Raises OSError (no such file), TaskError (also for a naive seed or a reference that is wrong),
    BackendMissing, DeviceFault.
    """
    source = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    task = task if isinstance(task, Task) else load_task(task)
    check_reference(task, backend_name)
    with opened(task, backend_name, policy=policy or careful(backend_name)) as evaluator:
        info = evaluator.device.info
        compiler = backend(backend_name).compiler(arch=info.arch)
        try:
            kernel, compiled = compile_kernel(source, task, compiler, backend_name)
        except Rejected as rejected:
            return failed(kernel_id(source), task.hash, info.device_class, rejected, info=info)
        naive, naive_compiled = _compile_naive(task, compiler, backend_name)
        anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=naive_compiled)
        try:
            return evaluator.measure(kernel, compiled, anchor)
        except AnchorFailed as error:
            raise _wrong_naive(evaluator, anchor, error) from error


@contextmanager
def opened(
    task: Task,
    backend_name: str,
    *,
    index: int = 0,
    secret: int | None = None,
    policy: TimingPolicy | None = None,
) -> Iterator[Evaluator | ChildEvaluator]:
    """An evaluator on the index-th device: on a GPU in a process of its own, which faults end.

    secret: of the inputs, by default a new one. Raises BackendMissing, DeviceSick, TaskError.
    """
    secret = secrets.randbits(128) if secret is None else secret
    if backend(backend_name).private_process:
        with ChildEvaluator(
            task=task, backend_name=backend_name, index=index, secret=secret, policy=policy
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


def _compile_naive(
    task: Task, compiler: Compiler, backend_name: str
) -> tuple[KernelSource, Compiled]:
    try:
        return compile_kernel(task.naive, task, compiler, backend_name)
    except Rejected as rejected:
        raise TaskError(
            f"{task.folder}: its naive seed, against which kernels are timed, is {rejected}"
        ) from None
