"""Compiles HIP source for AMD GPUs with hiprtc in a recycled child; needs no GPU."""

import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Self

import msgpack

from evaluators.device import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.rocm import PACKAGES, WHAT_TO_DO, Toolchain, find_toolchain

_HELLO_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeObject:
    """What hiprtc made: an ELF file for the GPU.

    symbols: name expression -> symbol. mnemonics: symbol -> mnemonic -> how often; empty when
    there is no disassembler. log: warnings.
    """

    code: bytes
    symbols: Mapping[str, str]
    mnemonics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0


class _ChildDied(Exception):
    """The compile child ended, with this return code, without a reply."""

    def __init__(self, returncode: int, said: str) -> None:
        super().__init__(returncode, said)
        self.returncode = returncode
        self.said = said


class _Overdue(Exception):
    """The compile child did not reply by the deadline."""


class HiprtcChild:
    """One compile child at a time, started when first needed, replaced after an abort.

    recycle_after: compilations before a child is replaced, as LLVM keeps what it allocates.
    memory_bytes: address space a child may use. Safe to use from several threads.
    """

    def __init__(
        self,
        toolchain: Toolchain | None = None,
        *,
        recycle_after: int = 200,
        memory_bytes: int = 16 << 30,
    ) -> None:
        self.toolchain = toolchain or find_toolchain()
        self._recycle_after = recycle_after
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="kernel-scientist-hiprtc-"))
        self._errors: IO[bytes] = (self._folder / "stderr").open("w+b")
        self._child: subprocess.Popen[bytes] | None = None
        self._compiled = 0
        self._api_version = ""

    @property
    def version(self) -> str:
        """What compiles, such as "hiprtc 7.2.4". Raises BackendMissing."""
        with self._lock:
            self._running()
            return f"hiprtc {self.toolchain.version or self._api_version}"

    def compile(
        self,
        source: str,
        *,
        arch: str,
        name: str = "kernel.hip",
        names: tuple[str, ...] = (),
        headers: Mapping[str, str] | None = None,
        options: tuple[str, ...] = (),
        deadline_s: float = 60.0,
    ) -> CodeObject:
        """One code object for arch, such as gfx942.

        names: name expressions to resolve. headers: in-memory, by the name they are included as.
        Raises Rejected: COMPILE_ERROR (with the log; also when the compiler itself aborts) or
        TIMEOUT; and BackendMissing: no toolchain, or one that doesn't know arch.
        """
        request = {
            "source": source,
            "name": name,
            "names": list(names),
            "headers": dict(headers or {}),
            "options": [f"--offload-arch={arch}", f"-I{self.toolchain.include}", *options],
        }
        start = time.monotonic()
        with self._lock:
            reply = self._ask(request, deadline_s)
            # An unknown architecture is rejected with an empty log: ask whether that is why.
            if "error" in reply and not reply["log"]:
                self._require(arch, deadline_s)
        if "error" in reply:
            log = reply["log"]
            raise Rejected(Status.COMPILE_ERROR, _reason(log, reply["error"]), log=log)
        return CodeObject(
            code=reply["code"],
            symbols=reply["lowered"],
            mnemonics=reply.get("mnemonics", {}),
            log=reply["log"],
            seconds=time.monotonic() - start,
        )

    def close(self) -> None:
        """End the child and remove its files."""
        with self._lock:
            self._kill()
            self._errors.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require(self, arch: str, deadline_s: float) -> None:
        empty = {"source": "", "name": "empty.hip", "names": [], "headers": {}}
        if "error" in self._ask(empty | {"options": [f"--offload-arch={arch}"]}, deadline_s):
            raise BackendMissing(
                f"hiprtc {self.toolchain.version} does not know the architecture {arch!r}: "
                "MI300A, MI300X and MI325X are gfx942, MI200 is gfx90a"
            )

    def _ask(self, request: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        for attempt in (1, 2):
            try:
                return self._exchange(request, deadline_s)
            except _Overdue:
                self._kill()
                raise Rejected(
                    Status.TIMEOUT, f"compiling took longer than {deadline_s:g} s"
                ) from None
            except _ChildDied as died:
                self._kill()
                # Killed from outside, by the kernel short of memory or with the thread that
                # started it: that says nothing about the source, unless it happens again.
                if died.returncode == -signal.SIGKILL and attempt == 1:
                    continue
                raise Rejected(
                    Status.COMPILE_ERROR,
                    f"the compiler itself ended with {_ending(died.returncode)}",
                    log=died.said,
                ) from None
        raise AssertionError("unreachable")

    def _exchange(self, request: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        if self._compiled >= self._recycle_after:
            self._kill()
        child = self._running()
        assert child.stdin is not None
        self._compiled += 1
        body = msgpack.packb(request)
        try:
            child.stdin.write(struct.pack(">I", len(body)) + body)
            child.stdin.flush()
        except BrokenPipeError:
            raise self._died(child) from None
        return self._reply(child, time.monotonic() + deadline_s)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._kill()
        self._errors.seek(0)
        self._errors.truncate()
        self._compiled = 0
        self._child = child = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            hello = self._reply(child, time.monotonic() + _HELLO_S)
        except (_ChildDied, _Overdue) as error:
            self._kill()
            said = error.said if isinstance(error, _ChildDied) else "it did not answer"
            raise BackendMissing(f"the compile child does not start: {said[-500:]}") from None
        if "missing" in hello:
            self._kill()
            raise BackendMissing(f"hiprtc cannot be used ({hello['missing']}): {WHAT_TO_DO}")
        self._api_version = hello["version"]
        return child

    def _command(self) -> list[str]:
        tools = self.toolchain
        script = ["-m", "evaluators.hiprtc_child", str(os.getpid()), str(tools.hiprtc)]
        script += [str(tools.comgr or ""), str(self._memory_bytes)]
        if tools.loader is None:
            return [sys.executable, *script]
        # The fetched libraries need a newer libc than the machine may have: the child runs
        # under their own loader. argv[0] is how Python finds its virtual environment.
        places = (str(tools.libraries), sysconfig.get_config_var("LIBDIR"), "/lib/x86_64-linux-gnu")
        loader = [str(tools.loader), "--argv0", sys.executable, "--library-path"]
        return [*loader, ":".join(places), str(Path(sys.executable).resolve()), *script]

    def _environment(self) -> dict[str, str]:
        """Nothing of ours but where libraries are: no keys, no cache outside the folder."""
        kept = {k: os.environ[k] for k in ("LD_LIBRARY_PATH",) if k in os.environ}
        return kept | {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "PYTHONPATH": str(PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",
            "AMD_COMGR_CACHE": "0",
        }

    def _reply(self, child: subprocess.Popen[bytes], deadline: float) -> dict[str, Any]:
        (size,) = struct.unpack(">I", self._read(child, 4, deadline))
        reply: dict[str, Any] = msgpack.unpackb(self._read(child, size, deadline))
        return reply

    def _read(self, child: subprocess.Popen[bytes], nbytes: int, deadline: float) -> bytes:
        assert child.stdout is not None
        held = b""
        ready = select.poll()  # not select.select: it refuses descriptors above 1023
        ready.register(child.stdout, select.POLLIN)
        while len(held) < nbytes:
            left = deadline - time.monotonic()
            if left <= 0 or not ready.poll(left * 1000):
                raise _Overdue
            piece = os.read(child.stdout.fileno(), nbytes - len(held))
            if not piece:
                raise self._died(child)
            held += piece
        return held

    def _died(self, child: subprocess.Popen[bytes]) -> _ChildDied:
        returncode = child.wait()
        self._errors.seek(0)
        return _ChildDied(returncode, self._errors.read()[-4000:].decode(errors="replace").strip())

    def _kill(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child = None


def _reason(log: str, status: str) -> str:
    """The first error of a log in one line."""
    lines = [*log.splitlines(), ""]
    for line, shown in pairwise(lines):
        if "error:" in line:
            # hiprtc appends a line of its own to the source for every name expression.
            unknown = re.search(r'__amdgcn_name_expr_\d+\[\]= \{"([^"]*)"', shown)
            if unknown is None:
                return line.strip()
            said = line.split("error:", 1)[1].strip()
            return f"the code has no kernel that {unknown[1]!r} names: {said}"
    return f"hiprtc says {status} and nothing more"


def _ending(returncode: int) -> str:
    return signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"
