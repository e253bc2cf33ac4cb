"""The child process that holds AMD's compiler; evaluators.hip.hiprtc is its parent."""

import ctypes
import io
import re
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from evaluators.gpu.compile_server import Compile, serve
from evaluators.gpu.resources import amdgpu_metadata


def normalised(log: str) -> str:
    """The compiler's log without comgr's random temporary folders: equal input, equal log."""
    log = re.sub(r"\S*/comgr-[0-9a-fA-F-]+/(?:input|output|include)/", "", log)
    return log.replace("\0", "").strip()


class Hiprtc:
    """hiprtc through hip-python. Every call returns a tuple with its status first."""

    def __init__(self, library: str) -> None:
        import hip
        from hip import hiprtc

        binding = getattr(hip, "chiprtc", None)  # 10.0 has none: it goes by ROCM_PATH, the loader
        if library and binding is not None:
            binding.DLL = library.encode()
        self._rtc = hiprtc

    def version(self) -> str:
        _, major, minor = self._rtc.hiprtcVersion()
        return f"{major}.{minor}"

    def _text(self, status: Any) -> str:
        reply = self._rtc.hiprtcGetErrorString(status)  # (text,) in 7.2, (status, text) in 10.0
        text = reply[-1] if isinstance(reply, tuple) else reply
        return text.decode() if isinstance(text, bytes) else str(text)

    def _check(self, reply: tuple[Any, ...]) -> Any:
        if reply[0] != self._rtc.hiprtcResult.HIPRTC_SUCCESS:
            raise RuntimeError(self._text(reply[0]))
        return reply[1] if len(reply) > 1 else None

    def _bytes(self, size: Any, get: Any, program: Any) -> bytes:
        held = bytearray(self._check(size(program)))
        if held:
            self._check(get(program, held))
        return bytes(held)

    def compile(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one request: code and lowered names, or neither; always the log."""
        rtc = self._rtc
        program = self._check(
            rtc.hiprtcCreateProgram(
                request["source"].encode(),
                request["name"].encode(),
                0,
                [],
                [],
            )
        )
        try:
            names = request["names"]
            for name in names:
                self._check(rtc.hiprtcAddNameExpression(program, name.encode()))
            options = [option.encode() for option in request["options"]]
            (status,) = rtc.hiprtcCompileProgram(program, len(options), options)
            log = self._bytes(rtc.hiprtcGetProgramLogSize, rtc.hiprtcGetProgramLog, program)
            reply = {"log": normalised(log.decode(errors="replace"))}
            if status != rtc.hiprtcResult.HIPRTC_SUCCESS:
                return reply | {"error": self._text(status)}
            code = self._bytes(rtc.hiprtcGetCodeSize, rtc.hiprtcGetCode, program)
            lowered = {}
            for name in names:
                symbol = self._check(rtc.hiprtcGetLoweredName(program, name.encode()))
                lowered[name] = _string(symbol)
            return reply | {"code": code, "lowered": lowered}
        finally:
            rtc.hiprtcDestroyProgram(program.createRef())


def _string(value: Any) -> str:
    """hip-python gives a C string as bytes, str or a wrapper of the pointer."""
    if isinstance(value, str):
        return value
    return bytes(value).rstrip(b"\0").decode() if isinstance(value, bytes) else value.decode()


class Comgr:
    """Disassembler and demangler of libamd_comgr, AMD's code object library; its C interface."""

    _BYTES = 9  # AMD_COMGR_DATA_KIND_BYTES

    _READ = ctypes.CFUNCTYPE(
        ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p
    )
    _PRINT = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
    _ADDRESS = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_void_p)

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)

    def mnemonics(self, code: bytes) -> dict[str, dict[str, int]]:
        """How often each mnemonic stands in each kernel of a code object."""
        isa, text, start, kernels = _text_section(code)
        found: list[str] = []

        def read(address: int, to: int, size: int, _data: int) -> int:
            piece = text[address - start : address - start + size] if address >= start else b""
            ctypes.memmove(to, piece, len(piece))
            return len(piece)

        def keep(instruction: bytes, _data: int) -> None:
            found.append(instruction.decode().split(maxsplit=1)[0])

        callbacks = self._READ(read), self._PRINT(keep), self._ADDRESS(lambda _a, _d: None)
        handle = ctypes.c_uint64()
        if self._library.amd_comgr_create_disassembly_info(
            isa.encode(), *callbacks, ctypes.byref(handle)
        ):
            return {}
        counts = {}
        for name, (address, nbytes) in kernels.items():
            found.clear()
            self._walk(handle, address, address + nbytes)
            counts[name] = dict(Counter(found))
        self._library.amd_comgr_destroy_disassembly_info(handle)
        return counts

    def instructions(self, code: bytes) -> list[tuple[int, int, str]]:
        """Address, bytes and text of everything in .text; what can't be read is "unknown"."""
        isa, text, start, _ = _text_section(code)
        found: list[str] = []

        def read(address: int, to: int, size: int, _data: int) -> int:
            piece = text[address - start : address - start + size] if address >= start else b""
            ctypes.memmove(to, piece, len(piece))
            return len(piece)

        def keep(instruction: bytes, _data: int) -> None:
            found.append(instruction.decode().strip())

        callbacks = self._READ(read), self._PRINT(keep), self._ADDRESS(lambda _a, _d: None)
        handle, size = ctypes.c_uint64(), ctypes.c_uint64()
        if self._library.amd_comgr_create_disassembly_info(
            isa.encode(), *callbacks, ctypes.byref(handle)
        ):
            return []
        made = []
        address, end = start, start + len(text)
        while address < end:
            found.clear()
            failed = self._library.amd_comgr_disassemble_instruction(
                handle, ctypes.c_uint64(address), None, ctypes.byref(size)
            )
            nbytes, said = (4, "unknown") if failed or not found else (size.value, found[0])
            made.append((address, nbytes, said))
            address += nbytes
        self._library.amd_comgr_destroy_disassembly_info(handle)
        return made

    def demangled(self, symbol: str) -> str:
        """Such as "void scale<2>(float*, int)"; the symbol itself when it isn't mangled."""
        call = self._library
        mangled, plain, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t()
        text = symbol.encode()
        call.amd_comgr_create_data(self._BYTES, ctypes.byref(mangled))
        call.amd_comgr_set_data(mangled, ctypes.c_size_t(len(text)), text)
        failed = call.amd_comgr_demangle_symbol_name(mangled, ctypes.byref(plain))
        call.amd_comgr_release_data(mangled)
        if failed:
            return symbol
        call.amd_comgr_get_data(plain, ctypes.byref(size), None)
        held = ctypes.create_string_buffer(size.value)
        call.amd_comgr_get_data(plain, ctypes.byref(size), held)
        call.amd_comgr_release_data(plain)
        return held.raw[: size.value].rstrip(b"\0").decode()

    def _walk(self, handle: ctypes.c_uint64, address: int, end: int) -> None:
        size = ctypes.c_uint64()
        while address < end and not self._library.amd_comgr_disassemble_instruction(
            handle, ctypes.c_uint64(address), None, ctypes.byref(size)
        ):
            address += size.value


