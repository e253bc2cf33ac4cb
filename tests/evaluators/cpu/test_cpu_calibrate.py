"""What one core can do at best, on a machine that is busy while it is measured."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evaluators.cpu.caches import UNTOLD, caches
from evaluators.cpu.device import compiler, open_device
from evaluators.cpu.processor import calibrate as cpu_calibrate
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
        best_s = cpu_calibrate._best_s(session, [plan(step)] * 2, {"x": session.alloc(4)})
        assert session.times >= 40
    assert all(0 < seconds < math.inf for seconds in best_s)


def test_every_level_is_measured_on_what_the_level_before_it_can_not_hold() -> None:
    kib, mib = 1 << 10, 1 << 20
    told = {"L1": 48 * kib, "L2": 2 * mib, "L3": 504 * mib}
    assert cpu_calibrate.sets_of(told) == {
        "L1": 24 * kib,
        "L2": 192 * kib,
        "L3": 8 * mib,
        "dram": 128 * mib,
    }
    assert "L3" not in cpu_calibrate.sets_of({"L1": 64 * kib, "L2": 8 * mib, "L3": 8 * mib})
    assert cpu_calibrate.sets_of({"L2": mib}) == {"L2": mib // 2, "dram": 4 * mib}


def test_a_level_that_was_measured_at_a_bad_time_is_no_slower_than_those_beyond() -> None:
    rates = cpu_calibrate.no_faster_beyond({"L1": 3.0, "L2": 5.0, "L3": 4.0, "dram": 1.0})
    assert rates == {"L1": 5.0, "L2": 5.0, "L3": 4.0, "dram": 1.0}


def test_caches_are_as_large_as_the_machine_tells(tmp_path: Path) -> None:
    told = [("1", "Data", "48K"), ("1", "Instruction", "64K"), ("3", "Unified", "504M")]
    for i, one in enumerate([*told, ("2", "Unified", "2048K"), ("4", "Unified", "")]):
        (tmp_path / f"index{i}").mkdir()
        for name, text in zip(("level", "type", "size"), one, strict=True):
            (tmp_path / f"index{i}" / name).write_text(f"{text}\n")
    assert caches(folder=tmp_path) == {"L1": 48 << 10, "L2": 2 << 20, "L3": 504 << 20}
    assert [*caches(folder=tmp_path)] == ["L1", "L2", "L3"]
    assert caches(folder=tmp_path / "none") == UNTOLD


def test_a_core_knows_a_speed_of_every_level_that_it_tells() -> None:
    device = open_device(0)
    info = device.info
    device.close()
    sizes, rates = zip(*((holds, rate) for _, holds, rate in info.levels), strict=True)
    assert len(sizes) >= 2 and sizes[-1] == math.inf and info.cache_bytes == sizes[-2]
    assert list(sizes) == sorted(sizes) and list(rates) == sorted(rates, reverse=True)
