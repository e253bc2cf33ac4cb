"""Do inputs test anything: are outputs numbers, do they vary, does each input matter."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.authoring.examining.finding import Finding, note, weak, wrong
from evaluators.authoring.examining.runs import quiet
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
PART = "inputs"
FEW = 16
"""Elements of an output that are no sample yet."""
NEARLY = 1e-3
"""Outputs whose standard deviation is so small beside their size are nearly the same."""
MOSTLY = 0.99
"""Of the elements that have one and the same value."""


def look_at_inputs(task: Task, workloads: Sequence[Workload]) -> Iterator[Finding]:
    """workloads: small ones. Raises TaskError where reference() does."""
    drawn = [(w, task.inputs(w, seed=1), task.inputs(w, seed=2)) for w in workloads]
    with quiet():
        results = [
            (w, first, task.reference(w, _copied(first)), task.reference(w, _copied(second)))
            for w, first, second in drawn
        ]
    yield from _numbers(task, [(w, first) for w, _, first, _ in results])
    yield from _constant(task, [(w, a, b) for w, _, a, b in results])
    yield from _alike(task, [(w, a) for w, _, a, _ in results])
    with quiet():
        yield from _unused(task, results)


def _copied(inputs: Mapping[str, Array]) -> dict[str, Array]:
    return {name: array.copy() for name, array in inputs.items()}


def _numbers(
    task: Task, results: Sequence[tuple[Workload, Mapping[str, Array]]]
) -> Iterator[Finding]:
    for output in task.outputs:
        for workload, reference in results:
            values = reference.get(output.name)
            if values is None:
                continue
            strange = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(1, bool)
            if strange.any():
                share = 100 * strange.mean()
                yield wrong(
                    PART,
                    f"{output.name} holds NaN or infinity in {share:.0f}% of its elements on "
                    f"{workload.label}, where nothing is compared but that",
                    "draw inputs for which the result is finite, or mend reference.py",
                )
                break


def _constant(
    task: Task, results: Sequence[tuple[Workload, Mapping[str, Array], Mapping[str, Array]]]
) -> Iterator[Finding]:
    """Outputs that are the same for other inputs: a table would pass."""
    for output in task.outputs:
        pairs = [(a[output.name], b[output.name]) for _, a, b in results if output.name in a]
        if pairs and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
            yield wrong(
                PART,
                f"{output.name} is the same whatever the inputs are: a kernel that writes "
                "constants passes",
                "draw inputs on which the result depends",
            )


def _alike(
    task: Task, results: Sequence[tuple[Workload, Mapping[str, Array]]]
) -> Iterator[Finding]:
    for output in task.outputs:
        large = [
            reference[output.name]
            for _, reference in results
            if output.name in reference and reference[output.name].size >= FEW
        ]
        if not large:
            continue
        if all(_nearly_same(values) for values in large):
            yield weak(
                PART,
                f"all elements of {output.name} are nearly the same on every test: one written to "
                "the wrong place is not noticed",
                "draw inputs that differ more, such as {kind: normal, scale: 3}",
            )
        elif all(_mostly_one(values) for values in large):
            yield weak(
                PART,
                f"almost all elements of {output.name} have one value on every test",
                "draw inputs for which more of them matter",
            )


def _nearly_same(values: Array) -> bool:
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return False
    return bool(np.std(finite) <= NEARLY * np.max(np.abs(finite), initial=0.0))


def _mostly_one(values: Array) -> bool:
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() >= MOSTLY * values.size)


def _unused(
    task: Task,
    results: Sequence[tuple[Workload, Mapping[str, Array], Mapping[str, Array], Any]],
) -> Iterator[Finding]:
    """Inputs that may be anything: each is drawn anew while the others stay."""
    for argument in task.arguments:
        if argument.role == "out" or (argument.name in task.makes and not argument.floating):
            continue  # what inputs() makes of integers belongs together
        tried = changed = False
        for turn, (workload, first, expected, _) in enumerate(results):
            if argument.name not in first:
                continue
            other = dict(_copied(first))
            anew = task.inputs(workload, seed=100 + turn)[argument.name]
            if anew.shape != other[argument.name].shape:
                continue
            other[argument.name] = anew
            if np.array_equal(anew, first[argument.name], equal_nan=anew.dtype.kind == "f"):
                continue
            tried = True
            try:
                made = task.reference(workload, other)
            except TaskError:  # inputs that belong together were parted
                changed = True
                break
            if any(not np.array_equal(made[n], expected[n], equal_nan=True) for n in made):
                changed = True
                break
        if not tried:
            yield note(
                PART, f"{argument.name} is always the same: it is drawn from no random values"
            )
        elif not changed:
            yield weak(
                PART,
                f"{argument.name} makes no difference to any output on any test",
                "leave it out, or draw inputs for which it matters",
            )
