"""How fast the device copies and multiplies, against the table of peaks."""

from collections.abc import Mapping, Sequence

import numpy as np

from evaluators.acceptance.launching import DEADLINE_S, compile_one, launch, plan
from evaluators.acceptance.trial import Broken, Setup, Trial, expect
from evaluators.device import Buffer, Compiler, Device, Session
from evaluators.kernel.plan import LaunchStep, Scalar

COPY = """
__global__ void copy(const float4 *from, float4 *to, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}"""
CHAINS = 16
MULTIPLY = """
__global__ void multiply_add(float *data, int rounds) {
    float lane[16];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = data[0], term = data[1];
    #pragma unroll
    for (int i = 0; i < 16; ++i) lane[i] = factor * i;
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int i = 0; i < 16; ++i) lane[i] = fmaf(lane[i], factor, term);
    }
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < 16; ++i) sum += lane[i];
    data[2 + at] = sum;
}"""
LEAST_COPY, LEAST_FLOPS = 0.6, 0.45
"""Part of the peak that such plain kernels reach on a sound GPU (H200: 0.9 and 0.8; packed
float32 on CDNA3 needs pairs that compilers do not always find, so half is a sound rate there)."""
LEAST_CPU = 0.05
"""On cpu the peak is one core's own calibration, and other programs share the core."""
MOST, MOST_CPU = 1.05, 2.0
REPEATS = 5


def copying(device: Device) -> tuple[LaunchStep, int]:
    """A copy well beyond every cache: the launch, and the bytes of one of its two buffers."""
    on_cpu = device.info.backend == "cpu"
    nbytes = (64 << 20) if on_cpu else max(1 << 30, 4 * device.info.cache_bytes)
    n = nbytes // 16
    args: list[str | int | float | Scalar] = ["from", "to", Scalar(value=n, type="int64")]
    return launch("copy", args, grid=(-(-n // 256), 1, 1), block=(256, 1, 1)), nbytes


def multiplying(device: Device) -> tuple[LaunchStep, int, float]:
    """Multiply-adds in registers: the launch, its buffer's bytes, its floating-point operations."""
    blocks, rounds = (16, 1024) if device.info.backend == "cpu" else (16384, 4096)
    threads = 256 * blocks
    step = launch("multiply_add", ["data", rounds], grid=(blocks, 1, 1), block=(256, 1, 1))
    return step, 4 * (2 + threads), 2.0 * CHAINS * rounds * threads


def best_us(session: Session, step: LaunchStep, buffers: Mapping[str, Buffer]) -> float:
    """Of several timed calls, after a warm-up. Microseconds a launch, four launches a call."""
    once = plan(step)
    times = [
        session.time(once, [buffers] * 4, deadline_s=DEADLINE_S) / 4 for _ in range(REPEATS + 1)
    ]
    return min(times[1:])


def copy_rate(device: Device, compiler: Compiler) -> float:
    """Bytes read and written a second. Raises Broken when the copy is wrong."""
    step, nbytes = copying(device)
    compiled = compile_one(compiler, COPY, step)
    with device.open(compiled, memory_bytes=2 * nbytes + 4096) as session:
        buffers = {name: session.alloc(nbytes) for name in ("from", "to")}
        session.fill(buffers["from"], 0x5A)
        session.fill(buffers["to"], 0)
        time_us = best_us(session, step, buffers)
        end = buffers["to"].view(nbytes - 4096, 4096)
        expect(session.read(end, np.dtype(np.uint8), (4096,)), np.full(4096, 0x5A), "a copy's end")
    return 2 * nbytes / time_us * 1e6


def multiply_rate(device: Device, compiler: Compiler) -> float:
    """float32 operations a second on the vector units."""
    step, nbytes, flops = multiplying(device)
    compiled = compile_one(compiler, MULTIPLY, step)
    with device.open(compiled, memory_bytes=nbytes + 4096) as session:
        data = session.alloc(nbytes)
        session.fill(data, 0)
        session.write(data.view(0, 8), np.array([0.5, 2.0], np.float32))
        time_us = best_us(session, step, {"data": data})
        last = session.read(data.view(nbytes - 4, 4), np.dtype(np.float32), (1,))
        expect(last, [4.0 * CHAINS], "the limit of x = x / 2 + 2, summed over the chains")
    return flops / time_us * 1e6


def judged(rate: float, peak: float | None, unit: str, *, least: float, most: float) -> str:
    """The rate in words. Raises Broken outside of [least, most] of the peak."""
    said = f"{rate / 1e12:.3g} T{unit}" if rate > 1e12 else f"{rate / 1e9:.3g} G{unit}"
    if peak is None:
        return f"{said}; no table knows a peak for this device"
    said += f", {rate / peak:.0%} of the peak of {peak / 1e12:.3g} T{unit}"
    if rate < least * peak:
        raise Broken(f"{said}, at least {least:.0%} should be reached")
    if rate > most * peak:
        raise Broken(f"{said}, which can't be: the peak or the timing is wrong")
    return said


def _copy(setup: Setup) -> str:
    info = setup.device.info
    least, most = (LEAST_CPU, MOST_CPU) if info.backend == "cpu" else (LEAST_COPY, MOST)
    rate = copy_rate(setup.device, setup.compiler)
    return judged(rate, info.peak_bytes_per_s.get("dram"), "B/s", least=least, most=most)


def _multiply(setup: Setup) -> str:
    info = setup.device.info
    rate = multiply_rate(setup.device, setup.compiler)
    least, most = (LEAST_CPU, MOST_CPU) if info.backend == "cpu" else (LEAST_FLOPS, MOST)
    return judged(rate, info.peak_flops.get("float32"), "FLOP/s", least=least, most=most)


def _host_copies(setup: Setup) -> str:
    """Both ways through the session, compared."""
    nbytes = 32 << 20
    step = launch("copy", ["from", "to", Scalar(value=1, type="int64")])
    compiled = compile_one(setup.compiler, COPY, step)
    sent = np.random.default_rng(1).integers(0, 256, nbytes, np.uint8)
    with setup.device.open(compiled, memory_bytes=nbytes + 4096) as session:
        there = session.alloc(nbytes)
        session.write(there, sent)
        expect(session.read(there, sent.dtype, sent.shape), sent, "32 MiB copied there and back")
    return "32 MiB went to the device and back unchanged"


def trials() -> Sequence[Trial]:
    return (
        Trial(
            name="copies to and from the host",
            run=_host_copies,
            todo="test the machine's memory and its PCIe link before any campaign",
        ),
        Trial(
            name="copy bandwidth",
            run=_copy,
            times=True,
            todo="see that nothing else runs on the device, that it is not partitioned and "
            "not throttled (rocm-smi or nvidia-smi); too fast: correct evaluators/gpu/peaks.py",
        ),
        Trial(
            name="float32 rate",
            run=_multiply,
            times=True,
            todo="see that nothing else runs on the device and that its clocks and power limit "
            "are the maker's (rocm-smi or nvidia-smi); too fast: correct evaluators/gpu/peaks.py",
        ),
    )
