"""Kernels that are named like a library's function or type: they compile, run and are told so."""

from collections.abc import Iterator

import numpy as np
import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cuda import device as cuda
from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.kernel.normalise import normalised
from evaluators.kernel.porting.library_names import as_written, set_apart
from tests.evaluators.launching import compile_one, launch, run

NAMES = """
    norm round exp2 sqrt min max clamp index abs pow log exp floor ceil fma copy fill swap dot sin
    cos tanh erf lerp select all any rotate saturate rint powf expf fmaxf norm3d isnan memcpy
    memset clock malloc main half uint dim3 float4 warpSize atomicAdd ballot make_float4 int32_t
    transform reduce shfl_down plus abort free this_grid
""".split()  # noqa: SIM905 (a list of 50 lines otherwise)
BODY = "(const float *x, float *y, int n) { y[threadIdx.x] = sqrtf(x[n]); }"


@pytest.fixture(scope="module", params=["cpu-fission", fibers.ENGINE, "cuda", "hip"])
def compiler(request: pytest.FixtureRequest) -> Iterator[Compiler]:
    if request.param.startswith("cpu"):
        yield cpu.compiler(engine=request.param)
    elif request.param == "hip":
        yield hip.compiler(arch="gfx942", child=request.getfixturevalue("gfx942"))
    else:
        made = cuda.compiler(arch="sm_90")
        yield made
        made.close()


def test_all_of_them_compile_in_one_file(compiler: Compiler) -> None:
    code = "\n".join(f"__global__ void {name}{BODY}" for name in NAMES)
    steps = [launch(name, ["x", "y", 3], block=(64, 1, 1)) for name in NAMES]
    made = compile_one(compiler, code, *steps)
    told = [str(one["kernel"]).partition(" ")[0] for one in made.resources]
    assert told == NAMES
    (binary,) = made.binaries.values()
    assert {name.partition(" ")[0] for name in binary.symbols} == set(NAMES)


CALLS_ITSELF = """
template <typename T, int N> __global__ void exp2(const T *x, T *y, int n);
__device__ float twice(float v) { return exp2(v) + max(v, 1.0f); }
template <typename T, int N> __global__ void __launch_bounds__(64) exp2(const T *x, T *y, int n) {
    y[threadIdx.x] = twice(x[threadIdx.x]) + exp2(T(N));
}
namespace ours { extern "C" __global__ void max(const float *x, float *y, int n) {} }
"""


def test_the_librarys_function_keeps_its_name(compiler: Compiler) -> None:
    steps = [
        launch("exp2<float, 3>", ["x", "y", 3], block=(64, 1, 1)),
        launch("ours::max", ["x", "y", 3], block=(64, 1, 1)),
    ]
    assert len(compile_one(compiler, CALLS_ITSELF, *steps).resources) == 2


def test_it_computes() -> None:
    x, device = np.arange(64, dtype=np.float32) / 8, cpu.open_device(0)
    step = launch("exp2<float, 3>", ["x", "y", 3], block=(64, 1, 1))
    arrays = {"x": x, "y": np.zeros_like(x)}
    y = run(device, cpu.compiler(), CALLS_ITSELF, step, arrays=arrays)["y"]
    np.testing.assert_allclose(y, np.exp2(x) + np.maximum(x, 1) + 8, rtol=1e-6)


def test_messages_say_the_name_that_was_written(compiler: Compiler) -> None:
    code = f"__global__ void norm{BODY.replace('x[n]', 'norm(missing)')}"
    with pytest.raises(Rejected) as caught:
        compile_one(compiler, code, launch("norm", ["x", "y", 3], block=(64, 1, 1)))
    assert caught.value.status is Status.COMPILE_ERROR
    assert "missing" in caught.value.reason
    assert "_ks" not in caught.value.reason + caught.value.log


def test_only_a_kernels_own_name_changes_and_no_line() -> None:
    code = normalised("float a = norm(1);\n__global__ void norm(float *x) {\n x[0] = norm(2); }\n")
    apart = set_apart(code)
    assert apart.names == {"norm"}
    assert apart.text == code.replace("void norm", f"void {apart.entry('norm')}")
    assert apart.entry("ours::norm<3>") == f"ours::{apart.entry('norm')}<3>"
    assert as_written(apart.text) == code
    assert apart.entry("other<norm>") == "other<norm>"


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void softmax(float *x) { x[0] = exp(x[1]); }",
        "__device__ float norm(float x) { return x; }",
        "#define KERNEL __global__ void\nKERNEL norm(float *x) {}",
    ],
)
def test_other_sources_stay_as_they_are(code: str) -> None:
    assert set_apart(normalised(code)).text == normalised(code)
