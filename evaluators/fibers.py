"""The oracle for kernels with barriers: every GPU thread a fiber of its own, right but slow.

It shares with the translator no more than the list of the source's functions.
It is never timed.
"""

from collections.abc import Sequence

from evaluators.cpu_emit import ENTRY, LDS_BYTES, SIGNATURE, Entry, check_words, own_text
from evaluators.fission.hoist import callee
from evaluators.fission.source import read
from evaluators.fission.tree import Spanned
from evaluators.tokens import Token

ENGINE = "cpu-fibers"


def emit(
    source: str,
    entries: Sequence[Entry],
    *,
    headers: Sequence[str],
    words: Sequence[Token],
    wavefront: int,
    reverse: bool = False,
) -> str:
    """The C++ unit to compile, with the same entries as the engines that are timed.

    reverse: threads take their turns from the last to the first; a kernel without data races
    gives the same either way.
    """
    check_words(words)
    blocks = {entry.block for entry in entries}
    lines = [f"#define WAVEFRONT {wavefront}"]
    lines += [f"#include <{header}>" for header in headers]
    lines.append(f"static constexpr bool KS_REVERSED = {str(reverse).lower()};")
    lines.append("#include <ks/fibers.h>")
    if len(blocks) == 1:
        lines.append(f"static constexpr KsIndex blockDim{{{_dims(*blocks)}}};")
    else:
        lines.append("static KsIndex blockDim;")
    lines.append(f"alignas(4096) static char ks_dynamic_lds[{LDS_BYTES}];")
    lines.append(own_text(_with_calls(source)))
    lines.append('#line 1 "launches"')
    for i, entry in enumerate(entries):
        block = f"blockDim = {{{_dims(entry.block)}}}; " if len(blocks) > 1 else ""
        lines.append(f"""typedef KsKernel<{entry.kernel}> KsKernel{i};
extern "C" {{
KS_EXPORT extern const KsSignature {SIGNATURE.format(i)} = KsKernel{i}::signature;
KS_EXPORT void {ENTRY.format(i)}(const KsLaunch *launch) {{
    {block}KsFibers<{entry.kernel}>::run<{_dims(entry.block)}>(launch);
}}
}}""")
    return "\n".join(lines) + "\n"


def _with_calls(source: str) -> str:
    """Mark the calls of functions that hold barriers or wavefront operations.

    So a fiber knows where it waits: lanes that took different ways meet again where their ways
    join, which is what comes first in the order of the source.
    """
    unit = read(source)
    words = unit.with_property("collective")
    marks: list[tuple[int, int, str]] = []
    for f in unit.functions:
        for one in f.body.walk():
            if one.kind == "call_expression" and callee(one) in words:
                assert isinstance(one, Spanned)
                marks += [(one.start, 1, "KS_CALL("), (one.end, 0, ")")]
    data = unit.source.data
    out, at = [], 0
    for place, _, mark in sorted(marks):
        out += [data[at:place].decode(), mark]
        at = place
    return "".join([*out, data[at:].decode()])


def _dims(block: Sequence[int]) -> str:
    return ", ".join(map(str, block))
