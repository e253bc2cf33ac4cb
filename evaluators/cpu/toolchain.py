"""The C++ compiler of the cpu backend and its flags."""

import functools
import mmap
from dataclasses import dataclass
from pathlib import Path

from evaluators.cxx import CxxCompiler, cxx_compiler

INCLUDE = Path(__file__).parents[1] / "include"
NATIVE = Path(__file__).parent / "native"
PAGE = mmap.PAGESIZE

# No standard library's headers, start files or runtime: a kernel sees ours and libm's symbols.
_COMMON_FLAGS = (
    "-O3",
    "-march=native",
    "-fopenmp-simd",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fvisibility=hidden",
    "-fPIC",
    "-w",
    "-pipe",
)
_GNU_FLAGS = (
    "-fwhole-program",
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
)
# g++ unrolls short loops before it would vectorise them: register tiles of 8 or 16 columns become
# three to six times faster when it leaves those of more than four rounds alone. In kernels cut at
# barriers, whose tiles are read from LDS, they become one and a half to three times slower.
_GNU_WITHOUT_BARRIERS = ("--param=max-completely-peel-times=4",)
_CLANG_FLAGS = ("-fno-color-diagnostics", "-fno-caret-diagnostics")
_ZIG_FLAGS = ("-fno-sanitize=undefined",)
# The oracle's: each access calls a hook of include/cpu/ks/access_hooks.h (libtsan is not linked).
# clang's own flag would go past Zig, which brings a libtsan of its own.
# g++ loads what is constant in a loop, or on both ways of an if, ahead of them: no thread did.
_GNU_WATCHED = (
    *("-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0", "-g1"),
    *("-fsanitize=alignment", "-fno-tree-loop-im", "-fno-ssa-phiopt"),
)
_CLANG_WATCHED = (
    *("-Xclang", "-fsanitize=thread,alignment", "-Xclang", "-fsanitize-recover=alignment"),
    *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
    *("-mllvm", "-tsan-instrument-read-before-write=1", "-gline-tables-only"),
    *("-fno-vectorize", "-fno-slp-vectorize"),
)
WATCH_SCRIPT = "watch.ld"
WATCH_SCRIPT_TEXT = (
    "SECTIONS { /DISCARD/ : { *(.init_array .init_array.* .ctors .ctors.*) } } INSERT BEFORE .text;"
)
"""Compilers add a constructor that starts libtsan; the linker leaves it out by this script."""
_INCLUDE_FLAGS = ("-nostdinc", "-nostdinc++", f"-I{INCLUDE / 'cpu'}", f"-I{INCLUDE}")
READ_ONLY_TABLES = ("-Wl,-z,relro", "-Wl,-z,now")
"""All addresses are looked up on loading, into pages that can't be written from then on."""
_LINK_FLAGS = (
    "-shared",
    "-nostdlib",
    "-nostartfiles",
    *READ_ONLY_TABLES,
    "-Wl,-z,noexecstack",
    "-Wl,--build-id=none",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain(CxxCompiler):
    """The compiler with what the cpu backend asks of it."""

    wide_vectors: bool  # the processor has AVX-512

    @property
    def standard(self) -> str:
        """The newest language that the compiler has, up to C++20, as the GPUs' compilers have it.

        g++ and clang++ have what kernels use of it since their tenth releases.
        """
        return "-std=gnu++20" if self.major >= 10 else "-std=gnu++17"

    @property
    def major(self) -> int:
        """The release; 0 where the compiler doesn't tell. Zig's clang is 15 or newer."""
        if self.family == "zig c++":
            return 15
        return int(self.version.split(".")[0]) if self.version[0].isdigit() else 0

    @property
    def code_flags(self) -> tuple[str, ...]:
        """Those of a kernel without barriers that decide what code it becomes, for people."""
        flags = self.build("", "", ())
        telling = ("-O", "-march", "-fopenmp", "-ffp", "-fno-math", "-fno-trapping", "-mprefer")
        return tuple(flag for flag in flags if flag.startswith(telling))

    @property
    def reads(self) -> tuple[Path, ...]:
        """What it needs beside what is installed with it: our headers, the run child's source."""
        return (INCLUDE, NATIVE)

    def preprocess(self, source: str, defines: tuple[str, ...]) -> list[str]:
        """Command that prints a source file after the preprocessor, our markers unexpanded."""
        # Messages quote no line: they would take it from the whole file, by the kernel's number.
        quiet = _GNU_FLAGS[1:] if self.family == "g++" else _CLANG_FLAGS
        return [
            *self.command,
            *quiet,
            *("-E", "-x", "c++", self.standard, "-DKS_TRANSLATING", *defines, "-w"),
            *_INCLUDE_FLAGS,
            *("-include", "hip/hip_runtime.h", source),
        ]

    def check(self, source: str) -> list[str]:
        """Command that only tells whether a C++ unit is right."""
        quiet = _GNU_FLAGS[1:] if self.family == "g++" else _CLANG_FLAGS
        flags = (self.standard, *_COMMON_FLAGS, *quiet)
        return [*self.command, *flags, "-fsyntax-only", *_INCLUDE_FLAGS, source]

    def build(
        self,
        source: str,
        output: str,
        options: tuple[str, ...],
        *,
        waits: bool = False,
        watched: bool = False,
        remarks: str = "",
    ) -> list[str]:
        """Command from a C++ unit to a shared library; options come last, so that they count.

        waits: whether the kernels hold barriers or wavefront operations. watched: for the
        oracle, whose accesses call hooks; WATCH_SCRIPT must lie in the current folder.
        remarks: the file that what is said of loops goes to, for diagnosis/remarks.py.
        """
        flags = [self.standard, *_COMMON_FLAGS]
        flags += _GNU_FLAGS if self.family == "g++" else _CLANG_FLAGS
        if self.family == "g++" and not waits:
            flags += _GNU_WITHOUT_BARRIERS
        if self.family == "zig c++":
            flags += _ZIG_FLAGS
        if self.wide_vectors:
            flags.append("-mprefer-vector-width=512")
        watch: tuple[str, ...] = ()
        if watched:
            flags += ["-O1", "-gdwarf-4"]
            flags += _GNU_WATCHED if self.family == "g++" else _CLANG_WATCHED
            watch = (f"-Wl,-T,{WATCH_SCRIPT}",)
        return [
            *self.command,
            *flags,
            *_INCLUDE_FLAGS,
            *options,
            *(self._remark_flags(remarks) if remarks else ()),
            *_LINK_FLAGS,
            *watch,
            *("-o", output, source),
        ]

    def _remark_flags(self, output: str) -> tuple[str, ...]:
        """They change nothing in the code; compilers that are too old for them say nothing."""
        if self.family == "g++":
            flag = f"-fopt-info-vec-optimized-missed-internals={output}"
            return (flag,) if self.major >= 9 else ()
        if self.family == "clang++" and self.major < 10:
            return ()
        return (
            "-fsave-optimization-record=yaml",
            f"-foptimization-record-file={output}",
            "-foptimization-record-passes=loop-vectorize|slp-vectorizer",
        )


@functools.cache
def toolchain() -> Toolchain:
    """See cxx_compiler. Raises BackendMissing when there is none."""
    found = cxx_compiler()
    return Toolchain(
        command=found.command,
        family=found.family,
        version=found.version,
        wide_vectors="avx512f" in cpu_flags(),
    )


@functools.cache
def cpu_info() -> dict[str, str]:
    """The first processor's lines in /proc/cpuinfo."""
    fields: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, colon, value = line.partition(":")
        if not colon and fields:
            break
        fields[name.strip()] = value.strip()
    return fields


def cpu_flags() -> frozenset[str]:
    """What the processor can do, by Linux's names."""
    info = cpu_info()
    return frozenset((info.get("flags") or info.get("Features", "")).split())
