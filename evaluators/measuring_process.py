"""The parent's end of a process of evaluators.gpu_child: started, asked, ended at a deadline."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from evaluators.device import DeviceInfo
from evaluators.frames import Ended, Overdue, receive, send
from evaluators.gpu_child import Reply, Running

GRACE_S = 2.0
"""How long after a run's own deadline its process is ended."""
HOST_S = 180.0
"""For work on the host between two runs: drawing inputs, computing references."""
_MAIN = "from evaluators import gpu_child; gpu_child.main()"


class Lost(Exception):
    """The child ended or was ended. running: what went on then; killed: from outside."""

    def __init__(self, running: Running, said: str, *, late: bool, killed: bool = False) -> None:
        super().__init__(said)
        self.running = running
        self.said = said
        self.late = late
        self.killed = killed


class MeasuringProcess:
    """One process of evaluators.gpu_child."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.info: DeviceInfo
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=dict(environment),
            start_new_session=True,
        )

    def tell(self, request: Any) -> None:
        """What is not answered; a process that ended is found out when it is asked."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            send(self._process.stdin.fileno(), request)

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Any) -> Reply:
        """Raises Lost, after which the child is to be ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        running = Running()
        try:
            send(self._process.stdin.fileno(), request)
            while True:
                allowed_s = running.deadline_s + GRACE_S if running.kernel_id else HOST_S
                got = receive(self._process.stdout.fileno(), time.monotonic() + allowed_s)
                if isinstance(got, Reply):
                    return got
                running = got
        except Overdue:
            said = f"nothing came back for {allowed_s:g} s"
            raise Lost(running, said, late=True) from None
        except (Ended, BrokenPipeError):
            said = self._last_words()
            killed = self._process.returncode == -signal.SIGKILL
            raise Lost(running, said, late=False, killed=killed) from None

    def _last_words(self) -> str:
        returncode = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        ending = signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"
        return f"{ending}: {lines[-1]}" if lines else ending

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._errors.close()
