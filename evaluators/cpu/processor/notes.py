"""What is told of this machine's processor: core, vectors, flags, which functions pay."""

import hashlib
import io
import json
import os
import platform

from elftools.elf.elffile import ELFFile

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.library import symbols_of
from evaluators.cpu.toolchain import INCLUDE, Toolchain, cpu_flags, cpu_info, toolchain
from evaluators.cxx import cache_folder
from evaluators.kernel.plan import LaunchStep, Plan
from evaluators.kernel.source import parse_kernel

UNARY = (
    *("expf", "exp2f", "logf", "log2f", "log1pf", "expm1f", "tanhf", "sinf", "cosf", "tanf"),
    *("atanf", "coshf", "erff", "sqrtf", "rsqrtf", "cbrtf", "floorf", "rintf", "roundf"),
)
BINARY = ("powf", "fmodf", "hypotf", "atan2f", "fmaxf", "fminf")

_HEADERS = ("math", "elementary", "special", "conversions", "bits")
"""Those of include/cpu/ks that decide which functions stay calls."""

_LOOP = (
    "__global__ void of_{name}(const float *__restrict__ x, float *__restrict__ y, int n) {{\n"
    "    for (int i = 0; i < n; ++i) y[i] = {name}({arguments});\n}}\n"
)


def device_notes() -> tuple[str, ...]:
    """A sentence each; the same ones for the same machine, compiler and version of the harness."""
    tools = toolchain()
    vectorised, called = vector_functions(tools)
    return (
        f"One core of {os.cpu_count()} runs a kernel, its blocks one after the other: there is no "
        "parallelism but that of vectors and of instructions.",
        vector_note(cpu_flags(), platform.machine()),
        f"Compiled with {' '.join(tools.code_flags)}; `options` come after these.",
        f"In a loop over adjacent elements these become vector code: {', '.join(vectorised)}. "
        f"These stay a call for each element, and their loop scalar: {', '.join(called)}.",
    )


def vector_note(flags: frozenset[str], machine: str) -> str:
    """flags: the processor's, by Linux's names."""
    if "avx512f" in flags:
        name, width, registers = "AVX-512", 64, 32
    elif "avx" in flags:
        name, width, registers = "AVX2" if "avx2" in flags else "AVX", 32, 16
    else:
        name, width = ("NEON", 16) if machine == "aarch64" else ("SSE", 16)
        registers = 32 if machine == "aarch64" else 16
    return (
        f"Vectors: {name}, {width} bytes ({width // 4} floats) in each of {registers} registers: "
        f"`__attribute__((vector_size({width})))` is one register, a wider type is not."
    )


def vector_functions(tools: Toolchain) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Functions that become vector code, and those that stay calls: as this compiler builds them.

    Found once for a processor, compiler and version of the headers, then read from a cache.
    """
    headers = [(INCLUDE / "cpu" / "ks" / f"{name}.h").read_text() for name in _HEADERS]
    processor = cpu_info().get("model name", "")
    key = "\n".join([processor, tools.name, *tools.code_flags, *headers, _source()])
    path = cache_folder() / f"functions-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(sorted(_called())))
        os.replace(draft, path)
    called = frozenset(json.loads(path.read_text()))
    names = (*UNARY, *BINARY)
    return tuple(n for n in names if n not in called), tuple(n for n in names if n in called)


def _called() -> frozenset[str]:
    """What the library of loops over each function leaves to libm."""
    kernel = parse_kernel(_source())
    steps = tuple(
        LaunchStep(entry=f"of_{name}", grid=(1, 1, 1), block=(1, 1, 1), lds_bytes=0, args=())
        for name in (*UNARY, *BINARY)
    )
    compiled = CpuCompiler().compile(
        kernel, [Plan(defines=(), steps=steps, prepare=(), scratch={})]
    )
    (binary,) = compiled.binaries.values()
    symbols = symbols_of(ELFFile(io.BytesIO(binary.data)), ".dynsym")
    return frozenset(one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF" and one.name)


def _source() -> str:
    loops = [_LOOP.format(name=name, arguments="x[i]") for name in UNARY]
    loops += [_LOOP.format(name=name, arguments="x[i], y[i]") for name in BINARY]
    launch = "launches:\n  - {kernel: of_expf, grid: [1], block: [1], args: []}"
    return f"/*---\n{launch}\n---*/\n{''.join(loops)}"
