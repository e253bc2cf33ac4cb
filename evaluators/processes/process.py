"""The parent's end of a measuring process (child.py): started, asked, ended at a deadline."""

import signal
from collections.abc import Mapping
from typing import Any

from evaluators.device_info import DeviceInfo
from evaluators.processes.messages import Reply, Running
from evaluators.sandbox.child import Child, Died
from evaluators.sandbox.frames import Overdue
from evaluators.spelling import printable

GRACE_S = 2.0
"""How long after a run's own deadline its process is ended."""
HOST_S = 180.0
"""For work on the host between two runs: drawing inputs, computing references."""


class Lost(Exception):
    """The child ended or was ended. running: what went on then; killed: from outside."""

    def __init__(self, running: Running, said: str, *, late: bool, killed: bool = False) -> None:
        super().__init__(said)
        self.running = running
        self.said = said
        self.late = late
        self.killed = killed


class MeasuringProcess(Child):
    """One process of evaluators.processes.child, which runs our code only and is believed."""

    info: DeviceInfo

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__("evaluators.processes.child", environment=environment)

    def ask(self, request: Any) -> Reply:
        """Raises Lost, after which the child is to be ended."""
        running = Running()
        self.tell(request)
        try:
            while True:
                allowed_s = running.deadline_s + GRACE_S if running.kernel_id else HOST_S
                got = self.answer(allowed_s)
                if isinstance(got, Reply):
                    return got
                running = got
        except Overdue:
            said = f"nothing came back for {allowed_s:g} s"
            raise Lost(running, said, late=True) from None
        except Died as died:
            killed = died.returncode == -signal.SIGKILL
            raise Lost(running, _last_words(died), late=False, killed=killed) from None


def _last_words(died: Died) -> str:
    lines = died.said.splitlines()
    # ROCr says what happened, and then what became of its core dump.
    faults = [line for line in lines if "Memory access fault" in line]
    return ": ".join([died.ending, *map(printable, (faults or lines)[-1:])])
