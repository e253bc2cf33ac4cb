"""A kernel that lacks a barrier is found out, though the engine that is timed does not mind."""

import pytest

from evaluators.checks.check import check_order
from evaluators.cpu import device as cpu
from evaluators.cpu.thread_order import waits
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.task_file import load_task

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
    task = load_task("sgemm")
    device, compiler = cpu.open_device(0), cpu.compiler()
    kernel, compiled = compile_kernel(TILED.replace("BARRIER", barrier), task, compiler, "cpu")
    evaluator = Evaluator(task=task, device=device, secret=1)
    assert evaluator.verify(kernel, compiled).status is Status.PASSED

    oracle = cpu.oracle(kernel, device.info)
    assert oracle is not None
    if right:
        check_order(kernel, task, "cpu", oracle, evaluator._check)
        return
    with pytest.raises(Rejected) as caught:
        check_order(kernel, task, "cpu", oracle, evaluator._check)
    assert caught.value.status is Status.WRONG
    assert "a barrier missing?" in caught.value.reason


def test_waits() -> None:
    assert waits("x += __shfl_xor(x, 1);")
    assert not waits("int my__syncthreads = 0;")
