"""Launches that name what is no kernel, or a kernel that no launch can give anything to."""

import pytest

from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import parse_kernel
from tests.evaluators.launching import kernel, launch, plan

CODE = """
__device__ int v;
struct S { int a[100]; };
namespace ns { __global__ void inner() { v = 1; } }
template <int I> __global__ void t() { v = I; }
__device__ void f(int x) { v = x; }
__global__ void over(int a) { v = a; }
__global__ void over(float a) { v = (int)a; }
__global__ void takes(S s) { v = s.a[0]; }
__global__ void k() { f(1); }
"""
NO_KERNELS = ("f", "v", "S", "t", "k<1>", "over", "threadIdx")


@pytest.mark.parametrize("entry", NO_KERNELS)
def test_what_is_no_kernel_is_told(any_compiler: Compiler, entry: str) -> None:
    with pytest.raises(Rejected) as caught:
        any_compiler.compile(kernel(CODE), [plan(launch(entry, []))])
    assert caught.value.status in (
        Status.COMPILE_ERROR,
        Status.INVALID,
        Status.LAUNCH_ERROR,
        Status.UNSUPPORTED,
    )
    assert caught.value.reason.isprintable()


ODD = ("k\n", "k;", "k()", "k<a\\>", "k<'a'>", "k /*", "asm", "k<__has_include>", "k\u00e9", "#k")


@pytest.mark.parametrize("entry", ODD)
def test_a_name_that_could_hold_code_is_invalid(any_compiler: Compiler, entry: str) -> None:
    with pytest.raises(Rejected) as caught:
        text = f"/*---\nlaunches:\n- kernel: {entry!r}\n  grid: 1\n  block: 1\n  args: []\n---*/\n"
        source = parse_kernel(text.replace("'k\\n'", '"k\\n"') + CODE)
        any_compiler.compile(source, [plan(launch(entry, []))])
    assert caught.value.status in (Status.COMPILE_ERROR, Status.INVALID, Status.UNSUPPORTED)
