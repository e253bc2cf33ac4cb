"""Everything shipped compiles for gfx942, with real hiprtc, and what it takes is known."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.reader import OPTIONS
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.shipped import KERNELS, SEEDS, SHIPPED, compiled, compiled_seed, name_of

DOUBLE = """/*---
launches:
  - kernel: twice<ROWS>
    grid: [1]
    block: [{block}]
    lds_bytes: "{lds}"
    args: {args}
params: {{ROWS: 2}}
---*/
template <int R> __global__ void twice(const float* x, float* y, int n) {{
    if (threadIdx.x < n) y[threadIdx.x] = R * x[threadIdx.x];
}}
"""


@pytest.fixture(scope="module")
def compiler(gfx942: HiprtcChild) -> Iterator[GpuCompiler]:
    yield hip.compiler(arch="gfx942", child=gfx942)


@pytest.fixture(scope="module")
def doubling(compiler: GpuCompiler, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A task, with a kernel that compiles as it is."""
    folder = tmp_path_factory.mktemp("doubling")
    (folder / "task.yaml").write_text(
        "dims: [N]\narguments:\n"
        "  - {name: x, dtype: float32, shape: [N], role: in}\n"
        "  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0.0, atol: 0.0}\n"
        "tests: [{N: 64}]\nbenchmarks: [{N: 64}]\nheld_out: [{N: 64}]\n"
    )
    (folder / "reference.py").write_text("def reference(x, **_):\n    return {'y': 2 * x}\n")
    (folder / "seeds").mkdir()
    text = DOUBLE.format(block="64", lds="0", args="[x, y, N]")
    (folder / "seeds" / "twice.hip").write_text(text)
    task = load_task(folder)
    assert compiled(compiler, task, text).resources[0]["kernel"] == "twice<2>"
    return task


def test_there_is_something_to_compile() -> None:
    assert len([s for s in SEEDS if s.is_relative_to(SHIPPED)]) >= len(
        list(SHIPPED.glob("*/task.yaml"))
    )
    assert any("tutorial" in s.parts for s in SEEDS)
    assert any("fp8_mfma_gemm" in s.parts for s in SEEDS)


@pytest.mark.parametrize("seed", SEEDS, ids=name_of)
def test_every_kernel_shipped_compiles_for_gfx942(compiler: GpuCompiler, seed: Path) -> None:
    made = compiled_seed(compiler, seed)
    assert (made.backend, made.arch, made.engine) == ("hip", "gfx942", "hip")
    assert made.compiler.startswith("hiprtc ")
    assert made.binaries
    for binary in made.binaries.values():
        assert binary.data.startswith(b"\x7fELF")
    for told in made.resources:
        assert told["registers"] > 0
        assert told["waves_per_simd"] > 0
        assert told["mfma"] is not None


def test_every_allowed_option_is_known_to_the_compiler(gfx942: HiprtcChild) -> None:
    made = gfx942.compile("__global__ void f() {}", arch="gfx942", options=tuple(sorted(OPTIONS)))
    assert "unused" not in made.log  # it names the option


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"args": "[x, y]"}, "twice<2> takes 3 arguments, the launch gives 2"),
        (
            {"args": "[x, y, {value: N, type: int64}]"},
            "argument 3 is int64 of 8 bytes, the kernel takes int32 of 4 bytes",
        ),
        (
            {"args": "[x, N, N]"},
            "argument 2 is int32 of 4 bytes, the kernel takes pointer of 8 bytes",
        ),
        (
            {"args": "[x, y, x]"},
            "argument 3 is pointer of 8 bytes, the kernel takes int32 of 4 bytes",
        ),
        (
            {"args": "[x, y, {value: '1', type: float32}]"},
            "argument 3 is float32 of 4 bytes, the kernel takes int32 of 4 bytes",
        ),
        ({"lds": "65540"}, "65540 bytes of LDS (0 static, 65540 dynamic), at most 65536 are"),
        ({"block": "32, 32, 2"}, "2048 threads a block, at most 1024 are allowed"),
    ],
)
def test_a_launch_that_cannot_fit_is_refused_without_a_device(
    compiler: GpuCompiler, doubling: Task, change: dict[str, str], said: str
) -> None:
    wrong = DOUBLE.format(**({"block": "64", "lds": "0", "args": "[x, y, N]"} | change))
    with pytest.raises(Rejected) as caught:
        compiled(compiler, doubling, wrong)
    assert caught.value.status in (Status.LAUNCH_ERROR, Status.INVALID)
    assert said in caught.value.reason


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ('asm(".incbin \\"/etc/hostname\\"");', Status.INVALID, "inline assembly is not allowed"),
        ("#undef asm", Status.INVALID, "assembly is not allowed"),
        ('#define GLUE(a, b) a##b\nGLUE(as, m)("s_nop 0");', Status.INVALID, "assembly"),
        ('#define GLUE(a, b) a##b\nGLUE(__as, m__)("s_nop 0");', Status.INVALID, "assem"),
        ("#include </etc/hostname>", Status.INVALID, "'/etc/hostname' is not allowed"),
    ],
)
def test_source_cannot_reach_this_machines_files(
    compiler: GpuCompiler, line: str, status: Status, said: str
) -> None:
    task = load_task("sgemm")
    text = (SHIPPED / "sgemm" / "seeds" / "naive.hip").read_text()
    start = text.count("\n") + 1
    with pytest.raises(Rejected) as caught:
        compiled(compiler, task, text + line + "\n")
    assert caught.value.status is status
    assert said in caught.value.reason
    assert str(start + line.count("\n")) in caught.value.reason  # the line in the kernel's file


def test_params_and_options_reach_the_compiler(compiler: GpuCompiler) -> None:
    seed = KERNELS / "fp8_mfma_gemm" / "seeds" / "fp8_mfma_gemm.hip"
    made = compiled_seed(compiler, seed)
    assert len(made.binaries) == 1
    (told,) = made.resources
    assert told["kernel"] == "gemm<32, 128, 128, 64>"
    assert told["defines"]["BM"] == 128
    assert told["mfma"] == 16


def test_without_a_gpu_the_default_is_mi300(gfx942: HiprtcChild) -> None:
    if hip.device_count():
        pytest.skip("there is an AMD GPU here, whose architecture is the default")
    made = hip.compiler()
    made.close()
    assert made.arch == "gfx942"


def test_no_runtime_library_is_one_sentence() -> None:
    if hip.device_count():
        pytest.skip("there is an AMD GPU here")
    with pytest.raises(BackendMissing, match=r"libamdhip64.*install ROCm|finds no AMD GPU"):
        hip.open_device(0)
