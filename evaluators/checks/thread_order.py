"""Does a kernel give the same when its threads run in another order?"""

from collections.abc import Callable, Mapping, Sequence

from evaluators.device import Compiled, Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

SMALL_BYTES = 1 << 20
"""The largest test shape within so many bytes is checked: an oracle is slow."""

Check = Callable[[KernelSource, Compiled, Sequence[Workload], Mapping[str, float]], object]
"""An Evaluator's own: raises Rejected when a compiled kernel is wrong on the shapes."""


def check_order(
    kernel: KernelSource, task: Task, backend: str, oracle: Compiler, check: Check
) -> None:
    """Check a kernel once more, on one small shape, with its threads in other orders.

    oracle: see Backend.oracle. Raises Rejected: WRONG or CRASHED. What the oracle can't run,
    or finish in time, tells nothing.
    """
    shapes = task.workloads("tests", backend)
    nbytes = [sum(a.nbytes(shape.dims) for a in task.arguments) for shape in shapes]
    fitting = [size for size in nbytes if size <= SMALL_BYTES]
    shape = shapes[nbytes.index(max(fitting) if fitting else min(nbytes))]
    try:
        compiled = oracle.compile(kernel, [kernel.plan(task, shape.dims)])
        check(kernel, compiled, [shape], {})
    except Rejected as rejected:
        if rejected.killed:
            raise
        if rejected.status in (Status.WRONG, Status.CRASHED):
            reason = f"with its threads in another order: {rejected.reason} (a barrier missing?)"
            raise Rejected(rejected.status, reason, log=rejected.log) from None
