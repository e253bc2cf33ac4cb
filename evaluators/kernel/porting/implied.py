"""Headers that a source needs by the names in it, whether it includes them or not."""

import re
from collections.abc import Iterable, Mapping, Sequence

from evaluators.kernel.tokens import Token

GROUPS = "cooperative_groups"
"""The namespace; its header costs time, so only sources that name it are given it."""

_NEEDED: Mapping[str, re.Pattern[str]] = {
    "hip/hip_fp16.h": re.compile(
        r"__half(?:2|_raw|2_raw)?|__half2?_?as?_\w+|__\w*2half2?(?:_r[nzdu])?|__half2?2\w+|"
        r"__(?:low|high|lows|highs|halves)2half2?|__(?:low|high)2float|h(?:exp|log|sqrt|rsqrt|rcp)"
    ),
    "hip/hip_bf16.h": re.compile(
        r"__hip_bfloat16\w*|__\w*2bfloat162?(?:_r[nzdu])?|__bfloat16\w+|__(?:low|high)2bfloat16"
    ),
    "hip/hip_fp8.h": re.compile(r"__hip_fp8\w*|__HIP_E[45]M[32]\w*|__hip_cvt_\w+"),
    "hip/hip_cooperative_groups.h": re.compile(GROUPS),
    "ks/standard.h": re.compile("std"),
}
_SHORT = ("half", "half2")
"""Types of CUDA's and HIP's, but also what people call variables and types of their own."""
_BEFORE_A_TYPE = frozenset(
    """
    const constexpr static extern volatile typename return sizeof new case inline __restrict__
    __shared__ __device__ __global__ __host__ __constant__ __forceinline__ __noinline__ using else
    """.split()  # noqa: SIM905 (a list of 20 lines otherwise)
)


def implied_headers(found: Sequence[Token]) -> tuple[str, ...]:
    """found: a normalised source's tokens."""
    words = dict.fromkeys(_words(found))
    needed = [h for h, names in _NEEDED.items() if any(map(names.fullmatch, words))]
    if any(name in words and _is_type(name, found) for name in _SHORT):
        needed.append("hip/hip_fp16.h")
    return tuple(needed)


def _words(found: Iterable[Token]) -> Iterable[str]:
    for token in found:
        if token.kind == "word":
            yield token.text
        elif token.kind == "directive":
            yield from re.findall(r"[A-Za-z_]\w*", token.text)


def _is_type(name: str, found: Sequence[Token]) -> bool:
    """Whether a source uses a name as a type's, and declares nothing of that name itself."""
    used = False
    for i, token in enumerate(found):
        if token.kind == "directive" and re.match(rf"define\s+{name}\b", token.text):
            return False
        if token.text != name or token.kind != "word":
            continue
        before, after = found[i - 1] if i else None, found[i + 1] if i + 1 < len(found) else None
        if before is not None and before.kind == "word" and before.text not in _BEFORE_A_TYPE:
            return False  # int half, struct half2, typedef float half
        if before is not None and before.text == "using":
            return False
        used = used or (after is not None and (after.kind == "word" or after.text in "*&>)"))
    return used
