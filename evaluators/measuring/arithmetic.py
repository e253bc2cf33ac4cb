"""Which arithmetic a task admits: the fastest in which its inputs may be held."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.checks.budget import Error, limit_of
from evaluators.checks.compare import compare
from evaluators.device_info import DeviceInfo
from evaluators.dtypes import DTYPES, float_info, is_floating
from evaluators.tasks.arguments import Argument, TaskError, Workload
from evaluators.tasks.task import Task, TaskContent

Array = np.ndarray[Any, Any]
Inputs = Mapping[str, Array]

SIGNIFICANDS: Mapping[str, int] = {
    "float64": 53,
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
    if not any(output.floating and output.name in task.compares for output in task.outputs):
        return max(own, key=_bits) if max(own, key=_bits) in info.peak_flops else ""
    fastest = sorted(
        (name for name in info.peak_flops if name in SIGNIFICANDS),
        key=lambda name: (-info.peak_flops[name], name not in own, -SIGNIFICANDS[name]),
    )
    return next((one for one in fastest if _admits(task, info.backend, SIGNIFICANDS[one])), "")


def arithmetics(task: Task, workloads: Sequence[Workload], info: DeviceInfo) -> str:
    """Of all of the workloads, whose dtypes may differ: "float32 or bfloat16"."""
    found = dict.fromkeys(arithmetic(task.on(workload), info) for workload in workloads)
    return " or ".join(filter(None, found))


def _bits(dtype: str) -> int:
    """Of its significand, the leading one too."""
    return int(float_info(DTYPES[dtype]).nmant) + 1


def refused(task: Task, info: DeviceInfo) -> tuple[str, ...]:
    """Arithmetics of the device that are faster than the admitted one, fastest first."""
    least = info.peak_flops.get(arithmetic(task, info), 0.0)
    faster = [name for name in SIGNIFICANDS if info.peak_flops.get(name, 0.0) > least > 0]
    return tuple(sorted(faster, key=lambda name: -info.peak_flops[name]))


def whose_light(name: str) -> str:
    """Of an arithmetic, for a person: what 100% of the speed of light is."""
    return f"the speed of light is what memory and {name} arithmetic, which the task admits, allow"


def _admits(task: Task, backend: str, bits: int) -> bool:
    """Float32 serves all but float64's outputs, whose tolerance may leave it no room."""
    double = any(output.dtype == "float64" for output in task.outputs)
    if bits >= SIGNIFICANDS["float64" if double else "float32"]:
        return True
    return _is_exact_enough(TaskContent(task), backend, bits, double)


@lru_cache(maxsize=256)
def _is_exact_enough(content: TaskContent, backend: str, bits: int, double: bool) -> bool:
    """double: whether float32 sums must be within the tolerance, too."""
    task = content.task
    return all(_holds(task, workload, bits, double) for workload in _small(task, backend))


def _small(task: Task, backend: str) -> list[Workload]:
    """The largest of its small tests, or the smallest at all."""
    dtypes = [argument.dtype for argument in task.arguments]
    every = task.workloads("tests", backend)
    alike = [w for w in every if [a.dtype for a in task.on(w).arguments] == dtypes]
    tests = sorted(alike or every, key=task.nbytes)
    small = [workload for workload in tests if task.nbytes(workload) <= MOST_BYTES]
    return small[-MOST_SHAPES:] or tests[:1]


def _holds(task: Task, workload: Workload, bits: int, double: bool) -> bool:
    """Whether the reference of inputs with so many bits is as right as a kernel must be."""
    inputs = task.inputs(workload, SEED)
    narrow = rounded(inputs, bits)
    if not double and all(
        np.array_equal(inputs[name].astype(narrow[name].dtype), narrow[name]) for name in inputs
    ):
        return True
    try:
        wanted = task.reference(workload, _copied(inputs))
        found = task.reference(workload, narrow)
        honest = task.reference(workload, rounded(inputs, HONEST_BITS))
    except TaskError:  # a reference may refuse values that are no longer what was drawn
        return False
    compared = [output for output in task.on(workload).outputs if output.name in wanted]
    return all(
        _is_right(output, workload, *(results[output.name] for results in (wanted, found, honest)))
        for output in compared
    ) and not (
        double
        and any(
            _error(output, workload, honest[output.name], wanted[output.name]).largest > 1.0
            for output in compared
        )
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
