"""What a kernel's source may hold on cpu, before and after the preprocessor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cpu.device import compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.normalise import normalised
from evaluators.kernel.porting.headers import HEADERS
from evaluators.kernel.source_check import check_preprocessed, check_source, own_text
from evaluators.kernel.tokens import tokens
from tests.evaluators.launching import kernel, launch, plan

BAD = [
    ('#include "/etc/passwd"', "/etc/passwd", 1),
    ("#include <unistd.h>", "unistd.h", 1),
    ("\n# /* hidden */ include/**/<omp.h>", "omp.h", 2),
    ("#inc\\\nlude <omp.h>", "omp.h", 1),
    ("int a;\n#define F <unistd.h>\n#include F", "macro", 3),
    ("#include_next <hip/hip_runtime.h>", "include_next", 1),
    ("#import <hip/hip_runtime.h>", "import", 1),
    ('const char a[] = {\n#embed "/etc/passwd"\n};', "embed", 2),
    ("%:include <omp.h>", "digraph", 1),
    ("??=include <omp.h>", "trigraph", 1),
    ('#line 3 "/etc/passwd"', "line", 1),
    ('# 3 "/etc/passwd"', "3", 1),
    ("#if __has_include(<omp.h>)\n#endif", "__has_include", 1),
    ("#pragma GCC optimize(3)", "pragma", 1),
    ("#pragma once\n#pragma STDC X", "STDC", 2),
    ('_Pragma("GCC poison x")', "_Pragma", 1),
    ('void f() { asm("syscall"); }', "assembly", 1),
    ('void f() { __asm__ volatile (".incbin \\"/etc/hostname\\""); }', "assembly", 1),
    ("#define A asm\n", "assembly", 1),
    ("__attribute__((constructor)) void f() {}", "constructor", 1),
    ("__attribute__((__constructor__(101))) void f() {}", "constructor", 1),
    ('__attribute__((unused, ifunc("g"))) void f();', "ifunc", 1),
    ('__attribute__((section(".init"))) int x;', "section", 1),
    ("[[gnu::destructor]] void f() {}", "destructor", 1),
    ("[[using gnu: constructor]] void f() {}", "using", 1),
    ("__attribute__((weak)) int x;", "weak", 1),
    ("int __attribute__((address_space(256))) *x;", "address_space", 1),
    ("int __attribute__((address_space(2 + 1))) *x;", "address_space", 1),
    ("int __attribute__((address_space(N))) *x;", "address_space", 1),
    ("int __attribute__((__address_space__)) *x;", "address_space", 1),
    ("int x = __builtin_ia32_rdtsc();", "__builtin_ia32_rdtsc", 1),
    ("void *f() { return __builtin_return_address(0); }", "__builtin_return_address", 1),
    ('const char *s = R"(\n#include <omp.h>\n)";', "raw string", 1),
    ("/* never closed", "not closed", 1),
    ('const char *s = "never closed;\n', "not closed", 1),
    ("thread_local int x;", "thread_local", 1),
    ("int __ks_entry_0;", "__ks_entry_0", 1),
]


@pytest.mark.parametrize(("code", "word", "line"), BAD)
def test_is_invalid(code: str, word: str, line: int) -> None:
    with pytest.raises(Rejected) as caught:
        check_source(code, first_line=1)
    assert caught.value.status is Status.INVALID
    assert word in caught.value.reason
    assert caught.value.line == line


def test_what_is_quoted_is_printable() -> None:
    with pytest.raises(Rejected) as caught:
        check_source('#*/\t"a"', first_line=1)
    assert caught.value.reason == r'line 1: the directive #*/\t"a" is not allowed'


GOOD = [
    "// #include <omp.h>\n",
    "/* asm #include <omp.h> */ int x;",
    'const char *s = "asm #include <omp.h>"; char c = \'"\';',
    "int x = 1 \\\n + 2;",
    "#define SQUARE(x) \\\n ((x) * (x))\n#undef SQUARE",
    "#ifdef A\n#elif B\n#else\n#endif\n#if 0\n#error it's not so\n#endif",
    "#pragma unroll\n#pragma unroll 4\n#pragma once",
    "__attribute__((aligned(16), always_inline)) [[nodiscard]] int f();",
    "#define AS __attribute__((address_space(3), may_alias))\nvoid f(int AS *x);",
    "int a[2][3]; int b = a[a[0][1]][2]; int assembly, __attribute, x = 0x1p-3 > 1'000;",
    "int x = 5 % 3; #",
]


@pytest.mark.parametrize("code", GOOD[:9])
def test_is_valid(code: str) -> None:
    assert check_source(code, first_line=1) == ()


def test_headers_are_listed_in_order() -> None:
    code = '#include <hip/hip_fp8.h>\n#  include "hip/hip_runtime.h" // first\n'
    assert check_source(code, first_line=1) == ("hip/hip_fp8.h", "hip/hip_runtime.h")
    assert set(HEADERS) >= set(check_source(code, first_line=1))


def test_a_macro_can_not_hide_assembly() -> None:
    """No single token of the source is forbidden; one that the preprocessor glues together is."""
    code = '#define GLUE(a, b) a##b\n__global__ void k() { GLUE(as, m)("nop"); }'
    source = kernel(code)
    with pytest.raises(Rejected) as caught:
        compiler().compile(source, [plan(launch("k", []))])
    assert caught.value.status is Status.INVALID
    assert "assembly" in caught.value.reason
    assert f"line {source.code_line + 2}:" in caught.value.reason


def test_the_second_layer_sees_which_files_were_opened() -> None:
    output = '# 1 "kernel.hip"\nint a;\n# 1 "/etc/passwd" 1\nroot\n# 2 "kernel.hip" 2\nint b;'
    with pytest.raises(Rejected) as caught:
        own_text(output, "/headers")
    assert caught.value.status is Status.INVALID
    assert "root" not in caught.value.reason
    own = own_text(output.replace("/etc/passwd", "/headers/hip/x.h"), "/headers")
    assert [t.text for t in check_preprocessed(own)] == ["int", "a", ";", "int", "b", ";"]
    assert [t.line for t in check_preprocessed(own)] == [1, 1, 1, 2, 2, 2]


@given(st.text(alphabet="#inclue <>\"'/*\\\n%:?=(){}[]ab1._", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = list(tokens(normalised(text)))
    except Rejected as refused:
        assert refused.status is Status.INVALID
        return
    lines = [token.line for token in found]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
