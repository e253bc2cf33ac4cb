"""The process that holds one device and measures on it, asked by child_evaluator over pipes.

It tells before every run whose kernel runs and how long it may, so that its parent can end it.
"""

import ctypes
import math
import os
import select
import sys
from dataclasses import replace
from typing import Any, NoReturn

from evaluators.checks.gpu_judge import GpuJudge
from evaluators.checks.inputs import InputPool
from evaluators.device import Device, Telemetry, backend
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluation import Evaluation, Rejected
from evaluators.measuring.evaluator import Evaluator, workloads_of
from evaluators.measuring.messages import Call, Hello, Reply, Setting, Warm
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.told import Teller, ToldDevice
from evaluators.sandbox.confine import die_with_parent, forbid_core_dumps
from evaluators.sandbox.frames import Ended, own_pipes, receive
from evaluators.tasks.arguments import TaskError


def warm(requests: int, wanted: Warm) -> InputPool:
    """A pool with its first draws made, as far as there is time before the next request."""
    backend(wanted.backend).warm()
    pool = InputPool(wanted.task, secret=wanted.secret)
    workloads = workloads_of(wanted.task, ("tests", "benchmarks"), wanted.backend)
    flops = wanted.task.flops
    ready = select.poll()
    ready.register(requests, select.POLLIN)
    for index in range(2):
        for workload in workloads:
            if ready.poll(0):
                return pool
            draw = pool.get(workload, index)
            work = math.inf if flops is None else float(flops.evaluate(workload.dims))
            # To ask for them makes them.
            _ = draw.inputs if flops is not None and work > wanted.heavy_flops else draw.reference
    return pool


def evaluator_of(device: Device, setting: Setting, pool: InputPool | None) -> Evaluator:
    """Raises DeviceFault when the device does not compute a known answer."""
    pool = pool or InputPool(setting.task, secret=setting.secret)
    judge = None
    if setting.trusted is not None:
        judge = GpuJudge(device, setting.task, pool, setting.trusted)
    return Evaluator(
        task=setting.task,
        device=device,
        secret=setting.secret,
        policy=setting.policy,
        pool=pool,
        judge=judge,
        naive=setting.trusted.naive if setting.trusted is not None else None,
    )


def serve(requests: int, teller: Teller) -> NoReturn:
    """Answer until the parent is gone or the device is lost."""
    pool: InputPool | None = None
    device: ToldDevice | None = None
    evaluator: Evaluator | None = None
    telemetry: Telemetry | None = None
    while True:
        try:
            request = receive(requests)
        except Ended:
            os._exit(0)
        try:
            value: Any = None
            match request:
                case Hello(backend=name, index=index):
                    device = ToldDevice(backend(name).open_device(index), teller)
                    telemetry = backend(name).telemetry(device.info)
                    value = device.info
                case Warm():
                    pool = warm(requests, request)
                    continue
                case Setting() if device is not None:
                    evaluator = evaluator_of(device, request, pool)
                case Call() if evaluator is not None:
                    value = getattr(evaluator, request.method)(*request.arguments)
                    if isinstance(value, Evaluation) and telemetry is not None:
                        value = replace(value, telemetry=telemetry())
                case _:
                    raise ValueError(f"{request!r} came out of turn")
            reply = Reply(value=value, lost=teller.lost)
        except (AnchorFailed, BackendMissing, DeviceFault, Rejected, TaskError) as error:
            reply = Reply(error=error, lost=teller.lost or isinstance(error, DeviceFault))
        teller.tell(reply)
        if reply.lost:
            os._exit(0)  # not sys.exit: the driver's own clean-up would wait for the kernel


def main() -> NoReturn:
    """Argument: parent process."""
    die_with_parent(ctypes.CDLL(None, use_errno=True), int(sys.argv[1]))
    forbid_core_dumps()
    requests, answers = own_pipes()
    serve(requests, Teller(answers))


if __name__ == "__main__":
    main()
