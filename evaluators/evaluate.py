"""The cascade: parse, static checks, compile | check, time. evaluate_file() does it all."""

import secrets
from pathlib import Path

from evaluators.arguments import SUITES, TaskError
from evaluators.checks import on
from evaluators.device import Compiled, Compiler, backend
from evaluators.evaluation import Evaluation, Rejected
from evaluators.evaluator import Evaluator, workloads_of
from evaluators.kernel import KernelSource, kernel_id, parse_kernel
from evaluators.task import Task, load_task
from evaluators.timing import Anchor, TimingPolicy
from evaluators.verdict import Verdict, failed

__all__ = [
    "CAREFUL",
    "Anchor",
    "Evaluator",
    "TimingPolicy",
    "Verdict",
    "compile_kernel",
    "evaluate_file",
    "failed",
]

CAREFUL = TimingPolicy(min_blocks=5, budget_s=5.0, width=0.004, loosest=0.02)
"""For one kernel that a person waits for."""


def compile_kernel(
    source: str, task: Task, compiler: Compiler, backend: str
) -> tuple[KernelSource, Compiled]:
    """Parse, plan every workload of the backend, compile each set of defines once.

    Raises Rejected: INVALID, UNSUPPORTED, COMPILE_ERROR, TIMEOUT.
    """
    kernel = parse_kernel(source)
    plans = []
    for workload in workloads_of(task, SUITES, backend):
        with on(workload):
            plan = kernel.plan(task, workload.dims)
        if plan not in plans:
            plans.append(plan)
    return kernel, compiler.compile(kernel, plans)


def evaluate_file(
    path: str | Path,
    task: str | Path | Task,
    backend_name: str,
    *,
    policy: TimingPolicy = CAREFUL,
) -> Evaluation:
    """Everything about one kernel file, timed against the task's naive seed.

    Raises OSError (no such file), TaskError, BackendMissing.
    """
    source = Path(path).read_text(encoding="utf-8", errors="replace")
    task = task if isinstance(task, Task) else load_task(task)
    module = backend(backend_name)
    compiler = module.compiler()
    device = module.open_device(0)
    try:
        try:
            kernel, compiled = compile_kernel(source, task, compiler, backend_name)
        except Rejected as rejected:
            info = device.info
            return failed(kernel_id(source), task, info.device_class, rejected, info=info)
        naive, naive_compiled = _compile_naive(task, compiler, backend_name)
        anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=naive_compiled)
        evaluator = Evaluator(
            task=task,
            device=device,
            backend=backend_name,
            secret=secrets.randbits(128),
            policy=policy,
        )
        return evaluator.measure(kernel, compiled, anchor)
    finally:
        device.close()


def _compile_naive(
    task: Task, compiler: Compiler, backend_name: str
) -> tuple[KernelSource, Compiled]:
    try:
        return compile_kernel(task.naive, task, compiler, backend_name)
    except Rejected as rejected:
        raise TaskError(
            f"{task.folder}: its naive seed, against which kernels are timed, is {rejected}"
        ) from None
