"""Where a bench's data comes from and who compares what a kernel made of it: here, the host."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.memory import Bench
from evaluators.checks.region import Image

Placed = Mapping[int, Draw]
"""By binding of a bench, the draw that lies there."""


class Pristine(Protocol):
    """Puts draws into a bench's memory and judges what is there after a run."""

    def place_shared(self, bench: Bench, draw: Draw, rng: np.random.Generator) -> None:
        """Constants in place, scratch poisoned, random bytes round them."""

    def inspect_shared(self, bench: Bench) -> None:
        """Raises Rejected(WRONG): constants changed, or writes beyond scratch."""

    def place(self, bench: Bench, placed: Placed, rng: np.random.Generator) -> None:
        """Inputs in place, outputs poisoned, random bytes round them."""

    def place_unseen(self, bench: Bench, pool: InputPool, rng: np.random.Generator) -> None:
        """Into the first binding, inputs that no kernel has met."""

    def judge(self, bench: Bench, placed: Placed) -> dict[str, float]:
        """The largest errors by "label/output" after runs over bindings placed before.

        Raises Rejected(WRONG): told from the first wrong element of the first wrong binding.
        """


class HostPristine:
    """Images in host memory, compared by numpy. Serves one kernel, or two that race."""

    def __init__(self) -> None:
        self._images: dict[tuple[str, int], Image] = {}
        self._right: dict[tuple[str, int], tuple[Image, dict[str, float]]] = {}

    def place_shared(self, bench: Bench, draw: Draw, rng: np.random.Generator) -> None:
        bench.write_shared(bench.shared.image(draw.inputs, rng))

    def inspect_shared(self, bench: Bench) -> None:
        bench.inspect_shared()

    def place(self, bench: Bench, placed: Placed, rng: np.random.Generator) -> None:
        for copy, draw in placed.items():
            key = (bench.workload.label, draw.index)
            if key not in self._images:
                self._images[key] = bench.region.image(draw.inputs, rng)
            bench.write(copy, self._images[key])

    def place_unseen(self, bench: Bench, pool: InputPool, rng: np.random.Generator) -> None:
        bench.write(0, bench.region.image(pool.unseen(bench.workload, rng), rng))

    def judge(self, bench: Bench, placed: Placed) -> dict[str, float]:
        """A result that was once found right is known again by its bytes."""
        largest: dict[str, float] = {}
        for copy, draw in placed.items():
            key = (bench.workload.label, draw.index)
            after = bench.taken(copy)
            known, errors = self._right.get(key, (None, {}))
            if known is None or not np.array_equal(known, after):
                errors = bench.judge(draw.reference, self._images[key], after)
                self._right[key] = after, errors
            for output, error in errors.items():
                largest[output] = max(error, largest.get(output, 0.0))
        return largest
