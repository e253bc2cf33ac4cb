"""What a baseline is given by name, what it returns, and arrays that are a session's memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.tasks.arguments import Argument, Array, Workload
from evaluators.tasks.reference_file import returned, safe
from evaluators.tasks.task import Task

Places = Mapping[str, Any]
"""Of one binding, by argument: on cpu a numpy array that is its memory, else a device address."""


def given(task: Task, workload: Workload, places: Places) -> dict[str, Any]:
    """By name, as reference() is given them: None for what is null, `in_` for an argument `in`."""
    return {safe(name): value for name, value in task.names(workload, places).items()}


def named_outputs(value: Any, task: Task, workload: Workload) -> dict[str, Any]:
    """An expression's value by output: one for the only output, a tuple in the outputs' order, or
    a dict by name. Raises ValueError."""
    names = [output.name for output in task.on(workload).outputs]
    if isinstance(value, Mapping):
        found = {name: returned(value, name) for name in names}
        if missing := [name for name, one in found.items() if one is None]:
            raise ValueError(f"its value has no {missing[0]!r}")
        return found
    values = list(value) if isinstance(value, list | tuple) else [value]
    if len(values) != len(names):
        raise ValueError(f"its value is {len(values)} arrays, the task has {len(names)} outputs")
    return dict(zip(names, values, strict=True))


def check_shape(name: str, found: Sequence[int], wanted: Sequence[int]) -> None:
    """Raises ValueError."""
    if tuple(found) != tuple(wanted):
        raise ValueError(f"{name} has the shape {tuple(found)}, task.yaml says {tuple(wanted)}")


Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def view(data: Bytes, argument: Argument, workload: Workload) -> Array:
    """An argument's buffer as an array of its shape and strides, which is that memory."""
    flat: Array = data.view(argument.np_dtype)
    shape, steps = argument.shape(workload.env), argument.steps(workload.env)
    if steps is None:
        return flat.reshape(shape)
    nbytes = [step * flat.itemsize for step in steps]
    made: Array = np.lib.stride_tricks.as_strided(flat, shape, nbytes)
    return made
