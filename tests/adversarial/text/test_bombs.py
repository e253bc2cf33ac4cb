"""Small texts that become huge, or take for ever to read, end as a verdict."""

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.failures import compile_failure
from evaluators.device import Compiler
from evaluators.evaluation import Status
from evaluators.kernel.dynamic_lds import check_dynamic_lds
from evaluators.kernel.tokens import tokens
from evaluators.sandbox.run import Finished
from tests.adversarial.text.planted import ABOUT, outcome

KERNEL = "\n__global__ void k() {}\n"
USED = (
    "__device__ volatile float big[1 << 28]@INIT@;\n__global__ void k() { big[threadIdx.x] = 1; }\n"
)
DOUBLED = "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, 40))
MACRO_BOMB = f"#define M0 x +\n{DOUBLED}__global__ void k() {{ int x = 1; x = M39 x; }}\n"


@pytest.mark.parametrize("init", ["", pytest.param(" = {1.0f}", marks=pytest.mark.soak)])
def test_static_memory_is_bounded(any_compiler: Compiler, init: str) -> None:
    found = outcome(any_compiler, ABOUT + USED.replace("@INIT@", init))
    assert found.rejected is not None
    assert found.rejected.status in (Status.LAUNCH_ERROR, Status.COMPILE_ERROR, Status.TIMEOUT)
    assert init or "static" in found.rejected.reason, found.said


def test_many_arrays_add_up() -> None:
    arrays = "".join(f"__device__ volatile int a{i}[1 << 21];\n" for i in range(40))
    uses = "".join(f"a{i}[threadIdx.x] = 1;\n" for i in range(40))
    found = outcome(CpuCompiler(), ABOUT + f"{arrays}__global__ void k() {{ {uses} }}\n")
    assert found.rejected is not None
    assert found.rejected.status is Status.LAUNCH_ERROR, found.said


def test_macro_bombs_end() -> None:
    found = outcome(CpuCompiler(deadline_s=1.0), ABOUT + MACRO_BOMB)
    assert found.rejected is not None


KILLED = (
    b"g++: fatal error: Killed signal terminated program cc1plus",
    b"clang: error: unable to execute command: Killed",
)


@pytest.mark.parametrize("said", KILLED)
def test_a_compiler_that_a_limit_ended_is_not_asked_again(said: bytes) -> None:
    """Only a failure to compile is followed by another try, with the kernel's text as written."""
    done = Finished(returncode=1, stdout=b"", stderr=said, timed_out=False, signal=None)
    assert compile_failure(done, "", "g++", ["k"]).status is Status.TIMEOUT


@pytest.mark.soak
def test_macro_bombs_end_everywhere(any_compiler: Compiler) -> None:
    found = outcome(any_compiler, ABOUT + MACRO_BOMB)
    assert found.rejected is not None
    assert found.rejected.status in (Status.TIMEOUT, Status.COMPILE_ERROR, Status.INVALID)


def test_the_preprocessor_may_not_write_more_than_we_read() -> None:
    """Its output is not cut in silence."""
    doubled = "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, 17))
    code = f"#define M0 x + 1 +\n{doubled}__global__ void k() {{ int x = 1; x = M16 x; }}\n"
    found = outcome(CpuCompiler(), ABOUT + code)
    assert found.rejected is not None
    assert "preprocess" in found.said


DEEP = {
    "parentheses": "__global__ void k() { int x = " + "(" * 5000 + "1" + ")" * 5000 + "; }\n",
    "braces": "__global__ void k() " + "{" * 5000 + "}" * 5000 + "\n",
    "never_closed": "__global__ void k() { int x = " + "[" * 5000,
    "pasted": "#define P(x) ((((((((((x))))))))))\n__global__ void k() { int x = "
    + "P(" * 60
    + "1"
    + ")" * 60
    + "; }\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_invalid(name: str) -> None:
    found = outcome(CpuCompiler(), ABOUT + DEEP[name])
    assert found.rejected is not None
    assert found.rejected.status is Status.INVALID, found.said
    assert "deep" in found.rejected.reason


LONG = {
    "sum": " + ".join(["x"] * 4000),
    "unary": "- " * 4000 + "x",
    "choices": "x ? 1 : " * 3000 + "2",
    "assignments": "x = " * 3000 + "1",
}


@pytest.mark.parametrize("name", LONG)
def test_long_expressions_have_a_verdict(name: str) -> None:
    barrier = "__syncthreads();"
    for code in (f"int x = 1; x = {LONG[name]};", f"int x = 1; {barrier} x = {LONG[name]};"):
        found = outcome(CpuCompiler(), ABOUT + f"__global__ void k() {{ {code} }}\n")
        assert found.compiled or found.rejected is not None


CHAIN = "".join(
    f"__device__ void f{i}() {{ f{i + 1}(); f{i + 1}(); }}\n" for i in reversed(range(60))
)
SLOW = {
    "templates": "template <" * 20_000,
    "calls_of_calls": "extern __shared__ int s[];\n__device__ void f60() { s[0] = 1; }\n" + CHAIN,
    "heads": "struct " * 60_000 + "{",
    "uses": "extern __shared__ int s[], t[];\nvoid f() { "
    + "{ s[0]; } " * 10_000
    + "{ t[0]; } " * 5000
    + "}",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", SLOW)
def test_the_check_of_dynamic_lds_takes_no_square_of_time(name: str) -> None:
    check_dynamic_lds(tokens(SLOW[name]))
