"""CpuCompiler: a kernel's source to a checked shared library, in confined children."""

import platform
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluators.cpu.build import Build, Built
from evaluators.cpu.diagnosis.regions import Region, regions
from evaluators.cpu.emit import ENGINE, Entry, check_words
from evaluators.cpu.fibers import SWITCHING
from evaluators.cpu.fission.translate import function_name, translate
from evaluators.cpu.toolchain import cpu_flags, toolchain
from evaluators.device import Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Defines, Plan
from evaluators.kernel.porting.explain import explaining
from evaluators.kernel.porting.library_names import as_written, set_apart
from evaluators.kernel.porting.vector_types import check_vector_types
from evaluators.kernel.source import KernelSource
from evaluators.kernel.source_check import check_preprocessed, check_source
from evaluators.kernel.static_memory import MAX_STATIC_BYTES, refuse_more_than, static_bytes
from evaluators.kernel.tokens import tokens

COMPILE_DEADLINE_S = 60.0
ALL_STATIC_BYTES = 3 * MAX_STATIC_BYTES
"""Of all builds of a kernel: a run child loads them together."""

_ENTRY_SIGNS = re.compile(r"[()<>,:+*/%&|^!=~.\-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCompiler:
    """Compiles for this machine's processor.

    wavefront: what the macro WAVEFRONT stands for. engine: cpu-fission, which is timed, or
    cpu-fibers, the oracle for what it computes. What cpu-fission can't translate is compiled by
    cpu-switching in its place. macros: further ones, as NAME=VALUE, that a kernel of another device
    finds defined.
    """

    wavefront: int = 64
    engine: str = ENGINE
    macros: tuple[str, ...] = ()
    deadline_s: float = COMPILE_DEADLINE_S

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        """Compile once for each distinct set of defines in plans. Raises Rejected.

        Symbols and resources are listed by entry_key(); a resource's signature holds a code
        a parameter (elf.SIGNATURE), its lds_bytes are the static ones; its advice and facts are
        sentences about its loops, from the engine whose times count.
        """
        with explaining(kernel, plans):
            return self._compile(kernel, plans)

    def _compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        tools = toolchain()
        start = time.monotonic()
        headers = check_source(
            kernel.code, first_line=kernel.code_line, kernels=kernel.kernel_names
        )
        if tools.family == "g++":
            check_vector_types(kernel.normalised, kernel.code_line, tools.family)
        own = set_apart(kernel.normalised)
        wanted: dict[Defines, dict[Entry, None]] = {}
        for plan in plans:
            entries = wanted.setdefault(plan.defines, {})
            for step in plan.launches:
                if step.cooperative:
                    raise Rejected(
                        Status.UNSUPPORTED, f"{step.entry}: cooperative launches are not for cpu"
                    )
                _check_entry(step.entry)
                entries[Entry(kernel=own.entry(step.entry), block=step.block)] = None
        builds = [self._build(kernel, headers, *one) for one in wanted.items()]
        engine, made = self._built(builds)
        taken = sum(static_bytes(built.binary.data) - built.own_bytes for built in made)
        refuse_more_than(ALL_STATIC_BYTES, taken)
        return Compiled(
            kernel_id=kernel.id,
            backend="cpu",
            arch=arch(),
            engine=engine,
            compiler=tools.name,
            binaries={defines: one.binary for defines, one in zip(wanted, made, strict=True)},
            resources=tuple(told for built in made for told in built.resources),
            seconds=time.monotonic() - start,
        )

    def _build(
        self,
        kernel: KernelSource,
        headers: Sequence[str],
        defines: Defines,
        entries: Iterable[Entry],
    ) -> Build:
        return Build(
            tools=toolchain(),
            kernel=kernel,
            defines=defines,
            wavefront=self.wavefront,
            macros=self.macros,
            headers=headers,
            entries=[*entries],
            deadline_s=self.deadline_s,
        )

    def _built(self, builds: Sequence[Build]) -> tuple[str, list[Built]]:
        """All of them, by one engine: where cpu-fission can't take one, by cpu-switching."""
        try:
            return self.engine, [build.run(self.engine) for build in builds]
        except Rejected as rejected:
            if self.engine != ENGINE or rejected.status is not Status.UNSUPPORTED:
                raise
            untranslated = rejected
        try:
            made = [build.run(SWITCHING) for build in builds]
        except Rejected:
            raise untranslated from None
        why = as_written(untranslated.reason)
        return SWITCHING, [built.advised(_switched(built, why)) for built in made]

    def explain(self, kernel: KernelSource, plan: Plan) -> tuple[Region, ...]:
        """The regions into which the kernels of a plan are cut, and why. Raises Rejected."""
        headers = check_source(kernel.code, first_line=kernel.code_line)
        entry = set_apart(kernel.normalised).entry
        entries = [Entry(kernel=entry(step.entry), block=step.block) for step in plan.launches]
        with explaining(kernel, [plan]):
            own = self._build(kernel, headers, plan.defines, entries).own()
            check_words(check_preprocessed(own.text))
            cut = translate(own.text, sorted({one.kernel for one in own.entries}))
        written = {function_name(own): function_name(kernel) for kernel, own in cut.named.items()}
        return tuple(replace(one, kernel=as_written(written[one.kernel])) for one in regions(cut))


def arch() -> str:
    """The processor's architecture with the widest vectors that it has."""
    flags = cpu_flags()
    for flag, name in (("avx512f", "avx512"), ("avx2", "avx2"), ("avx", "avx"), ("sve", "sve")):
        if flag in flags:
            return f"{_machine()}+{name}"
    return _machine()


def _machine() -> str:
    return {"x86_64": "x86-64"}.get(platform.machine(), platform.machine())


def _switched(built: Built, why: str) -> str:
    """What is said of a kernel that was not translated."""
    how = "one by one, not side by side in vectors"
    if built.waits:
        how += ", and switches between them at barriers and wavefront operations, which takes long"
    return (
        f"{SWITCHING} runs its threads {how}: {why}; its times do not compare with those of "
        f"kernels that {ENGINE} runs."
    )


def _check_entry(kernel: str) -> None:
    """A name expression may hold names, numbers and operators; it goes into generated code."""
    for token in tokens(kernel):
        if token.kind in ("word", "number"):
            continue
        if token.kind != "sign" or not _ENTRY_SIGNS.fullmatch(token.text):
            raise Rejected(Status.INVALID, f"{kernel!r} is not the name of a kernel")
