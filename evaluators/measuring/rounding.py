"""The error that honest rounding leaves: that of a task's naive seed, measured on a device."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn

import numpy as np

from evaluators.checks.budget import NONE, Error, Limit, has_few, limit_of
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge, Judge, WideningJudge
from evaluators.checks.memory import Arena, WorkloadMemory
from evaluators.checks.shapes import SMALL_BYTES, compiled_for
from evaluators.checks.values import UnusualDraws, on_values
from evaluators.device import Device, backend
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.seeds import naive_of
from evaluators.kernel.source import kernel_id
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.trusted_kernels import Naive, compiled_naive
from evaluators.tasks.arguments import Argument, TaskError, Workload
from evaluators.tasks.task import Task

MOST_DRAWS, MORE_DRAWS, DRAWS = 12, 6, 3
"""Where an output has few elements (see budget.has_few), on small shapes, whose errors vary most,
and on others; and usually."""
MANY_ELEMENTS = 4096
"""Errors of so many elements of one draw tell what those of others are."""
HOPELESS = 2.0**20
"""In float32 roundings of the inputs: no type's rounding, but another result."""
BARELY = 0.5
"""Of the tolerance: beyond it the seed is right by luck, and an honest kernel may be wrong."""
SWEEP_S, SWEEP_LEAST = 3.0, 16
"""Seconds for the seed's part of a sweep, with references, and shapes that are met in any case."""

Swept = tuple[Workload, Draw]


