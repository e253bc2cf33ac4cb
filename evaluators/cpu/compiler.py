"""CpuCompiler: a kernel's source to a checked shared library, in confined children."""

import platform
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.cpu import fibers
from evaluators.cpu.diagnosis.advice import Advice, advise
from evaluators.cpu.diagnosis.regions import Region, regions
from evaluators.cpu.emit import ENGINE, ENTRY, SIGNATURE, Emit, Entry, check_words
from evaluators.cpu.failures import compile_failure, not_translated
from evaluators.cpu.fission.names import COLLECTIVES
from evaluators.cpu.fission.translate import Translation, emit, function_name, translate
from evaluators.cpu.library import check_library
from evaluators.cpu.static_lds import static_lds
from evaluators.cpu.toolchain import (
    INCLUDE,
    WATCH_SCRIPT,
    WATCH_SCRIPT_TEXT,
    Toolchain,
    cpu_flags,
    toolchain,
)
from evaluators.device import Binary, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.compiler_input import compiler_input
from evaluators.kernel.front_matter import MAX_CHARACTERS
from evaluators.kernel.normalise import count_lines
from evaluators.kernel.plan import Defines, Plan
from evaluators.kernel.source import KernelSource
from evaluators.kernel.source_check import KERNEL_FILE, check_preprocessed, check_source, own_text
from evaluators.kernel.static_memory import MAX_STATIC_BYTES, refuse_more_than, static_bytes
from evaluators.kernel.tokens import Token, tokens
from evaluators.kernel.vector_types import check_vector_types
from evaluators.sandbox.log_lines import shown
from evaluators.sandbox.run import OUTPUT_LIMIT, Finished, run_confined

COMPILE_DEADLINE_S = 60.0
PREPROCESS_DEADLINE_S = 10.0
"""It takes a tenth of a second, but for macros that double and double."""
ORACLES: Mapping[str, Emit] = {fibers.ENGINE: fibers.emit, fibers.SAMPLING: fibers.emit_sampling}
REMARKS = "remarks"
LOG_CHARACTERS = 8000
ALL_STATIC_BYTES = 3 * MAX_STATIC_BYTES
"""Of all builds of a kernel: a run child loads them together."""

_ENTRY_SIGNS = re.compile(r"[()<>,:+*/%&|^!=~.\-]")


def entry_key(kernel: str, block: Sequence[int]) -> str:
    """The name under which a binary's symbols and resources list one entry."""
    return f"{kernel} [{'x'.join(map(str, block))}]"


