"""Lanes and races on cpu: bindings, draws, poison, balance, order; the policy's arithmetic."""

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import HostJudge, Judge, Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.device import Device, backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.intervals import no_memory
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import (
    Anchor,
    TimingPolicy,
    applications_wanted,
    balanced,
    timed_shapes,
)
from evaluators.measuring.race import Race
from evaluators.measuring.sittings import brief
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import FRONT, PREPARED, kernel, write_task

POLICY = TimingPolicy(budget_s=0.2, interval_us=500.0)
FOREVER_S = 20.0


class WatchingJudge(HostJudge):
    """calls: the draws placed, and what stood first in every binding's y when a run began."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[set[int], list[float]]] = []

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        super().place(memory, placed, rng, stale=stale)
        first = [
            float(memory.session.elements(own["y"], np.dtype("f4"), np.array([0]))[0])
            for own in memory.arguments
        ]
        self.calls.append(({draw.index for draw in placed.values()}, first))


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
    judge: Judge | None = None,
) -> Lane:
    source, compiled = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
    workloads = task.workloads("benchmarks", "cpu")
    return Lane(device, task, workloads, source, compiled, policy, beside=beside, judge=judge)


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


@pytest.mark.parametrize(
    ("nbytes", "wanted", "copies"),
    [(10 << 20, 1, 1), (10 << 20, 2, 2), (10 << 20, 9, 3), (1 << 10, 900, 48), (1 << 30, 5, 1)],
)
def test_a_shape_gets_as_many_bindings_as_wanted_within_its_bytes(
    nbytes: int, wanted: int, copies: int
) -> None:
    policy = TimingPolicy(max_copies=48, copies_bytes=35 << 20)
    assert policy.copies_of(nbytes, info("cpu", 256 << 20), wanted) == copies


def test_a_gpu_has_bindings_for_more_than_twice_its_cache() -> None:
    policy = TimingPolicy(max_copies=48, copies_bytes=1 << 31)
    gpu = info("gpu", 50 << 20)
    assert policy.copies_of(10 << 20, gpu, 1) * (10 << 20) > 100 << 20
    assert policy.copies_of(10 << 20, gpu, 30) == 30
    assert policy.copies_of(512 << 20, gpu, 30) == 4
    assert policy.copies_of(1 << 10, gpu, 1) == 48


def test_few_of_many_shapes_lie_far_apart() -> None:
    stated = load_task("fp8_gemm").workloads("benchmarks", "cuda")
    assert timed_shapes(stated, None) == timed_shapes(stated, 99) == stated
    for count in (1, 2, 6):
        chosen = timed_shapes(stated, count)
        assert len({one.label for one in chosen}) == count
        assert list(chosen) == [one for one in stated if one in chosen]  # in the task's order
    six = timed_shapes(stated, 6)
    assert {one.dims["M"] for one in six} == {1024, 6144}
    assert {256, 7168} <= {one.dims["K"] for one in six}
    alike = Workload(dims={"N": 8}, suite="benchmarks")
    assert timed_shapes([alike, alike, replace(alike, dims={"N": 64})], 2)[1].dims["N"] == 64


def test_an_evaluator_times_the_shapes_of_its_policy(task: Task, device: Device) -> None:
    policy = replace(POLICY, shapes=1)
    (shape,) = timed_shapes(task.workloads("benchmarks", "cpu"), 1)
    evaluator = Evaluator(task=task, device=device, secret=1, policy=policy)
    naive, compiled = compile_kernel(task.naive, task, backend("cpu").compiler(), "cpu")
    seed = evaluator.measure(naive, compiled, None)
    assert seed.passed and list(seed.times_us) == [shape.label]
    anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=compiled)
    again = evaluator.measure(naive, compiled, anchor)
    assert list(again.blocks) == list(again.gains) == [shape.label]
    assert brief("cpu", policy).shapes is None  # sittings time all


def test_the_applications_wanted_follow_from_the_times_of_both() -> None:
    policy = TimingPolicy(interval_us=8000)
    assert applications_wanted([{"a": 1000.0, "b": 1.0}], policy) == {"a": 8, "b": 8000}
    assert applications_wanted([{"a": 1000.0}, {"a": 250_000.0, "b": 1.0}], policy) == {"a": 24}
    assert applications_wanted([{}, {"a": 1.0}], policy) == {}


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


@pytest.mark.parametrize("text", [kernel(), kernel(front=PREPARED)], ids=["plain", "prepared"])
def test_each_application_has_a_draw_of_its_own(text: str, task: Task, device: Device) -> None:
    rng = np.random.default_rng(0)
    workload = task.workloads("benchmarks", "cpu")[0]
    draws = InputPool(task, secret=1).draws(workload, rng, 8)
    by_first = {draw.inputs["x"][0]: draw.index for draw in draws}
    seen = set()
    with lane(text, task, device) as first, lane(text, task, device, beside=first) as second:
        for _ in range(5):
            order = [draws[int(k)] for k in rng.permutation(8)]
            for one in (first, second):
                assert one.call(workload.label, 4, order, rng, deadline_s=FOREVER_S) > 0
            there = [
                by_first[first.session.read(binding["x"], np.dtype("f4"), (3000,))[0]]
                for binding in first.memories[workload.label].bindings[:4]
            ]
            assert len(set(there)) == 4
            seen.add(tuple(there))
    assert len(seen) > 1


def test_what_a_binding_holds_before_a_call_is_no_result_of_the_call(
    task: Task, device: Device
) -> None:
    """Poison, or what a run over a draw left that no binding of the call holds."""
    rng = np.random.default_rng(0)
    workload = task.workloads("benchmarks", "cpu")[0]
    draws = InputPool(task, secret=1).draws(workload, rng, 8)
    results = {float(draw.reference["y"][0]): draw.index for draw in draws}
    judge = WatchingJudge()
    with (
        lane(kernel(), task, device, judge=judge) as first,
        lane(kernel(), task, device, beside=first) as second,
    ):
        for count in (4, 4, 4, 2, 4, 3, 4):
            for one in (first, second):
                one.call(workload.label, count, draws, rng, deadline_s=FOREVER_S)
    stale = 0
    for placed, before in judge.calls:
        lying = {results[key] for key in results for y in before if abs(y - key) < 1e-4}
        assert not lying & placed
        stale += len(lying)
    assert stale > 3


@pytest.mark.parametrize(
    ("ratios", "cleared"),
    [
        ([1.0, 1.1, 0.9], True),
        ([1.0, 1.1], False),
        ([1.4, 1.0, 1.3, 0.9, 1.1], True),
        ([9.0, 1.0, 1.0, 1.0, 1.0], True),
        ([8.0] * 20, False),
        ([1.2] * 20, False),
        ([1.0, 8.0] * 10, False),
    ],
)
def test_pairs_of_calls_on_known_and_new_data_clear_a_kernel(
    ratios: list[float], cleared: bool
) -> None:
    """Not when it remembers half of the draws, nor when it gains a little by each."""
    assert no_memory([(10.0, 10.0 * ratio) for ratio in ratios]) == cleared


class Making(HostJudge):
    """made: for each call, whether all its data were there before any was placed."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[bool] = []

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        self.made.append(all("inputs" in vars(draw) for draw in placed.values()))
        super().place(memory, placed, rng, stale=stale)


