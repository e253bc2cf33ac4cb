"""A vendor's compiler in a recycled child process: asked by frames, replaced after an abort.

A frame is 4 bytes of length (big endian) and one msgpack map. The compiler may abort its
process; the parent takes that for an answer and starts another child.
"""

import os
import select
import signal
import struct
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

import msgpack

from evaluators.device import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.kept_waiting import Deadline

_HELLO_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeObject:
    """What a compiler made: an ELF file for the GPU.

    symbols: name expression -> symbol. mnemonics: symbol -> mnemonic -> how often, signatures:
    symbol -> demangled; both empty where nothing can tell. log: warnings.
    """

    code: bytes
    symbols: Mapping[str, str]
    mnemonics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
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


class CompileChild(ABC):
    """One compile child at a time, started when first needed. Safe to use from several threads.

    recycle_after: compilations before a child is replaced, as LLVM keeps what it allocates.
    """

    compiler: str  # "hiprtc", for sentences
    what_to_do: str  # when the compiler cannot be used

    def __init__(self, *, recycle_after: int = 200) -> None:
        self._recycle_after = recycle_after
        self._lock = threading.Lock()
        # Removed at the latest when this process ends.
        self._temporary = tempfile.TemporaryDirectory(
            prefix=f"kernel-scientist-{self.compiler}-", ignore_cleanup_errors=True
        )
        self._folder = Path(self._temporary.name)
        self._errors: IO[bytes] = (self._folder / "stderr").open("w+b")
        self._child: subprocess.Popen[bytes] | None = None
        self._compiled = 0
        self._api_version = ""

    @abstractmethod
    def command(self) -> list[str]:
        """How the child is started."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """What the child sees besides scrubbed_environment."""

    @abstractmethod
    def reason(self, log: str, status: str) -> str:
        """A failed compilation in one line."""

    @abstractmethod
    def flags(self, arch: str, options: Sequence[str]) -> list[str]:
        """What the compiler is told; options: a kernel file's, in its own spelling."""

    def admit(self, arch: str, deadline_s: float) -> None:
        """Before a compilation, the lock held; most compilers tell well enough after it.

        Raises BackendMissing: unknown arch.
        """
        return

    @abstractmethod
    def require(self, arch: str, log: str, deadline_s: float) -> None:
        """After a failure with this log, the lock held. Raises BackendMissing: unknown arch."""

    def rejection(self, log: str, status: str, file: str) -> Rejected:
        """A failed compilation of that file as a verdict, with a line where one is known."""
        return Rejected(Status.COMPILE_ERROR, self.reason(log, status), log=log)

    @property
    def api_version(self) -> str:
        """What the compiler says of itself. Raises BackendMissing."""
        with self._lock:
            self._running()
            return self._api_version

    def compile(
        self,
        source: str,
        *,
        arch: str,
        name: str = "kernel.hip",
        names: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        deadline_s: float = 60.0,
    ) -> CodeObject:
        """One code object for arch, such as gfx942 or sm_90.

        names: name expressions to resolve. headers: in memory, by name. options: a kernel
        file's. Raises Rejected: COMPILE_ERROR (with the log; also when the compiler itself
        aborts) or TIMEOUT; and BackendMissing: no compiler, or one that doesn't know arch.
        """
        request = {
            "source": source,
            "name": name,
            "names": list(names),
            "headers": dict(headers or {}),
            "options": self.flags(arch, options),
        }
        start = time.monotonic()
        with self._lock:
            self.admit(arch, deadline_s)
            reply = self.ask(request, deadline_s)
            if "error" in reply:
                self.require(arch, reply["log"], deadline_s)
        if "error" in reply:
            raise self.rejection(reply["log"], reply["error"], name)
        return CodeObject(
            code=reply["code"],
            symbols=reply["lowered"],
            mnemonics=reply.get("mnemonics", {}),
            signatures=reply.get("signatures", {}),
            log=reply["log"],
            seconds=time.monotonic() - start,
        )

    def close(self) -> None:
        """End the child and remove its files."""
        with self._lock:
            self._kill()
            self._errors.close()
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        """One request, one reply; the lock is held. Raises Rejected and BackendMissing."""
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
        deadline = Deadline(child.pid, deadline_s)
        try:
            child.stdin.write(struct.pack(">I", len(body)) + body)
            child.stdin.flush()
        except BrokenPipeError:
            raise self._died(child) from None
        return self._reply(child, deadline)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._kill()
        self._errors.seek(0)
        self._errors.truncate()
        self._compiled = 0
        self._child = child = subprocess.Popen(
            self.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder,
            env=self._scrubbed_environment() | self.environment(),
            start_new_session=True,
        )
        try:
            hello = self._reply(child, Deadline(child.pid, _HELLO_S))
        except (_ChildDied, _Overdue) as error:
            self._kill()
            said = error.said if isinstance(error, _ChildDied) else "it did not answer"
            raise BackendMissing(f"the compile child does not start: {said[-500:]}") from None
        if "missing" in hello:
            self._kill()
            missing = " ".join(hello["missing"].split())
            raise BackendMissing(f"{self.compiler} cannot be used ({missing}): {self.what_to_do}")
        self._api_version = hello["version"]
        return child

    def _scrubbed_environment(self) -> dict[str, str]:
        """Nothing of ours but where libraries are: no keys, no cache outside the folder."""
        kept = {k: os.environ[k] for k in ("LD_LIBRARY_PATH",) if k in os.environ}
        return kept | {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def _reply(self, child: subprocess.Popen[bytes], deadline: Deadline) -> dict[str, Any]:
        (size,) = struct.unpack(">I", self._read(child, 4, deadline))
        reply: dict[str, Any] = msgpack.unpackb(self._read(child, size, deadline))
        return reply

    def _read(self, child: subprocess.Popen[bytes], nbytes: int, deadline: Deadline) -> bytes:
        assert child.stdout is not None
        held = b""
        ready = select.poll()  # not select.select: it refuses descriptors above 1023
        ready.register(child.stdout, select.POLLIN)
        while len(held) < nbytes:
            if not deadline.until(lambda seconds: bool(ready.poll(seconds * 1000))):
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


def _ending(returncode: int) -> str:
    return signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"
