"""Are reference() and inputs() functions of what they are given; does reference.hip agree."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.authoring.examining.finding import Finding, note, wrong
from evaluators.authoring.examining.runs import Case, quiet, run_on
from evaluators.checks.compare import compare
from evaluators.device import Compiler, Device
from evaluators.dtypes import given_as
from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
PART = "reference"
ON_DEVICE = "reference.hip"
AGREES = 0.01
"""Of the tolerance, that two references may differ by."""


def look_at_reference(task: Task, workloads: Sequence[Workload]) -> Iterator[Finding]:
    """Raises TaskError where reference() or inputs() does."""
    for workload in workloads:
        first, again = task.inputs(workload, seed=5), task.inputs(workload, seed=5)
        if not _equal(first, again):
            yield wrong(
                PART,
                f"inputs() gives other values for the same random generator on {workload.label}",
                "draw from the generator it is given, and from nothing else",
            )
            return
        with quiet():
            if not _equal(task.reference(workload, first), task.reference(workload, again)):
                yield wrong(
                    PART,
                    f"reference() gives another result for the same inputs on {workload.label}",
                    "let it draw no random numbers, and keep nothing between calls",
                )
                return
    if workloads and (changed := _changed(task, workloads[-1])):
        yield note(
            PART,
            f"reference() writes into {changed}",
            "work on a copy: where inputs are as wide already it gets them themselves",
        )


def _equal(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    return a.keys() == b.keys() and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind in "fc") for name in a
    )


def _changed(task: Task, workload: Workload) -> str:
    """The first input that reference() writes into; "" for none."""
    if task.own.reference is None:
        return ""
    given = {
        name: array.astype(given_as(array.dtype), copy=True)
        for name, array in task.inputs(workload, seed=5).items()
    }
    before = {name: array.copy() for name, array in given.items()}
    with quiet():
        task.own.call(task.own.reference, task.names(workload, given))
    return next((name for name in before if not np.array_equal(before[name], given[name])), "")


def look_at_device_reference(
    task: Task, device: Device, compiler: Compiler, chosen: Sequence[Case]
) -> Iterator[Finding]:
    """reference.hip beside reference.py, where the device can run it here."""
    path = task.folder / ON_DEVICE
    if not path.is_file():
        return
    wide = dataclasses.replace(task, arguments=tuple(map(_wide, task.arguments)))
    try:
        kernel = parse_kernel(path.read_text(encoding="utf-8"))
        plans = [kernel.plan(wide, case.workload, device.info.target) for case in chosen]
        distinct = [plan for i, plan in enumerate(plans) if plan not in plans[:i]]
        outputs = run_on(device, wide, kernel, compiler.compile(kernel, distinct), chosen)
    except Rejected as rejected:
        yield wrong(PART, f"{ON_DEVICE} is {rejected}", "mend it, or remove it")
        return
    for case, made in zip(chosen, outputs, strict=True):
        for one in task.on(case.workload).outputs:
            if one.name not in case.draw.reference:
                continue
            env = case.workload.env
            found = compare(
                made[one.name],
                case.draw.reference[one.name],
                rtol=one.rtol(env),
                atol=one.atol(env),
            )
            if found.error > AGREES:
                yield wrong(
                    PART,
                    f"{ON_DEVICE} and reference.py differ by {found.error:.2g} of the tolerance in "
                    f"{one.name} on {case.workload.label}",
                    "find out which of the two is right",
                )
                return
    yield note(PART, f"{ON_DEVICE} agrees with reference.py on the tests")


def _wide(argument: Argument) -> Argument:
    """In the precision that a reference on a device writes."""
    if not argument.written:
        return argument
    dtype = "float64" if argument.floating else "int64"
    return dataclasses.replace(argument, dtype=dtype, parameter="", each={})
