"""The child process that holds NVIDIA's compiler; evaluators.cuda.nvrtc is its parent."""

import sys
from collections.abc import Mapping
from typing import Any

from evaluators.gpu.compile_server import Compile, serve
from evaluators.gpu.demangle import demangled


class Nvrtc:
    """NVRTC through cuda-bindings. Every call returns a tuple with its status first."""

    def __init__(self) -> None:
        from cuda.bindings import nvrtc

        self._rtc = nvrtc
        self.version = ".".join(str(part) for part in self._check(nvrtc.nvrtcVersion()))

    def compile(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one request: code and lowered names, or neither; always the log."""
        rtc = self._rtc
        (program,) = self._check(
            rtc.nvrtcCreateProgram(
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
                self._check(rtc.nvrtcAddNameExpression(program, name.encode()))
            options = [option.encode() for option in request["options"]]
            (status,) = rtc.nvrtcCompileProgram(program, len(options), options)
            (size,) = self._check(rtc.nvrtcGetProgramLogSize(program))
            log = bytearray(size)  # not bytes: NVRTC writes into it
            self._check(rtc.nvrtcGetProgramLog(program, log))
            reply = {"log": log.rstrip(b"\0").decode(errors="replace").strip()}
            if status != rtc.nvrtcResult.NVRTC_SUCCESS:
                return reply | {"error": status.name}
            (size,) = self._check(rtc.nvrtcGetCUBINSize(program))
            code = bytearray(size)
            self._check(rtc.nvrtcGetCUBIN(program, code))
            lowered = {}
            for name in names:
                (symbol,) = self._check(rtc.nvrtcGetLoweredName(program, name.encode()))
                lowered[name] = symbol.decode()
            signatures = {symbol: demangled(symbol) for symbol in lowered.values()}
            return reply | {"code": bytes(code), "lowered": lowered, "signatures": signatures}
        finally:
            rtc.nvrtcDestroyProgram(program)

    def _check(self, reply: tuple[Any, ...]) -> tuple[Any, ...]:
        status, *values = reply
        if status != self._rtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(status.name)
        return tuple(values)


def main() -> None:
    """Arguments: parent process, address space in bytes."""
    parent, memory_bytes = sys.argv[1:]

    def start() -> tuple[str, Compile]:
        compiler = Nvrtc()
        return compiler.version, compiler.compile

    serve(start, parent=int(parent), memory_bytes=int(memory_bytes), libraries="libnvrtc")


if __name__ == "__main__":
    main()
