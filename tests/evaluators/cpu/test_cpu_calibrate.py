"""What one core can do at best, on a machine that is busy while it is measured."""

import math
from collections.abc import Mapping, Sequence

import pytest

from evaluators.cpu import calibrate as cpu_calibrate
from evaluators.cpu.device import compiler
from evaluators.cpu.session import CpuSession
from evaluators.device import Buffer
from evaluators.kernel.plan import Plan
from tests.evaluators.launching import compile_one, launch, plan


class Counting(CpuSession):
    """A session that counts what was timed."""

    times = 0

    def time(
        self, plan: Plan, bindings: Sequence[Mapping[str, Buffer]], *, deadline_s: float
    ) -> float:
        self.times += 1
        return super().time(plan, bindings, deadline_s=deadline_s)


def test_a_best_time_is_of_many_tries_however_few_the_seconds_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cpu_calibrate, "_SPREAD_S", 0.0)
    step = launch("k", ["x"])
    compiled = compile_one(compiler(), "__global__ void k(int *x) { x[0] = 7; }", step)
    with Counting(compiled, core=0, memory_bytes=1 << 20) as session:
        best_s = cpu_calibrate._best_s(session, plan(step), {"x": session.alloc(4)})
        assert session.times >= 20
    assert 0 < best_s < math.inf
