"""Lanes and races on cpu: fresh data, poison, balance, order; and the policy's arithmetic."""

from collections.abc import Iterator

import numpy as np
import pytest

from evaluators.checks.inputs import Array, InputPool
from evaluators.checks.region import Region
from evaluators.device import Device, backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.race import Race, balanced
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import PREPARED, kernel, write_task

POLICY = TimingPolicy(budget_s=0.2, interval_us=500.0)
FOREVER_S = 20.0


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task") / "small"))


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


def lane(
    text: str,
    task: Task,
    device: Device,
    policy: TimingPolicy = POLICY,
    beside: Lane | None = None,
) -> Lane:
    source, compiled = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
    workloads = task.workloads("benchmarks", "cpu")
    return Lane(device, task, workloads, source, compiled, policy, beside=beside)


def test_a_deadline_follows_from_what_is_expected() -> None:
    policy = TimingPolicy(deadline_factor=10, deadline_slack_s=2, deadline_cap_s=20)
    assert policy.deadline_s(100_000.0) == pytest.approx(3.0)
    assert policy.deadline_s(1e9) == 20
    assert policy.deadline_s(None) == 20


def info(name: str, cache_bytes: int) -> DeviceInfo:
    return DeviceInfo(
        backend="hip" if name == "gpu" else "cpu",
        judges_on_device=name == "gpu",
        name=name,
        arch="any",
        engine="any",
        compiler="any",
        wavefront=64,
        lds_bytes=65536,
        max_threads=1024,
        cache_bytes=cache_bytes,
    )


def test_a_gpu_rotates_over_more_than_twice_its_cache() -> None:
    region = Region(spans=(), nbytes=10 << 20)
    policy = TimingPolicy(copies=3, max_copies=64, copies_bytes=25 << 20)
    assert policy.copies_of(region, info("cpu", 256 << 20)) == 2
    assert policy.copies_of(region, info("gpu", 256 << 20)) * region.nbytes > 512 << 20
    assert policy.copies_of(Region(spans=(), nbytes=1 << 10), info("gpu", 256 << 20)) == 64
    assert policy.copies_of(Region(spans=(), nbytes=1 << 30), info("cpu", 256 << 20)) == 1


def test_similar_kernels_get_equal_calls() -> None:
    policy = TimingPolicy(interval_us=8000)
    assert balanced([1000, 1500], policy) == [8, 8]
    assert balanced([9000], policy) == [1]


def test_a_quick_kernel_is_averaged_beside_a_slow_one() -> None:
    policy = TimingPolicy(interval_us=8000)
    assert balanced([1000, 250_000], policy) == [24, 1]
    assert balanced([250_000, 1000], policy) == [1, 24]
    assert balanced([1000, 4000], policy) == [8, 2]


def test_the_order_is_random_and_mirrored_in_pairs(task: Task, device: Device) -> None:
    workloads = task.workloads("benchmarks", "cpu")
    rng = np.random.default_rng(0)
    with lane(kernel(), task, device) as a, lane(kernel(), task, device, beside=a) as b:
        race = Race([a, b], workloads, InputPool(task, secret=1), POLICY, rng, expected_us=({}, {}))
        orders = [race.order("N=3000") for _ in range(40)]
    for first, second in zip(orders[::2], orders[1::2], strict=True):
        assert first == second[::-1]
    assert {tuple(order) for order in orders[::2]} == {(0, 1), (1, 0)}


class CountedPool(InputPool):
    """made: how often inputs were drawn."""

    made = 0

    def _inputs(self, workload: Workload, index: int) -> dict[str, Array]:
        self.made += 1
        return super()._inputs(workload, index)


def test_data_met_before_is_placed_by_the_same_work_as_new_data(task: Task, device: Device) -> None:
    """A copy of inputs at hand leaves more of them in the caches: right kernels were refused."""
    pool, rng = CountedPool(task, secret=1), np.random.default_rng(0)
    workload = task.workloads("benchmarks", "cpu")[0]
    (draw,) = pool.draws(workload, rng, 1)
    with lane(kernel(), task, device) as one:
        one.prepare(workload.label, [draw], rng)
        memory = one.memories[workload.label]
        [x] = [span for span in memory.region.spans if span.name == "x"]
        placed, drawn = [], []
        for known in (draw, None, draw, None):
            before = pool.made
            one.place_afresh(workload.label, pool, rng, known)
            drawn.append(pool.made - before)
            placed.append(memory.taken(0)[x.start : x.stop].tobytes())
    assert placed[0] == placed[2] == draw.inputs["x"].tobytes()
    assert len(set(placed)) == 3
    assert drawn == [1, 1, 1, 1]


