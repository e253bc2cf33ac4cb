"""Kernels with cooperative groups give the same on both engines on cpu and on an emulated MI300."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.acceptance.launching import DEADLINE_S, kernel, launch, plan
from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cuda import device as cuda
from evaluators.device import Compiled, Compiler, Device
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild

Array = np.ndarray[Any, Any]

SOURCE = (Path(__file__).parents[2] / "kernels" / "groups" / "groups.hip").read_text()
THREADS = 256
IN = np.random.default_rng(7).integers(-40, 40, THREADS).astype(np.int32)


def tiles(size: int, x: Array = IN) -> Array:
    shaped: Array = x.reshape(-1, size)
    return shaped


def each(values: Array, size: int) -> Array:
    """A value a tile, for each of its threads."""
    repeated: Array = np.repeat(values, size)
    return repeated


def first_of(values: Array, size: int) -> Array:
    out = np.zeros(THREADS, np.int32)
    out[::size] = values
    return out


def by_size() -> Any:
    t = np.arange(THREADS)
    rank = (t % 8) * 100 + t % 32 // 8
    return each(tiles(32).max(1), 32) + 1000 * each(tiles(8).max(1), 8) + 100000 * rank


def aggregated() -> Any:
    taken = IN % 3 == 0
    return taken + 10 * taken.sum()


def row_a_tile() -> Array:
    rows = IN[:250].reshape(5, 50)
    out = np.zeros(THREADS, np.int32)
    out[:5] = (rows.max(1, keepdims=True) - rows).sum(1)
    return out


def scans() -> Any:
    sums = np.cumsum(IN)
    before = np.cumsum(tiles(32), axis=1) - tiles(32)
    return sums * 2 + (before.ravel() == sums)


def votes(lanes: int = 64) -> Any:
    odd, t = IN & 1, np.arange(THREADS)
    in_tile = each(tiles(8, odd).sum(1), 8)
    out = np.where((in_tile > 0) & (in_tile < 8), in_tile, 0)
    for wave in range(0, THREADS, lanes):
        active = [i for i in range(wave, wave + lanes) if odd[i]]
        for here, there in zip(active, [*active[1:], active[-1]], strict=True):
            out[here] += 100 * (IN[there] & 15) + 10000 * len(active)
    same = tiles(32, odd)[t // 32] == odd[:, None]
    rank = np.array([same[i, : i % 32].sum() for i in range(THREADS)])
    return out + 1000000 * same.sum(1) + rank


WANTED: dict[str, Array] = {
    "any_group": first_of(np.array([IN.sum(), *[0] * 15]), 16)
    + 1000 * first_of(tiles(16).sum(1), 16),
    "by_type<4>": each(tiles(4).sum(1) + np.arange(64), 4),
    "by_type<64>": each(tiles(64).sum(1) + np.arange(4), 64),
    "by_size": by_size(),
    "unqualified": np.full(THREADS, IN.sum() + 32),
    "two_steps": np.full(THREADS, np.resize(IN, 1000).sum()),
    "aggregated": aggregated(),
    "row_a_tile": row_a_tile(),
    "scans": scans(),
    "votes": votes(),
}
FOR_32 = [name for name in WANTED if name != "by_type<64>"]
"""Those whose tiles fit into a warp."""


@cache
def made(compiler: Compiler, names: tuple[str, ...]) -> Compiled:
    steps = [launch(name, ["in", "out"], block=(THREADS, 1, 1)) for name in names]
    return compiler.compile(kernel(SOURCE), [plan(*steps)])


def run(device: Device, compiled: Compiled, name: str) -> Array:
    step = launch(name, ["in", "out"], block=(THREADS, 1, 1))
    with device.open(compiled, memory_bytes=1 << 20) as session:
        buffers = {"in": session.alloc(IN.nbytes), "out": session.alloc(IN.nbytes)}
        session.write(buffers["in"], IN)
        session.write(buffers["out"], np.zeros_like(IN))
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        return session.read(buffers["out"], IN.dtype, IN.shape)


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("engine", ["cpu-fission", fibers.ENGINE])
def test_on_cpu(engine: str, name: str) -> None:
    compiled = made(cpu.compiler(engine=engine), tuple(WANTED))
    np.testing.assert_array_equal(run(cpu.open_device(0), compiled, name), WANTED[name])


@pytest.fixture(scope="module")
def for_gfx942(gfx942: HiprtcChild) -> Compiled:
    return made(hip.compiler(arch="gfx942", child=gfx942), tuple(WANTED))


@pytest.mark.parametrize("name", WANTED)
def test_on_an_emulated_mi300(for_gfx942: Compiled, name: str) -> None:
    np.testing.assert_array_equal(run(open_emulated(0), for_gfx942, name), WANTED[name])


@pytest.mark.hardware
@pytest.mark.parametrize("name", FOR_32)
def test_on_an_nvidia_gpu(name: str) -> None:
    if not cuda.device_count():
        pytest.skip("no NVIDIA GPU here")
    device = cuda.open_device(0)
    compiler = cuda.compiler(arch=device.info.arch)
    found = run(device, made(compiler, tuple(FOR_32)), name)
    compiler.close()
    wanted = votes(lanes=32) if name == "votes" else WANTED[name]
    np.testing.assert_array_equal(found, wanted)


def test_they_compile_for_sm_90() -> None:
    compiler = cuda.compiler(arch="sm_90")
    assert made(compiler, tuple(FOR_32)).log == ""
    compiler.close()


NOT_HERE = {
    "a grid's sync": (
        "g.sync(); x[1] = g.size();",
        Status.UNSUPPORTED,
        "sync() of a grid: no launch on cpu is cooperative",
    ),
    "reducing a block": (
        "x[0] = cg::reduce(b, x[0], cg::plus<int>());",
        Status.COMPILE_ERROR,
        "reduce and scans are for tiles and coalesced groups",
    ),
    "a tile beyond the wavefront": (
        "x[0] = cg::tiled_partition<128>(b).size();",
        Status.COMPILE_ERROR,
        "a tile has at most as many threads as a wavefront: 64 on AMD's GPUs and on cpu",
    ),
}


@pytest.mark.parametrize("case", NOT_HERE)
def test_what_cpu_has_not_is_one_sentence(case: str) -> None:
    statement, status, said = NOT_HERE[case]
    code = f"""namespace cg = cooperative_groups;
__global__ void k(int *x) {{
    auto b = cg::this_thread_block();
    auto g = cg::this_grid();
    {statement}
}}"""
    compiler = cpu.compiler()
    with pytest.raises(Rejected) as caught:
        compiler.compile(kernel(code), [plan(launch("k", ["x"], block=(64, 1, 1)))])
    assert caught.value.status is status
    assert said in caught.value.reason
