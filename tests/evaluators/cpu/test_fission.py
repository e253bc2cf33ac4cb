"""Loop fission: agrees with fibers, names what it can't run, tells divergence, explains itself."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.device import CpuDevice
from evaluators.cpu.diagnosis.regions import regions
from evaluators.cpu.emit import ENGINE
from evaluators.cpu.fission.names import WAVE, WAVE_BARRIERS
from evaluators.cpu.fission.translate import translate
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from tests.evaluators.launching import Array, compile_one, launch, run, run_compiled
from tests.soaked import one_in

KERNELS = Path(__file__).parents[2] / "kernels"
HABITS = sorted((KERNELS / "fission").glob("*.hip"))
TUTORIAL = sorted((KERNELS / "tutorial").glob("*/seeds/*.hip"))
LANES = WAVE | WAVE_BARRIERS | {"WAVEFRONT", "warpSize", "lane", "tiled_partition"}


def cases(files: Sequence[Path], *kinds: tuple[str, int]) -> list[object]:
    """Parameters: each file with each engine and size of wavefronts.

    Fission makes the same of a kernel that knows no lanes with 32 as with 64: for the soak.
    """
    found: list[object] = []
    for file in files:
        same = not any(word in file.read_text() for word in LANES)
        for engine, wavefront in kinds:
            marks = [pytest.mark.soak] if same and (engine, wavefront) == (ENGINE, 32) else []
            name = f"{file.stem}-{engine}-{wavefront}"
            found.append(pytest.param(file, engine, wavefront, id=name, marks=marks))
    return found


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def compute(device: CpuDevice, engine: str, wavefront: int, code: str) -> Array:
    x = (np.arange(1024, dtype=np.int64) * 7919 % 1009).astype(np.int32)
    y = np.full(1024, -1, np.int32)
    step = launch("k", ["x", "y", 1000], grid=(2, 1, 1), block=(96, 1, 1), lds_bytes=2048)
    compiled = compile_one(cpu.compiler(wavefront=wavefront, engine=engine), code, step)
    assert compiled.engine == engine
    return run_compiled(device, compiled, step, arrays={"x": x, "y": y})["y"]


@pytest.mark.parametrize(
    "file, engine, wavefront", one_in(4, cases(HABITS, (ENGINE, 64), (ENGINE, 32)))
)
def test_habits(device: CpuDevice, file: Path, engine: str, wavefront: int) -> None:
    code = file.read_text()
    wanted = compute(device, fibers.ENGINE, wavefront, code)
    assert (wanted[:192] != -1).any()
    np.testing.assert_array_equal(compute(device, engine, wavefront, code), wanted)


@pytest.mark.parametrize(
    "seed, engine, wavefront",
    one_in(3, cases(TUTORIAL, (ENGINE, 64), (ENGINE, 32), (fibers.ENGINE, 32))),
)
def test_tutorial_kernels_give_the_reference(
    device: CpuDevice, seed: Path, engine: str, wavefront: int
) -> None:
    task = load_task(seed.parents[1])
    kernel = parse_kernel(seed.read_text())
    workload = task.workloads("tests", "cpu")[-1]
    plan = kernel.plan(task, workload, target_of("cpu"))
    compiled = cpu.compiler(wavefront=wavefront, engine=engine).compile(kernel, [plan])
    assert compiled.engine == engine
    inputs = task.inputs(workload, 5)
    wanted = task.reference(workload, inputs)
    with device.open(compiled, memory_bytes=256 << 20) as session:
        buffers = {a.name: session.alloc(a.nbytes(workload.dims)) for a in task.arguments}
        buffers |= {name: session.alloc(nbytes) for name, nbytes in plan.scratch.items()}
        for buffer in buffers.values():
            session.fill(buffer, 0xA5)
        for name, array in inputs.items():
            session.write(buffers[name], array)
        if plan.prepare:
            session.run(plan, buffers, deadline_s=20, prepare=True)
        session.run(plan, buffers, deadline_s=20)
        for a in task.arguments:
            if a.written:
                got = session.read(buffers[a.name], a.np_dtype, a.shape(workload.dims))
                np.testing.assert_allclose(
                    got.astype(np.float64),
                    wanted[a.name].astype(np.float64),
                    rtol=a.rtol(workload.dims),
                    atol=a.atol(workload.dims),
                )


@pytest.mark.parametrize(
    "body, word",
    [
        ("next: x[0] += 1;\n__syncthreads(); if (x[0] < 4) goto next;", "goto"),
        ("auto f = [&](int v) {\nreturn __shfl(v, 1); }; x[0] = f(3);", "lambda"),
        ("x[0] = twice_of([&](int v) {\n__syncthreads(); return v; }, 3);", "in a lambda"),
        ("int (*f)(int) =\nwaits; x[0] = f(3);", "not as it is translated"),
        ("int a = 3;\nauto [u, v] = Two{a, a}; __syncthreads(); x[0] = u + v;", "bindings"),
        ("static int v;\nv += 1; __syncthreads(); x[0] = v;", "static"),
        ("x[0] =\n(x[1] = 3) + __shfl(x[2], 1);", "assignment"),
        ("int r[2] = {1, 2}; for (int v : r)\n__syncthreads();", "for range loop"),
        ("if (int v = x[0]) {\n__syncthreads(); x[1] = v; }", "condition"),
        ("const int& v = x[0] + twice(1);\n__syncthreads(); x[1] = v;", "lives across"),
        ("x[0] = deep(3);\n", "calls itself"),
        (
            "for (int i = 0; i < 9; ++i) { __syncthreads();\n"
            "for (int j = 0; j < x[i]; ++j) if (x[j]) goto out; } out: ;",
            "goto",
        ),
    ],
)
def test_what_cannot_be_cut_is_named_with_its_line(body: str, word: str) -> None:
    code = (
        "__device__ int twice(int v) { for (int i = 0; i < 1; ++i) v *= 2; return v; }\n"
        "struct Two { int a, b; };"
        "__device__ int waits(int v) { __syncthreads(); return v; }\n"
        "template <typename F> __device__ int twice_of(F f, int v) { return f(v) + f(v); }\n"
        "template <int (*F)(int)> __device__ int applied(int v) { return F(v) + 1; }\n"
        "__device__ int deep(int v) { __syncthreads(); return v ? deep(v - 1) : 0; }\n"
        f"__global__ void k(int* x) {{\n{body}\n}}"
    )
    told = switched(code, "k")
    assert word in told
    assert re.search(r"line \d+: cpu-fission can't run ", told) or word.startswith("not as")


def switched(code: str, entry: str) -> str:
    """What is said of a kernel that is run by switching between threads."""
    made = compile_one(cpu.compiler(), code, launch(entry, ["x"], block=(64, 1, 1)))
    assert made.engine == fibers.SWITCHING
    return str(made.resources[0]["advice"][0])


HANDED_ON = """
template <int N, void (*F)(const int*, int*, int)> __global__ void k(const int* x, int* y, int n) {
    F(x, y, N);
}
__device__ int mirrored(int v) { return 95 - v - threadIdx.x; }
__device__ void waiting(const int* x, int* y, int n) {
    __shared__ int s[96];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[blockIdx.x * 96 + threadIdx.x] = s[mirrored(0)] + n;
}
__device__ void indexed(const int* x, int* y, int n) { y[blockIdx.x * 96 + mirrored(0)] = x[n]; }
"""


@pytest.mark.parametrize("entry", ["k<3, waiting>", "k<4, &indexed>"])
def test_a_kernel_that_is_handed_a_function_is_cut(device: CpuDevice, entry: str) -> None:
    x, found = np.arange(1024, dtype=np.int32), []
    step = launch(entry, ["x", "y", 0], grid=(2, 1, 1), block=(96, 1, 1))
    for engine in (ENGINE, fibers.ENGINE):
        compiler, y = cpu.compiler(engine=engine), np.zeros(1024, np.int32)
        made = compile_one(compiler, HANDED_ON, step)
        assert made.engine == engine
        assert made.resources[0]["kernel"] == f"{entry} [96x1x1]"
        assert made.resources[0]["lds_bytes"] == 384 or "waiting" not in entry
        found.append(run(device, compiler, HANDED_ON, step, arrays={"x": x, "y": y})["y"])
    np.testing.assert_array_equal(found[0], found[1])


def test_what_only_the_cut_form_is_no_cpp_for() -> None:
    code = (
        "struct D final { int a; __device__ D(int v) : a(v) {} };\n"
        "__global__ void k(int* x) {\nD d = D(x[0]);\n__syncthreads();\nx[0] = d.a;\n}"
    )
    assert "it compiles as written, but not as it is translated for cpu" in switched(code, "k")


@pytest.mark.parametrize(
    "body, reason",
    [
        ("x[0] = missing;", "line 8: 'missing' was not declared"),
        ("x[0] = 3", "line 8: expected ';'"),
        (
            "auto f = [&] { __syncthreads(); return missing; };",
            "line 8: 'missing' was not declared",
        ),
    ],
)
def test_what_does_not_compile_is_told_in_the_words_of_the_source(body: str, reason: str) -> None:
    code = f"__global__ void k(int* x) {{\n__syncthreads();\n{body}\n}}"
    with pytest.raises(Rejected) as caught:
        compile_one(cpu.compiler(), code, launch("k", ["x"], block=(64, 1, 1)))
    assert caught.value.status is Status.COMPILE_ERROR
    assert reason in caught.value.reason
    assert "ks_" not in caught.value.reason + caught.value.log


@pytest.mark.parametrize(
    "engine, body",
    [
        ("cpu-fission", "if (x[threadIdx.x])\n__syncthreads();\nx[0] = 1; __syncthreads();"),
        (fibers.ENGINE, "int own = x[threadIdx.x];\nif (own) __syncthreads();\n__syncthreads();"),
        ("cpu-fission", "for (int i = 0; i < 2 + x[threadIdx.x]; ++i)\n__syncthreads();"),
        ("cpu-fission", "for (;;) {\nif (x[threadIdx.x]) break; __syncthreads(); }"),
        (
            "cpu-fission",
            "for (int i = 0; i < 9; ++i) {\nif (x[threadIdx.x]) continue; __syncthreads(); }",
        ),
        (
            "cpu-fission",
            "for (int i = 0; i < 9; ++i) {\n__syncthreads(); for (;;) if (i + x[threadIdx.x] > 3) "
            "break; else ++i; }",
        ),
    ],
)
def test_divergent_barriers_are_told(device: CpuDevice, engine: str, body: str) -> None:
    code = f"__global__ void k(int* x) {{\n{body}\n}}"
    step = launch("k", ["x"], block=(64, 1, 1))
    x = (np.arange(64) % 2).astype(np.int32)
    with pytest.raises(Rejected) as caught:
        run(device, cpu.compiler(engine=engine), code, step, arrays={"x": x})
    assert caught.value.status is Status.CRASHED
    assert "divergent barrier" in caught.value.reason


@pytest.mark.parametrize("name", ["__atomic_fetch_add", "__sync_fetch_and_add"])
def test_fibers_know_atomics_by_the_compilers_own_names(device: CpuDevice, name: str) -> None:
    order = ", __ATOMIC_RELAXED" * name.startswith("__atomic")
    code = f"__global__ void k(int* x) {{ {name}(x, 1{order}); }}"
    step = launch("k", ["x"], grid=(2, 1, 1), block=(96, 1, 1))
    compiler, zero = cpu.compiler(engine=fibers.ENGINE), np.zeros(1, np.int32)
    assert run(device, compiler, code, step, arrays={"x": zero})["x"] == [192]


SAME_NAMES = """
template <typename T, int N, typename = void> __device__ T turned(const T* x, T (&more)[2]) {
    __shared__ T s[96];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    more[1] += s[(threadIdx.x + N) % 96];
    return s[95 - threadIdx.x] * N;
}
template <typename T, int N> __global__ void k(const T* x, T* y) {
    T more[2] = {1, 2};
    T sum = turned<T, N + 1>(x, more) + turned<T, N>(x, more);
    y[threadIdx.x] = sum + more[1];
}
"""


def test_templates_that_meet_may_name_their_parameters_alike(device: CpuDevice) -> None:
    x, found = np.arange(96, dtype=np.int32), []
    step = launch("k<int, 3>", ["x", "y"], block=(96, 1, 1))
    for engine in (ENGINE, fibers.ENGINE):
        compiler, y = cpu.compiler(engine=engine), np.zeros(96, np.int32)
        assert compile_one(compiler, SAME_NAMES, step).engine == engine
        found.append(run(device, compiler, SAME_NAMES, step, arrays={"x": x, "y": y})["y"])
    np.testing.assert_array_equal(found[0], found[1])
    wanted = (95 - x) * 7 + 2 + (x + 4) % 96 + (x + 3) % 96
    np.testing.assert_array_equal(found[0], wanted)


def test_static_lds_is_counted() -> None:
    code = """template <typename T> __device__ T first(T v) {
        __shared__ T kept[16]; kept[threadIdx.x] = v; __syncthreads(); return kept[0]; }
    __global__ void k(float* x) { __shared__ float s[100]; s[threadIdx.x] = x[0]; __syncthreads();
        x[1] = s[3] + first(x[2]); }"""
    compiled = compile_one(cpu.compiler(), code, launch("k", ["x"], block=(16, 1, 1)))
    assert compiled.resources[0]["lds_bytes"] == 400 + 64


def test_explain() -> None:
    code = """__global__ void k(float* x) {
    __shared__ float s[64];
    float kept = x[threadIdx.x];
    s[threadIdx.x] = kept;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    atomicAdd(&x[0], s[0] + kept);
}"""
    cut = regions(translate(code, ["k"]))
    assert [(r.first_line, r.last_line) for r in cut] == [(3, 4), (7, 7), (10, 10)]
    assert "barrier at line 5" in cut[0].why
    assert [r.vectorised for r in cut] == [True, True, False]
    assert [r.kept for r in cut] == [("kept",), (), ("kept",)]


def test_indices_and_addresses_take_forms_that_vectorise() -> None:
    """g++ 12 makes pointwise kernels 4 times, a register tile's helper 5 times quicker so."""
    code = """# 1 "kernel.hip"
__device__ void load(float r[8], const float* from);
__global__ void k(float* x) {
    __shared__ float s[8][8];
    float r[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    load(r, &s[i][i * 2]);
    x[i] = r[0];
}"""
    cut = " ".join(translate(code, ["k"]).text.split())
    assert "ks_plus ( ks_times ( blockIdx . x , blockDim . x ) , threadIdx . x )" in cut
    assert "load ( r , ( s [ i ] + ( i * 2 ) ) )" in cut


def test_indices_stay_where_only_loads_and_stores_follow() -> None:
    """g++ 12 would take y[i] = a * x[i] + b behind if (i < n) up to twice as long in vectors."""
    code = """# 1 "kernel.hip"
__global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = fmaxf(2 * x[i], float(n));
}"""
    assert "ks_plus" not in translate(code, ["k"]).text
