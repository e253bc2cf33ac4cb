"""The words of HIP that fission gives a meaning of its own."""

BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "__lane_id"})
MARKERS = frozenset({"__global__", "__device__", "__host__", "__constant__", "__managed__"})
SHARED = "__shared__"
BOUNDS = "__launch_bounds__"

BARRIERS = frozenset({"__syncthreads", "__builtin_amdgcn_s_barrier"})
"""All threads of the block wait here."""

WAVE_BARRIERS = frozenset({"__syncwarp", "__builtin_amdgcn_wave_barrier"})
"""The threads of a wavefront wait here; no more than an order of memory accesses."""

SHUFFLES = frozenset({"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"})
VOTES = frozenset({"__ballot", "__any", "__all", "__activemask"})
WAVE = frozenset(
    {
        *SHUFFLES,
        *VOTES,
        *(f"{name}_sync" for name in (*SHUFFLES, "__ballot", "__any", "__all")),
    }
)
BLOCK_VOTES = frozenset({"__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
"""Barriers that also tell every thread what all threads answered."""

GROUPS = "cooperative_groups"
GROUPS_HEADER = "hip/hip_cooperative_groups.h"

COLLECTIVES = BARRIERS | WAVE_BARRIERS | WAVE | BLOCK_VOTES

ATOMIC_PREFIXES = ("atomic", "unsafeAtomic", "safeAtomic", "__hip_atomic_")

CHANGING = frozenset({"swap", "exchange"})
"""Functions of std that change what they are given, without its address."""

PURE_CALLS = frozenset(
    [
        "min",
        "max",
        "abs",
        "fminf",
        "fmaxf",
        "fabsf",
        "sqrtf",
        "rsqrtf",
        "__clz",
        "__ffs",
        "__popc",
        "__popcll",
        "__ffsll",
        "__clzll",
        "__float2int_rn",
        "__int2float_rn",
        "__mul24",
        "__umul24",
        "__mulhi",
        "__umulhi",
        "static_cast",
        "reinterpret_cast",
        "const_cast",
        "int",
        "unsigned",
        "float",
        "double",
        "size_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "bool",
        "make_float2",
        "make_float4",
        "make_int2",
        "make_int4",
        "__cvta_generic_to_shared",
    ]
)
"""Calls whose value depends on nothing but their arguments."""
