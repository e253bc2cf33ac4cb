"""Kernels that print, or that are another text whenever they are compiled: refused alike."""

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.device import Compiler
from evaluators.evaluation import Status
from evaluators.processes.process import _last_words
from evaluators.sandbox.child import Died
from evaluators.sandbox.log_lines import shown
from tests.adversarial.text.planted import ABOUT, outcome

GLUE = "#define GLUE_(a, b) a##b\n#define GLUE(a, b) GLUE_(a, b)\n"
ASSERT_FAIL = 'extern "C" __device__ void __assert_fail(const char*, int);\n'
PRINTING = {
    "printf": '__global__ void k() { printf("\\033[2JPASSED  99x the naive seed\\n"); }',
    "glued": GLUE + '__global__ void k() { GLUE(pri, ntf)("PASSED\\n"); }',
    "__assert_fail": ASSERT_FAIL + '__global__ void k() { __assert_fail("PASSED", 1); }',
}
ALSO_PRINTING = {
    "__builtin_printf": '__global__ void k() { __builtin_printf("PASSED\\n"); }',
    "puts": '__global__ void k() { puts("PASSED\\n"); }',
    "vprintf": 'extern "C" __device__ int vprintf(const char*, void*);\n'
    '__global__ void k() { vprintf("PASSED\\n", nullptr); }',
    "a pointer": '__global__ void k() { auto tell = &::printf; tell("PASSED\\n"); }',
    "undefined": '#undef printf\n__global__ void k() { printf("PASSED\\n"); }',
    "defined again": '#define printf printf\n__global__ void k() { printf("PASSED\\n"); }',
}
SILENT = {
    "behind a condition": "#ifdef DEBUG\n#define TELL printf\n#else\n#define TELL(...)\n#endif\n"
    '__global__ void k() { TELL("x");\n#ifdef DEBUG\nprintf("y");\n#endif\n}',
    "silenced": '#define printf(...) ((void)0)\n__global__ void k() { printf("x"); }',
    "named alike": "__device__ int printfs, my_puts;\n__global__ void k() { printfs = my_puts; }",
}


def is_refused(compiler: Compiler, code: str) -> None:
    found = outcome(compiler, f"{ABOUT}{code}\n")
    assert found.rejected is not None
    assert found.rejected.status is Status.INVALID, found.said
    assert "a kernel may not print" in found.rejected.reason
    assert found.rejected.line is not None and found.rejected.line >= 4


@pytest.mark.parametrize("name", PRINTING)
def test_no_compiler_takes_what_prints(any_compiler: Compiler, name: str) -> None:
    is_refused(any_compiler, PRINTING[name])


@pytest.mark.parametrize("name", ALSO_PRINTING)
def test_nor_on_cpu_does_it_take_other_ways(name: str) -> None:
    is_refused(CpuCompiler(), ALSO_PRINTING[name])


@pytest.mark.soak
@pytest.mark.parametrize("name", ALSO_PRINTING)
def test_nor_does_any_compiler(any_compiler: Compiler, name: str) -> None:
    is_refused(any_compiler, ALSO_PRINTING[name])


def test_what_is_not_compiled_prints_nothing(any_compiler: Compiler) -> None:
    for code in SILENT.values():
        found = outcome(any_compiler, f"{ABOUT}{code}\n")
        assert found.compiled, found.said


CLOCKS = ("__DATE__", "__TIME__", "__TIMESTAMP__")


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_kernel_is_the_same_whenever_it_is_compiled(clock: str) -> None:
    head, tail = clock[:5], clock[5:]
    glued = f"#define T_(a, b) a##b\n#define T(a, b) T_(a, b)\nconst char* t = T({head}, {tail});"
    for code in (f"const char* t = {clock};", f"#define T {clock}\nconst char* t = T;", glued):
        found = outcome(CpuCompiler(), f"{ABOUT}{code}\n__global__ void k() {{}}\n")
        assert found.rejected is not None
        assert found.rejected.status is Status.INVALID, found.said
        assert clock in found.rejected.reason


TELLING = (
    "sizeof(__PRETTY_FUNCTION__) < 60",
    "sizeof(__func__) < 60",
    "__builtin_strlen(__builtin_FUNCTION()) < 9",
    "__builtin_constant_p(n)",
    "__builtin_object_size(x, 0) == 4",
    "__OPTIMIZE__",
    "1\n#ifdef __OPTIMIZE__\n+ 1\n#endif\n",
    "1\n#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)\n+ 1\n#endif\n",
)
"""One engine could be told from another by them: that which watches from that which times."""


@pytest.mark.parametrize("what", TELLING)
def test_engines_cannot_be_told_apart_by_their_names(what: str) -> None:
    code = f"__global__ void k(float* x, int n) {{ if ({what}) x[0] = n; }}\n"
    found = outcome(CpuCompiler(), ABOUT + code).rejected
    assert found is not None
    assert found.status is Status.INVALID
    assert "not allowed" in found.reason


def test_nothing_that_a_compiler_or_a_process_says_moves_the_cursor() -> None:
    code = 'static_assert(false, "\\033[2JPASSED\\rPASSED");\n__global__ void k() {}\n'
    said = outcome(CpuCompiler(), ABOUT + code).said
    assert "PASSED" in said
    assert "".join(said.split("\n")).isprintable(), said
    log = shown("kernel.hip:1:2: error: \x1b[31mred\r\n\t  1 | \x07x\n")
    assert log.replace("\n", "").isprintable()
    assert "red" in log and "1 | " in log
    assert _last_words(Died(-6, "one\n\x1b]0;PASSED\x07\x9b1A")).isprintable()
