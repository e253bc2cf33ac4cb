"""Is a kernel right: run on one draw after another, in one session, and judged each time."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.values import on_values
from evaluators.device import Compiled, Compiler
from evaluators.device_info import Target
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]


@contextmanager
def after(right_runs: int, values: str) -> Iterator[None]:
    """A kernel that was right before on the same shape is asked what it remembers, unless the
    values were of another class."""
    try:
        yield
    except Rejected as rejected:
        if not right_runs or values or rejected.killed:
            raise
        reason = (
            f"{rejected.reason}, though an earlier launch on other data was right "
            "(is state kept between launches?)"
        )
        raise rejected.saying(reason) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """errors: by "label/output", the largest fraction of a limit. run_us: of the quickest run,
    roughly."""

    errors: Mapping[str, float]
    run_us: float


def check_workload(
    memory: WorkloadMemory,
    draws: Sequence[Draw],
    rng: np.random.Generator,
    *,
    deadline_s: float,
    slow_us: float = math.inf,
    endurance: int = 0,
    judge: Judge | None = None,
) -> Checked:
    """Run once on each draw, in one session; a draw that comes twice must agree with itself.

    Scratch is poisoned before each run, but what prepare launches are given before the first.
    A kernel whose run takes longer than slow_us runs on the first draw only.
    endurance: further runs on the first two draws, some of them judged: timed calls begin with
    variables as after loading, so they never get that far.
    Raises Rejected: WRONG, or what the run met.
    """
    judge = judge or HostJudge()
    errors: dict[str, float] = {}
    seen: dict[int, Mapping[str, Array]] = {}
    run_us = math.inf
    with on(memory.workload):
        judge.place_shared(memory, draws[0], rng)
        memory.prepare(deadline_s=deadline_s)
        for draw in draws:
            judge.place(memory, {0: draw}, rng)
            taken_us = memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
            run_us = min(run_us, taken_us)
            judge.inspect_shared(memory, scratches=[0])
            unusual = draw.standard.values
            with after(len(seen), unusual), on_values(unusual):
                judged = judge.judge(memory, {0: draw})
            for key, error in judged.items():
                errors[key] = max(error.fraction, errors.get(key, 0.0))
            again = draws.count(draw) > 1
            values = memory.region.values(memory.taken(0)) if again else {}
            if seen.get(draw.index):
                references = partial(judge.references, memory, draw)
                memory.agree(references, seen[draw.index], values)
            seen[draw.index] = values
            if run_us > slow_us:
                break
        if endurance:
            _endure(memory, draws[:2], judge, rng, endurance, deadline_s=deadline_s)
    return Checked(errors=errors, run_us=run_us)


ONE_JUDGED_IN = 8
"""Launches of those in a row: blocks of an oracle's come in other orders each time."""

ENDURED_S, ENDURED_LEAST = 4.0, 4
"""How long they take at most, once there were so many: an oracle may take seconds for one."""


def _endure(
    memory: WorkloadMemory,
    draws: Sequence[Draw],
    judge: Judge,
    rng: np.random.Generator,
    launches: int,
    *,
    deadline_s: float,
) -> None:
    """Raises Rejected(WRONG): right at first, and not after so many launches on the draws in turn,
    over the outputs that the last one left. Some of them are judged, and the last one."""
    until = time.monotonic() + ENDURED_S
    for i in range(launches):
        draw = draws[i % len(draws)]
        judge.place(memory, {0: draw}, rng, stale={0})
        memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
        late = i + 1 >= ENDURED_LEAST and time.monotonic() > until
        last = late or i == launches - 1
        if last or not rng.integers(ONE_JUDGED_IN):
            with after(i + 1, draw.standard.values):
                judge.judge(memory, {0: draw})
        if last:
            return


SMALL_BYTES = 1 << 20
"""The largest test shape within so many bytes is checked: an oracle is slow."""

