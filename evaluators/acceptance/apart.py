"""One launch in a process of its own: a fault on a GPU takes the whole process's device along."""

import multiprocessing
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from evaluators.acceptance.launching import MEMORY_BYTES
from evaluators.device import Compiled, backend
from evaluators.evaluation import Rejected, Status
from evaluators.plan import Plan

START_S = 60.0
"""What a process may take to start and to open its device; a GPU's driver takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the launch ended."""

    status: Status
    reason: str


def run_apart(compiled: Compiled, plan: Plan, *, nbytes: int, deadline_s: float) -> Ended:
    """Run the plan on device 0 with every buffer zeroed and nbytes large."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(
        target=_run, args=(there, compiled, plan, nbytes, deadline_s)
    )
    child.start()
    there.close()
    try:
        if not here.poll(START_S + deadline_s):
            return Ended(status=Status.TIMEOUT, reason="the process did not answer")
        status, reason = here.recv()
        return Ended(status=status, reason=reason)
    except EOFError:
        child.join()
        code = child.exitcode or 0
        reason = signal.Signals(-code).name if code < 0 else f"the process ended with status {code}"
        return Ended(status=Status.CRASHED, reason=reason)
    finally:
        child.kill()
        child.join()


def _run(there: Connection, compiled: Compiled, plan: Plan, nbytes: int, deadline_s: float) -> None:
    device = backend(compiled.backend).open_device(0)
    session = device.open(compiled, memory_bytes=MEMORY_BYTES)
    names = {arg for launch in plan.launches for arg in launch.args if isinstance(arg, str)}
    try:
        buffers = {name: session.alloc(nbytes) for name in sorted(names)}
        for buffer in buffers.values():
            session.write(buffer, np.zeros(nbytes, np.uint8))
        session.run(plan, buffers, deadline_s=deadline_s)
    except Rejected as rejected:
        there.send((rejected.status, rejected.reason))
    else:
        there.send((Status.PASSED, ""))
