"""An exported header launches what the evaluator would, and is HIP and CUDA that compiles."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.export.code import INCLUDE
from evaluators.export.header import cpp_header, header_name
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import ClangToolchain, find_toolchain
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog.families import FAMILIES, families
from tests.evaluators.export.planned import build_of, planned
from tests.evaluators.export.settings_task import SETTINGS_SEED, settings_task
from tests.evaluators.small_task import PREPARED, kernel, write_task
from tests.soaked import one_in

RECORDER = Path(__file__).parent / "recorder"
KINDS = {
    "gemm": "sgemm",
    "softmax": "softmax",
    "sum": "sum_reduction",
    "transpose": "transpose",
    "block_scaled_gemm": "fp8_gemm",
}

EVERYTHING = """/*---
params: {TILE: 16, SPLIT: 2}
constraints: ["TILE * SPLIT <= 64"]
variants:
  - {when: "N > 100000", params: {TILE: 32}}
  - {when: "N % 2 == 0", params: {SPLIT: 1}}
scratch: {partial: "4 * SPLIT * TILE", flags: "N % 7 + 1"}
launches:
  - {memset: {buffer: partial, byte: 7}, when: "SPLIT > 1"}
  - {memset: {buffer: out, byte: 0}}
  - kernel: "first<TILE, SPLIT, OWN>"  # a name of the code
    grid: ["ceil_div(N, TILE)", SPLIT]
    block: [TILE, 2]
    lds_bytes: "TILE * 4"
    args: [x, partial, N, {value: "N // SPLIT", type: int64}, {value: "TILE", type: float32}]
  - {kernel: second, grid: [1], block: [64], args: [partial, out, {value: i, type: int32}],
     repeat: {i: "SPLIT + 1"}, when: "i != 1"}
  - {kernel: second, grid: [2], block: [64], args: [flags, out, N], cooperative: true}
---*/
#include <hip/hip_runtime.h>
#define TWICE (2 * TILE)
enum Kind { OWN };
template <int T, int S, Kind K>
__global__ void first(const float* x, float* partial, int N, long long half, float scale) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x] * scale;
    partial[threadIdx.x] = tile[threadIdx.x] + TWICE + half + N;
}
extern "C" __global__ void second(float* partial, float* out, int round) {
    out[0] += partial[round];
}
"""

NAMES = """/*---
launches:
  - {kernel: total, grid: [1], block: [64], args: [x, out, N]}
---*/
namespace cg = cooperative_groups;
__global__ void total(const float* x, float* out, int n) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    float most = std::numeric_limits<float>::lowest();
    for (uint32_t i = tile.thread_rank(); i < n; i += tile.size())
        most = std::max(most, __ldcs(x + min(i, n)));
    most = cg::reduce(tile, most, cg::greater<float>());
    __shared__ uint64_t counted;
    if (threadIdx.x == 0) counted = 0;
    __syncthreads();
    atomicMax(&counted, (uint64_t)UINT32_MAX);
    __half2 pair = __float2half2_rn(most);
    __hip_fp8_e4m3 small = __hip_fp8_e4m3(most);
    if (threadIdx.x == 0) __stcs(out, counted ? most : NAN * (float)small + __low2float(pair));
}
"""


def shipped() -> Iterator[tuple[str, Task, KernelSource]]:
    for name in sorted(KINDS.values()):
        task = load_task(name)
        yield name, task, parse_kernel(task.naive)
    for family in FAMILIES:
        task = load_task(KINDS[family.kind])
        source = parse_kernel(families(task).sources[family.name].text)
        if "cuda" in (source.front.backends or ["cuda"]):  # else g++ can't read it either
            yield family.name, task, source
    task = load_task("sum_reduction")
    yield "everything", task, parse_kernel(EVERYTHING)


KERNELS = {name: (task, source) for name, task, source in shipped()}


def recorded(
    folder: Path, task: Task, source: KernelSource, shapes: Sequence[Workload]
) -> list[list[str]]:
    """What the header launches, by shape, one line each; arguments lie at 4096, 8192, ..."""
    name = header_name(source, task)
    (folder / "it.hpp").write_text(cpp_header(source, task, "cuda"))
    arguments = ", ".join(
        f"(decltype({name}::Arguments::{a.name})){4096 * (i + 1)}"
        for i, a in enumerate(task.arguments)
    )
    calls = []
    for workload in shapes:
        shape = ", ".join(fields(workload, name))
        of = "{" + arguments + "}, {" + shape + "}, (void*)0x100000, nullptr"
        calls.append('    puts("shape");')
        if source.prepare:
            calls.append(f"    if ({name}::prepare({of})) return 2;")
            calls.append('    puts("prepared");')
        calls.append(f"    if ({name}::launch({of})) return 1;")
    main = "\n".join(
        [
            f'#define {name.upper()}_IMPLEMENTATION\n#include "it.hpp"',
            "int main() {",
            *calls,
            "    return 0;",
            "}",
        ]
    )
    (folder / "main.cpp").write_text(main)
    command = [
        "g++",
        "-std=c++20",
        "-w",
        "-O0",
        "-D__HIP_PLATFORM_AMD__",
        f"-I{RECORDER}",
        f"-I{INCLUDE}",
        f"-I{INCLUDE / 'cpu'}",
    ]
    # No kernel ever runs, so nothing need be where dynamic LDS would be.
    command += ["-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    subprocess.run([*command, "-o", "main", "main.cpp"], cwd=folder, check=True)
    said = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    return [part.strip().split("\n") for part in said.split("shape\n")[1:]]


def fields(workload: Workload, name: str) -> Iterator[str]:
    """Of the header's Shape."""
    setting = workload.setting
    yield from (f"{size}LL" for size in workload.dims.values())
    yield from (str(value).lower() for value in setting.attributes.values())
    yield from (f"{name}::dtype_{dtype}" for dtype in setting.dtypes.values())
    yield from (str(null).lower() for null in setting.nulls.values())