def test_new_data_are_made_before_known_ones_are_timed_beside_them(
    task: Task, device: Device
) -> None:
    """Made while they are placed they sweep the cache: a right kernel seems to remember."""
    judge, pool = Making(), InputPool(task, secret=1)
    workloads = task.workloads("benchmarks", "cpu")
    with lane(kernel(), task, device, judge=judge) as only:
        rng = np.random.default_rng(0)
        race = Race([only], workloads, pool, POLICY, rng, expected_us=[{}])
        race.warm_up()
        assert not all(judge.made)
        judge.made.clear()
        race.check_memory()
    assert len(judge.made) >= 6 and all(judge.made)


class Timed(Race):
    """ratios: what new data cost more than known, pair after pair."""

    ratios: Iterator[float]

    def _known_and_new_us(self, workload: Workload, *, known_first: bool) -> tuple[float, float]:
        return 10.0, 10.0 * next(self.ratios)


@pytest.mark.parametrize(("second", "right"), [(1.0, True), (2.0, False)])
def test_a_kernel_that_remembers_does_so_in_every_series(
    second: float, right: bool, task: Task, device: Device
) -> None:
    workloads = task.workloads("benchmarks", "cpu")[:1]
    pool, rng = InputPool(task, secret=1), np.random.default_rng(0)
    with lane(kernel(), task, device) as only:
        race = Timed([only], workloads, pool, POLICY, rng, expected_us=[{}])
        race.ratios = iter([2.0] * 20 + [second] * 40)
        with nullcontext() if right else pytest.raises(Rejected, match=r"keeps results"):
            race.check_memory()
        assert len(list(race.ratios)) == (37 if right else 0)


