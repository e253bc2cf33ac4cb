"""What a task's own inputs() and reference() return, checked against what task.yaml says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.dtypes import wide
from evaluators.tasks.arguments import Argument, Array, TaskError, Workload
from evaluators.tasks.reference_file import Raised, ReferenceFile, as_array, returned, safe


def made_by(
    own: ReferenceFile,
    names: Mapping[str, Any],
    rng: np.random.Generator,
    given: Mapping[str, Argument],
    workload: Workload,
) -> dict[str, Array]:
    """Inputs by name, in their own dtypes, as inputs() returns them.

    names: what it is given beside rng. given: the inputs that there are. Raises TaskError.
    """
    where = f"{own.path}: inputs() on {workload.label}"
    assert own.inputs is not None
    try:
        results = own.call(own.inputs, {"rng": rng, **names})
    except Raised as error:
        raise TaskError(f"{where} raised {error}") from error
    if not isinstance(results, Mapping):
        raise TaskError(f"{where} must return a dict by name, not {type(results).__name__}")
    spelled = {safe(name): name for name in given}
    made = {}
    for key, value in results.items():
        name = spelled.get(key, str(key))
        if value is None and workload.setting.nulls.get(name, False):
            continue
        if name not in given:
            raise TaskError(
                f"{where} returned {key!r}, which is no input there ({', '.join(given)})"
            )
        made[name] = _exactly(value, given[name], workload, where)
    return made


def _exactly(value: Any, argument: Argument, workload: Workload, where: str) -> Array:
    """As the argument's dtype holds it. Raises TaskError."""
    array = as_array(value, argument, where)
    shape = argument.shape(workload.env)
    if array.shape != shape:
        raise TaskError(f"{where}: {argument.name} has shape {array.shape}, task.yaml says {shape}")
    made: Array = array.astype(argument.np_dtype)
    if not argument.floating and not np.array_equal(made, array):
        raise TaskError(f"{where}: {argument.name} holds numbers that {argument.dtype} does not")
    return np.ascontiguousarray(made)


def referred_to(
    own: ReferenceFile, names: Mapping[str, Any], outputs: Sequence[Argument], workload: Workload
) -> dict[str, Array]:
    """What reference() returns, by output name, as Task.reference() says. Raises TaskError."""
    where = f"{own.path}: reference() on {workload.label}"
    assert own.reference is not None
    try:
        results = own.call(own.reference, names)
    except Raised as error:
        raise TaskError(
            f"{where} raised {error}; it is called with "
            f"{', '.join(map(safe, names)) or 'nothing'} by name"
        ) from error
    if not isinstance(results, Mapping):
        raise TaskError(f"{where} must return a dict by output name, not {type(results).__name__}")
    named: dict[str, Array] = {}
    for output in outputs:
        value = returned(results, output.name)
        if value is None and own.check is not None:
            continue
        if value is None:
            raise TaskError(f"{where} returned no {output.name!r}")
        if not output.toleranced:
            raise TaskError(
                f"{where} returned {output.name}, which has no tolerance in task.yaml: give it "
                "rtol and atol, or leave it to check()"
            )
        result = as_array(value, output, where)
        shape = output.shape(workload.env)
        if result.shape != shape and own.epilogue is None:
            raise TaskError(
                f"{where}: {output.name} has shape {result.shape}, task.yaml says {shape}"
            )
        named[output.name] = result.astype(wide(output.np_dtype))
    return named
