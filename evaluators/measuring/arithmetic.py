"""Which arithmetic a task admits: the fastest in which its inputs may be held."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.checks.budget import Error, limit_of
from evaluators.checks.compare import compare
from evaluators.device_info import DeviceInfo
from evaluators.dtypes import is_floating
from evaluators.tasks.arguments import Argument, TaskError, Workload
from evaluators.tasks.task import Task, TaskContent

Array = np.ndarray[Any, Any]
Inputs = Mapping[str, Array]

SIGNIFICANDS: Mapping[str, int] = {
    "float32": 24,
    "tf32": 11,
    "xf32": 11,
    "float16": 11,
    "bfloat16": 8,
    "float8_e4m3fnuz": 4,
}
"""Bits of each arithmetic's inputs, the leading one too: its unit roundoff is 2^-bits. Products are
added up in float32 whatever the inputs are."""
HONEST_BITS = 18
"""Float32 sums of 2^12 terms err as if their inputs had been rounded to so many bits: by the rule
of thumb errors grow with the root of the number of terms (Higham, Accuracy and Stability)."""
MOST_BYTES, MOST_SHAPES = 1 << 20, 6
SEED = 1


def arithmetic(task: Task, info: DeviceInfo) -> str:
    """The name in info.peak_flops of the fastest arithmetic that the task admits; "" if none is
    known, or the task states no work.

    What the task states, else the fastest in whose precision its inputs may be held: on its small
    tests the reference then stays within the tolerance, and within what float32 sums leave of it
    (checks/budget.py). Of equally fast ones that of its own types, else the most exact.
    """
    if task.flops is None and not task.operations:
        return ""
    if task.compute_dtype:
        return task.compute_dtype if task.compute_dtype in info.peak_flops else ""
    own = [argument.dtype for argument in task.arguments if argument.floating]
    if not own:
        return ""
    fastest = sorted(
        (name for name in info.peak_flops if name in SIGNIFICANDS),
        key=lambda name: (-info.peak_flops[name], name not in own, -SIGNIFICANDS[name]),
    )
    return next((one for one in fastest if _admits(task, info.backend, SIGNIFICANDS[one])), "")


def refused(task: Task, info: DeviceInfo) -> tuple[str, ...]:
    """Arithmetics of the device that are faster than the admitted one, fastest first."""
    least = info.peak_flops.get(arithmetic(task, info), 0.0)
    faster = [name for name in SIGNIFICANDS if info.peak_flops.get(name, 0.0) > least > 0]
    return tuple(sorted(faster, key=lambda name: -info.peak_flops[name]))


def whose_light(name: str) -> str:
    """Of an arithmetic, for a person: what 100% of the speed of light is."""
    return f"the speed of light is what memory and {name} arithmetic, which the task admits, allow"


def _admits(task: Task, backend: str, bits: int) -> bool:
    return bits >= SIGNIFICANDS["float32"] or _is_exact_enough(TaskContent(task), backend, bits)


@lru_cache(maxsize=256)
def _is_exact_enough(content: TaskContent, backend: str, bits: int) -> bool:
    task = content.task
    return all(_holds(task, workload, bits) for workload in _small(task, backend))


def _small(task: Task, backend: str) -> list[Workload]:
    """The largest of its small tests, or the smallest at all."""
    tests = sorted(task.workloads("tests", backend), key=task.nbytes)
    small = [workload for workload in tests if task.nbytes(workload) <= MOST_BYTES]
    return small[-MOST_SHAPES:] or tests[:1]


def _holds(task: Task, workload: Workload, bits: int) -> bool:
    """Whether the reference of inputs with so many bits is as right as a kernel must be."""
    inputs = task.inputs(workload, SEED)
    narrow = rounded(inputs, bits)
    if all(
        np.array_equal(inputs[name].astype(narrow[name].dtype), narrow[name]) for name in inputs
    ):
        return True
    try:
        wanted = task.reference(workload, _copied(inputs))
        found = task.reference(workload, narrow)
        honest = task.reference(workload, rounded(inputs, HONEST_BITS))
    except TaskError:  # a reference may refuse values that are no longer what was drawn
        return False
    return all(
        _is_right(output, workload, *(results[output.name] for results in (wanted, found, honest)))
        for output in task.outputs
    )


def _is_right(
    output: Argument, workload: Workload, wanted: Array, found: Array, honest: Array
) -> bool:
    error, usual = (
        _error(output, workload, result.astype(output.np_dtype), wanted)
        for result in (found, honest)
    )
    if error.largest > 1.0:
        return False
    if not output.rounded(workload.env):
        return True
    return error.rms <= limit_of([usual]).rms


def _error(output: Argument, workload: Workload, result: Array, wanted: Array) -> Error:
    env = workload.env
    compared = compare(result, wanted, rtol=output.rtol(env), atol=output.atol(env))
    return Error(largest=compared.error, rms=compared.rms, ulp=compared.ulp)


def rounded(inputs: Inputs, bits: int) -> dict[str, Array]:
    """Floating inputs, rounded to significands of so many bits, of any exponent, to even."""
    return dict(_rounded(inputs, bits))


def _rounded(inputs: Inputs, bits: int) -> Iterator[tuple[str, Array]]:
    for name, array in inputs.items():
        if not is_floating(array.dtype):
            yield name, array.copy()
            continue
        significand, exponent = np.frexp(array.astype(np.float64))
        yield name, np.ldexp(np.rint(np.ldexp(significand, bits)), exponent - bits)


def _copied(inputs: Inputs) -> dict[str, Array]:
    """A reference may write into what is as wide as it asks for."""
    return {name: array.copy() for name, array in inputs.items()}
