"""Headers: those that are ignored, those that stand for ours, and all others, told at once."""

import pytest

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.compiler_input import compiler_input
from evaluators.kernel.porting.headers import HEADERS, IGNORED, without_includes
from evaluators.kernel.source_check import check_source
from tests.evaluators.launching import kernel

HALF, BFLOAT16, FP8 = HEADERS[1:]


@pytest.mark.parametrize("header", IGNORED)
def test_harmless_headers_are_taken_out_of_what_compilers_see(header: str) -> None:
    code = f'#include <{header}>\n  #  include "{header}" // why\n__global__ void k() {{}}'
    given = check_source(code, first_line=1)
    groups = ("hip/hip_cooperative_groups.h",) if header.startswith("cooperative") else ()
    assert given == (*IGNORED[header], *groups)
    text = compiler_input(kernel(code), given, ())
    assert f"<{header}>" not in text.replace(f"#include <{header}>\n", "", header in HEADERS)
    assert text.count("#include") == len({HEADERS[0], *given})
    assert text.splitlines()[-1] == "__global__ void k() {}"


@pytest.mark.parametrize(
    "header, ours",
    [
        ("cuda_fp16.h", HALF),
        ("cuda_bf16.h", BFLOAT16),
        ("hip/hip_bfloat16.h", BFLOAT16),
        ("cuda_fp8.h", FP8),
        ("hip/amd_detail/amd_hip_fp16.h", HALF),
        ("hip/amd_detail/amd_hip_vector_types.h", None),
    ],
)
def test_vendors_headers_stand_for_ours(header: str, ours: str | None) -> None:
    assert check_source(f"#include <{header}>", first_line=1) == ((ours,) if ours else ())


def test_lines_keep_their_numbers() -> None:
    text = "int a;\n#include <cmath>\n\n # include <hip/hip_fp16.h>\nint b;"
    assert without_includes(text) == "int a;\n\n\n\nint b;"


def test_cuda_names_stand_for_hips_behind_the_headers() -> None:
    code = "__global__ void k(__nv_bfloat16 *x) {}"
    given = check_source(code, first_line=1)
    assert given == (BFLOAT16,)
    lines = compiler_input(kernel(code), given, ()).splitlines()
    define = lines.index("#define __nv_bfloat16 __hip_bfloat16")
    assert lines.index(f"#include <{BFLOAT16}>") < define < lines.index(code)
    own = "#define CUDART_INF_F 3.0f\n"
    assert "#undef" not in compiler_input(kernel(own), (), ())


REFUSED = """#include <getopt.h>
#include <hip/hip_runtime.h>
#include "utils.h"
#include <omp.h>
#include <hipblas/hipblas.h>
#include <cub/cub.cuh>
#include <cmath>
#include "../kernels/common.cuh"
"""


def test_refused_headers_are_told_at_once_each_with_its_line_and_what_to_do() -> None:
    with pytest.raises(Rejected) as caught:
        check_source(REFUSED, first_line=11)
    assert caught.value.status is Status.INVALID
    assert caught.value.line == 11
    host, own, library = caught.value.reason.removeprefix("line 11: ").split("; ")
    assert host == (
        "#include of 'getopt.h' (line 11), 'omp.h' (line 14) and 'hipblas/hipblas.h' (line 15) is "
        "not allowed: that belongs to host code, take such code out too"
    )
    assert own.startswith("#include of 'utils.h' (line 13) and '../kernels/common.cuh' (line 18) ")
    assert "paste in what yours needs" in own
    assert library == (
        "#include of 'cub/cub.cuh' (line 16) is not allowed: no kernel has such a library here, "
        "write out what yours takes of it"
    )


@pytest.mark.parametrize(
    "header, word",
    [
        ("unistd.h", "host code"),
        ("execution", "host code"),
        ("hip/../stdio.h", "paste in"),
        ("rocblas/rocblas.h", "host code"),
        ("cublas_v2.h", "host code"),
        ("torch/extension.h", "host code"),
        ("mma.h", "library"),
        ("rocprim/rocprim.hpp", "library"),
        ("/etc/passwd", "paste in"),
        ("my_kernel.h", "paste in"),
        ("", "paste in"),
    ],
)
def test_every_other_header_is_refused(header: str, word: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_source(f"int a;\n#include <{header}>", first_line=1)
    assert caught.value.line == 2
    assert f"#include of {header!r} is not allowed" in caught.value.reason
    assert word in caught.value.reason


def test_host_code_is_told_with_them() -> None:
    code = "#include <unistd.h>\n__global__ void k(int *x) {}\nvoid f(int *x) { k<<<7, 64>>>(x); }"
    with pytest.raises(Rejected) as caught:
        check_source(code, first_line=1)
    told = "launches: [{kernel: k, grid: [7], block: [64], args: [x]}]"
    assert caught.value.line == 1
    assert "from line 3 on: k<<<...>>>: that is host code" in caught.value.reason
    assert caught.value.reason.endswith(told)
