"""One compilation for cpu: of a kernel with one set of defines, to a checked shared library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.cpu import fibers
from evaluators.cpu.compilation import Made, compile_file
from evaluators.cpu.diagnosis.advice import Advice, advise
from evaluators.cpu.emit import ENGINE, ENTRY, SIGNATURE, Emit, Entry, check_words
from evaluators.cpu.failures import not_translated
from evaluators.cpu.fission.translate import Translation, emit, function_name, translate
from evaluators.cpu.library import check_library
from evaluators.cpu.static_lds import static_lds
from evaluators.cpu.toolchain import INCLUDE, Toolchain
from evaluators.device import Binary
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.compiler_input import compiler_input
from evaluators.kernel.front_matter import MAX_CHARACTERS
from evaluators.kernel.normalise import count_lines
from evaluators.kernel.plan import Defines
from evaluators.kernel.porting.library_names import as_written
from evaluators.kernel.source import KernelSource
from evaluators.kernel.source_check import check_preprocessed, own_text
from evaluators.kernel.tokens import KERNEL_FILE, Token
from evaluators.sandbox.run import OUTPUT_LIMIT

PREPROCESS_DEADLINE_S = 10.0
"""It takes a tenth of a second, but for macros that double and double."""
ORACLES: Mapping[str, Emit] = {fibers.ENGINE: fibers.emit, fibers.SAMPLING: fibers.emit_sampling}
EMITTERS: Mapping[str, Emit] = {**ORACLES, fibers.SWITCHING: fibers.emit_switching}
UNIT, LIBRARY, REMARKS = "unit.cpp", "unit.so", "remarks"
_LAUNCHED = "ks_launched"
"""Stands ahead of each launched kernel's name, behind the kernel's file, in the preprocessor's
eyes: the name may hold macros of the file."""


def own_static_bytes(engine: str, *, waits: bool) -> int:
    """What a library holds beside the kernel's own variables, about."""
    if engine in ORACLES:
        return fibers.STATIC_BYTES
    return fibers.SWITCHING_STATIC_BYTES if engine == fibers.SWITCHING and waits else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A library and what it takes. own_bytes: of its static memory, what no kernel declared.

    waits: whether threads of its kernels may wait for each other.
    """

    binary: Binary
    resources: Sequence[Mapping[str, Any]]
    own_bytes: int
    waits: bool

    def advised(self, sentence: str) -> "Built":
        """With one more sentence ahead of what is said of each kernel's loops."""
        told = [{**one, "advice": [sentence, *one.get("advice", ())]} for one in self.resources]
        return replace(self, resources=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessed:
    """A kernel file's own text, and the entries by names without macros."""

    text: str
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One compilation: one set of defines. wavefront, macros: see CpuCompiler."""

    tools: Toolchain
    kernel: KernelSource
    defines: Defines
    wavefront: int
    macros: tuple[str, ...]
    headers: Sequence[str]
    entries: Sequence[Entry]
    deadline_s: float

    def run(self, engine: str) -> Built:
        """Raises Rejected: UNSUPPORTED for what this engine can't run, though it compiles."""
        own = self.own()
        words = check_preprocessed(own.text)
        check_words(words)
        try:
            data, advice, named = self.library(engine, own, words)
        except RecursionError:  # emitters walk syntax trees, as deep as expressions are
            raise Rejected(
                Status.UNSUPPORTED,
                "an expression or statement nests too deeply for cpu: split it into several",
            ) from None
        except Rejected as rejected:
            if rejected.status not in (Status.UNSUPPORTED, Status.COMPILE_ERROR):
                raise
            self.check_as_written(own)
            raise not_translated(rejected, count_lines(self.kernel.text) + 1) from None
        waits = fibers.waits(token.text for token in words)
        ours = own_static_bytes(engine, waits=waits)
        count = len(self.entries)
        facts = check_library(data, entry=ENTRY, signature=SIGNATURE, count=count, ours=ours)
        kernels = [named.get(entry.kernel, entry.kernel) for entry in own.entries]
        lds = static_lds(kernels, facts, words)
        symbols = {entry.key: ENTRY.format(i) for i, entry in enumerate(self.entries)}
        resources = [
            {
                "kernel": entry.key,
                "defines": dict(self.defines),
                "signature": facts.signatures[i],
                "lds_bytes": lds[i],
                **advice.get(function_name(kernels[i]), {}),
            }
            for i, entry in enumerate(self.entries)
        ]
        binary = Binary(data=data, symbols=symbols)
        return Built(binary=binary, resources=resources, own_bytes=ours, waits=waits)

    def library(
        self, engine: str, own: Preprocessed, words: Sequence[Token]
    ) -> tuple[bytes, Mapping[str, Advice], Mapping[str, str]]:
        """The code, what is said of each kernel's loops, and kernels' names in the code."""
        cut: Translation | None = None
        headers, wavefront = self.includes(), self.wavefront
        if engine == ENGINE:
            cut = translate(own.text, [entry.kernel for entry in own.entries])
            unit = emit(cut, own.entries, headers=headers, wavefront=wavefront)
        else:
            unit = EMITTERS[engine](own.text, own.entries, headers=headers, wavefront=wavefront)
        command = self.tools.build(
            UNIT,
            LIBRARY,
            self.kernel.options,
            waits=fibers.waits(token.text for token in words),
            watched=engine in ORACLES,
            remarks=REMARKS if cut is not None else "",
        )
        made = self.made(command, UNIT, unit, LIBRARY, REMARKS)
        data = made.files[LIBRARY]
        if cut is None:
            return data, {}, {}
        return data, advise(cut, made.files.get(REMARKS, b""), self.tools.family), cut.named

    def check_as_written(self, own: Preprocessed) -> None:
        """Raises Rejected(COMPILE_ERROR) when the compiler does not take the kernel's own text."""
        headers = self.includes()
        unit = fibers.as_written(own.text, own.entries, headers=headers, wavefront=self.wavefront)
        self.made(self.tools.check(UNIT), UNIT, unit)

    def own(self) -> Preprocessed:
        """The kernel file after the preprocessor."""
        text = compiler_input(self.kernel, self.headers, self.defines)
        text += "".join(f"\n{_LAUNCHED} {entry.kernel}\n" for entry in self.entries)
        known = (f"WAVEFRONT={self.wavefront}", *self.macros)
        command = self.tools.preprocess(KERNEL_FILE, tuple(f"-D{macro}" for macro in known))
        deadline_s = min(self.deadline_s, PREPROCESS_DEADLINE_S)
        made = self.made(command, KERNEL_FILE, text, deadline_s=deadline_s)
        own = own_text(made.stdout.decode(errors="replace"), str(INCLUDE))
        if len(made.stdout) >= OUTPUT_LIMIT or len(own) > MAX_CHARACTERS:
            raise Rejected(
                Status.INVALID,
                f"the preprocessor makes more than {MAX_CHARACTERS:,} characters of the kernel: "
                "its macros expand too far",
            )
        text, *names = own.rsplit(_LAUNCHED, len(self.entries))
        if len(names) != len(self.entries):  # a macro of the file has that name
            raise Rejected(Status.INVALID, f"{_LAUNCHED}: names that begin with ks_ are our own")
        pairs = zip(self.entries, names, strict=True)
        entries = [replace(entry, kernel=_line(name)) for entry, name in pairs]
        return Preprocessed(text=text, entries=entries)

    def includes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("hip/hip_runtime.h", *self.headers)))

    def made(
        self, command: Sequence[str], source: str, text: str, *outputs: str, deadline_s: float = 0
    ) -> Made:
        """See compile_file()."""
        return compile_file(
            self.tools,
            command,
            source,
            text,
            outputs=outputs,
            kernels=[as_written(one.kernel) for one in self.entries],
            deadline_s=deadline_s or self.deadline_s,
        )


def _line(preprocessed: str) -> str:
    """All of it on one line, without line markers."""
    rows = [row for row in preprocessed.split("\n") if not row.startswith("#")]
    return " ".join(" ".join(rows).split())
