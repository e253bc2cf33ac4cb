"""What a kernel keeps outside of its buffers between launches is forgotten on request."""

from dataclasses import replace

import numpy as np
import pytest

from evaluators.cpu.device import CpuDevice, compiler, open_device
from evaluators.kernel.plan import Plan
from tests.evaluators.launching import DEADLINE_S, MEMORY_BYTES, compile_one, kernel, launch, plan

KEEPERS = {
    "a counter": "__device__ int kept = 40; __device__ int next() { return kept++; }",
    "a table of zeros": "__device__ int kept[9000]; "
    "__device__ int next() { return 40 + kept[8999]++; }",
    "a variable of a function": "__device__ int next() { static int kept = 40; return kept++; }",
    "a pointer": "__device__ int a = 40, b = 41; __device__ int *kept = &a; "
    "__device__ int next() { int found = *kept; kept = &b; return found; }",
    "what a launch left on the stack": "__device__ __attribute__((noinline)) int next() "
    "{ volatile int kept[900]; bool met = kept[7] == 1234; kept[7] = 1234; return 40 + met; }",
    "an array in LDS": "__device__ int next() { __shared__ int kept[1]; "
    "if (kept[0] != 1) { kept[0] = 1; return 40; } return 41; }",
}
KERNEL = """
__global__ void k(int *x) { x[0] = next(); }
__global__ void set(int *x) { x[0] = next(); }
"""


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


@pytest.mark.parametrize("name", KEEPERS)
def test_a_session_forgets(device: CpuDevice, name: str) -> None:
    steps = plan(launch("k", ["x"]))
    compiled = compile_one(compiler(), KEEPERS[name] + KERNEL, launch("k", ["x"]))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)

        def once() -> int:
            session.time(steps, [{"x": x}], deadline_s=DEADLINE_S)
            return int(session.read(x, np.dtype(np.int32), (1,))[0])

        assert [once(), once()] == [40, 41]
        session.forget()
        kept = session.variables()
        assert once() == 40
        if "stack" not in name:
            session.set_variables(kept)
            assert once() == 40


def test_what_prepare_left_is_not_forgotten(device: CpuDevice) -> None:
    """Nor does prepare find what timed launches left."""
    prepared = Plan(
        defines=(), steps=(launch("k", ["x"]),), prepare=(launch("set", ["x"]),), scratch={}
    )
    code = KEEPERS["a counter"] + KERNEL
    compiled = compile_one(compiler(), code, launch("k", ["x"]), launch("set", ["x"]))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)

        def once(*, prepare: bool = False) -> int:
            session.run(prepared, {"x": x}, deadline_s=DEADLINE_S, prepare=prepare)
            return int(session.read(x, np.dtype(np.int32), (1,))[0])

        assert [once(prepare=True), once(), once()] == [40, 41, 42]
        session.forget()
        assert once() == 41
        assert [once(prepare=True), once()] == [41, 42]


def test_two_builds_are_forgotten_at_once(device: CpuDevice) -> None:
    code = KEEPERS["a counter"] + KERNEL
    plans = [replace(plan(launch("k", ["x"])), defines=(("N", n),)) for n in (1, 2)]
    source = kernel(code, params="{N: 1}")
    compiled = compiler().compile(source, plans)
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)
        for _ in range(2):
            for one in plans:
                session.run(one, {"x": x}, deadline_s=DEADLINE_S)
                assert session.read(x, np.dtype(np.int32), (1,))[0] == 40
            session.forget()
