"""The CPU engine as a backend of another name: what a backend outside the packages looks like."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluators.cpu import device as cpu
from evaluators.device import Compiled, Compiler, Device, Session, Telemetry
from evaluators.device_info import DeviceInfo
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource

NAME = "again"
MODULE = __name__

private_process = False


@dataclass(frozen=True, slots=True)
class AgainCompiler:
    inner: Compiler

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        return replace(self.inner.compile(kernel, plans), backend=NAME)


class AgainDevice:
    def __init__(self, inner: Device) -> None:
        self._inner = inner
        self.info = replace(inner.info, backend=NAME)

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> Session:
        if compiled.backend != NAME:
            raise ValueError(f"compiled for {compiled.backend}, this is {NAME}")
        native = replace(compiled, backend="cpu")
        return self._inner.open(native, memory_bytes=memory_bytes, beside=beside, fenced=fenced)

    def close(self) -> None:
        self._inner.close()


def compiler(*, arch: str | None = None) -> AgainCompiler:
    return AgainCompiler(cpu.compiler(arch=arch))


def oracle(kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False) -> AgainCompiler:
    return AgainCompiler(cpu.oracle(kernel, info, sampled=sampled))


def device_count() -> int:
    return cpu.device_count()


def open_device(index: int) -> AgainDevice:
    return AgainDevice(cpu.open_device(index))


def telemetry(info: DeviceInfo) -> Telemetry:
    return cpu.telemetry(info)


def warm() -> None:
    cpu.warm()
