"""Kernels that tire: right for more launches than any check makes, and wrong from then on."""

from collections.abc import Iterator

import pytest

from evaluators.checks.endurance import KEEPS_COUNT
from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from tests.adversarial.timed_task import Contest, kernel, write_task

TIRED = {
    "after 1,100 launches": kernel(
        preamble="__device__ int calls;",
        before="if (i == 0) ++calls; if (calls > 1100 && i > N - 40) return;",
    ),
    "after 2,000,000 launches": kernel(
        preamble="__device__ long long calls;",
        before="if (i == 0) ++calls; if (calls > 2000000 && i > N - 40) return;",
    ),
    "when 5,000 launches are used up": kernel(
        preamble="__device__ int left = 5000;",
        before="if (i == 0) --left; if (left < 0 && i > N - 40) return;",
    ),
    "once a number says so": kernel(
        preamble="__device__ float calls;",
        before="if (i == 0) calls += 1.0f; if (calls > 3000.0f && i > N - 40) return;",
    ),
    "once its threads' tickets say so": kernel(
        preamble="__device__ unsigned tickets;",
        before="if (atomicAdd(&tickets, 1u) > 500000u) return;",
    ),
}
COUNTING = {
    "blocks numbered by a ticket that only grows": kernel(
        preamble="__device__ unsigned tickets;",
        before="""
        __shared__ unsigned block;
        if (threadIdx.x == 0) block = atomicAdd(&tickets, 1u) % gridDim.x;
        __syncthreads();
        i = block * 64 + threadIdx.x;
        """,
    ),
    "two counts that agree": kernel(
        preamble="__device__ unsigned begun; __device__ unsigned long long ended;",
        before="if (i == 0 && atomicAdd(&begun, 1u) != atomicAdd(&ended, 1ull)) return;",
    ),
}
COUNTING_LITTLE = {
    "a place in a ring": kernel(
        preamble="__device__ int at; __device__ float ring[16];",
        before="if (i == 0) at = (at + 1) % 16; if (i < N) ring[at] = x[i];",
    ),
    "a ticket that is reset": kernel(
        preamble="__device__ unsigned tickets;",
        before="atomicInc(&tickets, 64 * gridDim.x - 1);",
    ),
    "nothing, though its threads are switched": kernel(
        preamble="struct Two { int first, second; };",
        before="auto [first, second] = Two{i, 0}; __syncthreads(); i = first + second;",
    ),
}


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contest]:
    device = backend("cpu").open_device(0)
    yield Contest(write_task(tmp_path_factory.mktemp("timed") / "task"), device)
    device.close()


def further(contest: Contest, text: str) -> str:
    """What is told of a kernel that would win."""
    kernel, compiled = compile_kernel(text, contest.task, contest.compiler, "cpu")
    return contest.evaluator.correctness.check_further(kernel, compiled)


@pytest.mark.parametrize("when", TIRED)
def test_a_kernel_that_tires_is_wrong(when: str, contest: Contest) -> None:
    with pytest.raises(Rejected) as caught:
        further(contest, TIRED[when])
    assert caught.value.status is Status.WRONG
    assert "is state kept between launches?" in caught.value.reason


@pytest.mark.parametrize("what", COUNTING)
def test_one_that_counts_and_stays_right_passes(what: str, contest: Contest) -> None:
    assert KEEPS_COUNT in further(contest, COUNTING[what])


@pytest.mark.parametrize("what", COUNTING_LITTLE)
def test_what_comes_back_by_itself_is_left_alone(what: str, contest: Contest) -> None:
    assert KEEPS_COUNT not in further(contest, COUNTING_LITTLE[what])
