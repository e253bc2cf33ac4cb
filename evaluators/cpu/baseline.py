"""A baseline on cpu: a session whose runs are those of a trusted process on the same core."""

import mmap
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from evaluators.baselines.messages import Run
from evaluators.baselines.process import BaselineProcess
from evaluators.cpu.places import Places, room_for
from evaluators.device import Buffer
from evaluators.kernel.baseline import BaselinePlan
from evaluators.kernel.plan import Plan


class CpuBaselineSession:
    """See device.Session. Its memory is shared with the process, and with the session beside."""

    def __init__(self, process: BaselineProcess, *, memory_bytes: int, beside: int | None) -> None:
        """beside: the file of another session's memory. Raises Rejected: see load_baseline()."""
        self._process = process
        self._places = Places(memory_bytes)
        size = room_for(memory_bytes)
        self._file: int = os.memfd_create("baseline") if beside is None else os.dup(beside)
        try:
            os.ftruncate(self._file, max(size, os.fstat(self._file).st_size))
            self._memory = mmap.mmap(self._file, size)
            self._number = process.share(self._file, size)
        except BaseException:
            os.close(self._file)
            self._file = -1
            raise

    @property
    def file(self) -> int:
        return self._file

    def alloc(self, nbytes: int) -> Buffer:
        return self._places.take(nbytes)[0]

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes != buffer.nbytes:
            raise ValueError(f"{array.nbytes} bytes don't fill a buffer of {buffer.nbytes}")
        self._bytes(buffer)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        return self._bytes(buffer).copy().view(dtype).reshape(shape)

    def elements(
        self, buffer: Buffer, dtype: np.dtype[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = self._bytes(buffer).view(dtype)[places]
        return found

    def fill(self, buffer: Buffer, byte: int) -> None:
        self._bytes(buffer)[:] = byte

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        return self.time(plan, (buffers,), deadline_s=deadline_s)

    def time(
        self, plan: Plan, bindings: Sequence[Mapping[str, Buffer]], *, deadline_s: float
    ) -> float:
        """Processor microseconds of the process."""
        assert isinstance(plan, BaselinePlan)
        names = [argument.name for argument in plan.task.on(plan.workload).arguments]
        spans = tuple(
            {name: (one[name].offset, one[name].nbytes) for name in names} for one in bindings
        )
        request = Run(memory=self._number, task=plan.task, workload=plan.workload, bindings=spans)
        return max(self._process.ask(request, deadline_s), 0.1)

    def forget(self) -> None:
        """What it keeps is trusted."""

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.zeros(0, np.uint8)

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """It has none."""

    def ran_whole(self) -> bool:
        return False

    def close(self) -> None:
        if self._file < 0:
            return
        if self._process.alive():
            self._process.drop(self._number)
        with suppress(BufferError):  # a traceback may hold a view of it, with which it goes
            self._memory.close()
        os.close(self._file)
        self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _bytes(self, buffer: Buffer) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.frombuffer(self._memory, np.uint8, buffer.nbytes, buffer.offset)