@pytest.mark.parametrize("name", KERNELS)
def test_the_launches_are_those_of_the_plan(tmp_path: Path, name: str) -> None:
    task, source = KERNELS[name]
    shapes = [w for suite in SUITES for w in task.workloads(suite, "cuda")]
    told = recorded(tmp_path, task, source, shapes)
    for workload, lines in zip(shapes, told, strict=True):
        assert lines == planned(task, source, workload), workload.label


def test_prepare_is_a_call_of_its_own(tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path / "task"))
    source = parse_kernel(PREPARED + kernel().split("---*/")[1])
    shapes = task.workloads("tests", "cuda")
    told = recorded(tmp_path, task, source, shapes)
    assert [planned(task, source, workload) for workload in shapes] == told


def test_a_shape_that_was_never_compiled_is_refused(tmp_path: Path) -> None:
    task = load_task("sum_reduction")
    text = task.naive.replace("/*---", "/*---\nspecialize: [N]", 1)
    source = parse_kernel(text.replace("int N)", "int count)"))
    known = task.workloads("tests", "cuda")[0]
    assert recorded(tmp_path, task, source, [known])
    with pytest.raises(subprocess.CalledProcessError) as error:
        recorded(tmp_path, task, source, [replace(known, dims={"N": 12345})])
    assert error.value.returncode == 1


COMPILED = {name: KERNELS[name] for name in ("everything", "softmax")}
COMPILED["names"] = load_task("sum_reduction"), parse_kernel(NAMES)
"""The last one names much that AMD's headers, or CUDA's, lack."""


@pytest.mark.parametrize("name", COMPILED)
def test_device_code_compiles_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    task, source = COMPILED[name]
    plan = source.plan(task, task.workloads("benchmarks", "hip")[0], target_of("hip"))
    text = cpp_header(source, task, "hip")
    own = header_name(source, task)
    entries = dict.fromkeys(step.entry for step in plan.launches)
    code = gfx942.compile(
        # hiprtc has no headers of the C++ library, which hipcc would find
        f"#include <ks/standard.h>\n#define {own.upper()}_IMPLEMENTATION\n{text}\n"
        f"using namespace {own}::build{build_of(text, plan)};",
        arch="gfx942",
        names=list(entries),
        options=["-std=c++20"],
    )
    assert code.code.startswith(b"\x7fELF")
    assert len(code.symbols) == len(entries)


@pytest.mark.parametrize("side", ["host", "device"])
@pytest.mark.parametrize("name", one_in(4, COMPILED))
def test_both_sides_are_right_hip_for_gfx942(
    rocm_headers: list[str], clang_folder: Path, tmp_path: Path, name: str, side: str
) -> None:
    """By clang, with the headers of HIP itself; what hipcc runs."""
    (tmp_path / "it.hip").write_text(_implementation(name, "hip"))
    command = [f"{clang_folder / 'root' / 'bin' / 'clang++'}", "-x", "hip", "-std=c++20", "-Werror"]
    command += ["--offload-arch=gfx942", f"--cuda-{side}-only", "-nogpulib", "-nogpuinc"]
    command += ["-Wno-pass-failed", *rocm_headers, "-fsyntax-only", "it.hip"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here")
@pytest.mark.parametrize("name", one_in(4, COMPILED))
def test_it_is_right_cuda(tmp_path: Path, name: str) -> None:
    (tmp_path / "it.cu").write_text(_implementation(name, "cuda"))
    command = [
        "nvcc",
        "-std=c++20",
        "--expt-relaxed-constexpr",
        "-arch=sm_90",
        "-Xcompiler",
        "-Wall",
        "-c",
        "it.cu",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


@pytest.fixture
def rocm_headers() -> list[str]:
    found = find_toolchain()
    if isinstance(found, ClangToolchain):
        pytest.skip("HIP's own headers are not here")
    own = next(found.include.parent.glob("lib/llvm-*/lib/clang/*/include"))
    wrapper = ["-include", "__clang_hip_runtime_wrapper.h"]
    return ["-isystem", str(own), *wrapper, f"-I{found.include}", "-D__HIP_PLATFORM_AMD__"]


def _implementation(name: str, backend: str) -> str:
    task, source = COMPILED[name]
    text = cpp_header(source, task, backend)
    return f"#define {header_name(source, task).upper()}_IMPLEMENTATION\n{text}"


def test_attributes_dtypes_nulls_and_structs_are_passed_as_planned(tmp_path: Path) -> None:
    task = settings_task(tmp_path / "task", SETTINGS_SEED)
    source = parse_kernel(task.naive)
    shapes = [w for suite in SUITES for w in task.workloads(suite, "hip")]
    told = recorded(tmp_path, task, source, shapes)
    for workload, lines in zip(shapes, told, strict=True):
        assert lines == planned(task, source, workload), workload.label


def test_what_host_code_has_no_type_for_is_refused_in_a_sentence(tmp_path: Path) -> None:
    seed = SETTINGS_SEED.replace("type: float64", "type: float16")
    task = settings_task(tmp_path / "task", seed)
    with pytest.raises(Rejected, match="a scalar of type float16 can't be exported") as caught:
        cpp_header(parse_kernel(seed), task, "hip")
    assert caught.value.status is Status.UNSUPPORTED
