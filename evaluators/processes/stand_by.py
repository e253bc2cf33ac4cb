"""Measuring processes on one device: how they are started, and one that stands by."""

import os
import sys
from typing import Self

from evaluators.cxx import CACHE_VARIABLE, cache_folder
from evaluators.device import backend, shown_alone
from evaluators.device_info import emulated
from evaluators.processes.messages import Warm
from evaluators.processes.process import MeasuringProcess
from evaluators.sandbox.environment import device_variables, showing, visible_name

_KEEPING = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
"""glibc keeps what large arrays took for further ones, and the kernel need not clear it anew: host
copies of large inputs take two thirds of the time (transpose, sum_reduction, softmax)."""

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def start_process(backend_name: str, index: int) -> MeasuringProcess:
    """On the index-th device of those that this process may use. It has not opened it yet."""
    return MeasuringProcess(environment_of(backend_name, index))


class StandBy:
    """Keeps a process that has loaded what it needs, and has no device yet, for who needs one.

    For one thread: its processes die with it.
    """

    def __init__(self, backend_name: str, index: int = 0) -> None:
        """index: see start_process(). Nothing is started before the first prepare() or take()."""
        self._backend, self._index = backend_name, index
        self._waiting: MeasuringProcess | None = None

    def prepare(self) -> None:
        """Start the next one, unless one waits."""
        if self._waiting is None:
            self._waiting = start_process(self._backend, self._index)
            self._waiting.tell(Warm(backend=self._backend))

    def take(self) -> MeasuringProcess:
        """The one that waits, or a new one; it is the caller's to end."""
        taken, self._waiting = self._waiting, None
        if taken is None or not taken.alive():
            if taken is not None:
                taken.end()
            return start_process(self._backend, self._index)
        return taken

    def close(self) -> None:
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def environment_of(backend_name: str, index: int) -> dict[str, str]:
    """No secrets; one device; one thread for numpy; memory that is kept.

    Raises BackendMissing: an emulated device without a folder for what it builds.
    """
    kept = device_variables()
    if backend(backend_name).private_process:
        if shown_alone(backend_name):
            kept |= showing([visible_name(backend_name, index)])
            kept.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        kept |= _KEEPING
    if emulated(backend_name):  # it builds the emulator, or finds it built
        kept[CACHE_VARIABLE] = str(cache_folder())
    return {
        **kept,
        **dict.fromkeys(_THREADS, "1"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
