"""The oracle for kernels with barriers: every GPU thread a fiber of its own, right but slow.

It shares nothing with the translator but the preprocessed source, so that the two can be compared.
It is never timed.
"""

from collections.abc import Sequence

from evaluators.cpu_emit import ENTRY, LDS_BYTES, SIGNATURE, Entry
from evaluators.cpu_emit import _own_text as own_text
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
    lines.append(own_text(source))
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


def _dims(block: Sequence[int]) -> str:
    return ", ".join(map(str, block))