SAMPLE_DEADLINE_S = 20.0
"""For a sample of blocks; what ends it is a count of accesses, and this where few are made."""

ONE_BLOCK = "each launch has one block on every small test shape: no order of blocks was tried"

Check = Callable[[KernelSource, Compiled, Sequence[Workload], Mapping[str, float]], object]
"""An Evaluator's own: raises Rejected when a compiled kernel is wrong on the shapes."""


def check_order(
    kernel: KernelSource, task: Task, target: Target, oracle: Compiler, check: Check
) -> str:
    """Check a kernel once more, on one small shape, with its blocks and threads in other orders.

    oracle: see Backend.oracle. What it can't run, or finish in time, is no fault. Returns what
    was not tried, empty when nothing was left out. Raises Rejected: WRONG or CRASHED.
    """
    shape, blocks = _shape_for_orders(kernel, task, target)
    try:
        compiled = oracle.compile(kernel, [kernel.plan(task, shape, target)])
        check(kernel, compiled, [shape], {})
    except Rejected as rejected:
        if rejected.killed:
            raise
        if rejected.status in (Status.WRONG, Status.CRASHED):
            raise _in_another_order(rejected) from None
        return f"no order of blocks and threads was tried: {rejected.reason}"
    return "" if blocks > 1 else ONE_BLOCK


def run_sampled(memory: WorkloadMemory, draw: Draw, rng: np.random.Generator, judge: Judge) -> str:
    """Three runs of some blocks of each launch, in the orders of ks/random_order.h.

    Where all blocks of all launches were run, what they made is judged; else nothing but races.
    Returns why they told nothing, empty where they are through: a block may wait for one that is
    not run, or use what none has made. Raises Rejected(WRONG).
    """
    for turn in range(3):
        try:
            if not turn:
                judge.place_shared(memory, draw, rng)
                memory.prepare(deadline_s=SAMPLE_DEADLINE_S)
            judge.place(memory, {0: draw}, rng)
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=SAMPLE_DEADLINE_S)
        except Rejected as rejected:
            if rejected.race or rejected.killed:
                raise
            return f"no sample of blocks was watched to its end: {rejected.reason}"
        if memory.session.ran_whole():
            _judge_orders(memory, draw, judge)
    return ""


def _judge_orders(memory: WorkloadMemory, draw: Draw, judge: Judge) -> None:
    """Raises Rejected(WRONG)."""
    try:
        judge.judge(memory, {0: draw})
    except Rejected as rejected:
        raise _in_another_order(rejected) from None


def _in_another_order(rejected: Rejected) -> Rejected:
    reason = f"with blocks and threads in another order: {rejected.reason}"
    return Rejected(rejected.status, reason, log=rejected.log)


def unordered_read(
    kernel: KernelSource, task: Task, target: Target, oracle: Compiler, check: Check
) -> str:
    """Where a wrong kernel reads what another thread has just written; empty if nowhere found."""
    shape, _ = _shape_for_orders(kernel, task, target)
    try:
        check(kernel, oracle.compile(kernel, [kernel.plan(task, shape, target)]), [shape], {})
    except Rejected as rejected:
        if rejected.race:
            return f" ({rejected.reason.removesuffix(f' on {shape.label}')})"
    return ""


def _shape_for_orders(kernel: KernelSource, task: Task, target: Target) -> tuple[Workload, int]:
    """The largest small test shape, if possible one with several blocks; the most in a launch."""
    sized = []
    for shape in task.workloads("tests", target.backend):
        blocks = most_blocks(kernel.plan(task, shape, target))
        nbytes = task.nbytes(shape)
        small = nbytes <= SMALL_BYTES
        sized.append(((small, small and blocks > 1, nbytes if small else -nbytes), shape, blocks))
    _, shape, blocks = max(sized, key=lambda one: one[0])
    return shape, blocks


def most_blocks(plan: Plan) -> int:
    """Of its launches."""
    return max((math.prod(step.grid) for step in plan.launches), default=0)
