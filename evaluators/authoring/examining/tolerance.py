"""Is the tolerance neither so wide that wrong results pass, nor so narrow that right ones fail."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.authoring.examining.finding import Finding, note, weak, wrong
from evaluators.authoring.examining.runs import Case, Outputs, error, quiet
from evaluators.checks.compare import compare
from evaluators.dtypes import float_info
from evaluators.tasks.arguments import Argument
from evaluators.tasks.reference_file import Raised, returned
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
PART = "tolerance"
NOISE_ULPS = 2.0**13
"""Relative noise that should not pass, in ulps of the output's own type: 0.1% of a float32."""
LEAST_NOISE, MOST_NOISE = 1e-6, 0.25
LITTLE_ROOM = 0.5
"""Of the tolerance: a seed that uses more leaves little to other orders of summation."""

Fake = Callable[[Argument, Case, np.random.Generator], Array | None]


def look_at_tolerance(
    task: Task, chosen: Sequence[Case], outputs: Sequence[Outputs]
) -> Iterator[Finding]:
    """outputs: what the naive seed made, case by case; empty: not known."""
    with quiet():
        yield from _vacuous(task, chosen)
        yield from _impossible(task, chosen, outputs)


def _vacuous(task: Task, chosen: Sequence[Case]) -> Iterator[Finding]:
    for argument in task.outputs:
        held = [one for one in chosen if argument.name in one.draw.reference]
        if not held:
            continue
        if all(_all_zero(one.draw.reference[argument.name]) for one in held):
            yield wrong(
                PART,
                f"{argument.name} is zero on every test: a kernel that writes zeros passes",
                "draw inputs for which it is not",
            )
            continue
        for what, fake in _FAKES.items():
            if _passes(argument, held, fake):
                yield wrong(
                    PART,
                    f"{what} pass as {argument.name} on every test",
                    f"tighten rtol and atol of {argument.name}",
                )
                break
        else:
            level = _noise_level(argument)
            if level and _passes(argument, held, _noisy):
                yield weak(
                    PART,
                    f"{argument.name} with {100 * level:.2g}% of noise on each element passes on "
                    "every test",
                    f"tighten rtol and atol of {argument.name}; beside them only the naive seed's "
                    "own error bounds kernels",
                )


def _all_zero(values: Array) -> bool:
    return not values.any()


def _passes(argument: Argument, held: Sequence[Case], fake: Fake) -> bool:
    """On every case where the fake is not right by chance; never where there is none."""
    rng = np.random.default_rng(0)
    tried = False
    for case in held:
        made = fake(argument.on(case.workload.setting), case, rng)
        expected = case.draw.reference[argument.name]
        if made is None or np.array_equal(made, expected, equal_nan=True):
            continue
        tried = True
        if _apart(argument, case, made, expected) > 1:
            return False
    return tried


def _apart(argument: Argument, case: Case, made: Array, expected: Array) -> float:
    """The largest difference over what is allowed."""
    env, own = case.workload.env, argument.on(case.workload.setting)
    return compare(made, expected, rtol=own.rtol(env), atol=own.atol(env)).error


def _zeros(argument: Argument, case: Case, _: np.random.Generator) -> Array:
    return np.zeros_like(case.draw.reference[argument.name])


def _means(argument: Argument, case: Case, _: np.random.Generator) -> Array | None:
    values = case.draw.reference[argument.name]
    if values.size < 2 or values.dtype.kind != "f" or not np.isfinite(values).all():
        return None
    return np.full_like(values, values.mean())


def _inputs(argument: Argument, case: Case, _: np.random.Generator) -> Array | None:
    expected = case.draw.reference[argument.name]
    for name, array in case.draw.inputs.items():
        if array.shape == expected.shape:
            same_kind = name == argument.name or array.dtype == argument.np_dtype
            if same_kind:
                return array.astype(expected.dtype)
    return None


_FAKES: Mapping[str, Fake] = {
    "zeros": _zeros,
    "constants (its mean)": _means,
    "the inputs, unchanged,": _inputs,
}


def _noise_level(argument: Argument) -> float:
    if not argument.floating:
        return 0.0
    ulps = NOISE_ULPS * float(float_info(argument.np_dtype).eps)
    return min(MOST_NOISE, max(LEAST_NOISE, ulps))


def _noisy(argument: Argument, case: Case, rng: np.random.Generator) -> Array:
    values = case.draw.reference[argument.name]
    noise: Array = values * (1 + _noise_level(argument) * rng.standard_normal(values.shape))
    return noise.astype(argument.np_dtype)


def _impossible(
    task: Task, chosen: Sequence[Case], outputs: Sequence[Outputs]
) -> Iterator[Finding]:
    worst = max(
        (error(task, case, own) for case, own in zip(chosen, outputs, strict=False)), default=0.0
    )
    narrow = _narrow_error(task, chosen)
    if worst > LITTLE_ROOM:
        yield weak(
            PART,
            f"the naive seed's largest error is {worst:.2g} of what the tolerance allows: right "
            "kernels that sum in another order may be refused",
            "widen rtol and atol, or let atol grow with the length of the sums",
        )
    elif outputs and narrow > 1 and worst > LITTLE_ROOM / 5:
        yield weak(
            PART,
            f"reference.py itself, in float32, is off by {narrow:.2g} times the tolerance",
            "widen rtol and atol, or let atol grow with the length of the sums",
        )
    elif outputs:
        yield note(PART, f"the naive seed's largest error is {worst:.2g} of what it allows")


def _narrow_error(task: Task, chosen: Sequence[Case]) -> float:
    """Of the reference computed in float32, where it is numpy that keeps to its inputs' type."""
    own = task.own
    if own.reference is None:
        return 0.0
    largest = 0.0
    for case in chosen:
        narrow = {
            name: array.astype(np.float32) if array.dtype.kind not in "iub" else array
            for name, array in case.draw.inputs.items()
        }
        try:
            made = own.call(own.reference, task.names(case.workload, narrow))
        except Raised:  # it need not take float32
            return 0.0
        for name, expected in case.draw.reference.items():
            (one,) = (a for a in task.on(case.workload).outputs if a.name == name)
            found = np.asarray(returned(made, name))
            if found.shape == expected.shape:
                largest = max(largest, _apart(one, case, found, expected))
    return largest