class SecondSlower(Race):
    """Whichever call comes second takes twice as long; pairs: how many were asked."""

    pairs = 0

    def _known_and_new_us(self, workload: Workload, *, known_first: bool) -> tuple[float, float]:
        self.pairs += 1
        return (10.0, 20.0) if known_first else (20.0, 10.0)


def test_the_order_of_two_calls_is_not_taken_for_memory(task: Task, device: Device) -> None:
    """As on a machine whose other thread is busy."""
    workloads = task.workloads("benchmarks", "cpu")[:1]
    pool = InputPool(task, secret=1)
    with lane(kernel(), task, device) as only:
        for seed in range(50):
            rng = np.random.default_rng(seed)
            race = SecondSlower([only], workloads, pool, POLICY, rng, expected_us=[{}])
            race.check_memory()
            assert race.pairs <= 6


def test_an_application_needs_a_binding(task: Task, device: Device) -> None:
    sgemm = load_task("sgemm")
    workload = sgemm.workloads("benchmarks", "cpu")[0]
    with lane(sgemm.naive, sgemm, device) as only:
        copies = len(only.memories[workload.label].copies)
        assert only.applications(workload.label, 5) == 5
        assert only.applications(workload.label, 10**9) == copies == POLICY.max_copies
        with pytest.raises(ValueError, match=r"100 applications on 32 bindings"):
            only.call(workload.label, 100, [], np.random.default_rng(0), deadline_s=1.0)


def test_large_scratch_leaves_fewer_applications(task: Task, device: Device) -> None:
    front = FRONT.replace("---*/", 'scratch: {rest: "1 << 20"}\n---*/')
    policy = replace(POLICY, copies_bytes=5 << 20)
    with lane(kernel(front=front), task, device, policy) as only:
        memory = only.memories["N=3000"]
        assert only.applications("N=3000", 100) == len(memory.scratches) == 4
        assert len({binding["rest"] for binding in memory.bindings}) == 4


def test_timed_outputs_are_judged(task: Task, device: Device) -> None:
    workload = task.workloads("benchmarks", "cpu")[0]
    rng = np.random.default_rng(0)
    draws = InputPool(task, secret=1).draws(workload, rng, 2)
    told = r"y\[5\] is .*1 of 3000 elements wrong.* on N=3000"
    wrong = kernel(after="if (i == 5) y[i] += 1.0f;")
    with lane(wrong, task, device) as only, pytest.raises(Rejected, match=told):
        only.call(workload.label, 2, draws, rng, deadline_s=FOREVER_S)


def test_a_timed_call_has_a_deadline(task: Task, device: Device) -> None:
    workload = task.workloads("benchmarks", "cpu")[0]
    rng = np.random.default_rng(0)
    draws = InputPool(task, secret=1).draws(workload, rng, 2)
    endless = kernel(before="while (i >= 0) { t[0] = i; if (t[0] == -5) break; }")
    with lane(endless, task, device) as only, pytest.raises(Rejected) as caught:
        only.call(workload.label, 1, draws, rng, deadline_s=0.3)
    assert caught.value.status is Status.TIMEOUT
    assert caught.value.reason.endswith("on N=3000")


class Prepared(Race):
    """A race whose rounds are written down beforehand."""

    def __init__(self, policy: TimingPolicy, rounds: Sequence[Sequence[float]]) -> None:
        """rounds: ln(anchor time / candidate time) on each of two shapes."""
        self.policy = policy
        self.labels = ["a", "b"]
        self.lanes = ()
        self.blocks = {label: [] for label in self.labels}
        self.weights = {}
        self._coming = list(rounds)

    def round(self) -> None:
        for label, value in zip(self.labels, self._coming.pop(0), strict=True):
            self.blocks[label].append(value)

    def _tight(self) -> bool:
        return False


