"""Every family of the catalogue compiles for MI300 with real hiprtc, at its default point."""

import pytest

from evaluators.evaluate import compile_kernel
from evaluators.hip import device as hip
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.tasks.task_file import load_task
from operators.catalog.families import FAMILIES, families

TASKS = {
    "gemm": "sgemm",
    "softmax": "softmax",
    "sum": "sum_reduction",
    "transpose": "transpose",
    "block_scaled_gemm": "fp8_gemm",
}


NAMES = [family.name for family in FAMILIES]


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_shipped_compiles_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    _compiles(gfx942, name)


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_families_compile_with_the_last_rung_too(clang_amdgcn: ClangChild, name: str) -> None:
    _compiles(clang_amdgcn, name)


def _compiles(child: HiprtcChild | ClangChild, name: str) -> None:
    (kind,) = (family.kind for family in FAMILIES if family.name == name)
    task = load_task(TASKS[kind])
    source = families(task).sources[name]
    compiler = hip.compiler(arch="gfx942", child=child)
    _, compiled = compile_kernel(source.text, task, compiler, "hip")
    assert compiled.binaries
    for told in compiled.resources:
        assert told["scratch_bytes"] == 0, told
        assert told["waves_per_simd"] > 0