class Rounding:
    """Measures limits on errors, where they are first asked for, and puts them where a task's
    draws find them."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        unusual: UnusualDraws,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Judge | None = None,
        naive: Naive | None = None,
    ) -> None:
        """naive: the seed, compiled; by default it is compiled when it is first needed."""
        self.seed_id = kernel_id(naive_of(task, device.info.backend))
        self._task = task
        self._device = device
        self._pool = pool
        self._unusual = unusual
        self._policy = policy
        self._rng = rng
        self._judge = judge
        self._naive = naive
        self._measured: set[tuple[str, str]] = set()
        self._borne: dict[str, bool] = {}
        self._otherwise = False

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """What is judged meanwhile was built by the backend's oracle, which rounds otherwise: of
        two products and their sum it may fuse the other one. Limits that are too narrow become as
        wide as the seed's errors in such a build, too."""
        before, self._otherwise = self._otherwise, True
        try:
            yield
        finally:
            self._otherwise = before

    def calibrate(
        self, checked_id: str, workloads: Sequence[Workload], values: Mapping[str, Sequence[str]]
    ) -> None:
        """Limits for each shape's own draws, and for those of each class of values by label,
        before a kernel with that id is held to them.

        Where the seed fails on its own draws there is no limit but the tolerance: that is told
        where kernels are timed against it. Where it spoils the device, or fails on values that
        its task states: raises Rejected if the kernel is the seed itself, else AnchorFailed.
        """
        for workload in workloads:
            for one in ("", *values.get(workload.label, ())):
                if (workload.label, one) not in self._measured:
                    self._measure(checked_id, workload, one)
                    self._measured.add((workload.label, one))

    def _measure(self, checked_id: str, workload: Workload, values: str) -> None:
        draws: Sequence[Draw] = ()
        if values:
            draws = self._unusual.of(workload, values)
        elif any(output.rounded(workload.env) for output in self._task.on(workload).outputs):
            draws = self._pool.draws(workload, self._rng, self._count(workload))
        try:
            if draws:
                draws[0].standard.limits.update(self._limits(workload, draws))
            if values:
                self._unusual.settle(workload, values)
        except Rejected as rejected:
            spoilt = self._spoils(rejected)
            promised = self._task.values is not None and workload.suite == "tests"
            stated = values and promised  # elsewhere it may, and then nobody is asked
            if rejected.killed or spoilt or stated:
                self._blame(checked_id, rejected)
            if values:
                self._unusual.drop(workload, values)

    def judge(self) -> Judge:
        """What judges kernels: it makes limits wider that are too narrow for the very draws."""
        return WideningJudge(self._judge or HostJudge(), self._widened)

    def _widened(self, workload: Workload, draws: Sequence[Draw]) -> bool:
        """Whether the seed's errors on these very draws allow for more than was known.

        Where results are ill-conditioned a few errors outweigh all the others, and those of one
        draw tell little of those of another.
        """
        alike: dict[int, list[Draw]] = {}
        for draw in draws:
            alike.setdefault(id(draw.standard), []).append(draw)
        widened = [self._widen(workload, some) for some in alike.values()]
        return any(widened)

    def _widen(self, workload: Workload, draws: Sequence[Draw]) -> bool:
        limits = draws[0].standard.limits
        known = dict(limits)
        limits.clear()  # or the seed might be held to them
        builds: list[dict[str, Limit]] = []
        for oracle in (False, True) if self._otherwise else (False,):
            with suppress(Rejected, TaskError):
                builds.append(self._limits(workload, draws, oracle=oracle))
        limits.update(known)
        for found in builds:
            limits.update({name: one.beside(limits.get(name, NONE)) for name, one in found.items()})
        return limits != known

    def bears(self, workload: Workload) -> bool:
        """Whether the seed is right on a shape that was derived for its task; looked at once."""
        if workload.label not in self._borne:
            self._borne[workload.label] = self._is_right(workload)
        return self._borne[workload.label]

    def _is_right(self, workload: Workload) -> bool:
        if not self._is_compiled(workload):
            return False
        draws = self._pool.draws(workload, self._rng, self._count(workload))
        try:
            draws[0].standard.limits.update(self._limits(workload, draws))
        except TaskError:
            return False
        except Rejected as rejected:
            if rejected.killed or self._spoils(rejected):
                self._blame("", rejected)
            return False
        self._measured.add((workload.label, ""))
        return True

    def _is_compiled(self, workload: Workload) -> bool:
        """Whether the seed is, for what it launches on the shape."""
        kernel, _ = self._compiled()
        known = compiled_for(kernel, self._task, self._device.info.backend)
        return known.issuperset(kernel.plan(self._task, workload, self._device.info.target).symbols)

    def _spoils(self, rejected: Rejected) -> bool:
        return rejected.status is not Status.WRONG and self._device.info.private_process

    def _blame(self, checked_id: str, rejected: Rejected) -> NoReturn:
        if rejected.killed or checked_id == self.seed_id:
            raise rejected
        raise AnchorFailed(rejected)

    def _compiled(self) -> Naive:
        self._naive = self._naive or compiled_naive(self._task, self._device.info)
        return self._naive

    def _count(self, workload: Workload) -> int:
        outputs = self._task.on(workload).outputs
        if any(self._has_few(output, workload) for output in outputs):
            return MOST_DRAWS if self._task.nbytes(workload) <= SMALL_BYTES else MORE_DRAWS
        least = min(math.prod(output.shape(workload.env)) for output in outputs)
        return DRAWS if least < MANY_ELEMENTS else 1

    def swept(self, draws: Sequence[Swept]) -> list[Swept]:
        """Those draws, one a shape, on whose shapes the seed is right, and not barely.

        One draw tells little of a shape's rounding: all are held to the errors of all together.
        """
        found = list(self._swept_errors(draws))
        for (workload, draw), _ in found:
            draw.standard.limits.update(
                {
                    output.name: limit_of(
                        [errors[output.name] for _, errors in found],
                        few=self._has_few(output, workload),
                        budget=output.error_budget,
                    )
                    for output in self._task.on(workload).outputs
                    if output.rounded(workload.env)
                }
            )
        return [one for one, _ in found]

    def _swept_errors(self, draws: Sequence[Swept]) -> Iterator[tuple[Swept, dict[str, Error]]]:
        """The seed's, by output, until it has taken SWEEP_S, or its session has ended with it."""
        until = time.monotonic() + SWEEP_S
        judge = self._judge or HostJudge()
        with self._memories([workload for workload, _ in draws]) as memories:
            for i, (memory, one) in enumerate(zip(memories, draws, strict=True)):
                if i >= SWEEP_LEAST and time.monotonic() > until:
                    return
                try:
                    errors = self._errors(memory, [one[1]], judge)
                except TaskError:
                    continue
                except Rejected as rejected:
                    if rejected.status is Status.WRONG:
                        continue
                    self._end_sweep(rejected)
                    return
                if all(error.largest <= BARELY for (error,) in errors.values()):
                    yield one, {name: error for name, (error,) in errors.items()}

    def _end_sweep(self, rejected: Rejected) -> None:
        """Raises what _blame() does where the device may be spoilt for the kernel that comes."""
        refused = rejected.status is Status.LAUNCH_ERROR
        if rejected.killed or (self._spoils(rejected) and not refused):
            self._blame("", rejected)

    def _limits(
        self, workload: Workload, draws: Sequence[Draw], *, oracle: bool = False
    ) -> dict[str, Limit]:
        """By output. oracle: of its build of the seed. Raises Rejected: the seed is wrong, or
        fails."""
        values = draws[0].standard.values
        with on(workload), on_values(values), self._memories([workload], oracle) as (memory,):
            errors = self._errors(memory, draws, self._judge or HostJudge())
        return {
            output.name: limit_of(
                errors[output.name],
                few=self._has_few(output, workload),
                unusual=bool(values),
                budget=output.error_budget,
            )
            for output in memory.task.outputs
            if output.rounded(workload.env)
        }

    def _has_few(self, output: Argument, workload: Workload) -> bool:
        """What an epilogue leaves of an output is mostly few elements."""
        return self._task.own.epilogue is not None or has_few(output, workload)

    def _errors(
        self, memory: WorkloadMemory, draws: Sequence[Draw], judge: Judge
    ) -> dict[str, list[Error]]:
        """The seed's, by output, one a draw. Raises Rejected: it is wrong, or fails."""
        deadline_s = self._policy.deadline_cap_s
        errors: dict[str, list[Error]] = {output.name: [] for output in memory.task.outputs}
        judge.place_shared(memory, draws[0], self._rng)
        memory.prepare(deadline_s=deadline_s)
        for draw in draws:
            judge.place(memory, {0: draw}, self._rng)
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
            for key, error in judge.judge(memory, {0: draw}).items():
                name = key.rpartition("/")[2]
                if draw.standard.values and error.rms > HOPELESS:
                    raise Rejected(Status.WRONG, f"{name} is far from its reference")
                errors[name].append(error)
        return errors

    @contextmanager
    def _memories(
        self, workloads: Sequence[Workload], oracle: bool = False
    ) -> Iterator[list[WorkloadMemory]]:
        """The seed's, in one session, one after the other."""
        kernel, compiled = self._compiled()
        plans = [
            kernel.plan(self._task, workload, self._device.info.target) for workload in workloads
        ]
        info = self._device.info
        if oracle and (compiler := backend(info.backend).oracle(kernel, info)) is not None:
            compiled = compiler.compile(kernel, plans)
        arena = Arena(self._task, workloads, plans)
        with self._device.open(compiled, memory_bytes=arena.nbytes) as session:
            yield arena.in_turn(session, workloads, plans, self._rng)
