"""The oracle of the cpu backend: does a kernel that waits give the same in any order of threads?"""

import re
from collections.abc import Callable

from evaluators.cpu import fibers
from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.fission.names import COLLECTIVES
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

SMALL_BYTES = 1 << 20
"""The largest test shape within so many bytes is checked: fibers are slow."""

_WAITS = re.compile(rf"\b(?:{'|'.join(sorted(COLLECTIVES))})\b")


def waits(code: str) -> bool:
    """Whether a kernel's text names a barrier or a wavefront operation."""
    return _WAITS.search(code) is not None


def check_order(
    kernel: KernelSource,
    task: Task,
    info: DeviceInfo,
    check: Callable[[KernelSource, Compiled, list[Workload], dict[str, float]], object],
) -> None:
    """Check a kernel that waits once more, on one small shape, with its threads in other orders.

    check: an Evaluator's own; raises Rejected when a compiled kernel is wrong on the shapes.
    Raises Rejected: WRONG or CRASHED. What fibers can't run or finish in time tells nothing.
    """
    if not waits(kernel.code):
        return
    shapes = task.workloads("tests", "cpu")
    nbytes = [sum(a.nbytes(shape.dims) for a in task.arguments) for shape in shapes]
    fitting = [size for size in nbytes if size <= SMALL_BYTES]
    shape = shapes[nbytes.index(max(fitting) if fitting else min(nbytes))]
    compiler = CpuCompiler(wavefront=info.wavefront, engine=fibers.ENGINE)
    try:
        oracle = compiler.compile(kernel, [kernel.plan(task, shape.dims)])
        check(kernel, oracle, [shape], {})
    except Rejected as rejected:
        if rejected.killed:
            raise
        if rejected.status in (Status.WRONG, Status.CRASHED):
            reason = f"with its threads in another order: {rejected.reason} (a barrier missing?)"
            raise Rejected(rejected.status, reason, log=rejected.log) from None
