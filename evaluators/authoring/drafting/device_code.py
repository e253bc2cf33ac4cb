"""The device code of a program: its kernels with all that they use, and no host code."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from evaluators.authoring.program.cpp import Directive, Program, closing, split_arguments
from evaluators.authoring.program.host import Host
from evaluators.authoring.program.items import Item, Part, Wrapper, words
from evaluators.kernel.porting.headers import HEADERS

_HEADERS: Mapping[str, str] = {
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuda_fp8.h": "hip/hip_fp8.h",
    "cooperative_groups.h": "hip/hip_cooperative_groups.h",
}
"""What CUDA calls the headers of HIP."""
_ALREADY = ("hip/hip_runtime.h",)
_CUDA_NAMES: Mapping[str, str] = {
    "__nv_bfloat16": "typedef __hip_bfloat16 __nv_bfloat16;",
    "nv_bfloat16": "typedef __hip_bfloat16 nv_bfloat16;",
    "__nv_fp8_e4m3": "typedef __hip_fp8_e4m3 __nv_fp8_e4m3;",
    "__nv_fp8_e5m2": "typedef __hip_fp8_e5m2 __nv_fp8_e5m2;",
}
"""Names of CUDA, and what they are; a typedef, since on CUDA they are there already."""
_CONDITIONALS = ("if", "ifdef", "ifndef", "elif", "else", "endif")
_KEPT_PREFIX = "cooperative_groups"


def used_names(host: Host, first: Collection[str]) -> set[str]:
    """All names that the items and macros so called use, and what those use, and so on."""
    program = host.program
    by_name: dict[str, set[str]] = {}
    for item in host.items:
        if item.kind == "host":
            continue
        inside = words(program, item.start, item.end)
        for name in item.names:
            by_name[name] = by_name.get(name, set()) | inside
    for macro in host.macros.values():
        inside = set(re.findall(r"[A-Za-z_]\w*", macro.body))
        by_name[macro.name] = by_name.get(macro.name, set()) | inside
    met: set[str] = set()
    left = [*first]
    while left:
        name = left.pop()
        if name in met:
            continue
        met.add(name)
        left += by_name.get(name, ())
    return met


def device_code(
    host: Host, kernels: Collection[str], used: Collection[str], gone: Collection[str]
) -> str:
    """kernels: by name, those that are launched. used: see used_names(). gone: constants and macros
    that front matter defines in their place."""
    program = host.program
    kept = [*_kept(program, host.parts, kernels, used, gone)]
    pieces = [(start, end) for start, end in kept]
    pieces += [(one.start, one.end) for one in _kept_directives(program, host, pieces, used, gone)]
    text = b""
    last = 0
    for start, end in sorted(pieces):
        begin = _with_comment(program, start)
        apart = b"\n\n" if b"\n\n" in program.data[last:begin] or not text else b"\n"
        text += (apart if text else b"") + program.data[begin:end]
        last = end
    head = [f"#include <{header}>" for header in _headers(program)]
    named = {name for name in _CUDA_NAMES if name in used and name not in host.macros}
    head += [_CUDA_NAMES[name] for name in sorted(named)]
    top = "\n".join(head)
    return (f"{top}\n\n" if top else "") + text.decode().strip("\n") + "\n"


def _headers(program: Program) -> Iterator[str]:
    met = set()
    for one in program.directives:
        found = re.match(r'[<"]([^>"]+)[>"]', one.rest) if one.word == "include" else None
        raw = re.search(rb'[<"]([^>"\n]+)[>"]', program.data[one.start : one.end])
        name = raw[1].decode() if found and raw else ""
        name = _HEADERS.get(name, name)
        if name in HEADERS and name not in _ALREADY and name not in met:
            met.add(name)
            yield name


def _kept(
    program: Program,
    parts: Sequence[Part],
    kernels: Collection[str],
    used: Collection[str],
    gone: Collection[str],
) -> Iterator[tuple[int, int]]:
    for part in parts:
        if isinstance(part, Wrapper):
            inside = [*_kept(program, part.inside, kernels, used, gone)]
            if inside:
                yield part.start, part.body
                yield from inside
                yield part.close, part.end
        elif _stays(program, part, kernels, used, gone):
            yield part.start, part.end


def _stays(
    program: Program,
    item: Item,
    kernels: Collection[str],
    used: Collection[str],
    gone: Collection[str],
) -> bool:
    if item.kind == "kernel":
        return item.name in kernels
    if item.kind == "host":
        return False
    if item.kind in ("import", "other") and not item.names:
        return _KEPT_PREFIX in program.code[item.start : item.end].decode()
    own = [name for name in item.names if name not in gone]
    return bool(own) and any(name in used for name in own)


def _kept_directives(
    program: Program,
    host: Host,
    pieces: Sequence[tuple[int, int]],
    used: Collection[str],
    gone: Collection[str],
) -> Iterator[Directive]:
    """Macros that are used, and conditions round what is kept."""
    outside = [
        one
        for one in program.directives
        if not any(start <= one.start < end for start, end in pieces)
        and not any(item.start <= one.start < item.end for item in host.items)
    ]
    found = [
        one
        for one in outside
        if one.word in ("define", "undef")
        and (name := re.match(r"\w+", one.rest)) is not None
        and name[0] in used
        and name[0] not in gone
    ]
    yield from found
    places = [start for start, _ in pieces] + [one.start for one in found]
    for group in _conditionals(outside):
        if any(group[0].start < place < group[-1].start for place in places):
            yield from group


def _conditionals(directives: Sequence[Directive]) -> Iterator[list[Directive]]:
    """Each #if with its #else and #endif."""
    opened: list[list[Directive]] = []
    for one in directives:
        if one.word in ("if", "ifdef", "ifndef"):
            opened.append([one])
        elif one.word in ("elif", "else") and opened:
            opened[-1].append(one)
        elif one.word == "endif" and opened:
            yield [*opened.pop(), one]


def _with_comment(program: Program, start: int) -> int:
    """Where the comment begins that stands right above the place."""
    data, code = program.data, program.code
    at = data.rfind(b"\n", 0, start) + 1
    if code[at:start].strip():
        return start
    while at > 0:
        above = data.rfind(b"\n", 0, at - 1) + 1
        if not data[above:at].strip() or code[above:at].strip():
            break
        at = above
    return at if data[at:start].strip() else start


# --- masks --------------------------------------------------------------------------------------

_MASKED = re.compile(r"\b(__shfl(?:_up|_down|_xor)?)_sync\s*(?=\()")
_LANES = 32


def without_masks(code: str) -> tuple[str, int]:
    """__shfl_down_sync(mask, v, d) as __shfl_down(v, d, 32), and how many were changed.

    32 keeps what the code means where wavefronts are 64 wide. Votes are left alone: what they
    return is as wide as a wavefront.
    """
    changed = 0
    data = code.encode()
    for found in reversed([*_MASKED.finditer(code)]):
        start = len(code[: found.end()].encode())
        end = closing(data, start)
        given = [data[a:b].decode().strip() for a, b in split_arguments(data, start + 1, end - 1)]
        if len(given) not in (3, 4):
            continue
        width = given[3] if len(given) == 4 else str(_LANES)
        made = f"{found[1]}({given[1]}, {given[2]}, {width})"
        begin = len(code[: found.start()].encode())
        data = data[:begin] + made.encode() + data[end:]
        changed += 1
    return data.decode(), changed
