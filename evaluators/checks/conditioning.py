"""How far a task's outputs move when its inputs do: each element's own scale of error."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evaluators.checks.budget import FLOAT32_ULP
from evaluators.tasks.arguments import Workload, float_info
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Reference = Callable[[Workload, Mapping[str, Array]], Mapping[str, Array]]

ROUNDING = 2.0**-24  # of float32, relative
STRIDE = 64.0
"""So many times as far outputs must move when inputs do."""
FLUSHED = 2.0**-126
"""Float32 results below it become zero under options that a kernel may ask for, and in some of
AMD's and NVIDIA's instructions: no fault, unless a task states denormals."""
SCALED = ("spikes", "large", "offset")
"""Classes of values that are so much larger than usual ones as a shape admits."""
ROOM_BELOW = 64.0
"""Most elements are no smaller than that part of their root mean square."""
PROPORTIONAL = 2.0**-8
"""Of the largest element: narrow types round small values otherwise than usual ones."""
NEGLIGIBLE = FLOAT32_ULP**2
"""Of an output's largest element: kernels bound exponents where little is left of a result."""


class Moving:
    """Inputs that can be moved a little, and what the reference makes of them."""

    def __init__(
        self, task: Task, workload: Workload, inputs: Mapping[str, Array], reference: Reference
    ) -> None:
        self.task = task
        self.workload = workload
        self.inputs = inputs
        self.reference = reference(workload, inputs)
        self._reference = reference

    def moved(self, signs: Mapping[str, Array], times: float) -> dict[str, Array]:
        """By output, how far it moves when inputs do by so many float32 roundings."""
        moved = dict(self.inputs)
        with np.errstate(invalid="ignore", over="ignore"):
            for name, sign in signs.items():
                factors = np.asarray(times * ROUNDING * sign)
                factors += 1.0
                moved[name] = np.multiply(self.inputs[name], factors, out=factors, dtype=np.float64)
            after = self._reference(self.workload, moved)
            apart = {n: np.asarray(after[n] - r, np.float64) for n, r in self.reference.items()}
            return {
                n: np.nan_to_num(a, copy=False, posinf=0.0, neginf=0.0) for n, a in apart.items()
            }


def conditioning(
    moving: Moving, values: str, directions: int, rng: np.random.Generator
) -> dict[str, Array] | None:
    """By output, how far each element moves when inputs are rounded to float32: its own scale of
    error, whatever the other elements are (a condition number, Higham, Accuracy and Stability of
    Numerical Algorithms, 2002, 1.6). None for an output that has no rounding.

    None in place of all where that is no scale: outputs that leave their type's range, and
    roundings that no longer act in proportion.
    """
    task, workload, reference = moving.task, moving.workload, moving.reference
    if values in SCALED and not _in_range(task, reference):
        return None
    rounded = [o for o in task.outputs if o.rounded(workload.dims)]
    if not rounded:
        return {}
    moves: dict[str, Array] = {o.name: np.zeros(o.shape(workload.dims)) for o in rounded}
    for t in range(directions if is_finite(reference) else 0):
        signs = {n: random_signs(a, rng) for n, a in moving.inputs.items() if _is_float(a)}
        near = moving.moved(signs, 1.0)
        if t == 0 and values in SCALED:
            far = moving.moved(signs, STRIDE)
            if not all(_in_proportion(near[n], far[n], reference[n]) for n in moves):
                return None
        for name in moves:
            moves[name] += near[name] ** 2 / directions
    scales = {}
    for output in rounded:
        size = np.nan_to_num(np.abs(reference[output.name]), posinf=0.0)
        least = float(float_info(output.np_dtype).smallest_subnormal)
        if "denormals" not in (task.values or ()):
            least += FLUSHED + NEGLIGIBLE * float(size.max(initial=0.0))
        scales[output.name] = np.sqrt(moves[output.name]) + FLOAT32_ULP * size + least
    return scales


def _in_proportion(near: Array, far: Array, reference: Array) -> bool:
    """Elements that move 64 times as far on the whole when inputs do."""
    scale = STRIDE * (np.abs(near) + FLOAT32_ULP * np.abs(reference))
    apart = np.abs(far - STRIDE * near)
    with np.errstate(invalid="ignore"):
        return bool(np.all(apart <= np.maximum(scale, 1e-3 * np.abs(reference)) + FLUSHED))


def _in_range(task: Task, reference: Mapping[str, Array]) -> bool:
    """Room for intermediate results too."""
    for output in task.outputs:
        if output.floating:
            most = float(float_info(output.np_dtype).max) / 4
            if not np.all(np.abs(reference[output.name]) <= most):
                return False
    return True


def is_normal(task: Task, reference: Mapping[str, Array]) -> bool:
    """Whether outputs are far above the denormals of their types, on the whole."""
    floating = [output for output in task.outputs if output.floating]
    return all(
        root_mean_square(reference[o.name]) >= ROOM_BELOW * float(float_info(o.np_dtype).tiny)
        for o in floating
    )


def proportional(usual: Mapping[str, Array], reference: Mapping[str, Array], factor: float) -> bool:
    """Whether each output shrinks as the inputs do that were multiplied by the factor, or as
    products of two of them."""
    return all(
        any(_nearly(reference[name], array * factor**degree) for degree in (1, 2))
        for name, array in usual.items()
    )


def _nearly(array: Array, expected: Array) -> bool:
    most = float(np.abs(expected).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(array - expected) <= PROPORTIONAL * most))


def root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def is_finite(reference: Mapping[str, Array]) -> bool:
    """Whether any element of any output is; where none is, no rounding moves them."""
    return any(bool(np.isfinite(array).any()) for array in reference.values())


def _is_float(array: Array) -> bool:
    return not np.issubdtype(array.dtype, np.integer)


def random_signs(values: Array, rng: np.random.Generator) -> Array:
    """1 or -1 for each."""
    signs: Array = np.asarray(rng.integers(0, 2, values.shape, dtype=np.int8), np.float64)
    signs *= -2.0
    signs += 1.0
    return signs
