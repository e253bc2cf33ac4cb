"""A campaign's secret inputs: drawn from secret seeds, their references computed once."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.arguments import Workload
from evaluators.task import Task

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One set of inputs and what must come out, in float64 (int64 for integer outputs)."""

    index: int
    inputs: Mapping[str, Array]
    reference: Mapping[str, Array]

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (*self.inputs.values(), *self.reference.values()))


class InputPool:
    """Draws by workload, made when first asked for, kept up to a bound of bytes.

    All draws of a workload share their constant arguments, so that what a kernel prepared
    from them serves every draw.
    """

    def __init__(
        self,
        task: Task,
        *,
        secret: int,
        size: int = 6,
        shape_bytes: int = 1 << 27,
        limit_bytes: int = 1 << 31,
    ) -> None:
        """size: draws of a workload, as far as they fit in shape_bytes, but at least two.
        limit_bytes: for all workloads; beyond it draws are dropped and made again.
        """
        if size < 2:
            raise ValueError("a pool needs two draws or more, or state kept goes unnoticed")
        self.task = task
        self._size = size
        self._shape_bytes = shape_bytes
        self._secret = secret
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._kept: OrderedDict[tuple[str, int], Draw] = OrderedDict()

    def size(self, workload: Workload) -> int:
        """How many different draws of a workload there are."""
        nbytes = 0
        for argument in self.task.arguments:
            given = argument.nbytes(workload.dims)
            nbytes += given if argument.role != "out" else 0
            nbytes += given // argument.np_dtype.itemsize * 8 if argument.written else 0
        return max(2, min(self._size, self._shape_bytes // nbytes))

    def draws(self, workload: Workload, rng: np.random.Generator, count: int) -> tuple[Draw, ...]:
        """count draws in random order; all different as long as there are that many."""
        indices: list[int] = []
        while len(indices) < count:
            indices += [int(i) for i in rng.permutation(self.size(workload))]
        return tuple(self.get(workload, index) for index in indices[:count])

    def get(self, workload: Workload, index: int) -> Draw:
        key = (workload.label, index)
        draw = self._kept.pop(key, None)
        if draw is None:
            draw = self._make(workload, index)
            self._held_bytes += draw.nbytes
            while self._kept and self._held_bytes > self._limit_bytes:
                self._held_bytes -= self._kept.popitem(last=False)[1].nbytes
        self._kept[key] = draw
        return draw

    def unseen(self, workload: Workload, rng: np.random.Generator) -> Mapping[str, Array]:
        """Inputs that no kernel has met and that nobody knows the reference of."""
        return self._inputs(workload, -int(rng.integers(1, 2**62)))

    def _make(self, workload: Workload, index: int) -> Draw:
        inputs = self._inputs(workload, index)
        return Draw(index=index, inputs=inputs, reference=self.task.reference(workload, inputs))

    def _inputs(self, workload: Workload, index: int) -> dict[str, Array]:
        inputs = self.task.inputs(workload, self._seed(index))
        constants = [a.name for a in self.task.arguments if a.role == "constant"]
        if constants and index != 0:
            shared = self.task.inputs(workload, self._seed(0))
            inputs.update({name: shared[name] for name in constants})
        return inputs

    def _seed(self, index: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._secret}/{index}".encode()).digest()[:8])
