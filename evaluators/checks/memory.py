"""One workload's memory in a session: the bindings' regions and the one they share."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evaluators.checks.budget import Error, Standard
from evaluators.checks.compare import check_agreement, check_output
from evaluators.checks.region import Image, Region
from evaluators.device import Buffer, Session
from evaluators.kernel.plan import Plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]


class WorkloadMemory:
    """One workload's memory in a session: the bindings' regions and the one they share.

    Memory comes from the caller, so that several workloads may take turns in the same.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        workload: Workload,
        plan: Plan,
        *,
        copies: Buffer,
        shared: Buffer,
    ) -> None:
        """copies: memory for one or more bindings; shared: for constants and scratch."""
        self.session = session
        self.task = task
        self.workload = workload
        self.plan = plan
        self.shared = Region.of_shared(task, workload, plan)
        self.region = Region.of_arguments(task, workload)
        self.shared_buffer = shared.view(0, self.shared.nbytes)
        of_all = self.shared.buffers(self.shared_buffer)
        nbytes = self.region.nbytes
        self.copies = tuple(copies.view(i * nbytes, nbytes) for i in range(copies.nbytes // nbytes))
        self.bindings = tuple({**of_all, **self.region.buffers(copy)} for copy in self.copies)
        self._shared_image: Image | None = None

    def write_shared(self, image: Image) -> None:
        self._shared_image = image
        self.session.write(self.shared_buffer, image)

    def prepare(self, *, deadline_s: float) -> None:
        """The launches that come before all others, once what they read is in place."""
        if self.plan.prepare:
            self.session.run(self.plan, self.bindings[0], deadline_s=deadline_s, prepare=True)

    def inspect_shared(self) -> None:
        """Raises Rejected(WRONG): constants changed, or writes beyond scratch."""
        if self.shared.spans and self._shared_image is not None:
            self.shared.inspect(self._shared_image, self._read(self.shared_buffer))

    def write(self, copy: int, image: Image) -> None:
        self.session.write(self.copies[copy], image)

    def taken(self, copy: int) -> Image:
        """A binding's bytes as they are now."""
        return self._read(self.copies[copy])

    def judge(
        self, reference: Mapping[str, Array], before: Image, after: Image, standard: Standard
    ) -> dict[str, Error]:
        """Errors by "label/output" of a run over one binding. Raises Rejected(WRONG)."""
        self.region.inspect(before, after)
        values = self.region.values(after)
        return {
            f"{self.workload.label}/{output.name}": check_output(
                output, self.workload, values[output.name], reference[output.name], standard
            )
            for output in self.task.outputs
        }

    def agree(
        self,
        references: Callable[[], Mapping[str, Array]],
        first: Mapping[str, Array],
        second: Mapping[str, Array],
    ) -> None:
        """Raises Rejected(WRONG): two runs on one draw gave different outputs."""
        for output in self.task.outputs:
            a, b = first[output.name], second[output.name]
            if not np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)):
                check_agreement(output, self.workload, a, b, references()[output.name])

    def _read(self, buffer: Buffer) -> Image:
        return self.session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,))
