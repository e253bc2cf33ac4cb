"""Watch: a kernel as its backend's oracle sees it, in other orders and with every access told."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import numpy as np

from evaluators.checks.check import Check, check_order, run_sampled, unordered_read
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import Judge
from evaluators.checks.memory import Arena
from evaluators.device import Compiled, Device, backend
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


class Watch:
    """judge, check: an Evaluator's own; the first makes what judges one kernel. otherwise: see
    Rounding. Where a backend has
    no oracle (see Backend.oracle), nothing is looked at."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        rng: np.random.Generator,
        *,
        judge: Callable[[], Judge],
        check: Check,
        otherwise: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._task = task
        self._device = device
        self._backend = device.info.backend
        self._pool = pool
        self._rng = rng
        self._judge = judge
        self._check = check
        self._otherwise = otherwise
        self._tried: dict[str, str] = {}

    def order(self, kernel: KernelSource) -> str:
        """See check_order(); once a kernel."""
        if kernel.id not in self._tried:
            oracle = backend(self._backend).oracle(kernel, self._device.info)
            with self._otherwise():
                self._tried[kernel.id] = (
                    check_order(kernel, self._task, self._device.info.target, oracle, self._check)
                    if oracle is not None
                    else ""
                )
        return self._tried[kernel.id]

    @contextmanager
    def telling(self, kernel: KernelSource) -> Iterator[None]:
        """A kernel with LDS that is wrong may lack a barrier: the verdict says where."""
        try:
            yield
        except Rejected as rejected:
            if rejected.status is not Status.WRONG or "__shared__" not in kernel.code:
                raise
            oracle = backend(self._backend).oracle(kernel, self._device.info)
            if oracle is None:
                raise
            why = unordered_read(kernel, self._task, self._device.info.target, oracle, self._check)
            raise rejected.saying(rejected.reason + why) from None

    def everywhere(self, kernel: KernelSource, shapes: Sequence[Workload]) -> str:
        """The order on a test shape, then samples of blocks on the shapes, which are larger.

        Returns what was not tried, line by line. Raises Rejected(WRONG).
        """
        return "\n".join(filter(None, (self.order(kernel), *self._samples(kernel, shapes))))

    def _samples(self, kernel: KernelSource, shapes: Sequence[Workload]) -> Iterator[str]:
        """Of each shape, why its sample told nothing. Raises Rejected(WRONG)."""
        oracle = backend(self._backend).oracle(kernel, self._device.info, sampled=True)
        if oracle is None:
            return
        plans = [kernel.plan(self._task, shape, self._device.info.target) for shape in shapes]
        try:
            compiled = oracle.compile(kernel, plans)
        except Rejected as rejected:
            yield f"no sample of blocks was watched: {rejected.reason}"
            return
        for shape, plan in zip(shapes, plans, strict=True):
            yield self._sample(compiled, shape, plan)

    def _sample(self, compiled: Compiled, shape: Workload, plan: Plan) -> str:
        """In a process of its own, with no library but the shape's."""
        own = replace(compiled, binaries={plan.defines: compiled.binaries[plan.defines]})
        arena = Arena(self._task, [shape], [plan])
        (draw,) = self._pool.draws(shape, self._rng, 1)
        with (
            on(shape),
            self._otherwise(),
            self._device.open(own, memory_bytes=arena.nbytes, fenced=True) as session,
        ):
            (memory,) = arena.in_turn(session, [shape], [plan], self._rng)
            return run_sampled(memory, draw, self._rng, self._judge())
