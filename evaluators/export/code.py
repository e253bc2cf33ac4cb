"""A kernel's code made fit to stand in a namespace of a header, once for every build."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluators.kernel.porting.headers import cuda_names
from evaluators.kernel.source import KernelSource
from evaluators.kernel.source_check import check_source
from evaluators.kernel.tokens import tokens

INCLUDE = Path(__file__).parents[1] / "include"
_OURS = ("hip/hip_cooperative_groups.h", "ks/standard.h")
"""Headers in whose place hipcc has others, or that stand in for those of the C++ library."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include\b|pragma[ \t]+once\b).*$", re.MULTILINE)
_DEFINED = re.compile(r"define\s+([A-Za-z_]\w*)")
_FOR_NVRTC = re.compile(
    r"^#ifdef __CUDACC_RTC__\n(?:.*\n)*?(?:#else.*\n((?:.*\n)*?))?#endif\n", re.MULTILINE
)
"""What a compiler without headers of its own needs, and what nvcc has in its place."""
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[ \t]*$', re.MULTILINE)


def included_headers(kernel: KernelSource) -> tuple[str, ...]:
    """HIP's headers that the code needs. Raises Rejected(INVALID)."""
    return tuple(header for header in _needed(kernel) if header not in _OURS)


def _needed(kernel: KernelSource) -> tuple[str, ...]:
    own = check_source(kernel.code, first_line=kernel.code_line)
    return tuple(dict.fromkeys(("hip/hip_runtime.h", *own)))


def code_for(kernel: KernelSource, defines: Mapping[str, int | str], entries: Sequence[str]) -> str:
    """The code between its defines and their end; without includes and C linkage.

    Several builds stand beside each other, so names and macros must end with each. ks_entries[i]
    is the kernel of entries[i], a name in which the code's own names may stand.
    """
    code = _INCLUDE.sub("", kernel.code)
    code = re.sub(r'\bextern\s+"C"\s*\{', "inline namespace c_linkage {", code)
    code = re.sub(r'\bextern\s+"C"\s*', "", code)
    own = dict.fromkeys(
        found[1]
        for token in tokens(kernel.code)
        if token.kind == "directive" and (found := _DEFINED.match(token.text))
    )
    aliases = dict(cuda_names(code))
    lines = [f"#undef {name}\n#define {name} {own}" for name, own in aliases.items()]
    lines += [f"#define {name} {value}" for name, value in defines.items()]
    lines += [code.strip("\n"), "#ifndef __HIPCC_RTC__"]
    lines += ["[[maybe_unused]] static const void* const ks_entries[] = {"]
    lines += [*(f"    (const void*)&{entry}," for entry in entries), "};", "#endif"]
    lines += [f"#undef {name}" for name in (*own, *aliases, *defines)]
    return "\n".join(lines)


def cuda_headers_of(kernel: KernelSource) -> str:
    """HIP's device side for CUDA, as the harness has it, in one text."""
    seen: set[Path] = set()
    return "\n".join(_flat(INCLUDE / "cuda" / header, seen) for header in _needed(kernel))


def hip_additions_of(kernel: KernelSource) -> str:
    """What the harness adds to AMD's headers for the code, in one text."""
    seen: set[Path] = set()
    names = ["additions", *(h.rpartition("/")[2].removeprefix("hip_") for h in _needed(kernel))]
    files = (INCLUDE / "hiprtc" / "ks" / f"{name.removesuffix('.h')}.h" for name in names)
    return "\n".join(
        _flat(file, seen) for file in files if file.is_file() and file.name != "standard.h"
    )


def _flat(path: Path, seen: set[Path]) -> str:
    """A header with our own headers that it includes put in their place, each once."""
    if path.resolve() in seen:
        return ""
    seen.add(path.resolve())

    def put_in(found: re.Match[str]) -> str:
        places = (path.parent / found[1], INCLUDE / found[1])
        (header, *_) = (place for place in places if place.is_file())
        return _flat(header, seen)

    text = _FOR_NVRTC.sub(lambda found: found[1] or "", path.read_text())
    return _QUOTED.sub(put_in, text)
