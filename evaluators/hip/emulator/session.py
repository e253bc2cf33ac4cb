"""A session on the emulated device: within its buffers when fenced, and it survives faults."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from evaluators.device import Buffer, Compiled
from evaluators.gpu.session import LOST, GpuSession
from evaluators.hip.emulator.counts import Executed
from evaluators.hip.emulator.driver import EmulatorDriver
from evaluators.hip.emulator.faults import Area
from evaluators.kernel.plan import Plan


class EmulatedSession(GpuSession):
    """See evaluators.device.Session. A fault ends the session, and leaves the device usable."""

    def __init__(
        self, driver: EmulatorDriver, compiled: Compiled, *, fenced: bool, **limits: Any
    ) -> None:
        """fenced: launches may access the buffers of their run, and nothing between."""
        super().__init__(driver, compiled, **limits)
        self._emulator = driver
        self._fenced = fenced
        self._closed = False

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        with self._fence(buffers):
            return super().run(plan, buffers, deadline_s=deadline_s, prepare=prepare)

    def counts(self) -> Mapping[str, Mapping[str, float]]:
        """Executed wavefront-instructions by kernel symbol and kind (see counts.kind_of)."""
        found: dict[str, dict[str, float]] = {}
        for symbol, executed in self._executed():
            kinds = found.setdefault(symbol, {})
            for kind, count in executed.by_kind().items():
                kinds[kind] = kinds.get(kind, 0.0) + count
        return found

    def advice(self) -> tuple[str, ...]:
        """Sentences on what was executed, each once."""
        said = (line for _, executed in self._executed() for line in executed.advice())
        return tuple(dict.fromkeys(said))

    def _executed(self) -> Iterator[tuple[str, Executed]]:
        for module in self._modules.values():
            yield from module.handle.executed.items()

    def close(self) -> None:
        """Gives everything back, after a fault too."""
        if self._closed:
            return
        self._closed = True
        if self._dead:
            self._emulator.abandon()
        self._dead = False
        super().close()
        self._dead = True

    @contextmanager
    def _until_fault(self) -> Iterator[None]:
        try:
            with super()._until_fault():
                yield
        finally:
            LOST.discard(self._emulator)

    @contextmanager
    def _fence(self, buffers: Mapping[str, Buffer]) -> Iterator[None]:
        if self._fenced:
            self._emulator.fence(
                [
                    Area(start=b.offset, nbytes=b.nbytes, name=name, writable=not b.read_only)
                    for name, b in buffers.items()
                ]
            )
        try:
            yield
        finally:
            self._emulator.fence(None)
