"""Gives the HIP runtime double the cpu twin of a compiled kernel."""

import hashlib
import io
import os
import pickle
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile

from evaluators.cpu import device as cpu
from evaluators.cpu.emit import entry_key
from evaluators.cpu.library import symbols_of
from evaluators.device import Compiled, Compiler
from evaluators.gpu.compiler import GpuCompiler
from evaluators.gpu.resources import read_resources
from evaluators.gpu.variables import writable_variables
from evaluators.kernel.plan import LaunchStep, Plan
from evaluators.kernel.source import KernelSource

FOLDER = "HIP_DOUBLE_TWINS"


def with_twins(compiler: Compiler) -> Compiler:
    """The compiler itself, or on the double one whose kernels the double can run."""
    if FOLDER in os.environ and isinstance(compiler, GpuCompiler) and compiler.arch == "gfx942":
        return TwinCompiler(compiler)
    return compiler


class TwinCompiler:
    """Compiles for gfx942, and for cpu what the double shall run."""

    def __init__(self, compiler: GpuCompiler) -> None:
        self._compiler = compiler

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        """Once for all processes that share the folder: two compilations take 2 s."""
        toolchain = os.environ["KERNEL_SCIENTIST_ROCM"]
        asked = repr((toolchain, kernel, plans)).encode()
        kept = Path(os.environ[FOLDER]) / (hashlib.sha256(asked).hexdigest() + ".compiled")
        if kept.exists():
            made: Compiled = pickle.loads(kept.read_bytes())
            return made
        compiled = self._compiler.compile(kernel, plans)
        add_twins(compiled, kernel, plans)
        _write(kept, pickle.dumps(compiled))
        return compiled


def add_twins(compiled: Compiled, kernel: KernelSource, plans: Sequence[Plan]) -> None:
    """Compile the same kernel for cpu and leave it where the double looks for it.

    compiled: by the hip backend. Raises Rejected when cpu can't run the kernel.
    """
    folder = Path(os.environ[FOLDER])
    twin = cpu.compiler().compile(kernel, plans)
    for defines, binary in compiled.binaries.items():
        library = twin.binaries[defines]
        name = hashlib.sha256(library.data).hexdigest()[:16] + ".so"
        if not (folder / name).exists():
            _write(folder / name, library.data)
        lines = [f"library {name}", *_variables(library.data, writable_variables(binary.data))]
        launches = [s for plan in plans if plan.defines == defines for s in plan.launches]
        for resources in read_resources(binary.data):
            sizes = [str(argument.size) for argument in resources.args]
            head = (resources.symbol, resources.lds_bytes, resources.max_threads, len(sizes))
            lines.append(" ".join(["kernel", *map(str, head), *sizes]))
            wanted = {
                launch.block: launch
                for launch in launches
                if binary.symbols[launch.entry] == resources.symbol
            }
            lines += [_entry(launch, library.symbols) for launch in wanted.values()]
        _write(folder / _hash(binary.data), ("\n".join(lines) + "\n").encode())


def _write(file: Path, data: bytes) -> None:
    """At once: other processes may be reading it, or have it mapped."""
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.rename(file)


def _entry(launch: LaunchStep, symbols: Mapping[str, str]) -> str:
    symbol = symbols[entry_key(launch.entry, launch.block)]
    return " ".join(["entry", *map(str, launch.block), symbol])


def _variables(library: bytes, wanted: Sequence[str]) -> list[str]:
    """Where the twin has the variables of the code object; static ones no driver names."""
    found = [
        symbol
        for symbol in symbols_of(ELFFile(io.BytesIO(library)), ".symtab")
        if symbol.name in wanted and not symbol.name.startswith("_ZL")
    ]
    return [f"variable {one.name} {one['st_value']} {one['st_size']}" for one in found]


def _hash(elf: bytes) -> str:
    """FNV-1a over the file up to the end of its section headers, as the double computes it."""
    (sections,) = struct.unpack_from("<Q", elf, 0x28)
    entry, count = struct.unpack_from("<HH", elf, 0x3A)
    value = 1469598103934665603
    for byte in elf[: sections + entry * count]:
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"
