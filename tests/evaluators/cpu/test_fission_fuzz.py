"""Random kernels: loop fission gives, to the bit, what fibers give."""

import re

import numpy as np
import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.device import CpuDevice
from evaluators.kernel.plan import LaunchStep, Plan, Scalar
from evaluators.kernel.source import parse_kernel
from tests.evaluators.cpu.fuzz_kernels import GRID, STRIDE, kernel_file
from tests.evaluators.launching import Array, launch
from tests.soaked import one_in

_LAUNCH = re.compile(
    r"kernel: (\w+), .* block: \[(\d+), (\d+)\], args: \[x, y, \{value: (\d+),.*\{value: (\d+),"
)


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def compute(device: CpuDevice, engine: str, wavefront: int, text: str) -> Array:
    steps: list[LaunchStep] = []
    for name, width, height, n, offset in _LAUNCH.findall(text):
        args: list[str | int | float | Scalar] = ["x", "y", int(n), int(offset)]
        steps.append(launch(name, args, grid=(GRID, 1, 1), block=(int(width), int(height), 1)))
    plan = Plan(defines=(), steps=tuple(steps), prepare=(), scratch={})
    compiler = cpu.compiler(wavefront=wavefront, engine=engine)
    compiled = compiler.compile(parse_kernel(text), [plan])
    x = (np.arange(64, dtype=np.int64) * 7919 % 1009).astype(np.int32)
    y = np.full(len(steps) * STRIDE, -1, np.int32)
    with device.open(compiled, memory_bytes=64 << 20) as session:
        buffers = {"x": session.alloc(x.nbytes), "y": session.alloc(y.nbytes)}
        session.write(buffers["x"], x)
        session.write(buffers["y"], y)
        session.run(plan, buffers, deadline_s=60)
        return session.read(buffers["y"], y.dtype, y.shape)


def check(device: CpuDevice, seed: int, count: int, wavefront: int) -> None:
    text = kernel_file(seed, count)
    wanted = compute(device, fibers.ENGINE, wavefront, text)
    got = compute(device, "cpu-fission", wavefront, text)
    wrong = np.nonzero((wanted != got).reshape(count, STRIDE).any(axis=1))[0]
    assert not len(wrong), f"seed {seed}, wavefront {wavefront}: kernels {wrong.tolist()}"


@pytest.mark.parametrize("seed, wavefront", one_in(2, [(1, 64), (3, 64), (2, 32), (4, 32)]))
def test_random_kernels(device: CpuDevice, seed: int, wavefront: int) -> None:
    check(device, seed, 5, wavefront)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_thousand_random_kernels(device: CpuDevice) -> None:
    for seed in range(1000, 1200):
        check(device, seed, 10, 64 if seed % 2 else 32)
