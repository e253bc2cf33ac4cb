"""What one reader takes for a comment and another for code: no compiler reads what we do not."""

import pytest

from evaluators.device import Compiler
from evaluators.evaluation import Status
from tests.adversarial.text.planted import ABOUT, Planted, outcome

KERNEL = "\n__global__ void k() {}\n"
INCBIN = 'asm(".incbin \\"@FILE@\\"");'
GLUE = "#define GLUE_(a, b) a##b\n#define GLUE(a, b) GLUE_(a, b)\n"

HIDDEN = {
    # NVRTC does not join a backslash, blanks and a newline.
    "include_behind_a_splice_with_blanks": '// tiles \\ \n#include "@FILE@"\n' + KERNEL,
    "assembly_behind_a_splice_with_tabs": "// tiles \\\t\n" + INCBIN + KERNEL,
    # clang and g++ end a line at a lone carriage return.
    "include_behind_a_carriage_return": '// tiles\r#include "@FILE@"\n' + KERNEL,
    "assembly_behind_a_carriage_return": "// tiles\r" + INCBIN + "\n" + KERNEL,
    # A quote that is alone in a directive ends the line for some, and is one sign for others.
    "include_behind_a_lone_quote": "#if 0\n#error it's /*\n#endif\n#if 1\n*/\n"
    '#include "@FILE@"\n/*\n#endif\n*/\n#endif\n' + KERNEL,
    # The guard against pasted assembly, taken away where we do not look.
    "undefined_guard": "// tiles \\ \n#undef asm\n"
    + GLUE
    + 'GLUE(as, m)(".incbin \\"@FILE@\\"");'
    + KERNEL,
    "undefined_guard_behind_a_return": "// tiles\r#undef asm\n"
    + GLUE
    + 'GLUE(as, m)(".incbin \\"@FILE@\\"");'
    + KERNEL,
    "universal_character_name": '\\u0061sm(".incbin \\"@FILE@\\"");' + KERNEL,
    "pasted_has_include": GLUE + "#if GLUE(__has_, include)(<hip/hip_runtime.h>)\n"
    "#error there_is_one\n#endif" + KERNEL,
    "pasted_has_include_by_argument": "#define CALL(f, a, b) f(a, b)\n"
    + GLUE
    + '#if CALL(GLUE, __has_inc, lude)("@FILE@")\n#error there_is_one\n#endif'
    + KERNEL,
    "pasted_pragma": GLUE + 'GLUE(_Pra, gma)("GCC dependency \\"@FILE@\\"")' + KERNEL,
    "turned_in_a_comment": "// \u202e } ;)(f\u202c" + KERNEL,
    "attribute_by_digraphs": "<:<:gnu::constructor:>:> void f() {}" + KERNEL,
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_hidden_is_invalid(any_compiler: Compiler, planted: Planted, name: str) -> None:
    found = outcome(any_compiler, ABOUT + planted.put_into(HIDDEN[name]))
    assert not found.leaks(), found.said
    assert found.rejected is not None
    assert found.rejected.status is Status.INVALID, found.said
    assert "there_is_one" not in found.said


@pytest.mark.parametrize("code", ['#include "@FILE@"', INCBIN])
def test_front_matter_holds_no_code(any_compiler: Compiler, planted: Planted, code: str) -> None:
    """A splice makes the end of the comment, which YAML and Python read as a comment of theirs."""
    about = ABOUT.replace("args: []", f"args: [], when: |-\n 1 #*\\\n/\n#{code}/*\n")
    text = about.replace("[{", "\n- ").replace("}]", "").replace(", ", "\n  ")
    found = outcome(any_compiler, planted.put_into(text + KERNEL))
    assert not found.leaks(), found.said


def test_lines_stay_what_they_were_in_the_file(any_compiler: Compiler) -> None:
    """Line ends of three kinds, comments over lines and spliced macros before a mistake."""
    code = "/* a\r\n b */\r#define F(x) \\\n  ((x) + \\ \n 1)\n// c\n"
    found = outcome(any_compiler, ABOUT + code + "__global__ void k() { int a = F(missing); }\n")
    assert found.rejected is not None
    assert found.rejected.status is Status.COMPILE_ERROR, found.said
    assert found.rejected.line == 10