def _own_static_bytes(engine: str) -> int:
    """What a library holds beside the kernel's own variables, about."""
    return 0 if engine == ENGINE else fibers.STATIC_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCompiler:
    """Compiles for this machine's processor.

    wavefront: what the macro WAVEFRONT stands for. engine: cpu-fission, whose times count, or
    cpu-fibers, the oracle for what it computes. macros: further ones, as NAME=VALUE, that a
    kernel of another device finds defined.
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
        tools = toolchain()
        start = time.monotonic()
        headers = check_source(
            kernel.code, first_line=kernel.code_line, kernels=kernel.kernel_names
        )
        if tools.family == "g++":
            check_vector_types(kernel.normalised, kernel.code_line, tools.family)
        wanted: dict[Defines, dict[Entry, None]] = {}
        for plan in plans:
            entries = wanted.setdefault(plan.defines, {})
            for step in plan.launches:
                if step.cooperative:
                    raise Rejected(
                        Status.UNSUPPORTED, f"{step.entry}: cooperative launches are not for cpu"
                    )
                _check_entry(step.entry)
                entries[Entry(kernel=step.entry, block=step.block)] = None
        binaries: dict[Defines, Binary] = {}
        resources: list[Mapping[str, Any]] = []
        for defines, entries in wanted.items():
            build = _Build(
                tools=tools,
                kernel=kernel,
                defines=defines,
                macros=self.macros,
                headers=headers,
                entries=[*entries],
            )
            binaries[defines], found = build.run(self.engine, self.wavefront, self.deadline_s)
            resources += found
        taken = sum(static_bytes(binary.data) for binary in binaries.values())
        refuse_more_than(ALL_STATIC_BYTES, taken - len(binaries) * _own_static_bytes(self.engine))
        return Compiled(
            kernel_id=kernel.id,
            backend="cpu",
            arch=arch(),
            engine=self.engine,
            compiler=tools.name,
            binaries=binaries,
            resources=tuple(resources),
            seconds=time.monotonic() - start,
        )

    def explain(self, kernel: KernelSource, plan: Plan) -> tuple[Region, ...]:
        """The regions into which the kernels of a plan are cut, and why. Raises Rejected."""
        headers = check_source(kernel.code, first_line=kernel.code_line)
        build = _Build(
            tools=toolchain(),
            kernel=kernel,
            defines=plan.defines,
            macros=self.macros,
            headers=headers,
            entries=(),
        )
        with tempfile.TemporaryDirectory() as name:
            own = build.own(Path(name), self.wavefront, self.deadline_s)
        check_words(check_preprocessed(own))
        return regions(translate(own, sorted({step.entry for step in plan.launches})))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """One compilation: one set of defines."""

    tools: Toolchain
    kernel: KernelSource
    defines: Defines
    macros: tuple[str, ...]
    headers: Sequence[str]
    entries: Sequence[Entry]

    def run(
        self, engine: str, wavefront: int, deadline_s: float
    ) -> tuple[Binary, list[Mapping[str, Any]]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            own = self.own(folder, wavefront, deadline_s)
            words = check_preprocessed(own)
            check_words(words)
            try:
                data, advice = self.library(folder, engine, own, words, wavefront, deadline_s)
            except RecursionError:  # emitters walk syntax trees, as deep as expressions are
                raise Rejected(
                    Status.UNSUPPORTED,
                    "an expression or statement nests too deeply for cpu: split it into several",
                ) from None
            except Rejected as rejected:
                if rejected.status not in (Status.UNSUPPORTED, Status.COMPILE_ERROR):
                    raise
                self.check_as_written(folder, own, wavefront, deadline_s)
                raise not_translated(rejected, count_lines(self.kernel.text) + 1) from None
        facts = check_library(
            data,
            entry=ENTRY,
            signature=SIGNATURE,
            count=len(self.entries),
            ours=_own_static_bytes(engine),
        )
        keys = [entry_key(entry.kernel, entry.block) for entry in self.entries]
        symbols = {key: ENTRY.format(i) for i, key in enumerate(keys)}
        lds = static_lds([entry.kernel for entry in self.entries], facts, words)
        return Binary(data=data, symbols=symbols), [
            {
                "kernel": key,
                "defines": dict(self.defines),
                "signature": facts.signatures[i],
                "lds_bytes": lds[i],
                **advice.get(function_name(entry.kernel), {}),
            }
            for i, (key, entry) in enumerate(zip(keys, self.entries, strict=True))
        ]

    def library(
        self,
        folder: Path,
        engine: str,
        own: str,
        words: Sequence[Token],
        wavefront: int,
        deadline_s: float,
    ) -> tuple[bytes, Mapping[str, Advice]]:
        """The code, and what is said of each kernel's loops."""
        cut: Translation | None = None
        headers = self.includes()
        if engine == ENGINE:
            cut = translate(own, [entry.kernel for entry in self.entries])
            unit = emit(cut, self.entries, headers=headers, wavefront=wavefront)
        else:
            unit = ORACLES[engine](own, self.entries, headers=headers, wavefront=wavefront)
        (folder / "unit.cpp").write_text(unit)
        (folder / WATCH_SCRIPT).write_text(WATCH_SCRIPT_TEXT)
        command = self.tools.build(
            "unit.cpp",
            "unit.so",
            self.kernel.options,
            waits=any(token.text in COLLECTIVES for token in words),
            watched=cut is None,
            remarks=REMARKS if cut is not None else "",
        )
        self.child(command, folder, deadline_s)
        advice = {} if cut is None else advise(cut, folder / REMARKS, self.tools.family)
        return (folder / "unit.so").read_bytes(), advice

    def check_as_written(self, folder: Path, own: str, wavefront: int, deadline_s: float) -> None:
        """Raises Rejected(COMPILE_ERROR) when the compiler does not take the kernel's own text."""
        unit = fibers.as_written(own, self.entries, headers=self.includes(), wavefront=wavefront)
        (folder / "written.cpp").write_text(unit)
        self.child(self.tools.check("written.cpp"), folder, deadline_s)

    def own(self, folder: Path, wavefront: int, deadline_s: float) -> str:
        """The kernel file's own text after the preprocessor."""
        text = compiler_input(self.kernel, self.headers, self.defines)
        (folder / KERNEL_FILE).write_text(text)
        known = (f"WAVEFRONT={wavefront}", *self.macros)
        command = self.tools.preprocess(KERNEL_FILE, tuple(f"-D{macro}" for macro in known))
        done = self.child(command, folder, min(deadline_s, PREPROCESS_DEADLINE_S))
        own = own_text(done.stdout.decode(errors="replace"), str(INCLUDE))
        if len(done.stdout) >= OUTPUT_LIMIT or len(own) > MAX_CHARACTERS:
            raise Rejected(
                Status.INVALID,
                f"the preprocessor makes more than {MAX_CHARACTERS:,} characters of the kernel: "
                "its macros expand too far",
            )
        return own

    def includes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("hip/hip_runtime.h", *self.headers)))

    def child(self, command: Sequence[str], folder: Path, deadline_s: float) -> Finished:
        done = run_confined(
            command,
            cwd=folder,
            env=self.tools.environment(folder),
            deadline_s=deadline_s,
            memory_bytes=self.tools.memory_bytes,
            reads=self.tools.reads,
            writes=self.tools.writes,
        )
        log = shown(done.stderr.decode(errors="replace"), [INCLUDE / "cpu", INCLUDE])[
            :LOG_CHARACTERS
        ]
        if done.timed_out:
            raise Rejected(Status.TIMEOUT, f"compiling took more than {deadline_s:g} s", log=log)
        if done.returncode != 0:
            raise compile_failure(done, log, self.tools.name, [one.kernel for one in self.entries])
        return done


def arch() -> str:
    """The processor's architecture with the widest vectors that it has."""
    flags = cpu_flags()
    for flag, name in (("avx512f", "avx512"), ("avx2", "avx2"), ("avx", "avx"), ("sve", "sve")):
        if flag in flags:
            return f"{_machine()}+{name}"
    return _machine()


def _machine() -> str:
    return {"x86_64": "x86-64"}.get(platform.machine(), platform.machine())


def _check_entry(kernel: str) -> None:
    """A name expression may hold names, numbers and operators; it goes into generated code."""
    for token in tokens(kernel):
        if token.kind in ("word", "number"):
            continue
        if token.kind != "sign" or not _ENTRY_SIGNS.fullmatch(token.text):
            raise Rejected(Status.INVALID, f"{kernel!r} is not the name of a kernel")
