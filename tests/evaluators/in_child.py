"""One launch in a process of its own: a fault on a GPU takes the whole process's device along."""

import multiprocessing
import signal
from multiprocessing.connection import Connection

import numpy as np

from evaluators.device import backend
from evaluators.evaluation import Rejected, Status
from evaluators.plan import LaunchStep
from tests.evaluators.launching import MEMORY_BYTES, compile_one, plan
from tests.hip_double.twins import with_twins


def outcome(
    name: str, code: str, step: LaunchStep, *, nbytes: int, deadline_s: float
) -> tuple[Status, str]:
    """Status and reason of running the launch on zeroed buffers of nbytes."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(
        target=_run, args=(there, name, code, step, nbytes, deadline_s)
    )
    child.start()
    there.close()
    try:
        found: tuple[Status, str] = here.recv()
    except EOFError:
        child.join()
        assert child.exitcode is not None
        assert child.exitcode < 0, f"the child ended with status {child.exitcode}"
        found = (Status.CRASHED, signal.Signals(-child.exitcode).name)
    child.kill()
    child.join()
    return found


def _run(
    there: Connection, name: str, code: str, step: LaunchStep, nbytes: int, deadline_s: float
) -> None:
    module = backend(name)
    device, compiler = module.open_device(0), with_twins(module.compiler())
    session = device.open(compile_one(compiler, code, step), memory_bytes=MEMORY_BYTES)
    try:
        buffers = {arg: session.alloc(nbytes) for arg in step.args if isinstance(arg, str)}
        for buffer in buffers.values():
            session.write(buffer, np.zeros(nbytes, np.uint8))
        session.run(plan(step), buffers, deadline_s=deadline_s)
    except Rejected as rejected:
        there.send((rejected.status, rejected.reason))
    else:
        there.send((Status.PASSED, ""))
