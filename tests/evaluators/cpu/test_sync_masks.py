"""Masks of wavefront operations on cpu: what traps on an MI300 is told, by both engines."""

from collections.abc import Mapping

import numpy as np
import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.device import CpuDevice
from evaluators.device import Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep
from evaluators.kernel.porting.header_assertions import NARROW
from tests.evaluators.launching import Array, compile_one, kernel, launch, plan

ENGINES = ("cpu-fission", fibers.ENGINE)
TOTAL = """__device__ int total(int v) {
    for (int d = WAVEFRONT / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0ull, v, d);
    return v;
}
#define LOW (WAVEFRONT == 32 ? 0xffffull : 0xffffffffull)
"""
KERNEL = "__global__ void {name}(int* y) {{ int t = threadIdx.x, v = 1; {body} y[t] = v; }}\n"


RIGHT = {
    "all lanes": ("v = __shfl_sync(~0ull, t, 3);", 128),
    "the active ones": ("if (t % 3) v = __popcll(__ballot_sync(__activemask(), 1));", 96),
    "a wavefront not full": ("v = __any_sync(__activemask(), t > 90);", 96),
    "a branch's own lanes": (
        "auto odd = __ballot(t & 1); if (t & 1) v = __shfl_down_sync(odd, t, 2);",
        64,
    ),
    "two groups in one operation": (
        "v = __shfl_xor_sync(t % WAVEFRONT < WAVEFRONT / 2 ? LOW : ~LOW, t, 1);",
        64,
    ),
    "lanes that leave a loop": (
        "for (int i = 0; i < t % 5; ++i) v += __popcll(__ballot_sync(__activemask(), i < 3));",
        96,
    ),
    "in a function": ("v = total(t);", 128),
    "one inside another": (
        "v = __shfl_sync(~0ull, __shfl_up_sync(~0ull, t, 1), 1) + __all_sync(~0ull, 1);",
        64,
    ),
    "waiting": ("__syncwarp(~0ull); if (t < 9) __syncwarp(__activemask()); __syncwarp();", 64),
}
WRONG = {
    "a wavefront not full, named": "v = __shfl_sync(~0ull, t, 5);",
    "a ballot of some lanes": "if (t & 1) v = __ballot_sync(~0ull, 1) > 0;",
    "lanes that have returned": "if (t == 2) return; v = __any_sync(~0ull, t);",
    "a loop that lanes leave": "for (int i = 0; i < 1 + (t & 1); ++i) v += __all_sync(~0ull, 1);",
    "lanes left out": "v = __shfl_up_sync(~6ull, t, 1);",
    "no lane at all": "v = __shfl_xor_sync(0ull, t, 1);",
    "groups that overlap": ("v = __shfl_xor_sync(t % WAVEFRONT < 8 ? ~0ull : ~0ull << 8, t, 1);"),
    "some in a function": "if (t != 4) v = total(t);",
    "waiting for others": "if (t < 9) __syncwarp(~0ull);",
}
TOLD = {
    "a wavefront not full, named": "names lane 16,",
    "a ballot of some lanes": "names lane 0,",
    "lanes that have returned": "names lane 2,",
    "a loop that lanes leave": "names lane 0,",
    "lanes left out": "lacks lane 1,",
    "no lane at all": "lacks lane 0,",
    "groups that overlap": "names lane 8,",
    "some in a function": "names lane 4,",
    "waiting for others": "names lane 9,",
}
CASES = RIGHT | {case: (body, 80 if "full" in case else 64) for case, body in WRONG.items()}


def source(cases: Mapping[str, tuple[str, int]]) -> str:
    """One kernel a case: k0, k1 and so on, a line each."""
    bodies = enumerate(body for body, _ in cases.values())
    return TOTAL + "".join(KERNEL.format(name=f"k{i}", body=body) for i, body in bodies)


def step(number: int, threads: int) -> LaunchStep:
    return launch(f"k{number}", ["y"], block=(threads, 1, 1))


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


@pytest.fixture(scope="module", params=[64, 32], ids=["64 lanes", "32 lanes"])
def compiled(request: pytest.FixtureRequest) -> dict[str, Compiled]:
    """All cases, by engine."""
    steps = [step(i, threads) for i, (_, threads) in enumerate(CASES.values())]
    made = {}
    for engine in ENGINES:
        compiler = cpu.compiler(wavefront=request.param, engine=engine)
        made[engine] = compile_one(compiler, source(CASES), *steps)
    return made


def compute(device: CpuDevice, compiled: Compiled, case: str) -> Array:
    threads = CASES[case][1]
    chosen = plan(step(list(CASES).index(case), threads))
    with device.open(compiled, memory_bytes=1 << 20) as session:
        y = session.alloc(4 * threads)
        session.run(chosen, {"y": y}, deadline_s=20)
        return session.read(y, np.dtype(np.int32), (threads,))


@pytest.mark.parametrize("case", RIGHT)
def test_masks_of_the_active_lanes_are_right(
    device: CpuDevice, compiled: dict[str, Compiled], case: str
) -> None:
    found, oracle = (compute(device, compiled[engine], case) for engine in ENGINES)
    np.testing.assert_array_equal(found, oracle)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", WRONG)
def test_a_mask_that_differs_from_the_active_lanes_is_told(
    device: CpuDevice, compiled: dict[str, Compiled], case: str, engine: str
) -> None:
    with pytest.raises(Rejected) as caught:
        compute(device, compiled[engine], case)
    assert caught.value.status is Status.CRASHED
    lines = kernel(source(CASES)).text.splitlines()
    wanted = "v, d)" if "total" in WRONG[case] else WRONG[case]
    line = next(i for i, text in enumerate(lines, start=1) if wanted in text)
    for said in (TOLD[case], f"(line {line})", "MI300", "without mask", "__shfl_down(x, d)"):
        assert said in caught.value.reason


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mask_of_32_bits_is_for_wavefronts_of_32(device: CpuDevice, engine: str) -> None:
    code = source({"": ("v = __shfl_xor_sync(0xffffffff, t, 1); __syncwarp(~0u);", 32)})
    code = code.replace("~0ull", "0xffffffff")
    narrow = compile_one(cpu.compiler(wavefront=32, engine=engine), code, step(0, 32))
    with device.open(narrow, memory_bytes=1 << 20) as session:
        y = session.alloc(128)
        session.run(plan(step(0, 32)), {"y": y}, deadline_s=20)
        found = session.read(y, np.dtype(np.int32), (32,))
    np.testing.assert_array_equal(found, np.arange(32) ^ 1)
    with pytest.raises(Rejected) as caught:
        compile_one(cpu.compiler(wavefront=64, engine=engine), code, step(0, 32))
    assert caught.value.status is Status.COMPILE_ERROR
    assert NARROW in caught.value.reason
    assert caught.value.line is not None
