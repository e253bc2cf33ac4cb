"""A campaign's secret inputs: drawn from secret seeds, their references computed once."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from evaluators.checks.budget import ORDINARY, Limit, Standard
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Inputs = Callable[[Workload, int], Mapping[str, Array]]


class Draw:
    """One set of inputs and what must come out, made when first asked for.

    inputs: by name, in their own dtypes. reference: by output, in float64 (int64 for integers).
    standard: what the outputs are held to. nbytes: of all of it, whether made or not.
    """

    def __init__(
        self,
        task: Task,
        workload: Workload,
        index: int,
        inputs: Inputs,
        standard: Standard = ORDINARY,
    ) -> None:
        self.index = index
        self.standard = standard
        self._task = task
        self._workload = workload
        self._inputs = inputs
        self.nbytes = sum(
            (argument.nbytes(workload.dims) if argument.role != "out" else 0)
            + (argument.nbytes(workload.dims) // argument.np_dtype.itemsize * 8) * argument.written
            for argument in task.arguments
        )

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        return self.again()

    def again(self) -> Mapping[str, Array]:
        """The inputs, made once more."""
        return self._inputs(self._workload, self.index)

    @cached_property
    def reference(self) -> Mapping[str, Array]:
        return self._task.reference(self._workload, self.inputs)


class InputPool:
    """Draws by workload, made when first asked for, kept up to a bound of bytes.

    All draws of a workload share their constant arguments, so that what a kernel prepared
    from them serves every draw, and the limits that their outputs are held to.
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
        self._limits: dict[str, dict[str, Limit]] = {}

    def size(self, workload: Workload) -> int:
        """How many different draws of a workload there are."""
        nbytes = Draw(self.task, workload, 0, self._inputs).nbytes
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
            limits = self._limits.setdefault(workload.label, {})
            draw = Draw(self.task, workload, index, self._inputs, Standard(limits=limits))
            self._held_bytes += draw.nbytes
            while self._kept and self._held_bytes > self._limit_bytes:
                self._held_bytes -= self._kept.popitem(last=False)[1].nbytes
        self._kept[key] = draw
        return draw

    def unseen(self, workload: Workload, rng: np.random.Generator) -> Mapping[str, Array]:
        """Inputs that no kernel has met and that nobody knows the reference of."""
        return self._inputs(workload, -int(rng.integers(1, 2**62)))

    def _inputs(self, workload: Workload, index: int) -> dict[str, Array]:
        inputs = self.task.inputs(workload, self._seed(index))
        constants = [a.name for a in self.task.arguments if a.role == "constant"]
        if constants and index != 0:
            shared = self.task.inputs(workload, self._seed(0))
            inputs.update({name: shared[name] for name in constants})
        return inputs

    def _seed(self, index: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._secret}/{index}".encode()).digest()[:8])
