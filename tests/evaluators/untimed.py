"""The CPU engine as a backend that times nothing and counts: what an emulated device looks like."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluators.cpu import device as cpu
from evaluators.device import Buffer, Compiled, Device, Session, Telemetry
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from tests.evaluators import again
from tests.evaluators.again import compiler, device_count, oracle, warm

__all__ = ["compiler", "device_count", "open_device", "oracle", "telemetry", "warm"]

NAME = again.NAME
MODULE = __name__
COMPUTE_UNITS = 4

private_process = False
timed = False


class CountingSession:
    """A cpu session beside which every block of every launch counts as a vector instruction."""

    def __init__(self, inner: Session) -> None:
        self._inner = inner
        self._blocks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __enter__(self) -> "CountingSession":
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.close()

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        steps = plan.launches
        self._blocks += sum(step.grid[0] * step.grid[1] * step.grid[2] for step in steps)
        return self._inner.run(plan, buffers, deadline_s=deadline_s, prepare=prepare)

    def time(self, plan: Plan, bindings: Any, *, deadline_s: float) -> float:
        raise Rejected(Status.UNSUPPORTED, "nothing is timed here")

    def counts(self) -> Mapping[str, Mapping[str, float]]:
        return {"k": {"valu": float(self._blocks)}}

    def advice(self) -> Sequence[str]:
        return (f"{self._blocks} vector instructions were executed.",)


class UntimedDevice:
    def __init__(self, inner: again.AgainDevice) -> None:
        self._inner = inner
        self.info = replace(
            inner.info,
            engine="counting",
            name="a device, emulated",
            timed=False,
            compute_units=COMPUTE_UNITS,
        )

    def open(self, compiled: Compiled, **options: Any) -> Any:
        beside = options.pop("beside", None)
        return CountingSession(self._inner.open(compiled, beside=beside, **options))

    def close(self) -> None:
        self._inner.close()


def open_device(index: int) -> Device:
    return UntimedDevice(again.open_device(index))


def telemetry(info: DeviceInfo) -> Telemetry:
    return cpu.telemetry(info)
