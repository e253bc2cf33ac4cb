"""Kernels that leave out work while they are timed, since nobody seems to look."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from evaluators.device import backend
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Status
from tests.adversarial.timed_task import COUNTED, FRONT, Contest, kernel, write_task

SKIPPING = {
    "an element that looks written": kernel(before="if (i < N && y[i] == y[i]) return;"),
    "an output whose first bytes are no poison": kernel(
        before="if (((const int*)y)[0] != -1 && i > 0) return;",
    ),
    "an output known by its address and not poisoned since": kernel(
        preamble="__device__ float* known[64]; __device__ int count; __device__ int skip;",
        before="""
        if (i == 0) {
            skip = 0;
            for (int k = 0; k < count; ++k) skip |= known[k] == y && y[0] == y[0];
            if (count < 64) known[count++] = y;
        }
        if (skip) return;
        """,
    ),
    "every other application": kernel(
        preamble="__device__ int calls, last;",
        before=COUNTED + "if (calls > 3 && (calls & 1)) return;",
    ),
    "all but the first rows, from the fourth run on": kernel(
        preamble="__device__ int calls, last;",
        before=COUNTED + "if (calls > 3 && i > N - 40) return;",
    ),
}

FASTER = "if (i < N) { y[i] = steps(x[i], 4); return; }"
"""Ahead of the seed, so that it would win."""

COUNTING_IN_SCRATCH = kernel(
    scratch=True,
    before="""
    int* calls = (int*)kept;
    if (i == 0) *calls = *calls < 0 || *calls > (1 << 20) ? 1 : *calls + 1;
    if (*calls > 10 && (*calls & 1)) return;
    """,
)
"""Scratch is poisoned with 0xFF: a negative count is a first run."""


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contest]:
    device = backend("cpu").open_device(0)
    yield Contest(write_task(tmp_path_factory.mktemp("timed") / "task"), device)
    device.close()


@pytest.mark.parametrize("what", SKIPPING)
def test_a_kernel_that_skips_is_wrong(what: str, contest: Contest) -> None:
    evaluation = contest.measure(SKIPPING[what])
    assert evaluation.status is Status.WRONG, (evaluation.status, evaluation.speedup)
    assert "on N=" in evaluation.reason


def test_a_count_kept_in_scratch_is_lost_before_the_next_application(contest: Contest) -> None:
    """Nothing can be skipped by it: what is measured is the honest time. As threads read what one
    of them counts, it may be told to be WRONG."""
    evaluation = contest.measure(COUNTING_IN_SCRATCH)
    if evaluation.status is not Status.WRONG:
        assert evaluation.speedup is not None, evaluation.reason
        assert evaluation.speedup < 1.5


COUNTING = "if (i == 0) ++calls;"
AFTER_MANY = {
    "from its 301st run on": COUNTING + "if (calls > 300 && i > N - 40) return;",
    "in two of three runs from its 301st on": COUNTING + "if (calls > 300 && calls % 3) return;",
}


@pytest.mark.parametrize("when", AFTER_MANY)
def test_a_kernel_that_skips_after_many_runs_is_wrong(when: str, contest: Contest) -> None:
    evaluation = contest.measure(
        kernel(preamble="__device__ int calls;", before=AFTER_MANY[when] + FASTER), crowning=True
    )
    assert evaluation.status is Status.WRONG, (evaluation.status, evaluation.speedup)
    assert "is state kept between launches?" in evaluation.reason


LATE = ["N > 1000 && calls > 200 && i % 10 == 3", "false"]
"""Each a launch of its own that counts: the tests' shapes are too small for it."""


def counted(late: str) -> str:
    text = kernel(
        preamble="__device__ int calls; __global__ void count() { ++calls; }",
        before=f"if ({late}) return;",
    )
    front = "  - {kernel: count, grid: [1], block: [1], args: []}\n---*/"
    return text.replace("---*/", front, 1)


@pytest.mark.parametrize("late", LATE)
def test_a_kernel_that_skips_on_large_shapes_after_many_launches_is_wrong(
    late: str, contest: Contest
) -> None:
    kernel, compiled = compile_kernel(counted(late), contest.task, contest.compiler, "cpu")
    policy = replace(contest.evaluator.policy, thorough=True)
    evaluator = Evaluator(
        task=contest.task, device=contest.evaluator.device, secret=5, policy=policy
    )
    evaluation = evaluator.measure(kernel, compiled, contest.anchor)
    if late == "false":
        assert evaluation.passed, evaluation.reason
    else:
        assert evaluation.status is Status.WRONG, (evaluation.status, evaluation.speedup)
        assert "is state kept between launches?" in evaluation.reason


@pytest.mark.parametrize("scratch", [False, True])
def test_the_honest_twin_passes(scratch: bool, contest: Contest) -> None:
    text = kernel(scratch=scratch, after="if (i < N) kept[i] = y[i];" if scratch else "")
    evaluation = contest.measure(text)
    assert evaluation.passed, evaluation.reason


TABLE = """
__global__ void go(const float* x, float* y, int N) {
    __shared__ float table[65];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool made = MADE;
    __syncthreads();
    if (!made) {
        float busy = x[0] * 0.0f;
        for (int k = 0; k < 100; ++k) busy = busy * 0.5f + 1.0f;
        table[threadIdx.x] = busy * 0.03125f;
        if (threadIdx.x == 0) table[64] = 77.0f + N;
    }
    __syncthreads();
    if (i < N) y[i] = x[i] * table[threadIdx.x] + 1.875f;
}
"""
"""Of sixteenths, that each block makes in LDS, or the first one for all."""


def test_what_another_block_left_in_lds_is_not_there_when_it_is_timed(contest: Contest) -> None:
    """Checks fill LDS with NaNs before each block, which such a kernel sees."""
    evaluation = contest.measure(FRONT + TABLE.replace("MADE", "table[64] == 77.0f + N"))
    assert evaluation.status is Status.WRONG, (evaluation.status, evaluation.speedup)
    assert contest.measure(FRONT + TABLE.replace("MADE", "false")).passed
