"""The headers that a kernel's source names: those of ours, those it needs none of, and the rest."""

import re
from collections.abc import Iterable, Mapping, Sequence

from evaluators.kernel.tokens import Token

HEADERS = (
    "hip/hip_runtime.h",
    "hip/hip_fp16.h",
    "hip/hip_bf16.h",
    "hip/hip_fp8.h",
)
"""All that compilers are given of what a kernel may #include."""

_RUNTIME, _HALF, _BFLOAT16, _FP8 = HEADERS

_STANDARD = """
    algorithm any array assert.h atomic bit bitset cassert cctype cerrno cfloat chrono cinttypes
    climits cmath complex concepts condition_variable cstdarg cstddef cstdint cstdio cstdlib
    cstring ctime ctype.h deque errno.h exception filesystem float.h format forward_list fstream
    functional future initializer_list inttypes.h iomanip ios iosfwd iostream iso646.h istream
    iterator limits limits.h list map math.h memory memory.h mutex new numbers numeric optional
    ostream queue random ranges ratio regex set span sstream stack stdalign.h stdarg.h stdbool.h
    stddef.h stdexcept stdint.h stdio.h stdlib.h streambuf string string.h string_view strings.h
    system_error thread time.h tuple type_traits typeindex typeinfo unordered_map unordered_set
    utility valarray variant vector version
""".split()  # noqa: SIM905 (a list of 100 lines otherwise)

IGNORED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_STANDARD, ()),
    **dict.fromkeys(
        (
            *("cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h"),
            *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"),
            *("builtin_types.h", "device_atomic_functions.h", "device_functions.h"),
            *("driver_types.h", "host_defines.h", "math_constants.h", "math_functions.h"),
            *("sm_20_intrinsics.h", "sm_30_intrinsics.h", "vector_functions.h", "vector_types.h"),
            *("hip/device_functions.h", "hip/driver_types.h", "hip/hip_common.h"),
            *("hip/hip_cooperative_groups.h", "hip/hip_defines.h", "hip/hip_runtime_api.h"),
            *("hip/hip_vector_types.h", "hip/channel_descriptor.h", "hip/hip_ext.h"),
            *("hip/math_functions.h", "hip/hip_math_constants.h"),
        ),
        (),
    ),
    **dict.fromkeys(("cuda_fp16.h", "cuda_fp16.hpp", "hip/hip_fp16_math_fwd.h"), (_HALF,)),
    **dict.fromkeys(("cuda_bf16.h", "cuda_bf16.hpp", "hip/hip_bfloat16.h"), (_BFLOAT16,)),
    **dict.fromkeys(("cuda_fp8.h", "cuda_fp8.hpp", "hip/hip_fp8.hpp"), (_FP8,)),
}
"""Headers that kernels need none of, with those of ours that declare what they do: such lines are
taken out of what compilers see. What kernels use of them is in the prelude; the rest is of use to
host code only, of which is told where it does not compile."""

_AMD_DETAIL = re.compile(r"hip/(?:amd_detail|nvidia_detail)/[\w.]+")

_HOST = re.compile(
    # rare ones of C and C++
    r"c?(?:signal|setjmp|locale|wchar)(?:\.h)?|memory_resource|shared_mutex|barrier|latch|"
    r"semaphore|coroutine|print|execution|source_location|"
    # operating systems
    r"(?:sys|arpa|netinet|linux|mach)/.*|unistd\.h|getopt\.h|fcntl\.h|dlfcn\.h|pthread\.h|"
    r"dirent\.h|windows\.h|malloc\.h|omp\.h|mpi\.h|immintrin\.h|x86intrin\.h|"
    # libraries that launch kernels of their own, frameworks, tests
    r"(?:.*/)?(?:hip|roc|cu)(?:blas|blaslt|blas_v2|blasLt|sparse|solver|solver_common|fft|dnn|"
    r"rand|tensor|pti|profiler_api|file)(?:[_/.-].*)?|"
    r"(?:.*/)?(?:miopen|rccl|nccl|nvml|nvrtc|hiprtc|roctracer|roctx|nvtx3?|nvToolsExt)[\w/.]*|"
    r"cuda_profiler_api\.h|(?:torch|ATen|c10|caffe2|pybind11|tensorflow|jax|xla|triton)/.*|"
    r"Python\.h|numpy/.*|gtest/.*|gmock/.*|benchmark/.*|catch2/.*|boost/.*|glm/.*|eigen3?/.*|"
    r"helper_\w+\.h|(?:.*/)?(?:hip_helper|example_utils|cmdparser)\.\w+",
)
_DEVICE_LIBRARY = re.compile(
    r"(?:cub|hipcub|rocprim|thrust|rocwmma|cutlass|cute|ck|ck_tile|cuda|mscclpp|raft|kittens)/.*|"
    r"mma\.h|cuda_pipeline\w*\.h|(?:hip|cu)?rand_kernel\.h|(?:hip|roc|cu)rand/.*_kernel\.h|"
    r"hip/hip_complex\.h|cuComplex\.h|kittens\.cuh|rocwmma\.hpp"
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)

