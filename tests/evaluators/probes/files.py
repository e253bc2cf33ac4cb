"""Probe files for tests, and devices as they are told of."""

from evaluators.device_info import DeviceInfo

ADD = """
#include <hip/hip_runtime.h>
__global__ void add(float *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] += 2.0f;
}
"""
LAUNCH = '- {kernel: add, grid: ["ceil_div(N, 64)"], block: [64], args: [out, N]}'


def probe_text(
    *,
    question: str = "What does it cost to add two?",
    more: str = "",
    buffers: str = "{out: {elements: N, fill: iota}}",
    cases: str = "[{N: 64}, {N: 256}]",
    launch: str = LAUNCH,
    top: str = "",
    code: str = ADD,
) -> str:
    """A probe of a kernel that adds 2 to N numbers. more: further keys of probe, indented."""
    return (
        f"/*---\nprobe:\n  question: {question}\n  buffers: {buffers}\n  cases: {cases}\n{more}"
        f"launches:\n  {launch}\n{top}---*/{code}"
    )


def told_of(backend: str, arch: str, *, wavefront: int) -> DeviceInfo:
    """A GPU that is not here."""
    return DeviceInfo(
        backend=backend,
        name="a GPU",
        arch=arch,
        engine=backend,
        compiler="a compiler 1.0",
        wavefront=wavefront,
        lds_bytes=64 << 10,
        max_threads=1024,
        cache_bytes=50 << 20,
        peak_bytes_per_s={"cache": 1e13, "dram": 4e12},
    )


H100 = told_of("cuda", "sm_90", wavefront=32)
MI300 = told_of("hip", "gfx942", wavefront=64)
