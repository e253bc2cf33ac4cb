"""A GPU backend's compiler: a kernel file to loadable code, with what it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from evaluators.device import Binary, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.advice import for_launch
from evaluators.gpu.compile_child import CodeObject, CompileChild
from evaluators.gpu.driver import check_launch
from evaluators.gpu.resources import Resources, read_resources
from evaluators.kernel.compiler_input import compiler_input
from evaluators.kernel.pasting import ASSEMBLY
from evaluators.kernel.plan import Defines, LaunchStep, Plan
from evaluators.kernel.porting.explain import explaining
from evaluators.kernel.porting.library_names import as_written, set_apart
from evaluators.kernel.porting.vector_types import check_vector_types
from evaluators.kernel.printing import refuse_printing
from evaluators.kernel.source import KernelSource
from evaluators.kernel.source_check import check_source
from evaluators.kernel.tokens import KERNEL_FILE

MAX_THREADS = 1024
STANDARD = "c++20"
"""Of the language: hiprtc and clang have it since ROCm 6, NVRTC since CUDA 12."""

DEADLINE_S = 60.0


class GpuCompiler:
    """For one architecture, such as gfx942; holds a recycled compile child until closed.

    lds_bytes: what a block may have of it, static and dynamic together.
    """

    def __init__(
        self,
        *,
        backend: Literal["hip", "cuda"],
        arch: str,
        child: CompileChild,
        wavefront: int,
        lds_bytes: int,
    ) -> None:
        self.arch = arch
        self.backend = backend
        self._child = child
        self._always = (f"-std={STANDARD}", f"-DWAVEFRONT={wavefront}")
        self._lds_bytes = lds_bytes

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        """Compile once for each distinct set of defines. Needs no device.

        Raises Rejected: INVALID, COMPILE_ERROR, TIMEOUT, and LAUNCH_ERROR for a launch that
        can't fit the compiled kernel. Raises BackendMissing.
        """
        with explaining(kernel, plans):
            return self._compile(kernel, plans)

    def _compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        headers = check_source(
            kernel.code, first_line=kernel.code_line, kernels=kernel.kernel_names
        )
        if self.backend == "cuda":
            check_vector_types(kernel.normalised, kernel.code_line, "nvrtc")
        binaries: dict[Defines, Binary] = {}
        resources: list[dict[str, Any]] = []
        logs: list[str] = []
        seconds = 0.0
        for defines, launches in _builds(plans).items():
            names = tuple(dict.fromkeys(launch.entry for launch in launches))
            text = compiler_input(kernel, headers, defines, _guards())
            made = self._made(text, names, kernel)
            kernels = {
                k.symbol: k for k in read_resources(made.code, made.mnemonics, made.signatures)
            }
            binaries[defines] = Binary(data=made.code, symbols=made.symbols)
            for launch in launches:
                found = kernels.get(made.symbols.get(launch.entry, ""))
                if found is None or _is_no_instance(launch.entry, found.symbol, made.signatures):
                    raise Rejected(
                        Status.COMPILE_ERROR,
                        f"{launch.entry} is no kernel: launch a function that is __global__",
                    )
                check_launch(launch, found, lds_bytes=self._lds_bytes, threads=MAX_THREADS)
            resources += _told(defines, launches, kernels, made.symbols)
            if made.log and made.log not in logs:
                logs.append(made.log)
            seconds += made.seconds
        return Compiled(
            kernel_id=kernel.id,
            backend=self.backend,
            arch=self.arch,
            engine=self.backend,
            compiler=self._child.version,
            binaries=binaries,
            resources=tuple(resources),
            log="\n".join(logs),
            seconds=seconds,
            inspection_only=self._child.inspection_only,
        )

    def _made(self, text: str, names: Sequence[str], kernel: KernelSource) -> CodeObject:
        """Its symbols are by the names that the front matter says."""
        own = {set_apart(kernel.normalised).entry(name): name for name in names}
        try:
            made = self._child.compile(
                text,
                arch=self.arch,
                name=KERNEL_FILE,
                names=tuple(own),
                options=(*self._always, *kernel.options),
                deadline_s=DEADLINE_S,
            )
        except Rejected as rejected:
            raise refuse_printing(rejected) from None
        symbols = {own[name]: symbol for name, symbol in made.symbols.items()}
        return replace(made, symbols=symbols, log=as_written(made.log))

    def close(self) -> None:
        self._child.close()


def _is_no_instance(entry: str, symbol: str, signatures: Mapping[str, str]) -> bool:
    """Whether template arguments were given to what is no template, which NVRTC takes in C++20."""
    told = signatures.get(symbol, "")  # it may not be known
    return "<" in entry and told not in ("", symbol) and "<" not in told


def _guards() -> list[str]:
    """Macros that stop assembly, which could read this machine's files, should any be made."""
    refusal = 'static_assert(false, "inline assembly is not allowed"); void'
    return [f"#define {word} {refusal}" for word in ASSEMBLY]


def _builds(plans: Sequence[Plan]) -> dict[Defines, list[LaunchStep]]:
    """Every launch of every plan, by what must be compiled together."""
    found: dict[Defines, list[LaunchStep]] = {}
    for plan in plans:
        found.setdefault(plan.defines, []).extend(plan.launches)
    return found


def _told(
    defines: Defines,
    launches: Sequence[LaunchStep],
    kernels: dict[str, Resources],
    symbols: Any,
) -> list[dict[str, Any]]:
    """One mapping a kernel, block size and dynamic LDS: launches that differ in grid are one."""
    told = {}
    for launch in launches:
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        key = (launch.entry, threads, launch.lds_bytes)
        told[key] = {
            "kernel": launch.entry,
            "defines": dict(defines),
            **for_launch(kernels[symbols[launch.entry]], threads, launch.lds_bytes),
        }
    return list(told.values())