@pytest.mark.parametrize("text", [kernel(), kernel(front=PREPARED)], ids=["plain", "prepared"])
@pytest.mark.parametrize("refresh_bytes", [0, 1 << 26])
def test_calls_are_judged_with_fresh_and_with_kept_data(
    text: str, refresh_bytes: int, task: Task, device: Device
) -> None:
    policy = TimingPolicy(interval_us=500, refresh_bytes=refresh_bytes)
    pool = InputPool(task, secret=1)
    rng = np.random.default_rng(0)
    workload = task.workloads("benchmarks", "cpu")[0]
    draws = pool.draws(workload, rng, 3)
    with (
        lane(text, task, device, policy) as first,
        lane(text, task, device, policy, beside=first) as second,
    ):
        for one in (first, second):
            one.prepare(workload.label, draws, rng)
        seen = set()
        for _ in range(5):
            for one in (first, second):
                order = [draws[int(k)] for k in rng.permutation(3)]
                time_us = one.call(workload.label, 3, order, rng, deadline_s=FOREVER_S)
                assert time_us > 0
            memory = first.memories[workload.label]
            seen.add(first.session.read(memory.bindings[0]["x"], np.dtype("f4"), (3000,))[0])
    assert len(seen) == 1 if refresh_bytes == 0 else len(seen) > 1


def test_an_inout_buffer_gets_a_pristine_copy_for_each_application(
    task: Task, device: Device
) -> None:
    with lane(kernel(), task, device) as only:
        assert only.applications("N=3000", 100) == len(only.memories["N=3000"].copies)
    sgemm = load_task("sgemm")
    workload = sgemm.workloads("benchmarks", "cpu")[0]
    with lane(sgemm.naive, sgemm, device) as only:
        assert only.applications(workload.label, 100) == 100
        assert only.applications(workload.label, 10**9) == POLICY.max_launches


def test_timed_outputs_are_judged(task: Task, device: Device) -> None:
    workload = task.workloads("benchmarks", "cpu")[0]
    rng = np.random.default_rng(0)
    draws = InputPool(task, secret=1).draws(workload, rng, 2)
    with lane(kernel(after="if (i == 5) y[i] += 1.0f;"), task, device) as only:
        only.prepare(workload.label, draws, rng)
        with pytest.raises(Rejected, match=r"y\[5\] is .*1 of 3000 elements wrong.* on N=3000"):
            only.call(workload.label, 2, draws, rng, deadline_s=FOREVER_S)


def test_a_timed_call_has_a_deadline(task: Task, device: Device) -> None:
    workload = task.workloads("benchmarks", "cpu")[0]
    rng = np.random.default_rng(0)
    draws = InputPool(task, secret=1).draws(workload, rng, 2)
    endless = kernel(before="while (i >= 0) { t[0] = i; if (t[0] == -5) break; }")
    with lane(endless, task, device) as only:
        only.prepare(workload.label, draws, rng)
        with pytest.raises(Rejected) as caught:
            only.call(workload.label, 1, draws, rng, deadline_s=0.3)
    assert caught.value.status is Status.TIMEOUT
    assert caught.value.reason.endswith("on N=3000")


def test_a_kernel_four_times_as_busy_is_seen_to_be_slower(task: Task, device: Device) -> None:
    """Interleaved ratios only: no wall time is asserted."""
    spin = """
    float busy = 1.0f;
    for (int k = 0; k < ROUNDS; ++k) busy = busy * 0.5f + (float)(i & 3);
    if (busy == 123.0f) y[0] = busy;
    """
    compiler = backend("cpu").compiler()
    quick = compile_kernel(kernel(before=spin.replace("ROUNDS", "200")), task, compiler, "cpu")
    slow = compile_kernel(kernel(before=spin.replace("ROUNDS", "800")), task, compiler, "cpu")
    evaluator = Evaluator(task=task, device=device, secret=2, policy=POLICY)
    anchor = Anchor(kernel_id=quick[0].id, kernel=quick[0], compiled=quick[1])
    evaluation = evaluator.measure(*slow, anchor)
    assert evaluation.speedup is not None
    assert 1 / 6 < evaluation.speedup < 1 / 2
