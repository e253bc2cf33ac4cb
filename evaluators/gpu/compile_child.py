"""A vendor's compiler in a recycled child process; evaluators.gpu.compile_server is its other end.

A compiler may abort its process: that is taken for an answer, and another child is started.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compile_server import READS
from evaluators.sandbox.child import Child, Died
from evaluators.sandbox.frames import MSGPACK, Overdue
from evaluators.sandbox.log_lines import shown

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


class CompileChild(ABC):
    """One compile child at a time, started when first needed. Safe to use from several threads.

    recycle_after: compilations before a child is replaced, as LLVM keeps what it allocates.
    """

    compiler: str  # "hiprtc", for sentences
    module: str  # of the child
    what_to_do: str  # when the compiler cannot be used
    inspection_only = False  # see evaluators.device.Compiled

    def __init__(self, *, recycle_after: int = 200) -> None:
        self._recycle_after = recycle_after
        self._lock = threading.Lock()
        # Removed at the latest when this process ends.
        self._temporary = tempfile.TemporaryDirectory(
            prefix=f"kernel-scientist-{self.compiler}-", ignore_cleanup_errors=True
        )
        self._folder = Path(self._temporary.name)
        self._child: Child | None = None
        self._compiled = 0
        self._api_version = ""

    @property
    @abstractmethod
    def version(self) -> str:
        """What compiles, such as "hiprtc 7.2.4". Raises BackendMissing."""

    @abstractmethod
    def arguments(self) -> list[str]:
        """The child's, after its parent's process id."""

    def python(self) -> list[str]:
        """How the child's interpreter is started."""
        return [sys.executable]

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """What the child sees besides scrubbed_environment."""

    @abstractmethod
    def headers(self) -> list[Path]:
        """Folders of headers that sources may include: messages about them are shown."""

    def reads(self) -> list[Path]:
        """What the compiler reads beside the system's libraries and those next to its own."""
        return self.headers()

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
        options: Sequence[str] = (),
        deadline_s: float = 60.0,
    ) -> CodeObject:
        """One code object for arch, such as gfx942 or sm_90.

        names: name expressions to resolve. options: a kernel file's. Raises Rejected:
        COMPILE_ERROR (with the log; also when the compiler itself aborts) or TIMEOUT; and
        BackendMissing: no compiler, or one that doesn't know arch.
        """
        request = {
            "source": source,
            "name": name,
            "names": list(names),
            "options": self.flags(arch, options),
        }
        start = time.monotonic()
        with self._lock:
            self.admit(arch, deadline_s)
            reply = self.ask(request, deadline_s)
            reply["log"] = shown(reply["log"], self.headers())
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
            self._end_child()
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
            except Overdue:
                self._end_child()
                raise Rejected(
                    Status.TIMEOUT, f"compiling took longer than {deadline_s:g} s"
                ) from None
            except Died as died:
                self._end_child()
                # Killed from outside, by the kernel short of memory or with the thread that
                # started it: that says nothing about the source, unless it happens again.
                if died.returncode == -signal.SIGKILL and attempt == 1:
                    continue
                raise Rejected(
                    Status.COMPILE_ERROR,
                    f"the compiler itself ended with {died.ending}",
                    log=shown(died.said, self.headers()),
                ) from None
        raise AssertionError("unreachable")

    def _exchange(self, request: Mapping[str, Any], deadline_s: float) -> dict[str, Any]:
        if self._compiled >= self._recycle_after:
            self._end_child()
        child = self._running()
        self._compiled += 1
        child.tell(request)
        reply: dict[str, Any] = child.answer(deadline_s)
        return reply

    def _running(self) -> Child:
        if self._child is not None and self._child.alive():
            return self._child
        self._end_child()
        self._compiled = 0
        self._child = Child(
            self.module,
            *self.arguments(),
            environment=self._scrubbed_environment() | self.environment(),
            codec=MSGPACK,
            cwd=self._folder,
            python=self.python(),
        )
        hello = self._hello(self._child)
        if "missing" in hello:
            self._end_child()
            missing = " ".join(hello["missing"].split())
            raise BackendMissing(f"{self.compiler} cannot be used ({missing}): {self.what_to_do}")
        self._api_version = hello["version"]
        return self._child

    def _hello(self, child: Child) -> dict[str, str]:
        """What it says first. Raises BackendMissing when it says nothing."""
        try:
            hello: dict[str, str] = child.answer(_HELLO_S)
            return hello
        except Overdue:
            said = "it did not answer"
        except Died as died:
            said = died.said
        self._end_child()
        raise BackendMissing(f"the compile child does not start: {said[-500:]}")

    def _scrubbed_environment(self) -> dict[str, str]:
        """Nothing of ours but where libraries are: no keys, no cache outside the folder."""
        kept = {k: os.environ[k] for k in ("LD_LIBRARY_PATH",) if k in os.environ}
        return kept | {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PYTHONDONTWRITEBYTECODE": "1",
            READS: ":".join(map(str, [*self.reads(), *kept.values()])),
        }

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None
