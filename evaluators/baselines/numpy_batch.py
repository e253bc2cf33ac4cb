"""A numpy expression as a baseline, on the host."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.baselines.arguments import Places, check_shape, given, named_outputs
from evaluators.baselines.batch import Plain, telling
from evaluators.dtypes import is_floating
from evaluators.tasks.arguments import Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task


class NumpyBatch(Plain):
    """See Batch. The expression knows the arguments as arrays, the sizes, np, numpy and math."""

    def __init__(
        self, baseline: Baseline, task: Task, workload: Workload, bindings: Sequence[Places]
    ) -> None:
        self._baseline, self._task, self._workload = baseline, task, workload
        self._code = compile(baseline.text, f"<baseline {baseline.name}>", "eval")
        known = {"np": np, "numpy": np, "math": math}
        self._bindings = bindings
        self._names = [{**known, **given(task, workload, places)} for places in bindings]
        self._values: list[Any] = []

    def warm(self) -> None:
        """Nothing is loaded late."""

    def enqueue(self) -> None:
        with telling(self._baseline):
            self._values = [eval(self._code, names) for names in self._names]

    def finish(self) -> None:
        with telling(self._baseline):
            for value, places in zip(self._values, self._bindings, strict=True):
                for name, one in named_outputs(value, self._task, self._workload).items():
                    if one is places[name]:
                        continue  # it wrote into the output itself
                    array, place = np.asarray(one), places[name]
                    check_shape(name, array.shape, place.shape)
                    # numpy knows no kind of the types that it does not have itself.
                    floats = is_floating(array.dtype) and is_floating(place.dtype)
                    np.copyto(place, array, casting="unsafe" if floats else "same_kind")
        self._values = []
