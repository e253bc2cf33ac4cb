"""From a kernel's source to a C++ unit whose entries run every thread of a launch in turn.

The engine cpu-threads: one loop over the blocks, one over a block's threads, so that nothing
may wait for another thread. A translator that splits kernels at barriers replaces emit().
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.evaluation import Rejected, Status
from evaluators.plan import Dim3
from evaluators.tokens import Token

ENGINE = "cpu-threads"
LDS_BYTES = 64 << 10
ENTRY = "__ks_entry_{}"
SIGNATURE = "__ks_signature_{}"

_BARRIERS = re.compile(
    r"__syncthreads\w*|__syncwarp|__shfl\w*|__ballot\w*|__all|__any|__all_sync|__any_sync|"
    r"__activemask|__match_\w+|__reduce_\w+|__lane_id|__lanemask\w*|__builtin_amdgcn_\w+|"
    r"__ockl_\w+|cooperative_groups|this_thread_block|this_grid"
)
_NOT_HERE = re.compile(r"printf|clock|clock64|wall_clock64|__nanosleep|hipLaunchKernelGGL|malloc")
_DYNAMIC_LDS = re.compile(
    r"\b(?:extern\s+__shared__|__shared__\s+extern)\s+(?P<type>[^;\[\]=]+?)\s*\b(?P<name>\w+)\s*"
    r"\[\s*\](?P<rows>(?:\s*\[[^\[\];]*\])*)\s*;"
)
_ALIGNMENT = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|alignas\s*\([^()]*\)|__align__\s*\([^()]*\)"
)
_UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(unroll|nounroll|once|clang)\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One way in: a kernel, by its name expression, launched with blocks of one size."""

    kernel: str
    block: Dim3


def emit(
    source: str,
    entries: Sequence[Entry],
    *,
    headers: Sequence[str],
    words: Sequence[Token],
    wavefront: int,
) -> str:
    """The C++ unit to compile; entry i is exported as ENTRY, its signature as SIGNATURE.

    source: the kernel's own text after the preprocessor, with its line markers; words: its tokens.
    headers: what to include ahead of it; wavefront: what WAVEFRONT stands for in them.
    Raises Rejected(UNSUPPORTED) for what this engine can't run.
    """
    for token in words:
        if token.kind == "word":
            _check_word(token)
    blocks = {entry.block for entry in entries}
    lines = [f"#define WAVEFRONT {wavefront}"]
    lines += [f"#include <{header}>" for header in headers]
    if len(blocks) == 1:
        lines.append(f"static constexpr KsIndex blockDim{{{_dims(*blocks)}}};")
    else:
        lines.append("static KsIndex blockDim;")
    lines.append(f"alignas(4096) static char ks_dynamic_lds[{LDS_BYTES}];")
    lines.append(_own_text(source))
    lines.append('#line 1 "launches"')
    lines.append("#include <ks/entry.h>")
    lines.append('#line 1 "launches"')
    for i, entry in enumerate(entries):
        lines.append(_entry(i, entry, several=len(blocks) > 1))
    return "\n".join(lines) + "\n"


def _check_word(token: Token) -> None:
    if _BARRIERS.fullmatch(token.text):
        raise Rejected(
            Status.UNSUPPORTED,
            f"needs barriers: {token.text} has no meaning where threads run one after another",
            line=token.line,
        )
    if _NOT_HERE.fullmatch(token.text):
        raise Rejected(Status.UNSUPPORTED, f"{token.text} does not exist on cpu", line=token.line)


def _own_text(source: str) -> str:
    """Dynamic LDS becomes a pointer to the arena; loop pragmas go.

    Compilers vectorise a loop before they unroll it; told to unroll first, g++ 12 makes
    a register tile ten times slower (55 against 4 GFLOP/s) and compiles it ten times longer.
    """
    source = _UNROLL.sub("", source)

    def pointer(found: re.Match[str]) -> str:
        element = " ".join(_ALIGNMENT.sub("", found["type"]).split())
        rows = found["rows"]
        return f"{element} (*const {found['name']}){rows} = ({element} (*){rows})ks_dynamic_lds;"

    return _DYNAMIC_LDS.sub(pointer, source)


def _entry(i: int, entry: Entry, *, several: bool) -> str:
    block = f"blockDim = {{{_dims(entry.block)}}}; " if several else ""
    return f"""typedef KsKernel<{entry.kernel}> KsKernel{i};
extern "C" {{
KS_EXPORT extern const KsSignature {SIGNATURE.format(i)} = KsKernel{i}::signature;
KS_EXPORT __attribute__((flatten)) void {ENTRY.format(i)}(const KsLaunch *launch) {{
    {block}KsKernel{i}::run<{_dims(entry.block)}>(launch);
}}
}}"""


def _dims(block: Dim3) -> str:
    return ", ".join(map(str, block))