def _text_section(code: bytes) -> tuple[str, bytes, int, dict[str, tuple[int, int]]]:
    """Target name, .text, its address, and (address, size in bytes) of each kernel in it."""
    metadata = amdgpu_metadata(code)
    elf = ELFFile(io.BytesIO(code))
    text, symbols = elf.get_section_by_name(".text"), elf.get_section_by_name(".dynsym")
    assert text is not None and isinstance(symbols, SymbolTableSection)
    named = {s.name: (s["st_value"], s["st_size"]) for s in symbols.iter_symbols()}
    kernels = {k[".name"]: named[k[".name"]] for k in metadata["amdhsa.kernels"]}
    return metadata["amdhsa.target"], text.data(), text["sh_addr"], kernels


def main() -> None:
    """Arguments: parent process, libhiprtc, libamd_comgr ("": none), address space in bytes."""
    parent, hiprtc_path, comgr_path, memory_bytes = sys.argv[1:]

    def start() -> tuple[str, Compile]:
        compiler = Hiprtc(hiprtc_path)
        comgr = Comgr(comgr_path) if comgr_path else None

        def compile_(request: Mapping[str, Any]) -> dict[str, Any]:
            if "disassemble" in request:
                return {"instructions": comgr.instructions(request["disassemble"]) if comgr else []}
            reply = compiler.compile(request)
            if comgr and "code" in reply:
                reply["mnemonics"] = comgr.mnemonics(reply["code"])
                reply["signatures"] = {s: comgr.demangled(s) for s in reply["mnemonics"]}
            return reply

        return compiler.version(), compile_

    serve(start, parent=int(parent), memory_bytes=int(memory_bytes))


if __name__ == "__main__":
    main()
