"""The cpu backend's walls: what a library may hold, what its child may do, what counts as done."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu import CpuDevice, compiler, device_count, open_device
from evaluators.cpu_compile import arch, entry_key
from evaluators.cpu_emit import ENGINE, ENTRY, SIGNATURE
from evaluators.cpu_toolchain import COMPILER_VARIABLE, toolchain
from evaluators.device import BackendMissing, Binary, Compiled
from evaluators.elf import check_library
from evaluators.evaluation import Rejected, Status
from evaluators.plan import LaunchStep
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
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


def library(tmp_path: Path, body: str, *, options: tuple[str, ...] = ()) -> bytes:
    """A library that no check has seen: body is C++, with entry 0 named ENTRY."""
    unit = f"""#define WAVEFRONT 64
#include <hip/hip_runtime.h>
static constexpr KsIndex blockDim{{1, 1, 1}};
#include <ks/entry.h>
extern "C" {{ KS_EXPORT extern const KsSignature {SIGNATURE.format(0)} = {{"p"}}; }}
#define ENTRY extern "C" KS_EXPORT void {ENTRY.format(0)}(const KsLaunch *launch)
static long call(long number, long a = 0, long b = 0, long c = 0) {{
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return result;
}}
{body}
"""
    (tmp_path / "unit.cpp").write_text(unit)
    subprocess.run(
        toolchain().build("unit.cpp", "unit.so", options),
        cwd=tmp_path,
        env={**os.environ, **toolchain().environment(tmp_path)},
        check=True,
        timeout=100,
    )
    return (tmp_path / "unit.so").read_bytes()


def hostile(tmp_path: Path, body: str) -> tuple[Compiled, LaunchStep]:
    """That library as if it had passed: the run child must do without the checks."""
    key = entry_key("k", (1, 1, 1))
    compiled = Compiled(
        kernel_id="hostile",
        backend="cpu",
        arch=arch(),
        engine=ENGINE,
        compiler=toolchain().name,
        binaries={(): Binary(data=library(tmp_path, body), symbols={key: ENTRY.format(0)})},
        resources=({"kernel": key, "defines": {}, "signature": "p", "lds_bytes": 0},),
    )
    return compiled, launch("k", ["out"])


x86_only = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="these kernels hold x86 assembly"
)


@x86_only
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('ENTRY { call(2, (long)"/etc/passwd"); }', "open"),
        ('ENTRY { call(257, -100, (long)"/etc/passwd"); }', "openat"),
        ("ENTRY { call(41, 2, 1); }", "socket"),
        ("ENTRY { call(57); }", "fork"),
        ("ENTRY { call(56, 0x1200011); }", "clone"),
        ("ENTRY { call(62, call(110), 9); }", "getppid"),
        ("ENTRY { call(62, 1, 9); }", "kill"),
        ('ENTRY { call(59, (long)"/bin/sh"); }', "execve"),
        ("ENTRY { call(101, 16, 1); }", "ptrace"),
        ("ENTRY { call(1, 2, launch->args[0], 4); }", "write"),  # not the replies' pipe
        ("ENTRY { call(0, 0, launch->args[0], 4); }", "read"),
        ("ENTRY { call(9, 0, 4096, 7); }", "mmap"),
        ("ENTRY { call(10, launch->args[0] & ~4095, 4096, 7); }", "mprotect"),
        ("ENTRY { call(35, launch->args[0]); }", "nanosleep"),
        ("ENTRY { call(0x40000002, 0); }", "number 1073741826"),
    ],
)
def test_a_forbidden_call_ends_the_child(
    device: CpuDevice, tmp_path: Path, body: str, name: str
) -> None:
    compiled, step = hostile(tmp_path, body)
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        buffers = {"out": session.alloc(4096)}
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.FORBIDDEN
    assert name in caught.value.reason


# An early reply, as the run child would write it: kind DONE, the sequence number of the command.
FORGED_REPLY = """
ENTRY {
    unsigned reply[32] = {2, (unsigned)launch->lds_bytes};
    call(1, FD, (long)reply, 128);
    volatile float *out = (float *)launch->args[0];
    for (long i = 0; i < 200000000; ++i) out[0] = out[0] + 1.0f;
}"""


@x86_only
def test_work_after_a_forged_reply_counts(device: CpuDevice, tmp_path: Path) -> None:
    """The parent waits until the child sleeps: then its own reply is one too many."""
    with device.open(
        compile_one(COMPILER, "__global__ void k(float *x) {}", launch("k", ["out"])),
        memory_bytes=MEMORY_BYTES,
    ) as honest:
        descriptor = reply_descriptor(honest._child.pid)
    compiled, _ = hostile(tmp_path, FORGED_REPLY.replace("FD", str(descriptor)))
    # the launch's LDS bytes tell the kernel which sequence number to try
    for sequence in range(1, 40):
        forging = launch("k", ["out"], lds_bytes=sequence)
        with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
            buffers = {"out": session.alloc(4096)}
            with pytest.raises(Rejected) as caught:
                session.run(plan(forging), buffers, deadline_s=DEADLINE_S)
        assert caught.value.status is Status.FORBIDDEN
        if "asked" in caught.value.reason:
            break
        assert "forged" in caught.value.reason
    assert "asked" in caught.value.reason


def reply_descriptor(pid: int) -> int:
    """The child's only pipe that it may write to."""
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        flags = int(entry.read_text().split("flags:")[1].split()[0], 8)
        target = os.readlink(f"/proc/{pid}/fd/{entry.name}")
        if target.startswith("pipe:") and flags & os.O_ACCMODE == os.O_WRONLY:
            return int(entry.name)
    raise AssertionError("no pipe")


