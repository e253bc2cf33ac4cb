"""The whole cascade on cpu: right kernels get times, wrong ones a status and a plain reason."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device import Compiled, Compiler, Device, backend
from evaluators.device_info import BackendMissing
from evaluators.evaluate import compile_kernel, evaluate_file, failed
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import FRONT, PREPARED, SLOW, kernel, write_task

POLICY = TimingPolicy(budget_s=0.3, interval_us=1000.0, link_budget_s=0.2, deadline_slack_s=1.0)
RUN = kernel()
CODE_OF_RUN = RUN[len(FRONT) :]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task") / "small"))


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return backend("cpu").compiler()


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


@pytest.fixture(scope="module")
def evaluator(task: Task, device: Device) -> Evaluator:
    return Evaluator(task=task, device=device, secret=11, policy=POLICY)


@pytest.fixture(scope="module")
def naive(task: Task, compiler: Compiler) -> Anchor:
    source, compiled = compile_kernel(task.naive, task, compiler, "cpu")
    return Anchor(kernel_id=source.id, kernel=source, compiled=compiled)


def built(text: str, task: Task, compiler: Compiler) -> tuple[KernelSource, Compiled]:
    return compile_kernel(text, task, compiler, "cpu")


def test_the_naive_seed_has_speedup_one_by_definition(evaluator: Evaluator, naive: Anchor) -> None:
    evaluation = evaluator.measure(naive.kernel, naive.compiled, None)
    assert evaluation.status is Status.PASSED, evaluation.reason
    assert evaluation.speedup == 1.0
    assert evaluation.ci95 == (1.0, 1.0)
    assert evaluation.anchor_id is None
    assert set(evaluation.times_us) == {"N=3000", "N=5001"}


def test_a_right_kernel_gets_times_and_its_ratio(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(kernel(preamble="// the same again"), task, compiler)
    evaluation = evaluator.measure(source, compiled, naive)
    assert evaluation.status is Status.PASSED, evaluation.reason
    assert evaluation.kernel_id == source.id != naive.kernel_id
    assert evaluation.anchor_id == naive.kernel_id
    assert set(evaluation.blocks) == set(evaluation.times_us) == {"N=3000", "N=5001"}
    assert all(time_us > 0 for time_us in evaluation.times_us.values())
    assert evaluation.speedup is not None
    assert evaluation.ci95 is not None
    assert evaluation.ci99 is not None
    assert evaluation.speedup > 0  # about 1 where the machine is quiet
    assert evaluation.ci95[0] <= evaluation.speedup <= evaluation.ci95[1]
    assert evaluation.ci99[0] <= evaluation.ci95[0]
    assert set(evaluation.errors) == {
        f"N={n}/{name}" for n in (1, 100, 3000, 5001) for name in ("t", "y")
    }
    assert max(evaluation.errors.values()) < 1
    assert set(evaluation.seconds) == {"compile", "check", "time", "device"}


def test_links_multiply_the_speedup(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    link = {"N=3000": (math.log(10),) * 3, "N=5001": (math.log(10),) * 3}
    anchor = Anchor(
        kernel_id=naive.kernel_id, kernel=naive.kernel, compiled=naive.compiled, links=(link,)
    )
    evaluation = evaluator.measure(naive.kernel, naive.compiled, anchor)
    assert evaluation.speedup is not None
    assert 2 < evaluation.speedup < 50


def test_prepare_scratch_constants_and_inout_work_over_many_launches(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(kernel(front=PREPARED), task, compiler)
    evaluation = evaluator.measure(source, compiled, naive)
    assert evaluation.status is Status.PASSED, evaluation.reason


WRONG_KERNELS = {
    "wrong result": (
        kernel(after="if (i < N) y[i] += 1.0f;"),
        Status.WRONG,
        "y[0] is ",
    ),
    "partial result": (
        kernel(before="if (i >= 64 && i < 80) return;"),
        Status.WRONG,
        "elements wrong) on N=100",
    ),
    "output not written": (
        kernel(before="if (i < N) t[i] *= 2; return;"),
        Status.WRONG,
        "y has the bits of unwritten memory: it was never written, or was computed from scratch",
    ),
    "nan": (
        kernel(after="if (i == 7 && i < N) y[i] = 0.0f / 0.0f * x[i];"),
        Status.WRONG,
        "y[7] is nan",
    ),
    "write past the end": (
        kernel(after="if (i == 0) y[N] = 1.0f;"),
        Status.WRONG,
        "wrote past the end of y (index 1 of 1, flat) on N=1",
    ),
    "write before the start": (
        kernel(after="if (i == 0) y[-1] = 1.0f;"),
        Status.WRONG,
        "wrote before the start of y (index -1, flat) on N=1",
    ),
    "write to an input": (
        kernel(after="if (i == 0) ((float*)x)[0] = 1.0f;"),
        Status.WRONG,
        "its input x (",
    ),
    "write to a constant": (
        kernel(after="if (i == 0) ((float*)w)[0] = 9.0f;"),
        Status.WRONG,
        "its input w (",
    ),
    "state kept between launches": (
        kernel(
            preamble="__device__ int calls;",
            before="if (i == 0) ++calls; if (calls > 1) return;",
        ),
        Status.WRONG,
        "though an earlier launch on other data was right (is state kept between launches?) on N=1",
    ),
    "replayed result": (
        kernel(
            preamble="__device__ float kept[8192]; __device__ int have;",
            before="if (have == N) { if (i < N) { y[i] = kept[i]; t[i] *= 2; } return; }",
            after="if (i < N) kept[i] = y[i]; if (i == N - 1) have = N;",
        ),
        Status.WRONG,
        "y[0] is ",
    ),
    "right only while it is checked": (
        kernel(
            preamble="__device__ int calls;",
            before="if (i == 0) ++calls; if (calls > 14) return;",
        ),
        Status.WRONG,
        "t[0] is ",
    ),
    "endless loop": (
        kernel(before="while (i >= 0) { t[0] = i; if (t[0] == -5) break; }"),
        Status.TIMEOUT,
        "on N=1",
    ),
    "null pointer": (
        kernel(before="x = (const float*)((size_t)x - (size_t)x);"),
        Status.CRASHED,
        "null pointer on N=1",
    ),
    "too many threads": (
        kernel(front=FRONT.replace("[64]", "[4096]")),
        Status.LAUNCH_ERROR,
        "a block of 4096 threads, the limit is 1024",
    ),
    "too much dynamic LDS": (
        kernel(front=FRONT.replace("block: [64]", "block: [64]\n    lds_bytes: 70000")),
        Status.LAUNCH_ERROR,
        "70000 bytes of dynamic LDS, the limit is 65536",
    ),
}


@pytest.mark.parametrize("name", WRONG_KERNELS)
def test_a_wrong_kernel_gets_its_status_and_reason(
    name: str, evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    text, status, reason = WRONG_KERNELS[name]
    source, compiled = built(text, task, compiler)
    evaluation = evaluator.measure(source, compiled, naive)
    assert (evaluation.status, evaluation.times_us) == (status, {}), evaluation.reason
    assert reason in evaluation.reason
    assert "\n" not in evaluation.reason


def test_the_evaluator_goes_on_after_bad_kernels(evaluator: Evaluator, naive: Anchor) -> None:
    assert evaluator.measure(naive.kernel, naive.compiled, naive).passed


def test_a_hopeless_kernel_stops_early_and_says_what_was_shown(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(SLOW, task, compiler)
    best = {"N=3000": 0.0, "N=5001": 0.0}
    evaluation = evaluator.measure(source, compiled, naive, best)
    assert evaluation.status is Status.STOPPED_EARLY
    assert "slower than the best on every benchmark shape" in evaluation.reason
    assert "N=3000: more than" in evaluation.log
    assert not evaluation.times_us


REMEMBERING = kernel(
    preamble="""
    __device__ float kept[64][8192];
    __device__ float key[64];
    __device__ int keys;
    """,
    before="""
    for (int k = 0; k < keys; ++k) {
        if (key[k] == x[0] + N) {
            if (i < N) { y[i] = kept[k][i]; t[i] = 2 * t[i]; }
            return;
        }
    }
    float busy = x[0];
    for (int k = 0; k < 2000; ++k) busy = busy * 0.5f + 1.0f;
    if (busy == 123.0f) y[0] = busy;
    """,
    after="""
    if (i < N && keys < 63) kept[keys][i] = y[i];
    if (i == N - 1 && keys < 63) { key[keys] = x[0] + N; ++keys; }
    """,
)


def test_results_remembered_by_the_content_of_inputs_are_found_out(
    evaluator: Evaluator, task: Task, compiler: Compiler
) -> None:
    slow, slow_compiled = built(SLOW, task, compiler)
    anchor = Anchor(kernel_id=slow.id, kernel=slow, compiled=slow_compiled)
    remembering, compiled = built(REMEMBERING, task, compiler)
    evaluation = evaluator.measure(remembering, compiled, anchor)
    if evaluation.passed:  # it gains nothing: noise decides whether it seems to be ahead
        assert evaluator.watch(remembering).status is Status.WRONG
    else:
        assert evaluation.status is Status.WRONG
    honest, honest_compiled = built(kernel(), task, compiler)
    assert evaluator.measure(honest, honest_compiled, anchor).passed


def test_without_a_best_nothing_stops_early(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(SLOW, task, compiler)
    evaluation = evaluator.measure(source, compiled, naive)
    assert evaluation.status is Status.PASSED, evaluation.reason
    assert evaluation.speedup is not None
    assert evaluation.speedup < 1 / 3


def test_a_specialist_is_never_stopped(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(SLOW, task, compiler)
    best = {"N=3000": 0.0, "N=5001": -math.log(1e6)}
    assert evaluator.measure(source, compiled, naive, best).passed


def test_a_link_has_at_least_thirty_blocks(evaluator: Evaluator, naive: Anchor) -> None:
    link = evaluator.link(naive.kernel, naive.compiled, naive)
    assert set(link) == {"N=3000", "N=5001"}
    assert sum(len(values) for values in link.values()) >= 30
    assert len({len(values) for values in link.values()}) == 1


def test_held_out_shapes_catch_what_tests_do_not(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    assert evaluator.verify(naive.kernel, naive.compiled).passed
    source, compiled = built(kernel(before="if (N > 6000) return;"), task, compiler)
    assert evaluator.measure(source, compiled, naive).passed
    verdict = evaluator.verify(source, compiled, "held_out")
    assert verdict.status is Status.WRONG
    assert "on a held-out shape" in verdict.reason
    assert "7000" not in verdict.reason


def test_a_failing_anchor_is_not_the_candidates_fault(
    evaluator: Evaluator, naive: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(kernel(before="if (N > 6000 || N > 2) return;"), task, compiler)
    broken = Anchor(kernel_id=source.id, kernel=source, compiled=compiled)
    with pytest.raises(AnchorFailed, match="the anchor failed while it was timed: WRONG"):
        evaluator.measure(naive.kernel, naive.compiled, broken)


def test_faster_than_light_is_a_measurement_fault(
    tmp_path: Path, device: Device, compiler: Compiler
) -> None:
    heavy = load_task(write_task(tmp_path / "heavy", flops="1000000000 * N"))
    source, compiled = compile_kernel(heavy.naive, heavy, compiler, "cpu")
    evaluator = Evaluator(task=heavy, device=device, secret=1, policy=POLICY)
    evaluation = evaluator.measure(source, compiled, None)
    assert evaluation.status is Status.WRONG
    assert evaluation.reason.startswith("measurement fault: ")
    assert "faster than the speed of light" in evaluation.reason


def test_every_suite_is_planned_when_a_kernel_is_compiled(task: Task, compiler: Compiler) -> None:
    text = kernel(front=FRONT.replace('"ceil_div(N, 64)"', '"ceil_div(N, 64) * (N < 6000)"'))
    assert not compile_kernel(text, task, compiler, "cpu")[1].held_out
    with pytest.raises(Rejected, match=r"grid is 0, must be .* on N=5001"):
        compile_kernel(text.replace("6000", "5000"), task, compiler, "cpu")


def test_each_set_of_defines_is_compiled_once(task: Task, compiler: Compiler) -> None:
    one = FRONT.replace("---*/", "params: {WIDTH: 64}\n---*/").replace("[64]", "[WIDTH]")
    _, compiled = compile_kernel(one + CODE_OF_RUN, task, compiler, "cpu")
    assert list(compiled.binaries) == [(("WIDTH", 64),)]
    two = one.replace("---*/", "variants: [{when: 'N > 4000', params: {WIDTH: 128}}]\n---*/")
    _, compiled = compile_kernel(two + CODE_OF_RUN, task, compiler, "cpu")
    assert set(compiled.binaries) == {(("WIDTH", 64),), (("WIDTH", 128),)}


def test_a_rejection_becomes_an_evaluation(task: Task) -> None:
    rejected = Rejected(Status.COMPILE_ERROR, "no such thing", log="error: ...")
    evaluation = failed("some-id", task.hash, "cpu/x", rejected, seconds={"compile": 0.5})
    assert (evaluation.status, evaluation.reason) == (Status.COMPILE_ERROR, "no such thing")
    assert evaluation.task_hash == task.hash
    assert evaluation.log == "error: ..."
    assert evaluation.seconds == {"compile": 0.5}


def test_a_file_is_timed_against_the_naive_seed(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "mine.hip"
    file.write_text(RUN)
    evaluation = evaluate_file(file, task, "cpu", policy=POLICY, seconds=0.1)
    assert evaluation.passed, evaluation.reason
    assert evaluation.ci95 is not None
    assert evaluation.engine.startswith("cpu")
    assert evaluation.compiler


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("int main() {}", Status.INVALID),
        (RUN.replace("2.0f * x[i]", "2.0f * xs[i]"), Status.COMPILE_ERROR),
    ],
)
def test_a_file_that_does_not_compile_is_a_value(
    text: str, status: Status, task: Task, tmp_path: Path
) -> None:
    file = tmp_path / "bad.hip"
    file.write_text(text)
    evaluation = evaluate_file(file, task.folder, "cpu", policy=POLICY)
    assert evaluation.status is status
    assert evaluation.reason
    assert evaluation.engine.startswith("cpu")


def test_what_is_no_kernels_fault_is_raised(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "mine.hip"
    with pytest.raises(FileNotFoundError):
        evaluate_file(file, task, "cpu")
    file.write_text(RUN)
    with pytest.raises(TaskError, match="no task 'nothing'"):
        evaluate_file(file, "nothing", "cpu")
    with pytest.raises(BackendMissing, match="no backend 'tpu'"):
        evaluate_file(file, task, "tpu")


def test_a_broken_naive_seed_is_the_tasks_fault(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "broken")
    (folder / "seeds" / "naive.hip").write_text("nothing")
    file = tmp_path / "mine.hip"
    file.write_text(RUN)
    with pytest.raises(TaskError, match="its naive seed, against which kernels are timed, is"):
        evaluate_file(file, folder, "cpu")
