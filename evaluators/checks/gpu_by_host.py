"""ByHost: what of a GPU's draws and verdicts is left to a task's own functions in Python.

What they look at of a call is one of its bindings, which nobody can foresee: at most one draw's
arguments come to the host, and are looked at once.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from evaluators.checks.budget import Error
from evaluators.checks.gpu_draws import GpuDraws, Held
from evaluators.checks.gpu_outputs import bytes_of, inputs_in
from evaluators.checks.gpu_placing import Secret, made_here
from evaluators.checks.inputs import Array
from evaluators.checks.judge import Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image, Region
from evaluators.checks.verdict import judged
from evaluators.device import Buffer, Session
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.task import Task


class DrawImage(Protocol):
    """A region's bytes as they were placed."""

    def __call__(
        self, memory: WorkloadMemory, region: Region, secret: Secret, held: Held | None = None
    ) -> Image: ...


class ByHost:
    """inputs(), check() and epilogue() of a task, for a judge on a GPU."""

    def __init__(self, task: Task, draws: GpuDraws, image: DrawImage) -> None:
        self._task = task
        self._draws = draws
        self._image = image
        self._rng = np.random.default_rng()

    def place(
        self, memory: WorkloadMemory, session: Session, region: Region, base: Buffer, held: Held
    ) -> None:
        """What inputs() makes, where it belongs. Raises TaskError."""
        for span, data in made_here(region, self._draws.made(held, memory.workload)):
            session.write(base.view(span.start, span.nbytes), data)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """Of one of the bindings: whether what inputs() made is as it was, and what check() and
        epilogue() say. Raises Rejected(WRONG), TaskError."""
        own = self._task.own
        copy = list(placed)[int(self._rng.integers(len(placed)))]
        held = self._draws.held(memory.workload, placed[copy].index)
        self._inspect(memory, copy, held)
        if own.check is None and own.epilogue is None:
            return {}
        inputs = self.inputs(memory, copy, held)
        return judged(
            memory.task,
            memory.workload,
            memory.region.values(memory.taken(copy)),
            inputs,
            self._draws.judged_by_host(held, memory, inputs),
            placed[copy].standard,
        )

    def inputs(self, memory: WorkloadMemory, copy: int, held: Held) -> Mapping[str, Array]:
        """As they were placed: read where they lie, but for what a kernel may have written over."""
        inputs = inputs_in(memory, copy)
        over = {a.name for a in memory.task.arguments if a.role == "inout"}
        if over:
            image = self._image(memory, memory.region, held.secret, held)
            for span in memory.region.spans:
                if span.name in over:
                    values = span.taken(image[span.start : span.stop])
                    inputs[span.name] = values.view(inputs[span.name].dtype)
        return inputs

    def _inspect(self, memory: WorkloadMemory, copy: int, held: Held) -> None:
        """Raises Rejected(WRONG): what inputs() made was changed."""
        for region, base in (
            (memory.region, memory.copies[copy]),
            (memory.shared, memory.shared_buffer),
        ):
            for span, before in made_here(region, self._draws.made(held, memory.workload)):
                after = bytes_of(memory.session, base.view(span.start, span.nbytes))
                if not span.written and not np.array_equal(before, after):
                    raise Rejected(Status.WRONG, f"changed its input {span.name}")

    def beside(self, region: Region, before: Image, after: Image) -> Image:
        """The bytes before a run, but for what inputs() made, which is looked at elsewhere."""
        image = before.copy()
        for span in region.spans:
            if span.name in self._task.makes:
                image[span.start : span.stop] = after[span.start : span.stop]
        return image