@x86_only
def test_ending_its_own_process_is_no_result(device: CpuDevice, tmp_path: Path) -> None:
    compiled, step = hostile(tmp_path, "ENTRY { call(231, 0); }")
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        buffers = {"out": session.alloc(4096)}
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.FORBIDDEN
    assert "ended its process" in caught.value.reason


def test_a_library_that_can_not_be_loaded_is_broken_infrastructure(
    device: CpuDevice, tmp_path: Path
) -> None:
    """The compiler's output was checked before: what does not load now is no kernel's fault."""
    compiled, _ = hostile(tmp_path, "ENTRY {}")
    symbols = compiled.binaries[()].symbols
    broken = replace(compiled, binaries={(): Binary(data=b"no library", symbols=symbols)})
    with pytest.raises(RuntimeError, match="run child could not start"):
        device.open(broken, memory_bytes=MEMORY_BYTES)


LIBRARIES = [
    ("volatile int y = 1; int x = y; ENTRY { *(int *)launch->args[0] = x; }", "constructor"),
    ("__attribute__((destructor)) void f() { call(1); } ENTRY {}", "destructor"),
    (
        'extern "C" int (*choose())() { return 0; } extern "C" int g() '
        '__attribute__((ifunc("choose"))); ENTRY { g(); }',
        "resolver",
    ),
    ('extern "C" int open(const char *, int); ENTRY { open("x", 0); }', "open()"),
    ('extern "C" int system(const char *); ENTRY { system("x"); }', "system()"),
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
        timeout=100,
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


@pytest.mark.parametrize("where", [-1, 16])
def test_guard_pages_lie_round_every_buffer(device: CpuDevice, where: int) -> None:
    """A whole page's neighbours can't be touched at all, on either side."""
    code = "__global__ void k(int *x, int i) { ((volatile int *)x)[i] = 1; }"
    step = launch("k", ["x", where * 1024 if where < 0 else 1024])
    with device.open(compile_one(COMPILER, code, step), memory_bytes=MEMORY_BYTES) as session:
        session.alloc(4096)
        x = session.alloc(4096)
        session.alloc(4096)
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), {"x": x}, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.CRASHED
    assert "a write" in caught.value.reason
    assert "of x" in caught.value.reason


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void k(float *x) { x[0] = 1; __syncthreads(); }",
        "#define SYNC() __syncthreads()\n__global__ void k(float *x) { SYNC(); }",
        "__global__ void k(float *x) { x[0] = __shfl_xor(x[1], 1); }",
        "__global__ void k(float *x) { if (__any(1)) x[0] = 1; }",
    ],
)
def test_barriers_and_wavefront_operations_are_unsupported(code: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_one(COMPILER, code, launch("k", ["x"]))
    assert caught.value.status is Status.UNSUPPORTED
    assert "needs barriers" in caught.value.reason


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


def test_the_child_has_nothing_and_is_pinned(device: CpuDevice) -> None:
    code = "__global__ void k(float *x) {}"
    with device.open(
        compile_one(COMPILER, code, launch("k", ["x"])), memory_bytes=MEMORY_BYTES
    ) as session:
        pid = session._child.pid
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        kinds = sorted(os.readlink(f.path).split(":")[0] for f in os.scandir(f"/proc/{pid}/fd"))
        assert kinds == ["/memfd", "pipe", "pipe"]
        status = Path(f"/proc/{pid}/status").read_text()
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
        assert os.sched_getaffinity(pid) == {sorted(os.sched_getaffinity(0))[0]}
    assert not Path(f"/proc/{pid}").exists()


def test_run_children_die_with_a_killed_parent() -> None:
    parent = """
import os, time
from evaluators.cpu import compiler, open_device
from tests.evaluators.launching import compile_one, launch
compiled = compile_one(compiler(), "__global__ void k() {}", launch("k", []))
session = open_device(0).open(compiled, memory_bytes=1 << 20)
print(session._child.pid, flush=True)
time.sleep(100)
"""
    started = subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT, stdout=subprocess.PIPE)
    assert started.stdout is not None
    pid = int(started.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    started.kill()
    started.communicate()
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and not ended(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


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
