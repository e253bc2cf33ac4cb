"""A campaign's secret inputs: drawn from secret seeds, their references computed once."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from evaluators.checks.budget import ORDINARY, Limit, Standard
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Inputs = Callable[[Workload, int], Mapping[str, Array]]


CHANGED = 3
"""Elements of an input at most, in a draw near another one."""


class Draw:
    """One set of inputs and what must come out, made when first asked for.

    inputs: by name, in their own dtypes. reference: by output, in float64 (int64 for integers).
    standard: what the outputs are held to. nbytes: of all of it but the constants, whether made
    or not.
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
            (argument.nbytes(workload.env) if argument.role in ("in", "inout") else 0)
            + (argument.nbytes(workload.env) // argument.np_dtype.itemsize * 8) * argument.written
            for argument in task.on(workload).arguments
        )

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        return self._inputs(self._workload, self.index)

    @cached_property
    def reference(self) -> Mapping[str, Array]:
        return self._task.reference(self._workload, self.inputs)


class InputPool:
    """Draws by workload, made when first asked for, kept up to a bound of bytes.

    Of each workload there is a pool of draws that come again, so that their references need not
    be computed each time, and as many that never do as are asked for. All share their constant
    arguments, so that what a kernel prepared from them serves every draw, and
    the limits that their outputs are held to.
    """

    def __init__(
        self, task: Task, *, secret: int, size: int = 64, limit_bytes: int = 1 << 30
    ) -> None:
        """size: draws of a workload that come again.
        limit_bytes: for all workloads; beyond it the longest unused are dropped and made again.
        """
        if size < 2:
            raise ValueError("a pool needs two draws or more, or state kept goes unnoticed")
        self.task = task
        self.size = size
        self._secret = secret
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._kept: OrderedDict[tuple[str, int], Draw] = OrderedDict()
        constants = {a.name for a in task.arguments if a.role == "constant"}
        makes = task.makes
        # What inputs() makes belongs together: where a part of it is constant all of it is.
        self._constants = sorted(constants | (makes if makes & constants else frozenset()))
        self._limits: dict[str, dict[str, Limit]] = {}

    def draws(
        self,
        workload: Workload,
        rng: np.random.Generator,
        count: int,
        *,
        met: Collection[int] = (),
    ) -> tuple[Draw, ...]:
        """count different draws in random order, none of the indices met.

        Where the pool has no more of them, the others are fresh.
        """
        left = [int(i) for i in rng.permutation(self.size) if i not in met]
        pooled = [self.get(workload, i) for i in left[:count]]
        return (*pooled, *(self.fresh(workload, rng) for _ in range(count - len(pooled))))

    def fresh(self, workload: Workload, rng: np.random.Generator) -> Draw:
        """One that never was and never comes again."""
        return self._draw(workload, int(rng.integers(self.size, 2**62)))

    def near(self, workload: Workload, draw: Draw, rng: np.random.Generator) -> Draw:
        """A draw of the pool anew, but for a few elements of each input that is drawn and no
        constant: who knows it again by a part of its elements takes it for the same. Where all are
        made by the task's inputs(), whose elements belong together, it is another draw."""
        other = self.fresh(workload, rng)
        drawn = draw.inputs.keys() - {*self._constants, *self.task.makes}
        if not drawn:
            return other

        def changed(_: Workload, __: int) -> dict[str, Array]:
            found = dict(draw.inputs)
            for name in sorted(drawn):
                found[name] = found[name].copy()
                places = rng.integers(found[name].size, size=CHANGED)
                found[name].flat[places] = other.inputs[name].flat[places]
            return found

        return Draw(self.task, workload, other.index, changed, draw.standard)

    def get(self, workload: Workload, index: int) -> Draw:
        """One of the pool."""
        key = (workload.label, index)
        draw = self._kept.pop(key, None)
        if draw is None:
            draw = self._draw(workload, index)
            self._held_bytes += draw.nbytes
            while self._kept and self._held_bytes > self._limit_bytes:
                self._held_bytes -= self._kept.popitem(last=False)[1].nbytes
        self._kept[key] = draw
        return draw

    def _draw(self, workload: Workload, index: int) -> Draw:
        limits = self._limits.setdefault(workload.label, {})
        return Draw(self.task, workload, index, self._inputs, Standard(limits=limits))

    def _inputs(self, workload: Workload, index: int) -> dict[str, Array]:
        inputs = self.task.inputs(workload, self._seed(index))
        if self._constants and index != 0:
            shared = self.get(workload, 0).inputs
            inputs.update({name: shared[name] for name in self._constants if name in shared})
        return inputs

    def _seed(self, index: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._secret}/{index}".encode()).digest()[:8])
