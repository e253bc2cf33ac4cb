"""One supervised child process: asked by frames over pipes, ended with all that it started."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from evaluators.sandbox.frames import PICKLE, Codec, Ended, receive, send
from evaluators.sandbox.kept_waiting import Deadline

_LAST_WORDS_BYTES = 4000
_LOOK_EVERY_S = 0.005
_ENDING_S = 10.0
"""What a child may take to end after it closed its pipe: Python, or a driver, tidies up."""


class Died(Exception):
    """The child ended, with this return code, without an answer. said: the end of its stderr."""

    def __init__(self, returncode: int, said: str) -> None:
        super().__init__(returncode, said)
        self.returncode = returncode
        self.said = said

    @property
    def ending(self) -> str:
        """Such as "SIGSEGV" or "exit status 1"."""
        if self.returncode < 0:
            return signal.Signals(-self.returncode).name
        return f"exit status {self.returncode}"


class Child:
    """A process of `python -m module PARENT arguments`, from its start to end().

    PARENT is this process's id, for confine.die_with_parent: the child dies with the *thread*
    that starts it here. Its side of the pipes is frames.own_pipes. For one thread at a time.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        environment: Mapping[str, str],
        codec: Codec = PICKLE,
        cwd: Path | None = None,
        python: Sequence[str] = (sys.executable,),
    ) -> None:
        """environment: all that it sees. python: how its interpreter is started."""
        self._codec = codec
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end)
        self._process = subprocess.Popen(
            [*python, "-m", module, str(os.getpid()), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, request: Any) -> None:
        """Send it; a child that ended is found out when its answer is awaited."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            send(self._process.stdin.fileno(), request, self._codec)

    def answer(self, deadline_s: float) -> Any:
        """What it says next. Raises frames.Overdue and Died; after either it is to be ended.

        Time in which it queued for a core is not counted.
        """
        assert self._process.stdout is not None
        try:
            deadline = Deadline(self.pid, deadline_s)
            return receive(self._process.stdout.fileno(), deadline, self._codec)
        except Ended:
            raise self._death() from None

    def alive(self) -> bool:
        return not self._ended_within(0)

    def end(self) -> None:
        """Kill it and its whole process group; again is nothing."""
        self._reap()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _death(self) -> Died:
        self._ended_within(_ENDING_S)
        returncode = self._reap()
        self._errors.seek(0)
        said = self._errors.read()[-_LAST_WORDS_BYTES:].decode(errors="replace").strip()
        return Died(returncode, said)

    def _ended_within(self, seconds: float) -> bool:
        """Looks without reaping it: until then its id, and its group's, is no other's."""
        if self._process.returncode is not None:
            return True
        until = time.monotonic() + seconds
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True

    def _reap(self) -> int:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()
