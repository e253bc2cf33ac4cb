"""The process that holds one device and measures on it, asked by child_evaluator over pipes.

It tells before every run whose kernel runs and how long it may, so that its parent can end it.
"""

import ctypes
import os
import sys
from dataclasses import replace
from typing import Any, NoReturn

from evaluators.checks.gpu_judge import GpuJudge
from evaluators.checks.inputs import InputPool
from evaluators.device import Device, Telemetry, backend
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluation import Evaluation, Rejected
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.intervals import load_statistics
from evaluators.measuring.race import AnchorFailed
from evaluators.probes.probe import Answer
from evaluators.processes.messages import Call, Hello, Reply, Setting, Warm
from evaluators.processes.told import Teller, ToldDevice
from evaluators.sandbox.confine import die_with_parent, forbid_core_dumps
from evaluators.sandbox.frames import Ended, own_pipes, receive
from evaluators.tasks.arguments import TaskError


class Serving:
    """An Evaluator, and on a GPU the judge whose inputs are new for every call."""

    def __init__(self, device: Device, setting: Setting) -> None:
        """Raises DeviceFault when the device does not compute a known answer."""
        pool = InputPool(setting.task, secret=setting.secret)
        self._judge: GpuJudge | None = None
        if setting.trusted is not None:
            self._judge = GpuJudge(device, setting.task, pool, setting.trusted)
        self._evaluator = Evaluator(
            task=setting.task,
            device=device,
            secret=setting.secret,
            policy=setting.policy,
            pool=pool,
            judge=self._judge,
            references=self._judge,
            naive=setting.trusted.naive if setting.trusted is not None else None,
            empty=setting.trusted.empty if setting.trusted is not None else None,
        )

    @property
    def spoilt(self) -> bool:
        """Whether another kernel should run in another process."""
        return self._judge is not None and self._judge.spoilt

    def answer(self, call: Call) -> Any:
        if self._judge is not None:
            self._judge.renew()
        return getattr(self._evaluator, call.method)(*call.arguments)


def serve(requests: int, teller: Teller) -> NoReturn:
    """Answer until the parent is gone, the device is lost or its memory may be spoilt."""
    device: ToldDevice | None = None
    serving: Serving | None = None
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
                case Warm(backend=name):
                    backend(name).warm()
                    load_statistics()
                    continue
                case Setting() if device is not None:
                    load_statistics()
                    serving = Serving(device, request)
                case Call() if serving is not None:
                    value = serving.answer(request)
                    if isinstance(value, Evaluation) and telemetry is not None:
                        value = replace(value, telemetry=telemetry())
                case _:
                    raise ValueError(f"{request!r} came out of turn")
            failed_probe = (
                isinstance(value, Answer) and not value.passed
            )  # may have written anywhere
            reply = Reply(value=value, lost=teller.lost or failed_probe)
        except (AnchorFailed, BackendMissing, DeviceFault, Rejected, TaskError) as error:
            lost = teller.lost or isinstance(error, AnchorFailed | DeviceFault)
            reply = Reply(error=error, lost=lost)
        if serving is not None and serving.spoilt:
            reply = replace(reply, lost=True)
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
