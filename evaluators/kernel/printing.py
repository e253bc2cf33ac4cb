"""Kernels may not print: their words would stand among ours, and cost time that is not theirs.

Each function that prints is a macro behind the vendors' headers, so that only text that is
compiled counts, whatever macros made it: debug output behind #ifdef is none.
"""

import re

from evaluators.evaluation import Rejected, Status

FUNCTIONS = (
    *("printf", "fprintf", "vprintf", "puts", "putchar", "__assert_fail", "__assertfail"),
    *("__builtin_printf", "__builtin_vprintf", "__builtin_puts", "__builtin_putchar"),
    *("__ockl_printf_begin", "__ockl_fprintf_stdout_begin", "__ockl_fprintf_stderr_begin"),
    *("__ockl_hostcall_internal", "__ockl_hostcall_preview", "__ockl_call_host_function"),
)
GUARDS = tuple(f"#define {name} __ks_no_{name}" for name in FUNCTIONS)
"""Lines ahead of a kernel's own."""

_FOUND = re.compile(rf"\b__ks_no_({'|'.join(FUNCTIONS)})\b")
_NOWHERE = re.compile(r"(vprintf|__\w*(?:printf|puts|putchar|assert_?fail|hostcall|call_host)\w*)")
"""Words that no one writes for debugging, which may stay names that only a linker knows."""
_UNDONE = re.compile(rf"undef\s+({'|'.join(FUNCTIONS)})\b")
_REDONE = re.compile(rf"define\s+({'|'.join(FUNCTIONS)})\b(?:.*?\b(?:{'|'.join(FUNCTIONS)})\b)")


def why_not(text: str) -> str:
    """The sentence about the first guard that a word, or a compiler's log, names; or nothing."""
    found = _FOUND.search(text) or _NOWHERE.fullmatch(text)
    return f"{found[1]} is not allowed: a kernel may not print" if found else ""


def takes_guards_away(directive: str) -> bool:
    """Whether a directive would let a function that prints be called. directive: behind its #."""
    return bool(_UNDONE.match(directive) or _REDONE.match(directive))


def refuse_printing(rejected: Rejected) -> Rejected:
    """INVALID in place of a failure to compile that comes from a guard; else what is given."""
    sentence = why_not(f"{rejected.reason}\n{rejected.log}")
    if rejected.status is not Status.COMPILE_ERROR or not sentence:
        return rejected
    return Rejected(Status.INVALID, sentence, line=rejected.line)
