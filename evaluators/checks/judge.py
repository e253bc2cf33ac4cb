"""Where a memory's data comes from and who compares what a kernel made of it: here, the host."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from evaluators.checks.budget import Error
from evaluators.checks.inputs import Array, Draw, InputPool
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image

Placed = Mapping[int, Draw]
"""By binding of a memory, the draw that lies there."""


class Judge(Protocol):
    """Puts draws into a memory's memory and judges what is there after a run."""

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        """Constants in place, scratch poisoned, random bytes round them."""

    def inspect_shared(self, memory: WorkloadMemory) -> None:
        """Raises Rejected(WRONG): constants changed, or writes beyond scratch."""

    def place(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        """Inputs in place, outputs poisoned, random bytes round them."""

    def place_afresh(
        self,
        memory: WorkloadMemory,
        pool: InputPool,
        rng: np.random.Generator,
        draw: Draw | None = None,
    ) -> None:
        """Into the first binding, a draw once more, by default inputs that no kernel has met.

        Both are made in the same way, so that caches hold as much of the one as of the other.
        """

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """The largest errors by "label/output" after runs over bindings placed before.

        Raises Rejected(WRONG): told from the first wrong element of the first wrong binding.
        """

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        """What a draw's outputs should be, by name."""


class HostJudge:
    """Images in host memory, compared by numpy. Serves one kernel, or two that race."""

    def __init__(self) -> None:
        self._images: dict[tuple[str, int], Image] = {}
        self._right: dict[tuple[str, int], tuple[Image, dict[str, Error]]] = {}

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        memory.write_shared(memory.shared.image(draw.inputs, rng))

    def inspect_shared(self, memory: WorkloadMemory) -> None:
        memory.inspect_shared()

    def place(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        for copy, draw in placed.items():
            key = (memory.workload.label, draw.index)
            if key not in self._images:
                self._images[key] = memory.region.image(draw.inputs, rng)
            memory.write(copy, self._images[key])

    def place_afresh(
        self,
        memory: WorkloadMemory,
        pool: InputPool,
        rng: np.random.Generator,
        draw: Draw | None = None,
    ) -> None:
        inputs = pool.unseen(memory.workload, rng) if draw is None else draw.again()
        memory.write(0, memory.region.image(inputs, rng))

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """A result that was once found right is known again by its bytes."""
        largest: dict[str, Error] = {}
        for copy, draw in placed.items():
            key = (memory.workload.label, draw.index)
            after = memory.taken(copy)
            known, errors = self._right.get(key, (None, {}))
            if known is None or not np.array_equal(known, after):
                errors = memory.judge(draw.reference, self._images[key], after, draw.standard)
                self._right[key] = after, errors
            for output, error in errors.items():
                largest[output] = error.beside(largest.get(output, error))
        return largest

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        return draw.reference
