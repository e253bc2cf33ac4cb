"""The cpu backend: what a library may hold, what is unsupported, what the compiler is told."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu.device import CpuDevice, compiler, device_count, open_device
from evaluators.cpu.emit import ENTRY, SIGNATURE
from evaluators.cpu.library import check_library
from evaluators.cpu.toolchain import toolchain
from evaluators.cxx import COMPILER_VARIABLE
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep
from tests.evaluators.hostile import library
from tests.evaluators.launching import (
    DEADLINE_S,
    MEMORY_BYTES,
    compile_one,
    kernel,
    launch,
    plan,
    run,
)

COMPILER = compiler()
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


LIBRARIES = [
    ("volatile int y = 1; int x = y; ENTRY { *(int *)launch->args[0] = x; }", "constructor"),
    ("__attribute__((destructor)) void f() { call(1); } ENTRY {}", "destructor"),
    (
        'extern "C" int (*choose())() { return 0; } extern "C" int g() '
        '__attribute__((ifunc("choose"))); ENTRY { g(); }',
        "resolver",
    ),
    (
        'extern "C" int open(const char *, int); ENTRY { open("x", 0); }',
        "uses open of the C library",
    ),
    ('extern "C" int system(const char *); ENTRY { system("x"); }', "uses system of the C library"),
    ("KS_EXPORT int other = 1; ENTRY {}", "exports"),
    ("static thread_local int x; ENTRY { *(int *)launch->args[0] = x++; }", "PT_TLS"),
]


@pytest.mark.parametrize(("body", "words"), LIBRARIES)
def test_a_library_is_refused_before_it_is_loaded(tmp_path: Path, body: str, words: str) -> None:
    data = library(tmp_path, body)
    with pytest.raises(Rejected) as caught:
        check_library(data, entry=ENTRY, signature=SIGNATURE, count=1)
    assert caught.value.status is Status.FORBIDDEN
    assert words in caught.value.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [(("-Wl,-z,execstack",), "executable stack"), (("-Wl,-init,k_init",), "initialiser")],
)
def test_a_library_is_refused_for_how_it_is_linked(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    if toolchain().family == "zig c++":
        pytest.skip("Zig's linker knows neither option")
    data = library(tmp_path, 'extern "C" KS_EXPORT void k_init() {} ENTRY {}')
    start = tmp_path / "unit.so"
    relinked = toolchain().build("unit.cpp", "again.so", ())
    subprocess.run(
        [*relinked, *options],
        cwd=tmp_path,
        env={**os.environ, **toolchain().environment(tmp_path)},
        check=True,
        timeout=580,
    )
    assert data == start.read_bytes()
    with pytest.raises(Rejected) as caught:
        check_library(
            (tmp_path / "again.so").read_bytes(), entry=ENTRY, signature=SIGNATURE, count=1
        )
    assert caught.value.status is Status.FORBIDDEN
    assert words in caught.value.reason


def test_a_function_that_is_only_declared() -> None:
    code = "__device__ float f(float); __global__ void k(float *x) { x[0] = f(x[1]); }"
    with pytest.raises(Rejected) as caught:
        compile_one(COMPILER, code, launch("k", ["x"]))
    assert caught.value.status is Status.COMPILE_ERROR
    assert "declared but not defined" in caught.value.reason


@pytest.mark.parametrize(
    ("code", "status", "word"),
    [
        ("void k(float *x) { int z = (int)x[1]; x[0] = 100 / z; }", Status.CRASHED, "SIGFPE"),
        ("void k(float *x) { __builtin_trap(); }", Status.CRASHED, "SIGILL"),
        ("void k(float *x) { *(float *)(long)x[1] = 1; }", Status.CRASHED, "null pointer"),
        ("void k(float *x) { ((float *volatile)x)[-99999999] = 1; }", Status.CRASHED, "SIGSEGV"),
    ],
)
def test_crashes_are_values(device: CpuDevice, code: str, status: Status, word: str) -> None:
    with pytest.raises(Rejected) as caught:
        run(
            device,
            COMPILER,
            f"__global__ {code}",
            launch("k", ["x"]),
            arrays={"x": np.zeros(64, np.float32)},
        )
    assert caught.value.status is status
    assert word in caught.value.reason


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void k(float *x) { x[0] = __match_any_sync(~0ull, 1); }",
        "__global__ void k(float *x) { x[0] = __builtin_amdgcn_readfirstlane(1); }",
    ],
)
def test_what_no_engine_can_run_is_unsupported(code: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_one(COMPILER, code, launch("k", ["x"]))
    assert caught.value.status is Status.UNSUPPORTED
    assert caught.value.reason.startswith("line ")


def test_a_barrier_in_dead_text_does_no_harm(device: CpuDevice) -> None:
    code = """
