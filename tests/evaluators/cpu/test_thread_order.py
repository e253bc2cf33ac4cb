"""A kernel that lacks a barrier is found out, and told where; what was not tried is told too."""

from functools import cache

import pytest

from evaluators.checks.check import ONE_BLOCK, check_order
from evaluators.cpu import device as cpu
from evaluators.device_info import target_of
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.task_file import load_task


@cache
def evaluator_of(task: str) -> Evaluator:
    """Whose seed's rounding is measured once for all kernels."""
    return Evaluator(task=load_task(task), device=cpu.open_device(0), secret=1)


TILED = """/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float as[16][16], bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        as[ty][tx] = row < M && k0 + tx < K ? a[row * K + k0 + tx] : 0;
        bs[ty][tx] = k0 + ty < K && col < N ? b[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
        BARRIER
    }
    if (row < M && col < N) c[row * N + col] = sum;
}"""


@pytest.mark.parametrize("barrier, right", [("__syncthreads();", True), ("", False)])
def test_a_missing_barrier_is_found(barrier: str, right: bool) -> None:
    evaluator = evaluator_of("sgemm")
    task, code = evaluator.task, TILED.replace("BARRIER", barrier)
    kernel, compiled = compile_kernel(code, task, cpu.compiler(), "cpu")
    assert evaluator.verify(kernel, compiled, "tests").status is Status.PASSED

    oracle = cpu.oracle(kernel, evaluator.device.info)
    if right:
        assert (
            check_order(kernel, task, target_of("cpu"), oracle, evaluator.correctness.check) == ""
        )
        return
    with pytest.raises(Rejected) as caught:
        check_order(kernel, task, target_of("cpu"), oracle, evaluator.correctness.check)
    assert caught.value.status is Status.WRONG
    assert "barrier" in caught.value.reason


LOCKSTEP = """/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: tree
    grid: ["min(ceil_div(N, 256), 64)"]
    block: [64]
    args: [x, out, N]
---*/
__global__ void tree(const float* x, float* out, int N) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + t; i < N; i += gridDim.x * 64) sum += x[i];
    s[63 - t] = sum;
    __syncthreads();
    if (t < 32) s[t] += s[t + 32];
    if (t < 16) s[t] += s[t + 16];
    if (t < 8) s[t] += s[t + 8];
    if (t < 4) s[t] += s[t + 4];
    if (t < 2) s[t] += s[t + 2];
    if (t < 1) atomicAdd(out, s[0] + s[1]);
}"""


def test_lanes_that_rely_on_lockstep_are_told_so() -> None:
    evaluator = evaluator_of("sum_reduction")
    kernel, compiled = compile_kernel(LOCKSTEP, evaluator.task, cpu.compiler(), "cpu")
    evaluation = evaluator.measure(kernel, compiled, None)
    assert evaluation.status is Status.WRONG
    assert "a lane reads LDS that another lane of its wavefront wrote" in evaluation.reason


ONE_BLOCK_KERNEL = """/*---
launches:
  - {kernel: sum, grid: [1], block: [256], args: [x, out, N]}
---*/
__global__ void sum(const float* x, float* out, int N) {
    __shared__ float s[256];
    float own = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) own += x[i];
    s[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int k = 0; k < 256; ++k) total += s[k];
        out[0] = total;
    }
}"""


def test_one_block_is_told() -> None:
    evaluator = evaluator_of("sum_reduction")
    kernel = parse_kernel(ONE_BLOCK_KERNEL)
    oracle = cpu.oracle(kernel, evaluator.device.info)
    check = evaluator.correctness.check
    assert check_order(kernel, evaluator.task, target_of("cpu"), oracle, check) == ONE_BLOCK


WAITS_FOR_OTHER_BLOCKS = """/*---
scratch: {flags: 4096}
launches:
  - {memset: {buffer: flags, byte: 0}}
  - {kernel: chain, grid: ["min(ceil_div(N, 64), 1024)"], block: [64], args: [x, flags, out, N]}
---*/
__global__ void chain(const float* x, volatile int* flags, float* out, int N) {
    int next = blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : -1;
    if (next >= 0) while (flags[next] == 0) {}
    flags[blockIdx.x] = 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < N; ++i) sum += x[i];
        out[0] = sum;
    }
}"""


def test_what_the_oracle_cannot_run_is_told() -> None:
    task = load_task("sum_reduction")
    device = cpu.open_device(0)
    kernel = parse_kernel(WAITS_FOR_OTHER_BLOCKS)
    evaluator = Evaluator(
        task=task, device=device, secret=1, policy=TimingPolicy(deadline_cap_s=1.0)
    )
    untried = check_order(
        kernel, task, target_of("cpu"), cpu.oracle(kernel, device.info), evaluator.correctness.check
    )
    assert untried.startswith("no order of blocks and threads was tried: it was still running")


BIG_FRAMES = """/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: frames, grid: [4], block: [64], args: [x, out, N]}
---*/
__global__ void frames(const float* x, float* out, int N) {
    float kept[32768];
    float sum = 0.0f;
    for (int i = 0; i < 32768; ++i) kept[(i * 7) % 32768] = i < 3 ? x[i % N] : 0.0f;
    const int first = blockIdx.x * 64 + threadIdx.x;
    for (int i = first; i < N; i += 256) sum += x[i] + kept[(i + 99) % 32768];
    for (int i = first; i < N; i += 256) sum -= kept[(i + 99) % 32768];
    atomicAdd(out, sum);
}"""


def test_large_private_arrays_do_not_disturb_the_oracle() -> None:
    evaluator = evaluator_of("sum_reduction")
    kernel = parse_kernel(BIG_FRAMES)
    oracle = cpu.oracle(kernel, evaluator.device.info)
    check = evaluator.correctness.check
    assert check_order(kernel, evaluator.task, target_of("cpu"), oracle, check) == ""
