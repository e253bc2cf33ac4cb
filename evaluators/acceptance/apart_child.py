"""The process that evaluators.acceptance.apart asks: opens one device, and runs plans on it."""

import ctypes
import sys
import time
from contextlib import suppress

import numpy as np

from evaluators.acceptance.apart import LAUNCHES, Ended, Job
from evaluators.device import Device, backend
from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status
from evaluators.sandbox.confine import die_with_parent, forbid_core_dumps
from evaluators.sandbox.frames import Ended as PipeEnded
from evaluators.sandbox.frames import own_pipes, receive, send


def main() -> None:
    """Arguments: parent process, backend, index of the device."""
    parent, backend_name, index = sys.argv[1:]
    die_with_parent(ctypes.CDLL(None, use_errno=True), int(parent))
    forbid_core_dumps()
    requests, answers = own_pipes()
    device = backend(backend_name).open_device(int(index))
    with suppress(PipeEnded):
        while True:
            send(answers, _answer(device, receive(requests)))


def _answer(device: Device, job: Job) -> Ended | list[float]:
    try:
        return _done(device, job)
    except Rejected as rejected:
        return Ended(status=rejected.status, reason=rejected.reason)
    except DeviceFault as fault:
        return Ended(status=Status.CRASHED, reason=str(fault))


def _done(device: Device, job: Job) -> Ended | list[float]:
    memory_bytes = sum(job.nbytes.values()) + 4096
    session = device.open(job.compiled, memory_bytes=memory_bytes)
    buffers = {name: session.alloc(nbytes) for name, nbytes in job.nbytes.items()}
    for buffer in buffers.values():
        session.fill(buffer, 0)
    if job.seconds:
        times_us: list[float] = []
        until = time.monotonic() + job.seconds
        while time.monotonic() < until or len(times_us) < 3:
            took = session.time(job.plan, [buffers] * LAUNCHES, deadline_s=job.deadline_s)
            times_us.append(took / LAUNCHES)
        session.close()
        return times_us
    session.run(job.plan, buffers, deadline_s=job.deadline_s)
    memory = {
        name: session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,)).tobytes()
        for name, buffer in buffers.items()
    }
    session.close()
    return Ended(status=Status.PASSED, reason="", memory=memory)


if __name__ == "__main__":
    main()
