"""A numpy expression as a baseline, on the host."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.baselines.batch import Places, check_shape, named_outputs, telling
from evaluators.tasks.arguments import Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task


class NumpyBatch:
    """See Batch. The expression knows the arguments as arrays, the sizes, np, numpy and math."""

    def __init__(
        self, baseline: Baseline, task: Task, workload: Workload, bindings: Sequence[Places]
    ) -> None:
        self._baseline, self._task = baseline, task
        self._code = compile(baseline.text, f"<baseline {baseline.name}>", "eval")
        known = {"np": np, "numpy": np, "math": math, **workload.dims}
        self._bindings = bindings
        self._names = [{**known, **places} for places in bindings]
        self._values: list[Any] = []

    def warm(self) -> None:
        """Nothing is loaded late."""

    def enqueue(self) -> None:
        with telling(self._baseline):
            self._values = [eval(self._code, names) for names in self._names]

    def finish(self) -> None:
        with telling(self._baseline):
            for value, places in zip(self._values, self._bindings, strict=True):
                for name, one in named_outputs(value, self._task).items():
                    if one is places[name]:
                        continue  # it wrote into the output itself
                    array = np.asarray(one)
                    check_shape(name, array.shape, places[name].shape)
                    np.copyto(places[name], array, casting="same_kind")
        self._values = []