_CUDA_NAMES: Mapping[str, tuple[str, str]] = {
    "__nv_bfloat16": ("__hip_bfloat16", _BFLOAT16),
    "nv_bfloat16": ("__hip_bfloat16", _BFLOAT16),
    "__nv_bfloat162": ("__hip_bfloat162", _BFLOAT16),
    "nv_bfloat162": ("__hip_bfloat162", _BFLOAT16),
    "hip_bfloat16": ("__hip_bfloat16", _BFLOAT16),
    "__nv_fp8_e4m3": ("__hip_fp8_e4m3", _FP8),
    "__nv_fp8_e5m2": ("__hip_fp8_e5m2", _FP8),
    "CUDART_INF_F": ("INFINITY", _RUNTIME),
    "CUDART_NAN_F": ("NAN", _RUNTIME),
    "CUDART_PI_F": ("3.141592654f", _RUNTIME),
    "CUDART_PI": ("3.1415926535897932", _RUNTIME),
}
"""CUDA's names, and an older one of HIP, of what our headers name as HIP does."""


def given_for(header: str) -> tuple[str, ...] | None:
    """Those of HEADERS that stand in for a header that a kernel includes; None: it may not."""
    if header in HEADERS:
        return (header,)
    if _AMD_DETAIL.fullmatch(header):
        return tuple(one for one in HEADERS if _stem(one) in header and one != _RUNTIME)
    return IGNORED.get(header)


def _stem(header: str) -> str:
    return header.removeprefix("hip/hip_").removesuffix(".h")


def needed_by_names(found: Iterable[Token]) -> tuple[str, ...]:
    """Headers that declare what CUDA's names in the source stand for."""
    used = dict.fromkeys(token.text for token in found if token.kind == "word")
    return tuple(dict.fromkeys(_CUDA_NAMES[name][1] for name in used if name in _CUDA_NAMES))


def cuda_names(text: str) -> list[tuple[str, str]]:
    """Those in a source, each with what it is to stand for; behind the headers."""
    return [
        (name, own)
        for name, (own, _) in _CUDA_NAMES.items()
        if re.search(rf"\b{name}\b", text) and not re.search(rf"\bdefine\s+{name}\b", text)
    ]


def without_includes(normalised: str) -> str:
    """What compilers see: headers stand ahead of it. Lines keep their numbers."""
    return _DIRECTIVE.sub("", normalised)


def why_refused(refused: Sequence[tuple[str, int]]) -> str:
    """One sentence on all headers that a source may not include; each with its line."""
    groups: dict[str, list[str]] = {}
    for header, line in refused:
        where = f" (line {line})" if len(refused) > 1 else ""
        groups.setdefault(_why(header), []).append(f"{header!r}{where}")
    told = [f"#include of {_listed(names)} is not allowed: {why}" for why, names in groups.items()]
    return "; ".join(told)


def _why(header: str) -> str:
    if _DEVICE_LIBRARY.fullmatch(header):
        return "no kernel has such a library here, write out what yours takes of it"
    if _HOST.fullmatch(header):
        return "that belongs to host code, take such code out too"
    return (
        f"kernels have {', '.join(HEADERS)} (standard ones such as cmath are ignored), paste in "
        "what yours needs of any other"
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