#if 0
__syncthreads();
#endif
__global__ void k(float *x) { x[0] = 1; /* __syncthreads() */ }"""
    x = np.zeros(1, np.float32)
    assert run(device, COMPILER, code, launch("k", ["x"]), arrays={"x": x})["x"][0] == 1


def test_cooperative_launches_are_unsupported() -> None:
    step = LaunchStep(
        entry="k", grid=(1, 1, 1), block=(1, 1, 1), lds_bytes=0, args=(), cooperative=True
    )
    with pytest.raises(Rejected) as caught:
        compile_one(COMPILER, "__global__ void k() {}", step)
    assert caught.value.status is Status.UNSUPPORTED


@pytest.mark.parametrize("wavefront", [32, 64])
def test_wavefront_is_the_compilers(device: CpuDevice, wavefront: int) -> None:
    code = "__global__ void k(int *x) { x[0] = WAVEFRONT + warpSize; }"
    found = run(
        device,
        compiler(wavefront=wavefront),
        code,
        launch("k", ["x"]),
        arrays={"x": np.zeros(1, np.int32)},
    )
    assert found["x"][0] == 2 * wavefront


def test_options_reach_the_compiler(device: CpuDevice) -> None:
    """Only under -ffast-math may a compiler reorder a sum, and so vectorise it."""
    code = """
__global__ void k(const float *x, float *y, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    y[0] = sum;
}"""
    step = launch("k", ["x", "y", 40_000])
    x = np.random.default_rng(3).standard_normal(40_000).astype(np.float32)
    results = []
    for options in ([], ["-ffast-math"]):
        compiled = COMPILER.compile(kernel(code, options=options), [plan(step)])
        with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
            buffers = {"x": session.alloc(x.nbytes), "y": session.alloc(4)}
            session.write(buffers["x"], x)
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
            results.append(session.read(buffers["y"], np.dtype(np.float32), (1,))[0])
    in_order = np.float32(0)
    for value in x:
        in_order += value
    assert results[0] == in_order
    assert results[1] != in_order


def test_compiling_has_a_deadline() -> None:
    code = """
template <int N> struct Slow { static constexpr long value = Slow<N - 1>::value + N; };
template <> struct Slow<0> { static constexpr long value = 0; };
__global__ void k(long *x) { x[0] = Slow<800>::value; }"""
    with pytest.raises(Rejected) as caught:
        type(COMPILER)(deadline_s=0.01).compile(kernel(code), [plan(launch("k", ["x"]))])
    assert caught.value.status is Status.TIMEOUT
    assert "0.01 s" in caught.value.reason


def test_a_name_expression_can_not_smuggle_code() -> None:
    for entry in ("k>; int x = system", 'k<sizeof("a")>', "k {}"):
        with pytest.raises(Rejected) as caught:
            compile_one(COMPILER, "__global__ void k() {}", launch(entry, []))
        assert caught.value.status is Status.INVALID


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_count() == len(os.sched_getaffinity(0))
    with pytest.raises(BackendMissing, match="no cpu device 4096"):
        open_device(4096)
    with pytest.raises(BackendMissing, match="not for gfx942"):
        compiler(arch="gfx942")
    monkeypatch.setenv(COMPILER_VARIABLE, "no-such-compiler")
    toolchain.cache_clear()
    with pytest.raises(BackendMissing, match="no-such-compiler"):
        compiler()
    assert device_count() == 0
    monkeypatch.undo()
    toolchain.cache_clear()


@pytest.mark.parametrize("engine", ["cpu-fission", "cpu-fibers", "cpu-switching"])
def test_a_launch_may_name_macros_of_the_file(device: CpuDevice, engine: str) -> None:
    code = """#define TIMES (3)
#define SCALE scale  // what comes behind
template <int BY> __global__ void scale(float *x) { __syncthreads(); x[threadIdx.x] *= BY; }
"""
    step = launch("SCALE<TIMES + 1>", ["x"], block=(4, 1, 1))
    arrays = {"x": np.arange(4, dtype=np.float32)}
    found = run(device, compiler(engine=engine), code, step, arrays=arrays)
    assert found["x"].tolist() == [0, 4, 8, 12]
    with pytest.raises(Rejected, match="names that begin with ks_ are our own"):
        compile_one(compiler(engine=engine), "#define ks_launched\n" + code, step)