STEADY = [(0.3, -0.1), (0.302, -0.099), (0.299, -0.101), (0.301, -0.1), (0.3, -0.102)]


@pytest.mark.parametrize(
    ("best", "rounds"),
    [
        ({"a": 0.6, "b": 0.1}, 3),  # a quarter behind it
        ({"a": 0.31, "b": -0.09}, 5),  # 1% behind: it may be as fast
        ({"a": 0.1, "b": -0.2}, 5),  # ahead
        (None, 5),
    ],
)
def test_little_is_asked_of_a_kernel_that_is_shown_to_be_behind_the_best(
    best: dict[str, float] | None, rounds: int
) -> None:
    race = Prepared(TimingPolicy(max_blocks=5, min_blocks=5), STEADY)
    race.run(best)
    assert len(race.blocks["a"]) == rounds


def test_one_that_varies_is_timed_until_it_is_known_how_far_behind_it_is() -> None:
    swaying = [(0.3 + 0.2 * (-1) ** i, -0.1 + 0.2 * (-1) ** i) for i in range(20)]
    race = Prepared(TimingPolicy(max_blocks=20, min_blocks=20), swaying)
    race.run({"a": 1.2, "b": 0.9})
    assert len(race.blocks["a"]) == 20


def test_a_warm_up_of_known_length_is_one_call(task: Task, device: Device) -> None:
    judge = WatchingJudge()
    policy = replace(POLICY, interval_us=1e7)  # no first call is that long, however busy it is
    with lane(kernel(), task, device, policy, judge=judge) as only:
        pool, workloads = InputPool(task, secret=1), task.workloads("benchmarks", "cpu")
        calls = []
        for known_us in (None, 10.0, POLICY.skip_warmup_us):
            known = {w.label: known_us for w in workloads if known_us}
            race = Race(
                [only], workloads, pool, policy, np.random.default_rng(0), expected_us=[known]
            )
            before = len(judge.calls)
            race.warm_up()
            calls.append((len(judge.calls) - before) // len(workloads))
    assert calls == [2, 1, 0]


SPIN = """
float busy = 1.0f;
for (int k = 0; k < ROUNDS; ++k) busy = busy * 0.5f + (float)(i & 3);
if (busy == 123.0f) y[0] = busy;
"""


def spinning(rounds: int, task: Task) -> Anchor:
    """The right kernel, kept busy."""
    text = kernel(before=SPIN.replace("ROUNDS", str(rounds)))
    source, compiled = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
    return Anchor(kernel_id=source.id, kernel=source, compiled=compiled)


def test_a_kernel_four_times_as_busy_is_seen_to_be_slower_whichever_is_the_anchor(
    task: Task, device: Device
) -> None:
    """Interleaved ratios only: no wall time is asserted."""
    quick, slow = spinning(200, task), spinning(800, task)
    evaluator = Evaluator(task=task, device=device, secret=2, policy=POLICY)
    slower = evaluator.measure(slow.kernel, slow.compiled, quick).speedup
    faster = evaluator.measure(quick.kernel, quick.compiled, slow).speedup
    assert slower is not None
    assert faster is not None
    assert 1 / 6 < slower < 1 / 2
    assert 2 < faster < 6


@pytest.mark.soak
@pytest.mark.parametrize("rounds", [200, 210, 800])
def test_swapped_labels_give_reciprocal_ratios(rounds: int, task: Task, device: Device) -> None:
    """Of races by turns, ln ratio with one anchor + ln ratio with the other: no bias by label."""
    one, other = spinning(200, task), spinning(rounds, task)
    policy = replace(POLICY, interval_us=2000.0, min_blocks=6, max_blocks=6)
    evaluator = Evaluator(task=task, device=device, secret=2, policy=policy)
    sums = []
    for _ in range(15):
        a = evaluator.measure(one.kernel, one.compiled, other).speedup
        b = evaluator.measure(other.kernel, other.compiled, one).speedup
        sums.append(math.log((a or math.nan) * (b or math.nan)))
    error = float(np.std(sums, ddof=1)) / math.sqrt(len(sums))
    assert abs(float(np.mean(sums))) < 4 * error  # t of 14 degrees of freedom: 0.13% by chance
    assert error < 0.02
