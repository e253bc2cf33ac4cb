"""The child process that runs clang for AMD GPUs; evaluators.hip.clang is its parent."""

import io
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from evaluators.device_info import BackendMissing
from evaluators.gpu.compile_server import READS, Compile, serve
from evaluators.gpu.demangle import demangled
from evaluators.gpu.resources import amdgpu_metadata
from evaluators.sandbox.run import OUTPUT_LIMIT, Finished, run_confined

_LONGEST_S = 3600.0  # the parent's deadline comes first: it ends this process and what it started
_INCLUDE = f"{Path(__file__).parents[1] / 'include'}/"
_ENTRY = "ks_entry_"
R_AMDGPU_RELATIVE64 = 13


class Clang:
    """The tools in bin/, each started anew: nothing is kept, a crash is an answer."""

    def __init__(self, bin_: Path, memory_bytes: int) -> None:
        self._bin = bin_
        self._memory_bytes = memory_bytes

    def _run(self, tool: str, arguments: Sequence[str], folder: Path) -> Finished:
        return run_confined(
            [str(self._bin / tool), *arguments],
            cwd=folder,
            env={"LC_ALL": "C.UTF-8", "TMPDIR": str(folder)},
            deadline_s=_LONGEST_S,
            memory_bytes=self._memory_bytes,
            reads=[Path(path) for path in os.environ[READS].split(":")],
        )

    def version(self) -> str:
        """Such as 19.1.7. Raises RuntimeError."""
        try:
            done = self._run("clang++", ["--version"], Path(tempfile.gettempdir()))
        except BackendMissing as missing:
            raise RuntimeError(str(missing)) from None
        found = re.search(rb"clang version (\d+\.\d+\.\d+)", done.stdout)
        if not found:
            raise RuntimeError(done.stderr.decode(errors="replace") or "clang says no version")
        return found[1].decode()

    def compile(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one request: code and lowered names, or neither; always the log."""
        with tempfile.TemporaryDirectory(prefix="compile-") as name:
            folder = Path(name)
            (folder / "source.hip").write_text(_with_entries(request))
            files = ["source.hip", "-o", "code"]
            done = self._run("clang++", [*request["options"], *files], folder)
            reply: dict[str, Any] = {"log": _normalised(done.stderr, folder)}
            if done.returncode != 0:
                return reply | {"error": f"exit status {done.returncode}"}
            code = (folder / "code").read_bytes()
            symbols = [kernel[".name"] for kernel in amdgpu_metadata(code)["amdhsa.kernels"]]
            return reply | {
                "code": code,
                "lowered": _lowered(code, request["names"]),
                "mnemonics": self._mnemonics(folder, symbols),
                "signatures": {symbol: demangled(symbol) for symbol in symbols},
            }

    def _mnemonics(self, folder: Path, symbols: Sequence[str]) -> dict[str, dict[str, int]]:
        """Symbol -> mnemonic -> how often; empty when the disassembly is cut or fails."""
        counts = {}
        for symbol in symbols:
            shown = ["-d", "--no-show-raw-insn", "--no-leading-addr"]
            done = self._run(
                "llvm-objdump", [*shown, f"--disassemble-symbols={symbol}", "code"], folder
            )
            lines = done.stdout.decode().splitlines()
            if done.returncode != 0 or len(done.stdout) >= OUTPUT_LIMIT:
                return {}
            found = Counter(line.split()[0] for line in lines if line.startswith("\t"))
            counts[symbol] = dict(found)
        return counts


def _normalised(log: bytes, folder: Path) -> str:
    """The compiler's log without what differs between runs and machines: equal input, equal log."""
    text = log.decode(errors="replace").strip().replace(f"{folder}/", "").replace(_INCLUDE, "")
    if "Stack dump:" in text:  # a crash of clang itself: addresses and whole command lines
        text = "\n".join(line for line in text.splitlines() if "error:" in line)
    return re.sub(r"\bsource-\w+-[0-9a-f]+\.o\b", "source.o", text)


def _with_entries(request: Mapping[str, Any]) -> str:
    """The source, and a pointer to every kernel that a name expression names.

    The pointer makes clang emit the kernel, and its relocation tells the kernel's symbol.
    """
    lines = [f"#line 1 {json.dumps(request['name'])}", request["source"]]
    for i, name in enumerate(request["names"]):
        lines.append(f"#line 1 {json.dumps(f'name expression {name}')}")
        pointer = f"__attribute__((device, used)) const void *{_ENTRY}{i} = (const void *)&{name};"
        lines.append(f'extern "C" {{ {pointer} }}')
    return "\n".join(lines) + "\n"


def _lowered(code: bytes, names: Sequence[str]) -> dict[str, str]:
    """Name expression -> symbol. Raises RuntimeError when a name is of no kernel."""
    elf = ELFFile(io.BytesIO(code))
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    functions, pointers = {}, {}
    for symbol in table.iter_symbols():
        if symbol["st_info"]["type"] == "STT_FUNC":
            functions[symbol["st_value"]] = symbol.name
        elif symbol.name.startswith(_ENTRY):
            pointers[symbol.name] = symbol["st_value"]
    targets = {
        entry["r_offset"]: entry["r_addend"]
        for section in elf.iter_sections()
        if isinstance(section, RelocationSection)
        for entry in section.iter_relocations()
        if entry["r_info_type"] == R_AMDGPU_RELATIVE64
    }
    found = {}
    for i, name in enumerate(names):
        target = targets.get(pointers[f"{_ENTRY}{i}"])
        if target not in functions:
            raise RuntimeError(f"no kernel found for the name {name}")
        found[name] = functions[target]
    return found


def main() -> None:
    """Arguments: parent process, folder of the tools, address space in bytes."""
    parent, bin_, memory_bytes = sys.argv[1:]

    def start() -> tuple[str, Compile]:
        clang = Clang(Path(bin_), int(memory_bytes))
        return clang.version(), clang.compile

    # Not confined itself: it reads no source, and starts confined processes that do.
    serve(start, parent=int(parent), memory_bytes=None, confined=False)


if __name__ == "__main__":
    main()
