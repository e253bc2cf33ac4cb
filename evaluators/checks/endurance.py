"""Many launches in a row in one session: does a kernel stay right, and what does it keep?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from evaluators.checks.check import after
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image

Array = np.ndarray[Any, Any]

LAUNCHES = (40, 1000)
BURSTS = 10
"""Launches in a row that a kernel that is ahead must bear: as many as some time is enough for, at
least and at most so many, in so many bursts at least, after each of which one is judged."""

AGES = ((7, 12), (12, 18), (18, 24), (24, 24))
"""Further launches, as powers of two, after which one is judged by the state that they leave."""

KEEPS_COUNT = "the kernel keeps state between launches: some of its variables count them"


def check_endurance(
    memory: WorkloadMemory,
    draws: Sequence[Draw],
    rng: np.random.Generator,
    *,
    endured_us: float,
    deadline_s: float,
    most_at_once: int,
    judge: Judge | None = None,
    near: Draw | None = None,
) -> str:
    """Launch over and over in one session, that does not check bounds, and judge at times.

    endured_us: how long, about. most_at_once: launches that one call may hold. near: a draw that
    comes right after the first one, and over its outputs.
    Returns KEEPS_COUNT or nothing. Raises Rejected: WRONG, or what the run met.
    """
    judge = judge or HostJudge()
    with on(memory.workload):
        judge.place_shared(memory, draws[0], rng)
        memory.prepare(deadline_s=deadline_s)
        judge.place(memory, {0: draws[0]}, rng)
        run_us = memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
        left = min(max(int(endured_us / max(run_us, 1.0)), LAUNCHES[0]), LAUNCHES[1])
        at_once = max(1, min(left // BURSTS, most_at_once // len(memory.plan.steps)))
        first, launches = memory.kept(), 0
        before = draws[0]
        while left > 0:
            _burst(memory, before, judge, rng, at_once, deadline_s=deadline_s)
            draw = draws[int(rng.integers(len(draws)))]
            stays = draw is not before and bool(rng.integers(2))
            judge.place(memory, {0: draw}, rng, stale={0} if stays else ())
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
            with after(1, ""):
                judge.judge(memory, {0: draw})
            before, left = draw, left - at_once - 1
            launches += at_once + 1
        for draw in (draws[0], near) if near else ():
            judge.place(memory, {0: draw}, rng, stale={0} if draw is near else ())
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
            with after(1, ""):
                judge.judge(memory, {0: draw})
            before, launches = draw, launches + 1
        return _age(memory, before, judge, rng, first, launches, deadline_s=deadline_s)


def _age(
    memory: WorkloadMemory,
    draw: Draw,
    judge: Judge,
    rng: np.random.Generator,
    first: Image,
    launches: int,
    *,
    deadline_s: float,
) -> str:
    """Let what counts launches say that there were many more. first: so many launches ago."""
    states = []
    for _ in range(3):
        judge.place(memory, {0: draw}, rng)
        memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
        states.append(memory.kept())
    found = counters(first, states, launches + len(states))
    if not found:
        return ""
    for low, high in AGES:
        more = min(int(2 ** rng.uniform(low, high)), *(some.most for some in found))
        state = states[-1].copy()
        for some in found:
            some.age(state, more)
        memory.keep(state)
        judge.place(memory, {0: draw}, rng)
        memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
        with after(1, ""):
            judge.judge(memory, {0: draw})
    return KEEPS_COUNT


def _burst(
    memory: WorkloadMemory,
    draw: Draw,
    judge: Judge,
    rng: np.random.Generator,
    launches: int,
    *,
    deadline_s: float,
) -> None:
    """Launches that nobody judges; on what lies there, unless they change it."""
    if any(argument.role == "inout" for argument in memory.task.arguments):
        for _ in range(launches):
            judge.place(memory, {0: draw}, rng, stale={0})
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
    else:
        again = memory.bindings[:1] * launches
        memory.session.time(memory.plan, again, deadline_s=deadline_s)


LARGEST_STEP = 1 << 20
"""Of a counter: what changes by more a launch is taken for another thing."""

_KINDS: dict[np.dtype[Any], float] = {
    np.dtype(np.float64): 2.0**53,
    np.dtype(np.float32): 2.0**24,
    np.dtype(np.int32): 2.0**31,
}
"""How far each counts by ones. Floats come first: their bits, too, may grow by equal steps. Of
64-bit integers the lower half counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Words of a state. places: in an array of dtype. steps: what a launch adds to each.

    most: launches that can be added before one of them is at its end.
    """

    dtype: np.dtype[Any]
    places: Array
    steps: Array
    most: int

    def age(self, state: Image, launches: int) -> None:
        """Change a state to what it would be after further launches, self.most or fewer."""
        values = state.view(self.dtype)
        values[self.places] += (self.steps * launches).astype(self.dtype)


def counters(first: Image, states: Sequence[Image], launches: int) -> list[Counters]:
    """What grew by the same small amount with each launch, ever since the first state.

    states: after each of some launches in a row. launches: from the first state to the last one.
    A number that comes round to its beginning is none, unless that takes more launches.
    """
    found = []
    claimed = np.zeros(first.nbytes // 4, bool)
    for dtype, end in _KINDS.items():
        values = [_numbers(state, dtype) for state in (first, *states)]
        steps = _steps(values, launches)
        words = claimed.reshape(-1, dtype.itemsize // 4)
        places = np.flatnonzero((steps != 0) & ~words.any(axis=1))
        words[places] = True
        if places.size:
            steps = steps[places]
            most = int(((end - 1 - np.abs(values[-1][places])) // np.abs(steps)).min())
            found.append(Counters(dtype=dtype, places=places, steps=steps, most=most))
    return found


def _steps(values: Sequence[Array], launches: int) -> Array:
    """What each number grew by with each launch; zero for what is no counter."""
    steps = values[-1] - values[-2]
    steady = np.abs(steps) <= LARGEST_STEP
    steady &= values[-1] - values[0] == steps * launches
    for before, after_it in pairwise(values[1:]):
        steady &= after_it - before == steps
    return np.where(steady, steps, 0.0)


def _numbers(state: Image, dtype: np.dtype[Any]) -> Array:
    """As float64; zero for what is no whole number, or too large to be counted exactly."""
    with np.errstate(invalid="ignore"):
        values = state.view(dtype).astype(np.float64)
    if dtype.kind == "f":
        whole = np.abs(values) < _KINDS[dtype]
        values = np.where(whole & (np.trunc(values) == values), values, 0.0)
    return values
