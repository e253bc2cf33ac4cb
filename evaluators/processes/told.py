"""A device whose runs are told to the parent before they begin, so that it can end them."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from evaluators.device import Buffer, Compiled, Counting, Device, Session
from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from evaluators.processes.messages import Reply, Running
from evaluators.sandbox.frames import send

_HARMLESS = (Status.LAUNCH_ERROR, Status.UNSUPPORTED)
"""Nothing was launched."""


class Teller:
    """Tells the parent what is going on, and remembers faults."""

    def __init__(self, out: int) -> None:
        self._out = out
        self.lost = False

    def tell(self, what: Running | Reply) -> None:
        send(self._out, what)


class ToldSession:
    """A session whose runs are told; see device.Session."""

    def __init__(self, inner: Session, kernel_id: str, teller: Teller, *, shares: bool) -> None:
        """shares: a fault of the session is one of the whole device."""
        self.inner = inner
        self._kernel_id = kernel_id
        self._teller = teller
        self._shares = shares

    def alloc(self, nbytes: int) -> Buffer:
        return self.inner.alloc(nbytes)

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        self.inner.write(buffer, array)

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        return self.inner.read(buffer, dtype, shape)

    def elements(
        self, buffer: Buffer, dtype: np.dtype[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        return self.inner.elements(buffer, dtype, places)

    def fill(self, buffer: Buffer, byte: int) -> None:
        self.inner.fill(buffer, byte)

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        with self._told(plan, deadline_s):
            return self.inner.run(plan, buffers, deadline_s=deadline_s, prepare=prepare)

    def time(self, plan: Plan, bindings: Any, *, deadline_s: float) -> float:
        with self._told(plan, deadline_s):
            return self.inner.time(plan, bindings, deadline_s=deadline_s)

    def forget(self) -> None:
        self.inner.forget()

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return self.inner.variables()

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        self.inner.set_variables(values)

    def ran_whole(self) -> bool:
        return self.inner.ran_whole()

    def counts(self) -> Mapping[str, Mapping[str, float]]:
        return cast(Counting, self.inner).counts()

    def advice(self) -> Sequence[str]:
        return cast(Counting, self.inner).advice()

    def _told(self, plan: Plan, deadline_s: float) -> "_Told":
        entries = tuple(dict.fromkeys(launch.entry for launch in plan.launches))
        running = Running(kernel_id=self._kernel_id, deadline_s=deadline_s, entries=entries)
        return _Told(self._teller, running, shares=self._shares)

    def close(self) -> None:
        self.inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Told:
    """One run between two words to the parent."""

    def __init__(self, teller: Teller, running: Running, *, shares: bool) -> None:
        self._teller = teller
        self._running = running
        self._shares = shares

    def __enter__(self) -> None:
        self._teller.tell(self._running)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        refused = isinstance(value, Rejected) and value.status in _HARMLESS
        if self._shares and isinstance(value, Rejected | DeviceFault) and not refused:
            self._teller.lost = True
        self._teller.tell(Running())


class ToldDevice:
    """A device whose sessions tell; see device.Device."""

    def __init__(self, inner: Device, teller: Teller) -> None:
        self._inner = inner
        self._teller = teller
        self.info = inner.info

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> ToldSession:
        inner = beside.inner if isinstance(beside, ToldSession) else beside
        session = self._inner.open(compiled, memory_bytes=memory_bytes, beside=inner, fenced=fenced)
        shares = self.info.private_process
        return ToldSession(session, compiled.kernel_id, self._teller, shares=shares)

    def close(self) -> None:
        self._inner.close()
