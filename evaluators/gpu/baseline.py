"""A baseline on a GPU: a session whose applications are a library's, on the session's stream."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.baselines.batch import Batch
from evaluators.baselines.making import load_baseline, make_batch
from evaluators.device import Buffer, CompiledBaseline
from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected
from evaluators.gpu.driver import Driver
from evaluators.gpu.session import GpuSession
from evaluators.kernel.baseline import BaselinePlan
from evaluators.kernel.plan import Plan

_BATCHES_KEPT = 16
"""Results of a torch expression stay in memory for as long as its graph."""

Bindings = Sequence[Mapping[str, Buffer]]


class GpuBaselineSession(GpuSession):
    """See device.Session. Timed as kernels are: one graph of all applications between two events,
    or, where they can't be captured, calls between the two."""

    def __init__(
        self,
        driver: Driver,
        compiled: CompiledBaseline,
        *,
        memory_bytes: int,
        beside: GpuSession | None = None,
    ) -> None:
        """Raises Rejected(UNSUPPORTED): what it needs is not installed, or sees no such GPU."""
        load_baseline(compiled.baseline, compiled.backend)
        super().__init__(
            driver, compiled, memory_bytes=memory_bytes, lds_bytes=0, threads=1, beside=beside
        )
        self._baseline, self._backend = compiled.baseline, compiled.backend
        self._batches: dict[tuple[Any, ...], tuple[Batch, Any]] = {}

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        return self.time(plan, (buffers,), deadline_s=deadline_s)

    def time(self, plan: Plan, bindings: Bindings, *, deadline_s: float) -> float:
        start, end = self._events
        with self._until_fault():
            batch, graph = self._ready(plan, bindings, deadline_s)
            graph = batch.graph() if graph is None else graph
            with batch.current():
                self._driver.record(start)
                if graph is not None:
                    self._driver.replay(graph)
                else:
                    batch.enqueue()
                self._wait(deadline_s)
            taken_us = self._driver.elapsed_us(start, end)
            batch.finish()
            return taken_us

    def forget(self) -> None:
        """What it keeps is trusted."""

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.zeros(0, np.uint8)

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """It has none."""

    def close(self) -> None:
        graphs = [graph for _, graph in self._batches.values() if graph is not None]
        self._batches = {}
        for graph in graphs if self._usable else ():
            self._driver.release_graph(graph)
        super().close()

    def _ready(self, plan: Plan, bindings: Bindings, deadline_s: float) -> tuple[Batch, Any]:
        """The applications, warm; and the driver's graph of a call's, which makes none itself."""
        assert isinstance(plan, BaselinePlan)
        places = [
            {a.name: one[a.name].offset for a in plan.task.on(plan.workload).arguments}
            for one in bindings
        ]
        key = (plan.workload.label, *(tuple(one.items()) for one in places))
        if key not in self._batches:
            while len(self._batches) >= _BATCHES_KEPT:
                _, graph = self._batches.pop(next(iter(self._batches)))
                if graph is not None:
                    self._driver.release_graph(graph)
            batch = make_batch(
                self._baseline,
                plan.task,
                plan.workload,
                places,
                backend=self._backend,
                stream=self._driver.stream_handle(),
            )
            self._warm(batch, plan, bindings[0], deadline_s)
            self._batches[key] = batch, self._captured(batch)
        return self._batches[key]

    def _warm(
        self, batch: Batch, plan: BaselinePlan, binding: Mapping[str, Buffer], deadline_s: float
    ) -> None:
        """What it writes is as before then: an inout is an input, too."""
        written = [binding[output.name] for output in plan.task.on(plan.workload).outputs]
        byte = np.dtype(np.uint8)
        before = [self.read(buffer, byte, (buffer.nbytes,)) for buffer in written]
        batch.warm()
        self._wait(deadline_s)
        for buffer, data in zip(written, before, strict=True):
            self.write(buffer, data)

    def _captured(self, batch: Batch) -> Any:
        """None: it can't be captured, or has a graph of its own."""
        if self._baseline.kind != "call":
            return None
        try:
            return self._driver.capture(batch.enqueue)
        except (Rejected, DeviceFault):
            return None  # such as a library that allocates memory
