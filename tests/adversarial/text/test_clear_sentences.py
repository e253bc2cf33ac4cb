"""What is wrong with a kernel is said in words that its author can act on."""

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.normalise import count_lines
from evaluators.kernel.source import parse_kernel
from tests.adversarial.text.planted import ABOUT, outcome

KERNEL = "__global__ void k() {}\n"
WITHOUT_BARRIERS = {
    "no kernel": "#define __global__ static\n" + KERNEL,
    "a symbol of nobody": "__device__ volatile int v;\n__global__ void k() {\n"
    "    extern char missing_here[];\n    v = missing_here[0];\n}\n",
}


@pytest.mark.parametrize("name", WITHOUT_BARRIERS)
def test_no_barriers_are_blamed_where_there_are_none(name: str) -> None:
    text = ABOUT + WITHOUT_BARRIERS[name]
    found = outcome(CpuCompiler(), text)
    assert found.rejected is not None
    assert "barriers" not in found.rejected.reason
    assert found.rejected.line is None or found.rejected.line <= count_lines(text)


def test_a_destructor_of_a_global_is_told() -> None:
    code = "struct S { int v; __device__ ~S() { v = 1; } };\n__device__ S s;\n" + KERNEL
    found = outcome(CpuCompiler(), ABOUT + code)
    assert found.rejected is not None
    assert found.rejected.status is Status.FORBIDDEN
    assert "destructor" in found.rejected.reason


def test_a_variable_of_the_process_is_not_called_a_function() -> None:
    code = 'extern "C" char** environ;\n__device__ volatile char v;\n'
    found = outcome(CpuCompiler(), f"{ABOUT}{code}__global__ void k() {{ v = environ[0][0]; }}\n")
    assert found.rejected is not None
    assert found.rejected.status is Status.FORBIDDEN
    assert "environ()" not in found.rejected.reason
    assert "environ" in found.rejected.reason


def test_a_kernel_whose_name_is_a_macro_is_invalid(any_compiler: Compiler) -> None:
    found = outcome(any_compiler, f"{ABOUT}#define k evil\n{KERNEL}")
    assert found.rejected is not None
    assert found.rejected.status is Status.INVALID
    assert "the kernel k is also a macro" in found.rejected.reason
    assert found.rejected.line == 4


def test_a_name_that_is_too_long_is_not_repeated() -> None:
    with pytest.raises(Rejected) as caught:
        parse_kernel(ABOUT.replace("kernel: k", "kernel: " + "k" * 100_000) + KERNEL)
    assert caught.value.status is Status.INVALID
    assert "100000 characters" in caught.value.reason
    assert len(caught.value.reason) < 200
